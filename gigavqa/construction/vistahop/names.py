"""Names of entities: when two are one, and whether a text says one."""

import re
import unicodedata
from collections.abc import Iterable

_NO_WORD = re.compile(r"[\W_]+")


def folded_text(text: str) -> str:
    """Return a text in one form, small, with single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def bare_name(name: str) -> str:
    """Return letters and digits of a name alone, small: what is left is equal where only marks and spaces differ."""
    return _NO_WORD.sub("", folded_text(name))


def told_names(text: str, names: Iterable[str]) -> list[str]:
    """Return those of some names that a text says as whole words, whatever their case; each once."""
    folded = folded_text(text)
    return [name for name in dict.fromkeys(names) if _tells(folded, folded_text(name))]


def _tells(folded: str, name: str) -> bool:
    return bool(name) and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", folded) is not None
