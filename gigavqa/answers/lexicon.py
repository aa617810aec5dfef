"""The words that decide how an answer is meant, from `lexicon.toml`, as parts of patterns."""

import re
import tomllib
from collections.abc import Callable, Collection, Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, cast

_WORDS: dict[str, dict[str, list[str]]] = tomllib.loads(
    Path(__file__).with_name("lexicon.toml").read_text(encoding="utf-8")
)
UNSPACED = re.compile(r"[぀-ヿ㐀-鿿가-힯]")
"""Han, kana and hangul: scripts whose words stand without spaces."""
_ARABIC = re.compile(r"[\u0600-\u06ff]")
_LETTER = r"(?-i:[^\W\d_぀-ヿ㐀-鿿가-힯])"


def classes() -> tuple[str, ...]:
    """Return the names of all classes."""
    return tuple(_WORDS)


def phrases(name: str) -> tuple[str, ...]:
    """Return the phrases of a class in all languages, or in one, "negator.pt"."""
    name, _, language = name.partition(".")
    chosen = (_WORDS[name].get(language, []),) if language else _WORDS[name].values()
    return tuple(dict.fromkeys(phrase for ones in chosen for phrase in ones if phrase))


def by_language(name: str) -> dict[str, list[str]]:
    """Return the phrases of a class by language, in their order."""
    return _WORDS[name]


@lru_cache(maxsize=128)
def words(*names: str) -> str:
    """Return a pattern's group that matches any phrase of some classes, the longest first. For lower-case texts."""
    longest_first = sorted({phrase for name in names for phrase in phrases(name)}, key=lambda phrase: -len(phrase))
    spaced = [_pattern(phrase) for phrase in longest_first if not UNSPACED.search(phrase)]
    unspaced = [_WITHIN.get(phrase, re.escape(phrase)) for phrase in longest_first if UNSPACED.search(phrase)]
    parts = [*unspaced, *([rf"(?:(?<!{_LETTER})|(?=\?))(?:{'|'.join(spaced)})(?!{_LETTER})"] if spaced else [])]
    return f"(?:{'|'.join(parts)})"


_WITHIN = {"はい": r"(?<![てで])はい(?![まなけるた])"}
"""Phrases that other words hold, as patterns that find them by themselves: "していません" says no yes."""


def _pattern(phrase: str) -> str:
    written = r"\s+".join(re.escape(word).replace("'", "['’]") for word in phrase.rstrip("*").split())
    if _ARABIC.match(phrase):
        written = f"[وف]?{written}"  # "and" and "so" are written in one with the word behind them
    return written + r"\w{0,20}" if phrase.endswith("*") else written


_TOKEN = re.compile(rf"{_LETTER}+")
_LONGEST_SPLIT = 400
"""Characters of a text whose words are told apart; in a longer one looking for stems is cheaper."""


@lru_cache(maxsize=256)
def _tokens(text: str) -> frozenset[str]:
    return frozenset(_TOKEN.findall(text))


_SCRIPTS = {
    "Cyrillic": re.compile(r"[\u0400-\u04ff]"),
    "Arabic": _ARABIC,
    "Devanagari": re.compile(r"[\u0900-\u097f]"),
    "kana": re.compile(r"[\u3040-\u30ff]"),
    "hangul": re.compile(r"[\uac00-\ud7a3]"),
    "Han": re.compile(r"[\u3400-\u9fff]"),
    "other": re.compile(r"[\u0080-\u03ff\u2000-\u33ff]"),
}


@lru_cache(maxsize=256)
def _scripts_in(text: str) -> tuple[str, ...]:
    """Return the scripts of a text, ASCII always among them: no phrase of another one can stand in it."""
    if text.isascii():
        return ("ASCII",)
    return ("ASCII", *(script for script, letters in _SCRIPTS.items() if letters.search(text)))


def _by_script(parts: Collection[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for part in parts:
        script = next((script for script, letters in _SCRIPTS.items() if letters.search(part)), "ASCII")
        found.setdefault(script, []).append(part)
    return {script: tuple(ones) for script, ones in found.items()}


class Words:
    """A pattern that begins with a phrase of some classes, and is searched only where the longest word of one stands.

    Looking for these is far cheaper than the pattern, and most texts hold none.
    """

    def __init__(self, *names: str, pattern: str = "{}") -> None:
        self._names, self._form = names, pattern
        every = {phrase for name in names for phrase in phrases(name)}
        keys = {phrase: max(_TOKEN.findall(phrase), key=len, default=phrase) for phrase in every}
        whole = {key for phrase, key in keys.items() if not UNSPACED.search(phrase) and f"{key}*" not in phrase}
        self._tokens = frozenset(key for key in whole if _TOKEN.fullmatch(key) and not _ARABIC.match(key))
        parts = {phrase if UNSPACED.search(phrase) else key for phrase, key in keys.items() if key not in self._tokens}
        self._parts, self._stems = _by_script(_stems(parts)), _by_script(_stems(parts | self._tokens))

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, compiled when it is used first."""
        return re.compile(self._form.replace("{}", words(*self._names)), re.DOTALL)

    def may_be_in(self, lowered: str) -> bool:
        """Return whether the longest word of a phrase stands in a lower-case text."""
        parts = self._stems
        if len(lowered) <= _LONGEST_SPLIT:
            if not self._tokens.isdisjoint(_tokens(lowered)):
                return True
            parts = self._parts
        if not parts:
            return False
        return any(any(map(lowered.__contains__, parts[script])) for script in _scripts_in(lowered) if script in parts)

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


class _LazyPattern:
    def __init__(self, text: str, flags: int) -> None:
        self.pattern, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        # Asked once for each name, which is found here from then on.
        found = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, found)
        return found


def lazy_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled when it is used first: one with words takes milliseconds, a large one more."""
    return cast("re.Pattern[str]", _LazyPattern(text, flags))


def _stems(parts: Collection[str]) -> tuple[str, ...]:
    """Return the parts without those that hold another."""
    return tuple(part for part in parts if not any(other in part and other != part for other in parts))
