"""Corpora that are written for tests: invented firms and towns, the same for the same seed."""

import json
import random
from collections.abc import Iterable, Mapping
from pathlib import Path

_COMMON = ("crane", "quay", "mark", "firm", "town", "founded", "moved", "mill", "ledger", "Ansel", "Norrland")
_WORDS = (*_COMMON, "harbour", "1911", "1912", "港口", "建于", "город", "Café")


def write_corpus(folder: Path, documents: Iterable[Mapping[str, str]], name: str = "pages.jsonl") -> Path:
    """Write documents as one file of a corpus; returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(f"{json.dumps(document, ensure_ascii=False)}\n" for document in documents)
    (folder / name).write_text(lines, encoding="utf-8")
    return folder


def drawn_documents(seed: int, count: int) -> list[dict[str, str]]:
    """Documents of words that occur often and seldom."""
    draw = random.Random(seed)
    weights = [1 / (1 + at) for at in range(len(_WORDS))]

    def words(number: int) -> str:
        return " ".join(draw.choices(_WORDS, weights, k=number))

    return [
        {"id": f"d-{number:03}", "title": words(draw.randint(0, 3)), "url": f"https://pages.invalid/{number}"}
        | {"text": ". ".join(words(draw.randint(1, 12)) for _ in range(draw.randint(1, 8)))}
        for number in range(count)
    ]
