"""The words that decide how an answer is meant, from `lexicon.toml`, as parts of patterns."""

import re
import tomllib
from functools import lru_cache
from pathlib import Path

_WORDS: dict[str, dict[str, list[str]]] = tomllib.loads(
    Path(__file__).with_name("lexicon.toml").read_text(encoding="utf-8")
)
_UNSPACED = re.compile(r"[぀-ヿ㐀-鿿가-힯]")
_LETTER = r"[^\W\d_぀-ヿ㐀-鿿가-힯]"


def phrases(name: str) -> tuple[str, ...]:
    """Return the phrases of a class in all languages."""
    return tuple(dict.fromkeys(phrase for language in _WORDS[name].values() for phrase in language))


def by_language(name: str) -> dict[str, list[str]]:
    """Return the phrases of a class by language, in their order."""
    return _WORDS[name]


@lru_cache(maxsize=64)
def words(*names: str) -> str:
    """Return a pattern's group that matches any phrase of some classes, the longest first. For lower-case texts."""
    longest_first = sorted({phrase for name in names for phrase in phrases(name)}, key=lambda phrase: -len(phrase))
    spaced = [_pattern(phrase) for phrase in longest_first if not _UNSPACED.search(phrase)]
    unspaced = [re.escape(phrase) for phrase in longest_first if _UNSPACED.search(phrase)]
    parts = [*unspaced, *([rf"(?<!{_LETTER})(?:{'|'.join(spaced)})(?!{_LETTER})"] if spaced else [])]
    return f"(?:{'|'.join(parts)})"


def _pattern(phrase: str) -> str:
    words = (re.escape(word).replace("'", "['’]") for word in phrase.split())
    return r"\s+".join(words).replace(r"\*", r"(?:\w+\s+){0,3}?\w+")
