"""What pyproject.toml declares of the whole: the plugins of vLLM, and the packages that an image has to hold."""

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


@pytest.mark.parametrize("folder", ["gigavqa", *LINKED])
def test_the_images_are_built_with_every_folder_of_the_package(folder: str) -> None:
    """The stage that makes the wheel copies each of them."""
    assert f"COPY {folder} {folder}\n" in (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_the_wheel_holds_one_package_with_every_room_in_it(tmp_path: Path) -> None:
    """Nothing else comes into site-packages, and what is linked in a checkout is a folder there."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"gigavqa"}
    rooms = {path.name for path in (ROOT / "gigavqa").iterdir() if (path / "__init__.py").is_file()}
    assert rooms == {name.split("/")[1] for name in names if name.startswith("gigavqa/") and name.count("/") > 1}
