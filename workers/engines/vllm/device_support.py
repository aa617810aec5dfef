"""The GPUs and drivers that the pinned build of vLLM runs on, by its sources.

vLLM 0.32's wheel is built with CUDA 13, which needs driver 580 and compiles for compute capability 7.5 or later alone
(vLLM's CMakeLists.txt, `CUDA_SUPPORTED_ARCHS`); below 8.0 vLLM takes float16 for bfloat16 (config/model.py,
`_resolve_auto_dtype`).
"""

import re

OLDEST_DRIVER = 580
_LEAST_CAPABILITY = (7, 5)
_BFLOAT16_CAPABILITY = (8, 0)


def read_version(text: str) -> tuple[int, ...] | None:
    """Return the numbers of a version, of a driver or of a compute capability; None where it is none."""
    return tuple(map(int, text.split("."))) if re.fullmatch(r"\d+(?:\.\d+)*", text) else None


def driver_fault(driver: str) -> str | None:
    """Say that a driver of this version is too old, and what to do; None where it is not, or its version is unknown."""
    version = read_version(driver)
    if version is None or version >= (OLDEST_DRIVER,):
        return None
    return f"NVIDIA's driver {driver} is too old for vLLM's CUDA 13: install {OLDEST_DRIVER} or later"


def capability_fault(gpu: str, capability: str) -> str | None:
    """Say that vLLM has no kernels for a GPU of this compute capability, and what to do; None where it has, or nobody
    knows it.
    """
    if not _is_below(capability, _LEAST_CAPABILITY):
        return None
    least = ".".join(map(str, _LEAST_CAPABILITY))
    return (
        f"{gpu} has compute capability {capability}, and vLLM's build for CUDA 13 has kernels from {least} on: take "
        "another GPU (--gpus and CUDA_VISIBLE_DEVICES choose), or a server elsewhere (--engine remote)"
    )


def lacks_bfloat16(capability: str) -> bool:
    """Whether a GPU of this compute capability computes in float16 what is published in bfloat16."""
    return _is_below(capability, _BFLOAT16_CAPABILITY)


def _is_below(capability: str, least: tuple[int, int]) -> bool:
    version = read_version(capability)
    return version is not None and version < least
