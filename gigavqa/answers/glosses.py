"""Takes the words of an option off its letter: "D (yellow)", "D: yellow" and "**D**, yellow" are one value, D."""

import re
from collections.abc import Mapping
from functools import lru_cache

from gigavqa.answers.letters import WORD

_SPACE = r"[^\S\n]{0,3}"
_LETTER = rf"(?<![{WORD}])(?<!['’-])(?P<letter>[{{}}])(?P<closed>[)\]*_`\"'”’»」』]{{{{0,6}}}})"
_JOINT = rf"(?P<joint>{_SPACE}(?:[.,:;=،、–—-]{{1,3}}|-?>|→|⇒)?)(?P<then>[)\]*_`]{{1,4}}(?=\s))?{_SPACE}"
_OPENED = r"(?P<opened>[(\[*_`\"'“‘«「『]{0,6})(?:(?:[Tt]he|[Aa]n?)\s)?"
_BEHIND = re.compile(
    r"(?:[.。](?=[)\]”\"'’»」』]))?(?P<behind>[)\]*_`\"'”’»」』]{0,8})(?P<comma>[^\S\n]?[,،、–—]|\s-(?=\s))?"
)
_PAIRED = frozenset({",", "،", "、", "–", "—", "-"})
"""Marks that stand on both sides of words, and go with them."""
_WORDS = frozenset("AI")
"""Letters that are words as well: bare space does not join them to what follows, "A red car"."""


def without_glosses(text: str, options: Mapping[str, str]) -> str:
    """Return a text with the bare letter in place of each letter that its own option's words follow."""
    joined, wordings = _patterns(tuple(options.items()))
    if not wordings:
        return text
    parts, end = [], 0
    for match in joined.finditer(text):
        said = wordings[match["letter"]].match(text, match.end())
        if said and match.start() >= end and not _is_word(match):
            behind = _behind(text, said.end())
            closing = behind["behind"][len(match["opened"]) :]
            parts += [text[end : match.start()], match["letter"], match["closed"], match["then"] or "", closing]
            end = behind.end() if match["joint"].strip() in _PAIRED else behind.end("behind")
    return "".join([*parts, text[end:]])


def _behind(text: str, position: int) -> re.Match[str]:
    match = _BEHIND.match(text, position)
    assert match, "the pattern matches nothing as well"
    return match


def _is_word(match: re.Match[str]) -> bool:
    bare = not match["joint"].strip() and not match["closed"] and not match["opened"]
    return bare and match["letter"] in _WORDS


@lru_cache(maxsize=256)
def _patterns(options: tuple[tuple[str, str], ...]) -> tuple[re.Pattern[str], dict[str, re.Pattern[str]]]:
    stripped = {letter: text.strip(" .。") for letter, text in options}
    wordings = {
        letter: re.compile(r"\s+".join(map(re.escape, text.split())) + rf"(?![{WORD}])", re.IGNORECASE)
        for letter, text in stripped.items()
        if any(map(str.isalnum, text))
    }
    return re.compile(_LETTER.format("".join(wordings) or "A") + _JOINT + _OPENED), wordings
