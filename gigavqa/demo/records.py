"""What the records of all drawn data sets are made of: options in a drawn order, sentences, and files of lines."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import numpy as np

from gigavqa.demo.canvas import replacing

Record = dict[str, Any]


def lettered(texts: Iterable[str]) -> dict[str, str]:
    """Return option texts under the letters from A on, in their order."""
    return dict(zip(ascii_uppercase, texts, strict=False))


def shuffled(texts: Sequence[str], right: str, rng: np.random.Generator) -> tuple[dict[str, str], str]:
    """Return the options in a drawn order, and the letter under which `right` stands."""
    options = lettered(texts[int(at)] for at in rng.permutation(len(texts)))
    return options, letter_of(options, right)


def letter_of(options: dict[str, str], text: str) -> str:
    """Return the letter under which `text` stands."""
    return next(letter for letter, option in options.items() if option == text)


def sentence(text: str) -> str:
    """Return the text with a capital at its beginning."""
    return text[0].upper() + text[1:]


def write_lines(path: Path, records: Iterable[Record]) -> None:
    """Write records as one JSON object a line, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
