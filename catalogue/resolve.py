"""From a name to an entry: of the catalogue, of a checkpoint folder, or of a Hugging Face id of a supported family."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from catalogue.entry import CatalogueEntry
from catalogue.errors import CheckpointInvalidError, CheckpointUnavailableError, FamilyUnsupportedError
from catalogue.families import FAMILIES, Family
from tiling.budgets.qwen import QwenBudget

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
_MAX_CONTEXT = 131072  # tokens; checkpoints declare up to a million, whose KV cache few machines hold
_MERGE_SIZE = 2

Config = Mapping[str, Any]


def resolve_model(name: str, catalogue: Mapping[str, CatalogueEntry]) -> CatalogueEntry:
    """Return the entry of a catalogue id, or make one for a checkpoint folder or a Hugging Face id; writes nothing.

    Of a Hugging Face id only `config.json` and `preprocessor_config.json` are fetched.
    Raises CheckpointUnavailableError, FamilyUnsupportedError, CheckpointInvalidError.
    """
    if name in catalogue:
        return catalogue[name]
    folder = Path(name).expanduser()
    if folder.is_dir():
        config, preprocessor = (_read(folder / file) for file in ("config.json", "preprocessor_config.json"))
        return _entry(str(folder.resolve()), config, preprocessor)
    if _HUB_ID.fullmatch(name):
        config, preprocessor = (_read(_fetch(name, file)) for file in ("config.json", "preprocessor_config.json"))
        return _entry(name, config, preprocessor)
    known = ", ".join(sorted(catalogue))
    raise CheckpointUnavailableError(
        f"'{name}' is neither a model of the catalogue ({known}), nor a checkpoint folder, nor a Hugging Face id"
    )


def _fetch(hub_id: str, file: str) -> Path:
    try:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError
    except ImportError as error:
        raise CheckpointUnavailableError(
            f"{hub_id}: huggingface_hub is not installed; pip install 'gigavqa[gpu]' or 'gigavqa[cpu]'"
        ) from error
    try:
        return Path(hf_hub_download(hub_id, file))
    except (HfHubHTTPError, HFValidationError, OSError, ValueError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise CheckpointUnavailableError(f"{hub_id}: {file} cannot be fetched from Hugging Face: {reason}") from error


def _read(path: Path) -> Config:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise CheckpointInvalidError(f"{path}: the checkpoint has no such file") from error
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise CheckpointInvalidError(f"{path}: {error}") from error
    if not isinstance(content, dict):
        raise CheckpointInvalidError(f"{path}: not a JSON object")
    return content


def _entry(weights: str, config: Config, preprocessor: Config) -> CatalogueEntry:
    family = _family(weights, config)
    try:
        return CatalogueEntry(
            id=_model_id(weights),
            title=Path(weights).name,
            weights=weights,
            family=family.name,
            licence="unknown",
            max_model_len=min(_context(config), _MAX_CONTEXT),
            box_convention=family.box_convention,
            visual_budget=_budget(family, preprocessor),
            chat_template=dict(family.chat_template),
        )
    except ValidationError as error:
        fields = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise CheckpointInvalidError(f"{weights}: {fields}") from error


def _family(weights: str, config: Config) -> Family:
    model_type = config.get("model_type")
    if isinstance(model_type, str) and model_type in FAMILIES:
        return FAMILIES[model_type]
    architectures = ", ".join(map(str, config.get("architectures") or ["unnamed"]))
    raise FamilyUnsupportedError(
        f"{weights}: model_type '{model_type}' (architecture {architectures}) is of no supported family; "
        f"supported: {', '.join(FAMILIES)}"
    )


def _context(config: Config) -> int:
    text = config.get("text_config") or config
    length = text.get("max_position_embeddings", config.get("max_position_embeddings"))
    if not isinstance(length, int):
        raise CheckpointInvalidError("config.json: max_position_embeddings is missing")
    return length


def _budget(family: Family, preprocessor: Config) -> QwenBudget:
    """Read the limits where the family's checkpoints keep them: in `size`, or beside it in older ones."""
    size = preprocessor.get("size") or {}
    return QwenBudget(
        factor=preprocessor.get("patch_size", family.patch_size) * preprocessor.get("merge_size", _MERGE_SIZE),
        min_pixels=preprocessor.get("min_pixels") or size.get("shortest_edge") or family.min_pixels,
        max_pixels=preprocessor.get("max_pixels") or size.get("longest_edge") or family.max_pixels,
    )


def _model_id(weights: str) -> str:
    return re.sub(r"[^a-z0-9._-]+", "-", Path(weights).name.lower()).lstrip("._-") or "model"
