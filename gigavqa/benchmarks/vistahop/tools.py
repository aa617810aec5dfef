"""Declarations of tools as data: ours, or those of a file beside the data set, by what each tool does."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from gigavqa.benchmarks.vistahop.prompts import own_declarations

ToolKind = Literal["zoom", "search", "image search"]
KINDS: tuple[ToolKind, ...] = get_args(ToolKind)


@dataclass(frozen=True)
class ToolDeclaration:
    """A tool's declaration: the text that a model is given, and the action behind it."""

    kind: ToolKind
    declaration: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The name in calls."""
        return str(self.declaration["function"]["name"])

    @property
    def line(self) -> str:
        """The declaration on one line."""
        return json.dumps(self.declaration, ensure_ascii=False)


def default_tools() -> tuple[ToolDeclaration, ...]:
    """Return the three tools, as we declare them."""
    return tuple(ToolDeclaration(_kind_of(one["function"]["name"]) or "zoom", one) for one in own_declarations())


def read_tools(file: str, text: str) -> tuple[ToolDeclaration, ...]:
    """Read declarations from YAML or JSON: a list, or one under `tools`, whose items may hold a `tool_schema`.

    Raises ValueError, beginning with the file's name, that tells all that is wrong.
    """
    declarations, wrong = [], []
    for number, item in enumerate(_as_list(file, text), start=1):
        declaration = _declaration(item)
        declarations.append(declaration)
        wrong += [f"tool {number}: {told}" for told in _check_declaration(declaration)]
    names = [str(one.get("function", {}).get("name", "")) for one in declarations]
    twice = sorted({name for name in names if name and names.count(name) > 1})
    wrong += [f"tool '{name}' is declared more than once" for name in twice]
    kinds = [_kind_of(name) for name in names]
    wrong += [f"several tools are a {kind}" for kind in KINDS if kinds.count(kind) > 1 and not twice]
    if wrong:
        raise ValueError(f"{file}: {'; '.join(wrong)}")
    return tuple(ToolDeclaration(kind, one) for kind, one in zip(kinds, declarations, strict=True) if kind)


def _as_list(file: str, text: str) -> list[Any]:
    import yaml  # noqa: PLC0415 - few data sets have such a file

    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"{file}: is neither YAML nor JSON: {' '.join(str(error).split())}") from error
    listed = found.get("tools") if isinstance(found, dict) else found
    if not isinstance(listed, list) or not listed:
        raise ValueError(f"{file}: must be a list of declarations, or hold one under `tools`")
    return listed


def _declaration(item: Any) -> dict[str, Any]:
    inner = item.get("tool_schema", item) if isinstance(item, dict) else {}
    if isinstance(inner, dict) and "function" not in inner and "name" in inner:
        inner = {"type": "function", "function": inner}
    return inner if isinstance(inner, dict) and isinstance(inner.get("function"), dict) else {"function": {}}


def _check_declaration(declaration: Mapping[str, Any]) -> Iterator[str]:
    function = declaration["function"]
    name = function.get("name")
    if not isinstance(name, str) or not name:
        yield "has no name"
    elif _kind_of(name) is None:
        yield f"'{name}' is no zoom, search or image search by its name, which are all that can be called"
    if not isinstance(function.get("parameters"), dict):
        yield f"'{name}' has no parameters"


def _kind_of(name: str) -> ToolKind | None:
    plain = name.lower()
    if "zoom" in plain or "crop" in plain:
        return "zoom"
    if "search" in plain:
        return "image search" if "image" in plain else "search"
    return None


def select_tools(tools: Sequence[ToolDeclaration], kinds: Sequence[ToolKind]) -> tuple[ToolDeclaration, ...]:
    """Return the tools of these kinds, in the order of their declarations."""
    return tuple(tool for tool in tools if tool.kind in kinds)
