"""The words that decide how an answer is meant, from `lexicon.toml`, as parts of patterns."""

import re
import tomllib
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

_WORDS: dict[str, dict[str, list[str]]] = tomllib.loads(
    Path(__file__).with_name("lexicon.toml").read_text(encoding="utf-8")
)
_UNSPACED = re.compile(r"[぀-ヿ㐀-鿿가-힯]")
_LETTER = r"[^\W\d_぀-ヿ㐀-鿿가-힯]"


def classes() -> tuple[str, ...]:
    """Return the names of all classes."""
    return tuple(_WORDS)


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
    parts = [*unspaced, *([rf"(?:(?<!{_LETTER})|(?=\?))(?:{'|'.join(spaced)})(?!{_LETTER})"] if spaced else [])]
    return f"(?:{'|'.join(parts)})"


def _pattern(phrase: str) -> str:
    written = r"\s+".join(re.escape(word).replace("'", "['’]") for word in phrase.rstrip("*").split())
    return written + r"\w{0,20}" if phrase.endswith("*") else written


class Words:
    """A pattern that begins with a phrase of some classes, and is searched only where one of their stems stands.

    Looking for the stems is far cheaper than the pattern, and most texts hold none.
    """

    def __init__(self, *names: str, pattern: str = "{}") -> None:
        self.pattern = re.compile(pattern.replace("{}", words(*names), 1), re.DOTALL)
        heads = {re.split(r"[\s'*]", phrase)[0] for name in names for phrase in phrases(name)}
        least = {head for head in heads if not any(other in head and other != head for other in heads)}
        self._ascii = tuple(head for head in least if head.isascii())
        self._other = tuple(head for head in least if not head.isascii())

    def may_be_in(self, lowered: str) -> bool:
        """Whether one of the stems stands in a lower-case text."""
        stems = self._ascii if lowered.isascii() else self._ascii + self._other
        return any(stem in lowered for stem in stems)

    def search(self, lowered: str) -> re.Match[str] | None:
        """Find the first match."""
        return self.pattern.search(lowered) if self.may_be_in(lowered) else None

    def finditer(self, lowered: str) -> Iterator[re.Match[str]]:
        """Find every match, in order."""
        return self.pattern.finditer(lowered) if self.may_be_in(lowered) else iter(())

    def sub(self, replacement: str | Callable[[re.Match[str]], str], lowered: str) -> str:
        """Replace every match."""
        return self.pattern.sub(replacement, lowered) if self.may_be_in(lowered) else lowered

    def split(self, lowered: str) -> list[str]:
        """Split at every match."""
        return self.pattern.split(lowered) if self.may_be_in(lowered) else [lowered]
