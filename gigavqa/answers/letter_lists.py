"""Reads a line that holds nothing but option letters: "A, C and E", "ACE", "A to C", "a), b) y d)"."""

import re
from collections.abc import Iterable, Sequence

from gigavqa.answers.letters import WORD, latin
from gigavqa.answers.lexicon import UNSPACED, lazy_pattern, phrases, words

_MARKUP = re.compile(
    r"\\(?:f?boxed|text|mathrm|mathbf)|</\w+>|[*_`\"'“”‘’$\\{}<>\[\]()«»「」]|^\s*(?:[-•]|\d{1,2}[.)])\s"
)
_LEAD = lazy_pattern(rf"\s*(?:(?:{words('opens_list', 'option_noun')}|answers?|答案|[:：])\s*)*", re.IGNORECASE)
_END = re.compile(r"(?:\s*(?:です|だ|である|입니다|이다|हैं|है|项))?[\s.:。।!]*$")
_SPACED = [phrase for phrase in phrases("addition") if not UNSPACED.search(phrase)]
_LETTERS_OF_WORDS = frozenset(phrase for phrase in _SPACED if len(phrase) == 1)
"""Words of one letter that join others: in a list of capitals a small one is a word, a capital is a letter."""


def _any_of(ones: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, ones), key=len, reverse=True))


_WORDS_BETWEEN = _any_of(phrase for phrase in _SPACED if len(phrase) > 1)
_SIGNS_BETWEEN = _any_of(phrase for phrase in phrases("addition") if UNSPACED.search(phrase))
_RANGES = _any_of(phrases("range_to"))
_TOKEN = re.compile(
    rf"(?P<small>[a-z])(?![{WORD}])|(?P<letter>[A-Z])(?:(?![{WORD}])|(?=[A-Z]+(?![{WORD}])))"
    rf"|(?P<joint>[,،;/&+|、，；・·•]|{_SIGNS_BETWEEN}|(?i:{_WORDS_BETWEEN}|plus|along\s+with|together\s+with)(?![^\W_])|و(?=\s?[A-Z])|и(?=\s))"
    rf"|(?P<range>-(?=\S)(?<!\s-)|[–—~～〜]|(?:{_RANGES})(?![^\W_A-Z]))|(?P<space>[\s.:]+)"
)
_SMALL_LABEL = re.compile(rf"(?<![{WORD}'’])([a-z])\)")
_MOST = 200
"""Characters of a line that is a list at most."""


def with_capital_labels(text: str, valid: frozenset[str]) -> str:
    """Return a text with capitals for small labels, "a), b) y d)"."""
    return _SMALL_LABEL.sub(lambda found: f"{latin(found[1])})" if latin(found[1]) in valid else found[0], text)


def letters_alone(line: str, options: Sequence[str]) -> list[str]:
    """Return the letters of a line that holds nothing else but marks and words such as "and" between them.

    None where it holds anything else, one letter twice, or small ones of which one may be a word, "a e d".
    """
    if len(line) > _MOST:
        return []
    bare = _MARKUP.sub(" ", line)
    bare = _END.sub("", bare[_LEAD.match(bare).end() :])  # type: ignore[union-attr]
    kinds, found, end = list[str](), list[str](), 0
    while end < len(bare) and (token := _TOKEN.match(bare, end)):
        end = token.end()
        if token.lastgroup != "space":
            kinds.append(token.lastgroup or "")
            found.append(token[0].strip())
    is_whole = end == len(bare) and kinds[-1:] != ["joint"]
    return _expanded(_without_words(kinds, found, options), options) if is_whole else []


def _without_words(kinds: Sequence[str], found: Sequence[str], options: Sequence[str]) -> list[str]:
    """Return letters and the signs of ranges, small letters read as words or as letters."""
    listed = [(kind, one) for kind, one in zip(kinds, found, strict=True) if kind != "joint"]
    capitals = any(kind == "letter" for kind, _ in listed)
    if capitals:
        if any(kind == "small" and one not in _LETTERS_OF_WORDS for kind, one in listed) or kinds[-1] == "small":
            return []
        return [one if kind == "letter" else "-" for kind, one in listed if kind != "small"]
    for at, (kind, one) in enumerate(zip(kinds, found, strict=True)):
        before, behind = kinds[at - 1 : at], kinds[at + 1 : at + 2]
        if kind == "small" and one in _LETTERS_OF_WORDS and before == behind == ["small"]:
            if latin(one) in options:
                return []
            listed.remove((kind, one))
    return [latin(one) if kind == "small" else "-" for kind, one in listed]


def _expanded(signs: Sequence[str], options: Sequence[str]) -> list[str]:
    """Return the letters of a list with ranges, "A-C and E"; a chain, "A-C-E", is no range."""
    places = {letter: at for at, letter in enumerate(options)}
    if any(sign != "-" and sign not in places for sign in signs):
        return []
    found: list[str] = []
    for at, sign in enumerate(signs):
        if sign != "-":
            found.append(sign)
            continue
        if at == 0 or at + 1 == len(signs) or "-" in (signs[at - 1], signs[at + 1]):
            return []
        first, last = places[signs[at - 1]], places[signs[at + 1]]
        is_chain = "-" in (*signs[at - 2 : at - 1], *signs[at + 2 : at + 3])
        if first >= last and not is_chain:
            return []
        found += [] if is_chain else list(options)[first + 1 : last]
    return found if len(set(found)) == len(found) else []
