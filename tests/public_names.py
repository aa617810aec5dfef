"""Every name that the world outside knows: keys of JSON, settings, metrics, commands, keys of the store, columns."""

import ast
import importlib
import json
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from pydantic import BaseModel

from gigavqa.cli.app import app
from gigavqa.runtime.settings import ProcessSettings
from gigavqa.service.app import create_app
from gigavqa.service.settings import GatewaySettings
from gigavqa.store.parquet_parts import SCHEMA
from tests.syntax import syntax_tree

ROOT = Path(__file__).parent.parent
ROOMS = (
    "contract",
    "store",
    "service",
    "viewer",
    "client",
    "catalogue",
    "answers",
    "evaluation",
    "reports",
    "benchmarks",
    "backup",
)
SETTINGS = ("gigavqa.workers.settings", "gigavqa.viewer.settings", "gigavqa.service.settings", "gigavqa.runtime.home")


def public_names() -> dict[str, list[str]]:
    """Return the names of each kind, sorted."""
    found = {
        "commands": _commands(),
        "columns of parts": (str(field) for field in SCHEMA),
        "json of models": _models(),
        "keys of the store": _store_keys(),
        "metrics": _metrics(),
        "operations": _operations(),
        "settings": _settings(),
    }
    return {kind: sorted(names) for kind, names in found.items()}


def _commands() -> Iterator[str]:
    yield from _commands_below("gigavqa", typer.main.get_group(app))


def _commands_below(name: str, command: Any) -> Iterator[str]:
    yield from _options(name, command)
    for inner in getattr(command, "commands", {}):
        yield from _commands_below(f"{name} {inner}", command.resolve_command(None, [inner])[1])


def _options(name: str, command: Any) -> Iterator[str]:
    yield name
    for parameter in command.params:
        yield from (f"{name} {option}" for option in (*parameter.opts, *parameter.secondary_opts))


def _models() -> set[str]:
    """The fields of every model as JSON has them; which class has them is nobody's business."""
    for room in ROOMS:
        for module in pkgutil.walk_packages(importlib.import_module(f"gigavqa.{room}").__path__, f"gigavqa.{room}."):
            importlib.import_module(module.name)
    return {" ".join(sorted(_fields(model))) for model in _below(BaseModel) if _is_ours(model) and model.model_fields}


def _fields(model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield field.serialization_alias or field.alias or name


def _below(model: type) -> Iterator[Any]:
    for one in model.__subclasses__():
        yield one
        yield from _below(one)


def _is_ours(model: type) -> bool:
    return (
        model.__module__.startswith("gigavqa.")
        and model.__module__.split(".")[1] in ROOMS
        and not issubclass(model, ProcessSettings)
    )


def _store_keys() -> Iterator[str]:
    tree = syntax_tree(ROOT / "gigavqa/store/redis_keys.py")
    for text in (node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)):
        yield "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in text.values)


def _metrics() -> set[str]:
    sources = (
        path
        for room in ("service", "workers", "viewer", "gigavqa/store", "gigavqa/runtime")
        for path in (ROOT / room).rglob("*.py")
    )
    return {
        name for source in sources for name in re.findall(r'"(gigavqa_[a-z_]+)"', source.read_text(encoding="utf-8"))
    }


def _operations() -> Iterator[str]:
    document = create_app(GatewaySettings.from_environment({})).openapi()
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            yield f"{method} {path}"
            for parameter in operation.get("parameters", ()):
                yield f"{method} {path} {parameter['in']} {parameter['name']}"


def _settings() -> set[str]:
    for module in SETTINGS:
        importlib.import_module(module)
    return {
        str(field.validation_alias or f"{model.model_config.get('env_prefix', '')}{name}").upper()
        for model in _below(ProcessSettings)
        for name, field in model.model_fields.items()
    }


if __name__ == "__main__":
    Path(__file__).with_suffix(".json").write_text(
        json.dumps(public_names(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
