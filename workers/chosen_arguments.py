"""Arguments of the engine as the command line gives them: `NAME=VALUE`, of those that vLLM's AsyncEngineArgs knows."""

import ast
import functools
import importlib.util
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from catalogue.names import did_you_mean
from workers.errors import EngineArgumentError

_OWN = frozenset(
    {
        "model",
        "revision",
        "served_model_name",
        "max_model_len",
        "trust_remote_code",
        "hf_overrides",
        "mm_processor_kwargs",
        "limit_mm_per_prompt",
        "scheduling_policy",
        "enable_sleep_mode",
    }
)
"""What jobs are checked against, or what requests rely on: of the catalogue's entry, or of this house."""


def parse_engine_arguments(texts: Iterable[str]) -> dict[str, Any]:
    """Read arguments of the form `name=value`, the values as JSON where they are JSON and else as text.

    Raises EngineArgumentError for what vLLM does not know, and for what an entry of the catalogue has to say.
    """
    return dict(_parse(text) for text in texts)


def _parse(text: str) -> tuple[str, Any]:
    name, separator, value = text.partition("=")
    name = name.replace("-", "_")
    if not (separator and name):
        raise EngineArgumentError(f"'{text}' is not NAME=VALUE, such as gpu_memory_utilization=0.8")
    if name in _OWN:
        raise EngineArgumentError(
            f"'{name}' is no argument of the engine's alone; write it into an entry of the catalogue "
            "(`gigavqa models add` makes one)"
        )
    known = known_engine_arguments()
    if known and name not in known:
        raise EngineArgumentError(f"vLLM has no engine argument '{name}'{did_you_mean(name, known)}")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, {"True": True, "False": False, "None": None}.get(value, value)


@functools.cache
def known_engine_arguments() -> frozenset[str]:
    """Names of the arguments of the installed vLLM, read from its source, since its import takes seconds.

    Empty where no vLLM is installed, or none that is written that way.
    """
    spec = importlib.util.find_spec("vllm")
    folders = spec.submodule_search_locations if spec else None
    path = Path(folders[0], "engine", "arg_utils.py") if folders else None
    if path is None or not path.is_file():
        return frozenset()
    classes = (node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.ClassDef))
    return frozenset(
        field.target.id
        for node in classes
        if node.name in {"EngineArgs", "AsyncEngineArgs"}
        for field in node.body
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
    )
