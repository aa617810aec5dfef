"""Runs at the start of every child process that inherits PYTHONPATH from `compat.torch_companions`.

Self-contained and cheap: it must not import torch in children that never need it.
"""

import os
import sys
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

BROKEN = "GIGAVQA_BROKEN_COMPANIONS"
_libraries: list[object] = []  # a library undefines its operators when it is collected


class DefineSchemasFirst:
    """A finder that finds nothing: it defines torchvision's missing operators just before torchvision is imported."""

    @classmethod
    def find_spec(
        cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return None always, so that the usual finders go on."""
        if name == "torchvision":
            sys.meta_path.remove(cls)
            _define_torchvision_schemas()
        return None


def repair(broken: Iterable[str]) -> None:
    """Make torchvision importable; make every other broken package look as if it were not installed."""
    for name in broken:
        if name == "torchvision":
            sys.meta_path.insert(0, DefineSchemasFirst)
        else:
            sys.modules[name] = None  # type: ignore[assignment] # to `import` and `find_spec` alike


def _define_torchvision_schemas() -> None:
    from torch.library import Library

    library = Library("torchvision", "DEF")
    for operator in ("nms", "qnms"):
        library.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    _libraries.append(library)


if __name__ == "sitecustomize":  # not where the parent imports this file by its full name
    repair(filter(None, os.environ.get(BROKEN, "").split(",")))
