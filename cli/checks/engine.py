"""Checks of the engine, in a process of its own: importing it takes seconds and may crash."""

import subprocess
import sys

from cli.checks.finding import Finding

_ADVICE = "run `make setup`: it installs the extra `gpu` where there is an NVIDIA GPU, else `cpu`"
_SECONDS = 180
_TORCH = "import torch; print(torch.__version__, 'with CUDA' if torch.cuda.is_available() else 'CPU only')"
_VLLM = """
from workers.engines.compat.torch_companions import repair_torch_companions
broken = repair_torch_companions()
import vllm
print(vllm.__version__ + (f" ({', '.join(broken)} repaired: builds for CUDA beside a CPU torch)" if broken else ""))
"""


def torch() -> Finding:
    """PyTorch."""
    return _import("PyTorch", _TORCH)


def vllm() -> Finding:
    """VLLM, with the companions of torch made harmless where their builds do not fit."""
    return _import("vLLM", _VLLM)


def _import(name: str, code: str) -> Finding:
    try:
        run = subprocess.run(
            [sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return Finding(name, "fail", f"was not imported within {_SECONDS} s", "look for an overloaded machine or disk")
    if run.returncode == 0:
        return Finding(name, "ok", run.stdout.strip().splitlines()[-1])
    reason = (run.stderr.strip().splitlines() or [f"the import ended with status {run.returncode}"])[-1]
    return Finding(name, "fail", reason, _ADVICE)
