"""Writes an entry into a folder of the operator's own."""

import os
import tempfile
from pathlib import Path

import tomli_w

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.errors import EntryExistsError


def write_entry(entry: CatalogueEntry, folder: Path, *, replace: bool = False) -> Path:
    """Write `ID.toml`, whole or not at all, and return its path. Raises EntryExistsError unless it may `replace`.

    Of several processes that write one id without replacing, one succeeds.
    """
    path = folder / f"{entry.id}.toml"
    folder.mkdir(parents=True, exist_ok=True)
    fields = entry.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    # Written out in full, so that a later release with other defaults serves the model as it was described.
    budgets = {"visual_budget": entry.visual_budget, "published_budget": entry.published_budget}
    fields |= {name: budget.model_dump(mode="json") for name, budget in budgets.items() if budget is not None}
    fields |= {"box_convention": entry.box_convention, "decoding": entry.decoding.model_dump()}
    handle, name = tempfile.mkstemp(prefix=f".{entry.id}-", dir=folder)
    draft = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            tomli_w.dump(fields, file)
        draft.chmod(0o644)
        _put(draft, path, replace=replace)
    finally:
        draft.unlink(missing_ok=True)
    return path


def _put(draft: Path, path: Path, *, replace: bool) -> None:
    if replace:
        draft.replace(path)
        return
    try:
        path.hardlink_to(draft)  # unlike a rename it fails where there is a file already, even since this moment
    except FileExistsError as error:
        raise EntryExistsError(f"{path}: there is an entry of this id already; --force replaces it") from error
