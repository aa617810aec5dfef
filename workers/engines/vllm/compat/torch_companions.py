"""Makes torchvision, torchaudio and torchcodec harmless where their builds do not fit the torch that is installed.

A package index may serve only their CUDA builds beside a CPU build of torch. Their C extensions cannot be loaded then:
importing torchvision fails on a missing operator, the others on a missing library, and vLLM and transformers import
all three. The transforms that vision-language models use need no C extension, and nobody here needs sound or video.
Where they can be imported nothing is changed.
"""

import functools
import importlib
import importlib.util
import os
import sys
from pathlib import Path

from gigavqa.workers.engines.vllm.compat.children import sitecustomize

CHILDREN = Path(__file__).parent / "children"
COMPANIONS = ("torchvision", "torchaudio", "torchcodec")


def repair_torch_companions() -> tuple[str, ...]:
    """Repair this process and its future children; returns the names of the packages that were broken.

    Must run before `import vllm` or `import transformers`. Costs the imports that these would make anyway.
    """
    if broken := _repair_process():
        _pass_to_children(broken)
    return broken


@functools.cache  # what was repaired can be imported, and children need to be told of it all the same
def _repair_process() -> tuple[str, ...]:
    broken = tuple(name for name in COMPANIONS if _is_installed(name) and not _is_importable(name))
    sitecustomize.repair(broken)
    return broken


def _is_installed(name: str) -> bool:
    return sys.modules.get(name) is not None or importlib.util.find_spec(name) is not None


def _is_importable(name: str) -> bool:
    try:
        importlib.import_module(name)
    except (ImportError, OSError, RuntimeError, AttributeError):
        # What was imported halfway must not be found by the next attempt.
        for module in [key for key in sys.modules if key.partition(".")[0] == name]:
            del sys.modules[module]
        return False
    return True


def _pass_to_children(broken: tuple[str, ...]) -> None:
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if str(CHILDREN) not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join([str(CHILDREN), *filter(None, paths)])
    os.environ[sitecustomize.BROKEN] = ",".join(broken)
