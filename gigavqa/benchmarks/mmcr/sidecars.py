"""Files that may lie beside a data set: `documents.json`, its documents' pages, and `errors.jsonl`, people's labels."""

import json
from collections.abc import Mapping
from typing import Any

from gigavqa.benchmarks.mmcr.taxonomy import ERRORS as LABELLED_ERRORS
from gigavqa.benchmarks.mmcr.taxonomy import read_error
from gigavqa.evaluation.capabilities import LabelKind

DOCUMENTS = "documents.json"
ERRORS = "errors.jsonl"
LABEL_KINDS = (
    LabelKind(
        name="error",
        title="What is its error?",
        file=ERRORS,
        choices={name: name for name in LABELLED_ERRORS},
        place={"sample_id": "sample", "model": "model"},
        says="category",
    ),
)
ErrorLabels = Mapping[tuple[str, str], str]
"""The category of a wrong answer, by sample and model."""


def read_documents(text: str) -> dict[str, dict[str, Any]]:
    """Read `documents.json`: an object of documents, each with `pages` and `subject`. Raises ValueError."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ValueError(f"{DOCUMENTS}: is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{DOCUMENTS}: must be an object of documents by their names")
    for name, document in found.items():
        if not isinstance(document, dict) or not isinstance(document.get("pages"), str | list):
            raise ValueError(f"{DOCUMENTS}: '{name}' must have `pages`: a list of images, a folder of them, or a PDF")
    return found


def read_labels(text: str) -> dict[tuple[str, str], str]:
    """Read `errors.jsonl`: lines of {"sample_id", "model", "category"}. Raises ValueError naming every bad line."""
    labels: dict[tuple[str, str], str] = {}
    wrong = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                place, category = _read_label(line)
                if labels.setdefault(place, category) != category:
                    raise ValueError(f"sample '{place[0]}' has another label of {place[1]} already")
            except ValueError as error:
                wrong.append(f"line {number}: {error}")
    if wrong:
        raise ValueError(f"{ERRORS}: {'; '.join(wrong)}")
    return labels


def _read_label(line: str) -> tuple[tuple[str, str], str]:
    try:
        found = json.loads(line)
    except ValueError as error:
        raise ValueError(f"is not JSON: {error}") from error
    names = ("sample_id", "model", "category")
    if not isinstance(found, dict) or not all(isinstance(found.get(name), str) for name in names):
        raise ValueError(f"must be an object with the texts {', '.join(names)}")
    return (found["sample_id"], found["model"]), read_error(found["category"])
