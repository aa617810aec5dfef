"""vLLM's own CUDA platform over a driver that is a table: everything up to the first kernel.

Loaded by vLLM as an out-of-tree platform (entry point group `vllm.platform_plugins`), in `fake_gpus`' processes alone.
"""

import json
import os
import sys
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import torch
from vllm.utils.import_utils import import_pynvml

_GPUS = json.loads(os.environ["FAKE_GPUS"])
_nvml = import_pynvml()


class _GpuIsLostError(_nvml.NVMLError):
    """What the driver says of a GPU that fell off its bus."""

    def __new__(cls, *_: object) -> "_GpuIsLostError":
        """Be no class of a code, which only the driver can name."""
        return Exception.__new__(cls)

    def __str__(self) -> str:
        """Say what it says."""
        return "GPU is lost"


def _by_index(number: int) -> Any:
    gpu = _GPUS[number]
    if gpu.get("lost"):
        raise _GpuIsLostError
    return gpu | {"index": number}


def _by_uuid(uuid: str) -> Any:
    for number, gpu in enumerate(_GPUS):
        if gpu["uuid"] == uuid:
            return _by_index(number)
        for place, part in enumerate(gpu.get("slices", ())):
            if part["uuid"] == uuid:
                return part | {"index": place}
    raise _GpuIsLostError


def _memory(gpu: Any) -> Any:
    if gpu["bytes"] is None:
        raise _nvml.NVMLError(_nvml.NVML_ERROR_NOT_SUPPORTED)
    return SimpleNamespace(total=gpu["bytes"])


def _slice(gpu: Any, number: int) -> Any:
    if gpu["slices"][number].get("hidden"):
        raise _GpuIsLostError
    return gpu["slices"][number]


_DRIVER = {
    "nvmlInit": lambda: None,
    "nvmlShutdown": lambda: None,
    "nvmlDeviceGetCount": lambda: len(_GPUS),
    "nvmlDeviceGetHandleByIndex": _by_index,
    "nvmlDeviceGetHandleByUUID": _by_uuid,
    "nvmlDeviceGetIndex": lambda gpu: gpu["index"],
    "nvmlDeviceGetName": lambda gpu: gpu["name"],
    "nvmlDeviceGetUUID": lambda gpu: gpu["uuid"],
    "nvmlDeviceGetMemoryInfo": _memory,
    "nvmlDeviceGetCudaComputeCapability": lambda gpu: tuple(gpu["capability"]),
    "nvmlDeviceGetMigMode": lambda gpu: (int("slices" in gpu), 0),
    "nvmlDeviceGetMaxMigDeviceCount": lambda gpu: len(gpu["slices"]),
    "nvmlDeviceGetMigDeviceHandleByIndex": _slice,
}
for _name, _answer in _DRIVER.items():
    setattr(_nvml, _name, _answer)


def _stand_in(name: str) -> ModuleType:
    """A module of kernels that this build lacks."""
    module = ModuleType(name)
    module.__getattr__ = lambda _: MagicMock()
    module.__path__ = []
    return module


def _operators(namespace: Any, name: str) -> Any:
    try:
        return _find_operator(namespace, name)
    except AttributeError:
        if namespace.name != "_C":
            raise
        return MagicMock(return_value=True)  # asked while a configuration is made, whether it can do something


def _register_fake(name: str, *given: Any, **more: Any) -> Any:
    if name.startswith("_C::") and not given:
        return lambda function: function  # of an operator that this build lacks nobody asks the shapes
    return _register_shapes(name, *given, **more)


_register_shapes = torch.library.register_fake
torch.library.register_fake = _register_fake
_find_operator = torch._ops._OpNamespace.__getattr__
torch._ops._OpNamespace.__getattr__ = _operators
for _name in ("vllm._C_stable_libtorch", "vllm.vllm_flash_attn"):
    sys.modules[_name] = _stand_in(_name)

from vllm.platforms.cuda import NvmlCudaPlatform  # noqa: E402 - reads the driver when it is imported
from vllm.platforms.interface import UnspecifiedPlatform  # noqa: E402


class FakeCudaPlatform(NvmlCudaPlatform):
    """The platform of these GPUs."""

    def is_cumem_allocator_available(self) -> bool:
        """As in every build for NVIDIA's GPUs."""
        return True


class NoPlatform(UnspecifiedPlatform):
    """What vLLM's build for GPUs finds on a machine without one."""


def activate() -> str:
    """Name the platform that vLLM is to take."""
    return f"{__name__}.{'FakeCudaPlatform' if _GPUS else 'NoPlatform'}"
