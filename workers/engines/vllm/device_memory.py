"""Find the memory of the device that an engine gets: of a GPU that MIG has split, the slice's own.

vLLM 0.32 asks the driver for the whole GPU's (platforms/cuda.py), and CUDA shows the slice alone.
"""

import os
from typing import Any


def device_bytes(platform: Any) -> int | None:
    """Return the memory of the first device that vLLM's `platform` shows this process.

    None for a GPU whose driver does not tell it, such as one that shares the machine's. Raises what else the driver
    does.
    """
    return _gpu_bytes(platform) if platform.is_cuda() else int(platform.get_device_total_memory())


def _gpu_bytes(platform: Any) -> int | None:
    from vllm.utils.import_utils import import_pynvml

    nvml = import_pynvml()
    nvml.nvmlInit()
    try:
        part = _first_slice(nvml, platform)
        if part is not None:
            return int(nvml.nvmlDeviceGetMemoryInfo(part).total)
        return int(platform.get_device_total_memory())
    except nvml.NVMLError_NotSupported:
        return None
    finally:
        nvml.nvmlShutdown()


def _first_slice(nvml: Any, platform: Any) -> Any:
    """Return the slice that CUDA takes, by its name or as the first one that the driver shows; None for a whole GPU."""
    name = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0].strip()
    if name.startswith("MIG-"):
        return nvml.nvmlDeviceGetHandleByUUID(name)
    gpu = nvml.nvmlDeviceGetHandleByIndex(platform.device_id_to_physical_device_id(0))
    try:
        if not nvml.nvmlDeviceGetMigMode(gpu)[0]:
            return None
    except nvml.NVMLError:  # a GPU that cannot be split
        return None
    for number in range(nvml.nvmlDeviceGetMaxMigDeviceCount(gpu)):
        try:
            return nvml.nvmlDeviceGetMigDeviceHandleByIndex(gpu, number)
        except nvml.NVMLError:  # not there, or not for this process
            continue
    return None
