"""Puts its letter in place of an option that is told by its place: "the second option", "the former"."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice

from gigavqa.answers.lexicon import Words, by_language, lazy_pattern, words
from gigavqa.answers.negation import Mention
from gigavqa.answers.text import sentences_of

_PLACES = {
    phrase: at if at < len(places) - 1 else -1
    for name in ("option_place", "option_place_behind")
    for places in by_language(name).values()
    for at, alike in enumerate(places)
    for phrase in alike.split("|")
}
_NOUN = words("option_noun")


def _any_of(name: str) -> str:
    phrases = [one for places in by_language(name).values() for alike in places for one in alike.split("|")]
    return "|".join(r"\s+".join(map(re.escape, one.split())) for one in sorted(phrases, key=len, reverse=True))


_BEFORE = lazy_pattern(
    rf"(?<![^\W_])(?P<place>{_any_of('option_place')})(?:\s+of\s+the(?:\s+\w{{1,8}})?)?\s?{_NOUN}(?!\s*[A-H]\b)",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"^(?:the|die|la|a)\s")
_BARE_PLACES = {_ARTICLE.sub("", phrase): at for phrase, at in _PLACES.items()}
_PLACE = (
    rf"(?<![^\W_])(?:(?:the|die|la|a)\s)?(?:{'|'.join(map(re.escape, sorted(_BARE_PLACES, key=len, reverse=True)))})"
)
_JOINT = rf"(?:\s?[,،、]\s?(?:{words('addition')}\s)?|\s?{words('addition')}\s?)"
_SEVERAL = lazy_pattern(rf"(?P<places>(?:{_PLACE}{_JOINT})+{_PLACE})\s?{_NOUN}(?!\s*[A-H]\b)", re.IGNORECASE)
_ONE_PLACE = lazy_pattern(_PLACE, re.IGNORECASE)
_BEHIND = lazy_pattern(rf"{_NOUN}\s+(?P<place>{_any_of('option_place_behind')})(?![^\W_])", re.IGNORECASE)
_OPTION = Words("option_noun")
_PAIR = lazy_pattern(rf"(?P<former>{words('former')})|{words('latter')}", re.IGNORECASE)
_LEAST = 5
"""Characters of a text that can tell a place."""
_MOST = 64
"""Such words that are looked at in a text."""
_EITHER_OF_TWO = Words("former", "latter")
_TOLD = Words("former", "latter", "option_noun")


def with_letters(text: str, options: Mapping[str, str], mentions_of: Callable[[str], Sequence[Mention]]) -> str:
    """Return a text with letters in place of "the second option", "the last of the four options", "the latter"."""
    if len(text) < _LEAST:
        return text
    lowered = text.lower()
    if not _TOLD.may_be_in(lowered):
        return text
    if _OPTION.may_be_in(lowered):
        letters = tuple(options)
        text = _SEVERAL.sub(lambda found: _letters(found, letters), text)
        text = _BEFORE.sub(lambda found: _letter(found, letters), text)
        text = _BEHIND.sub(lambda found: _letter(found, letters), text)
    return with_pairs(text, mentions_of, "option {}".format)


def _letters(several: re.Match[str], letters: Sequence[str]) -> str:
    return _ONE_PLACE.sub(lambda found: _at(found[0], letters) or found[0], several["places"])


def _at(place: str, letters: Sequence[str]) -> str:
    at = _BARE_PLACES[_ARTICLE.sub("", " ".join(place.lower().split()))]
    return f"option {letters[at]}" if at < len(letters) else ""


def _letter(found: re.Match[str], letters: Sequence[str]) -> str:
    return _at(found["place"], letters) or found[0]


def with_pairs(text: str, mentions_of: Callable[[str], Sequence[Mention]], write: Callable[[object], str]) -> str:
    """Return a text with values in place of "the former" and "the latter", where two were named last."""
    if len(text) < _LEAST or not _EITHER_OF_TWO.may_be_in(text.lower()):
        return text
    pair: tuple[object, ...] = ()
    parts, end = [], 0
    for sentence in sentences_of(text):
        start = text.index(sentence, end)
        mentions = [*mentions_of(sentence)]
        for found in islice(_PAIR.finditer(sentence), _MOST):
            pair = _two(mentions, found.start()) or pair
            if len(pair) == 2:
                parts += [text[end : start + found.start()], write(pair[0 if found["former"] else 1])]
                end = start + found.end()
        pair = _two(mentions, len(sentence)) or pair
    return "".join([*parts, text[end:]])


def _two(mentions: Collection[Mention], end: int) -> tuple[object, ...]:
    """Return the two values that are named up to a place; none where they are more or fewer."""
    values = tuple(dict.fromkeys(mention.value for mention in mentions if mention.end <= end))
    return values if len(values) == 2 else ()
