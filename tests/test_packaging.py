"""What pyproject.toml declares of the whole: the plugins of vLLM, the packages of an image, and its plugins."""

import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PLUGINS = "vllm.general_plugins"


@pytest.mark.parametrize(("name", "value"), DECLARED["project"]["entry-points"][PLUGINS].items())
def test_a_declared_plugin_is_there(name: str, value: str) -> None:
    """Its module can be imported without an engine and has what is named; vLLM only logs one that it cannot load."""
    assert callable(EntryPoint(name, value, PLUGINS).load())


LINKED = sorted(path.name for path in (ROOT / "gigavqa").iterdir() if path.is_symlink())


def test_the_rooms_at_the_top_are_linked_into_the_package() -> None:
    """So that a checkout imports them by the names that an installation has."""
    assert LINKED == ["service", "tiling", "viewer", "workers"]
    assert {(ROOT / "gigavqa" / room).readlink().as_posix() for room in LINKED} == {f"../{room}" for room in LINKED}


@pytest.mark.parametrize("folder", ["gigavqa", "plugins", *LINKED])
def test_the_images_are_built_with_every_folder_of_the_package(folder: str) -> None:
    """The stage that makes the wheel copies each of them."""
    assert f"COPY {folder} {folder}\n" in (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_the_wheel_holds_one_package_with_every_room_in_it(tmp_path: Path) -> None:
    """Nothing else comes into site-packages, and what is linked in a checkout is a folder there."""
    names = wheel_of(ROOT, tmp_path)
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"gigavqa"}
    rooms = {path.name for path in (ROOT / "gigavqa").iterdir() if (path / "__init__.py").is_file()}
    assert rooms == {name.split("/")[1] for name in names if name.startswith("gigavqa/") and name.count("/") > 1}
    assert not [name for name in names if name.endswith(".safetensors")]


PROJECTS = sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml"))


@pytest.mark.parametrize("folder", PROJECTS, ids=lambda folder: folder.name)
def test_a_plugin_of_the_checkout_needs_the_product_alone(folder: Path, tmp_path: Path) -> None:
    """Its wheel holds one package with what its entry points name, and the images' locks have all that it needs."""
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert [re.split(r"[^\w-]", needed)[0] for needed in project["dependencies"]] == ["gigavqa"]
    (package,) = {name.split("/")[0] for name in wheel_of(folder, tmp_path) if ".dist-info/" not in name}
    for group, points in project["entry-points"].items():
        for name, value in points.items():
            assert value.split(".")[0].split(":")[0] == package
            assert EntryPoint(name, value, group).load()


def wheel_of(project: Path, folder: Path) -> list[str]:
    """Build the wheel of a project in a folder, and return the names of its files."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=project, check=True, capture_output=True, timeout=120)
    (wheel,) = folder.glob("*.whl")
    return zipfile.ZipFile(wheel).namelist()
