"""From a name to an entry: of the catalogue, of a checkpoint folder, or of a Hugging Face id of a supported family."""

import re
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from gigavqa.catalogue.checkpoints import Checkpoint, CheckpointConfig, folder_checkpoint, hub_checkpoint
from gigavqa.catalogue.entry import HUB_ID, CatalogueEntry
from gigavqa.catalogue.errors import (
    CheckpointInvalidError,
    CheckpointUnavailableError,
    FamilyMismatchError,
    FamilyUnsupportedError,
)
from gigavqa.catalogue.families.family import Family, fields_of
from gigavqa.catalogue.families.registry import BY_MODEL_TYPE
from gigavqa.runtime.suggestions import did_you_mean
from gigavqa.runtime.validation import describe_faults

_MAX_CONTEXT = 131072  # tokens; checkpoints declare up to a million, whose KV cache few machines hold


def resolve_model(name: str, catalogue: Mapping[str, CatalogueEntry]) -> CatalogueEntry:
    """Return the entry of a catalogue id, or make one for a checkpoint folder or a Hugging Face id; writes nothing.

    Of a Hugging Face id only the configurations are fetched.
    Raises CheckpointUnavailableError, FamilyUnsupportedError, CheckpointInvalidError.
    """
    if name in catalogue:
        return catalogue[name]
    checkpoint = find_checkpoint(name)
    if checkpoint is None:
        raise CheckpointUnavailableError(
            f"'{name}' is neither a model of the catalogue (`gigavqa models` lists them), nor a checkpoint folder, "
            f"nor a Hugging Face id{did_you_mean(name, catalogue)}"
        )
    return describe_checkpoint(checkpoint)


def find_checkpoint(name: str, revision: str | None = None) -> Checkpoint | None:
    """Return the checkpoint of a folder or of a Hugging Face id; None where the name can be neither."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder_checkpoint(folder)
    return hub_checkpoint(name, revision) if HUB_ID.fullmatch(name) else None


def describe_checkpoint(checkpoint: Checkpoint) -> CatalogueEntry:
    """Make an entry of what a checkpoint's own files say: its family, visual budget and context.

    Raises CheckpointUnavailableError, FamilyUnsupportedError, CheckpointInvalidError.
    """
    weights, config = checkpoint.weights, checkpoint.read("config.json")
    family = _family(weights, config)
    processing = checkpoint.read_processing() if family.has_processing else {}
    try:
        budget, context = family.budget(config, processing), min(_context(config), _MAX_CONTEXT)
        return CatalogueEntry(
            id=_model_id(weights),
            title=Path(weights).name,
            weights=weights,
            family=family.name,
            licence="unknown",
            max_model_len=context,
            box_convention=family.box_convention,
            visual_budget=budget,
            chat_template=dict(family.chat_template),
            notes=_notes(family),
        )
    except ValidationError as error:
        raise CheckpointInvalidError(f"{weights}: {describe_faults(error)}") from error
    except CheckpointInvalidError as error:
        raise CheckpointInvalidError(f"{weights}: {error}") from error
    except (TypeError, ValueError, KeyError, IndexError) as error:
        raise CheckpointInvalidError(f"{weights}: its limits cannot be read: {error!r}") from error


def require_family(entry: CatalogueEntry, checkpoint: Checkpoint) -> None:
    """Raise FamilyMismatchError where config.json is another family's than the entry's, by its model_type or its
    architectures; of a family that only its operator knows nothing is asked.

    Raises CheckpointUnavailableError and CheckpointInvalidError, too.
    """
    config = checkpoint.read("config.json")
    family = entry.known_family
    if family is None:
        return
    if (found := _known_family(config)) is family:
        _require_architecture(checkpoint.weights, family, config)
        return
    remedy = (
        f"`gigavqa models add {checkpoint.weights} --id {entry.id} --force` writes an entry of that family"
        if found
        else f"set its weights to a model of {entry.family}, or its family to a name of your own"
    )
    raise FamilyMismatchError(
        f"'{entry.id}' is of the family {entry.family} by its entry, and its weights {checkpoint.weights} are of "
        f"{found.name if found else 'none that is known'} by their config.json, {_architecture(config)}: {remedy}"
    )


def _require_architecture(weights: str, family: Family, config: CheckpointConfig) -> None:
    """Raise FamilyMismatchError where the class that the engine would load is not one of the family's."""
    named = _architectures(config)
    if named and not set(named) & set(family.architectures):
        raise FamilyMismatchError(
            f"{weights}: {_architecture(config)} by its config.json, and {' or '.join(family.architectures)} is the "
            f"architecture of the family {family.name}: take the config.json that the weights came with, or name "
            "weights of that family"
        )


def _family(weights: str, config: CheckpointConfig) -> Family:
    if family := _known_family(config):
        return family
    raise FamilyUnsupportedError(
        f"{weights}: {_architecture(config)} is of no supported family; supported: {', '.join(BY_MODEL_TYPE)}"
    )


def _known_family(config: CheckpointConfig) -> Family | None:
    names = (config.get("model_type"), *_architectures(config))
    return next((BY_MODEL_TYPE[name] for name in names if isinstance(name, str) and name in BY_MODEL_TYPE), None)


def _architecture(config: CheckpointConfig) -> str:
    named = ", ".join(_architectures(config)) or "unnamed"
    return f"model_type '{config.get('model_type')}' (architecture {named})"


def _architectures(config: CheckpointConfig) -> list[str]:
    named = config.get("architectures")
    return [str(name) for name in named] if isinstance(named, list) else []


def _context(config: CheckpointConfig) -> int:
    """Positions of the language model, which families configure under different names."""
    fields = fields_of(config)
    parts = [fields.part(name) for name in ("text_config", "llm_config", "language_config")]
    told = next((part for part in parts if part.has("max_position_embeddings")), fields)
    return told.number("max_position_embeddings")


def _notes(family: Family) -> tuple[str, ...]:
    if not family.remote_code:
        return ()
    return ("The tokenizer is code that comes with this checkpoint: set trust_remote_code once you have read it.",)


def _model_id(weights: str) -> str:
    return re.sub(r"[^a-z0-9._-]+", "-", Path(weights).name.lower()).lstrip("._-") or "model"
