"""What docstrings say of the code beside them is there: a class that was renamed keeps no old name in a sentence."""

import ast
import builtins
import re
from pathlib import Path

from tests.syntax import syntax_tree

ROOT = Path(__file__).parents[1]
FOLDERS = ["gigavqa", "service", "viewer", "workers", "tiling", "plugins", "scripts"]
ERROR = re.compile(r"\b_?[A-Z]\w*Error\b")


def test_every_error_that_a_docstring_names_is_a_class() -> None:
    """One that the tree defines, imports, takes of a module that it imports, or finds among Python's own."""
    classes, named = set(dir(builtins)), list[tuple[str, str]]()
    for path in (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(syntax_tree(path)):
            match node:
                case ast.ClassDef(name=name) | ast.Attribute(attr=name) | ast.alias(name=name):
                    classes.add(name)
                case ast.Expr(value=ast.Constant(value=str() as docstring)):
                    place = f"{path.relative_to(ROOT)}:{node.lineno}"
                    named += [(place, name) for name in ERROR.findall(docstring)]
    assert len(named) > 200, "docstrings name what they raise"
    assert [(place, name) for place, name in named if name not in classes] == []
