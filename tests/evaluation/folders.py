"""Writes data sets to disk for tests."""

import json
from pathlib import Path
from typing import Any


def write_dataset(folder: Path, *records: dict[str, Any]) -> Path:
    """Write a data set's folder with one file of records, one record a line."""
    write_settings(folder)
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (folder / "samples" / "records.jsonl").write_text(lines, encoding="utf-8")
    return folder


def write_settings(folder: Path) -> None:
    """Write everything of a data set's folder but its records."""
    (folder / "samples").mkdir(parents=True)
    (folder / "images").mkdir()
    (folder / "dataset.toml").write_text(f'name = "{folder.name}"\nbenchmark = "ultravr"\ntitle = "A test"\n')
