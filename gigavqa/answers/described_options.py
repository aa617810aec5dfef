"""Whether the one option that a text names is meant, though the text describes it in words that nobody asked for.

It is where what stands before it says all that the question does, "on the pavement one sees a striped cat", where it
is told from another, "it's the red sedan, not the dark red one", or where the others are said not to be so.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from gigavqa.answers.asked import Asked, words_in
from gigavqa.answers.content_words import is_content, named, tokens
from gigavqa.answers.known_words import bare, content, denies, genitives, is_asked, is_of_another, unknown_words
from gigavqa.answers.lexicon import Words, lazy_pattern, phrases, words
from gigavqa.answers.option_groups import OptionGroup

_HEAD_FIRST = frozenset({"fr", "es", "pt"})
"""Languages that tell a noun by an adjective behind it."""
_NUMBER = re.compile(r"\d")
_CLEFT = lazy_pattern(rf"(?:{words('copula')}|['’]s)\s*(?:{words('article')}\s*)?$")
_ALTERNATIVE = Words("alternative")
_COMMA = re.compile("[,，、،]")


def is_told_of_the_rest(clause: str, asked: Asked, language: str) -> bool:
    """Return whether a clause says of all other options that they are the contrary of what was asked for."""
    lowered = bare(clause).strip()
    rest = words_in(language, "the_rest").search(lowered)
    if rest is None or content(lowered[: rest.start()], language) or denies(lowered[rest.end() :], language):
        return False
    return asked.is_contrary_to(named(tokens(lowered[rest.end() :], language)))


def is_described(group: OptionGroup, asked: Asked, language: str) -> bool:
    """Return whether the words before an option are those of the question, and what follows only tells more of it."""
    lead, tail = _without_adjective(bare(group.lead), language), bare(group.tail)
    if len(group.letters) > 1 or group.is_either or group.is_related or denies(f"{lead} ; {tail}", language):
        return False
    if group.tail[:1] in ("'", "’", "-") or _ALTERNATIVE.search(tail):
        return False
    if unknown_words(lead, asked, language) or is_of_another(lead, asked, language) or _NUMBER.search(tail):
        return False
    return _says_all(lead, asked, language) and not _is_part(lead, tail, asked, language)


def _without_adjective(lead: str, language: str) -> str:
    """Return what stands before an option without the one word between its article and itself, "a striped (cat)"."""
    return _adjective(language).sub(r"\1 ", lead)


@lru_cache(maxsize=16)
def _adjective(language: str) -> re.Pattern[str]:
    ones = "|".join(map(re.escape, phrases(f"article.{language}")))
    return re.compile(rf"(?<![^\W_])({ones})\s+[^\W\d_]+\s+$" if ones else r"()(?!)")


def _says_all(lead: str, asked: Asked, language: str) -> bool:
    """Return whether words say all that a question does, but for what sort of thing it asks for, and how it lies."""
    said = content(lead, language)
    told = [one for one in asked.tokens if is_content(one)]
    wanted = [one.stem for one in told[1:] if not one.is_posture] if told else []
    places = asked.places | _insides(asked)
    wanted += sorted(places)
    return bool(places) and all(any(is_asked(word, {one}) for word in said) for one in wanted)


def _insides(asked: Asked) -> frozenset[str]:
    """Return the words of a question that tell what a thing is in, which no preposition of place alone does."""
    if not phrases(f"within.{asked.language}"):
        return frozenset()
    ends = [found.end() for found in words_in(asked.language, "within").finditer(asked.text)]
    behind = (next((one for one in asked.tokens if is_content(one) and one.start >= end), None) for end in ends)
    return frozenset(one.stem for one in behind if one)


def _is_part(lead: str, tail: str, asked: Asked, language: str) -> bool:
    """Return whether an option is part of another thing's name: "a poster of a cat", "a dog house", "a cat's tail"."""
    if _before_genitive(language).search(lead):
        return True
    found = next(iter(tokens(tail, language)), None)
    if found is None or any(map(str.isalnum, tail[: found.start])):
        return False
    if tail[found.start : found.end] in genitives(language):
        return True
    is_behind = not _COMMA.search(tail[: found.start])
    return is_behind and language not in _HEAD_FIRST and bool(unknown_words(tail[: found.end], asked, language))


@lru_cache(maxsize=16)
def _before_genitive(language: str) -> re.Pattern[str]:
    """Return what tells that the word behind it only describes another thing, "of a"."""
    ones = "|".join(map(re.escape, sorted(genitives(language), key=len, reverse=True)))
    articles = "|".join(map(re.escape, phrases(f"article.{language}")))
    return re.compile(rf"(?<![^\W_])(?:{ones})\s+(?:(?:{articles})\s+)?$" if ones else r"(?!)")


def is_told_apart(group: OptionGroup, options: Mapping[str, str], asked: Asked, language: str) -> bool:
    """Return whether "it is X, not Y" tells an option from another, which it names by some of its words alone."""
    lead, (before, *rest) = bare(group.lead), _COMMA.split(bare(group.tail))
    if len(group.letters) > 1 or named(tokens(lead, language)) or not _CLEFT.search(lead):
        return False
    if not rest or before.strip() or denies(" , ".join(rest[1:]), language):
        return False
    negator = words_in(language, "negator").search(rest[0])
    if negator is None or rest[0][: negator.start()].strip():
        return False
    other = named(tokens(rest[0][negator.end() :], language)) - _ones(language)
    return bool(other) and any(
        other <= named(tokens(text.lower(), language)) for letter, text in options.items() if letter != group.letters[0]
    )


@lru_cache(maxsize=16)
def _ones(language: str) -> frozenset[str]:
    return named(tokens(" ; ".join(phrases(f"numeral.{language}")), language))
