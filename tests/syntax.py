"""Python's files as syntax trees."""

import ast
import gc
from pathlib import Path


def syntax_tree(path: Path) -> ast.Module:
    """Parse a file without a collection of garbage meanwhile.

    Python 3.11 fails with a SystemError where a finalizer parses, too, as the writing of a traceback does
    (python/cpython#106905).
    """
    text = path.read_text(encoding="utf-8")
    collecting = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(text)
    finally:
        if collecting:
            gc.enable()
