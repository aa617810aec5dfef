"""Reads the configuration of the authors' program: data sets by name, with records, pictures, prompts and scoring."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gigavqa.benchmarks.vistahop.sidecars import LETTER
from gigavqa.evaluation.capabilities import ConfiguredDataset

_PROMPTS = ("system_prompt", "format_instruction")
_LETTERED = "em_score_mcq"
"""The score of lettered questions; whether it is used or unused, the data set's questions are such."""


def read_configuration(path: Path, name: str) -> ConfiguredDataset | None:
    """Return what a configuration says of a data set; of the only one that it holds, whatever its name.

    None for a file that is none. Raises ValueError, beginning with the file's name.
    """
    held = _list_datasets(path)
    if not held:
        return None
    if name not in held and len(held) > 1:
        raise ValueError(f"{path.name}: holds {', '.join(held)}; name the data set as one of them")
    stem = name if name in held else next(iter(held))
    try:
        return _configured_dataset(path.parent, stem, held[stem])
    except ValueError as error:
        raise ValueError(f"{path.name}: {stem}.{error}") from error


def _list_datasets(path: Path) -> dict[str, Mapping[str, Any]]:
    if path.suffix != ".json":
        return {}
    with path.open("rb") as file:
        if not file.read(64).lstrip().startswith(b"{"):  # records may be a long list
            return {}
    try:
        found = json.loads(path.read_bytes())
    except ValueError:
        return {}
    is_held = all(isinstance(one, dict) and "annotation" in one for one in found.values())
    return found if is_held else {}


def _configured_dataset(folder: Path, stem: str, said: Mapping[str, Any]) -> ConfiguredDataset:
    records, root = (_resolve_path(folder, field, said.get(field, "")) for field in ("annotation", "root"))
    if not records.is_file():
        raise ValueError(f"annotation: there is no file {records}")
    if not root.is_dir():
        raise ValueError(f"root: there is no folder {root}")
    template = said.get("input_template") or {}
    arguments = template.get("arguments") or {} if isinstance(template, dict) else {}
    prompts = {name: str(arguments[name]) for name in _PROMPTS if arguments.get(name) is not None}
    scores = [name for field in ("reward_fn", "unused_reward_fn") for name in said.get(field) or ()]
    settings = {"prompts": prompts, "answers": {"kind": LETTER} if _LETTERED in scores else {}}
    return ConfiguredDataset(records, root, stem, {table: inner for table, inner in settings.items() if inner})


def _resolve_path(folder: Path, field: str, said: Any) -> Path:
    if not isinstance(said, str):
        raise ValueError(f"{field}: must be a path, not {said!r}")
    return folder / said
