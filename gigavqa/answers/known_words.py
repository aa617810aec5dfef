"""Tells the words of a text that say more of a thing than that it is there, or than its question; and its denials."""

import re
from collections.abc import Collection
from functools import lru_cache
from itertools import takewhile

from gigavqa.answers.asked import Asked, words_in
from gigavqa.answers.content_words import is_content, named, preposition_words, stem_of, tokens
from gigavqa.answers.lexicon import UNSPACED, Words, by_language, lazy_pattern, phrases
from gigavqa.answers.sentence_forms import FAULTY

_ASIDE = re.compile(r"[(（\[][^()（）\[\]]*[)）\]]")
_MARKUP = re.compile(r"[*_`\"“”‘«»「」#>|]|(?<!\w)['’]|['’](?!\w)|^\s*(?:[-•]|\d{1,2}[.)])\s")
_LEAST_COLOURS = 6
_COLOURS = frozenset(
    stem_of(word)
    for group in phrases("contraries")
    if group.count("|") >= _LEAST_COLOURS - 1
    for word in group.split("|")
)
"""Words of one line of contraries that is as long as only that of the colours."""
_DENIES = Words("rejecting", "denial_behind", "nothing", "dropped", "none_there", "none_behind", "no_such", "holds_not")
_FAULTY = lazy_pattern(FAULTY)
_KNOWN = (
    "scene", "existence_told", "existence_asked", "existence_asked_behind", "posture", "copula", "option_noun",
    "affirmation", "conclusion", "opens_list", "only", "everything", "function_word", "announcement",
    "announcement_direct", "counted_noun", "adverb", "holding", "right_is", "as_well", "applies", "particle",
    "addition", "aside", "contrast", "set_against", "numeral", "holds", "yes", "side", "preposition",
    "sentence_ending", "small_count", "negator", "lacking", "untrue", "assertion", "rejecting", "indefinite",
)  # fmt: skip


def asks_for_lack(asked: Asked | None) -> bool:
    """Return whether a question asks for what is not there, or does not hold."""
    if asked is None:
        return False
    if words_in(asked.language, "lacking").search(asked.text):
        return True
    of_statements = words_in(asked.language, "assertion").search(asked.text)
    return of_statements is not None and words_in(asked.language, "untrue").search(asked.text) is not None


def bare(text: str) -> str:
    """Return a text in lower case, without markup and what stands in brackets."""
    return _MARKUP.sub(" ", _ASIDE.sub(" ", text)).lower()


def denies(said: str, language: str) -> bool:
    """Return whether words deny, in lower case."""
    return (
        words_in(language, "negator", "lacking", "untrue").search(said) is not None
        or _DENIES.search(said) is not None
        or _FAULTY.search(said) is not None
    )


def denies_another(said: str, asked: Asked | None, language: str) -> bool:
    """Return whether words deny something that a question does not speak of."""
    if not denies(said, language):
        return False
    rest = content(bare(without_denials(said, language)), language) - _known(language)
    return bool(rest) and not (asked and any(is_asked(word, asked.words) for word in rest))


def without_denials(said: str, language: str) -> str:
    """Return words without those that deny."""
    return words_in(language, "negator", "lacking", "untrue").sub(" ", _DENIES.sub(" ", said))


def states(said: str, asked: Asked | None, language: str) -> bool:
    """Return whether words say of an option what the question asks for, or that it is there."""
    if asked and any(is_asked(word, asked.words) for word in content(said, language)):
        return True
    return words_in(language, *known_classes(language, ("scene", "existence_told"))).search(said) is not None


def unknown_words(text: str, asked: Asked | None, language: str) -> frozenset[str]:
    """Return the words of a text that neither the question has, nor anything that only says that a thing is there.

    A side is known where the question asks of no place.
    """
    known = _known(language)
    if asked and not asked.has_no_preposition:
        known -= _sides(language)
    return frozenset(
        word for word in content(bare(text), language) - known if not (asked and is_asked(word, asked.words))
    )


_LEAST_HEAD = 4
"""Letters of a word that can be the head of a compound, "Tisch" of "Arbeitstisch"."""


def is_of_another(said: str, asked: Asked | None, language: str) -> bool:
    """Return whether words are of another thing than was asked for, though in words of the question.

    They set it in another place ("beside" for "on"), or speak of the place alone: "the barn" for "the car at the barn".
    """
    words_said = content(said, language)
    if asked is None or not any(is_asked(word, asked.words) for word in words_said):
        return False
    joints = _relations(language) | genitives(language)
    theirs = [one for one in asked.tokens if asked.text[one.start : one.end] in joints]
    spoken = {said[one.start : one.end] for one in tokens(said, language)}
    if spoken & (_relations(language) - {asked.text[one.start : one.end] for one in theirs}):
        return True
    if spoken & {asked.text[one.start : one.end] for one in theirs} or _holds(language).search(said):
        return False
    start = next((one.start for one in theirs if named(asked.tokens[: asked.tokens.index(one)])), len(asked.text))
    things = named(one for one in asked.tokens if one.start < start)
    return not any(is_asked(word, things) for word in words_said)


@lru_cache(maxsize=16)
def _holds(language: str) -> Words:
    """Return the words by which a place is said to have a thing."""
    return words_in(language, *known_classes(language, ("existence_told", "holds", "holding")))


@lru_cache(maxsize=16)
def genitives(language: str) -> frozenset[str]:
    """Return what makes a thing one of another, "of", but for what only tells that there are some."""
    return frozenset(phrases(f"genitive.{language}")).difference(phrases(f"indefinite.{language}"))


@lru_cache(maxsize=16)
def _relations(language: str) -> frozenset[str]:
    """Return the prepositions of a language but for those that tell how many, or that there is nothing else."""
    counting = (phrase for name in _COUNTING for phrase in phrases(f"{name}.{language}"))
    return preposition_words(language).difference(counting)


_COUNTING = (
    "only", "everything", "as_well", "total", "small_count", "numeral", "indefinite", "adverb",
    "function_word", "addition",
)  # fmt: skip


def is_asked(word: str, words_asked: Collection[str]) -> bool:
    """Return whether a word is one of a question's, or begins as one does of which it may be another form."""
    if word in words_asked or (len(word) >= _LEAST_HEAD and any(other.endswith(word) for other in words_asked)):
        return True
    least, share = (2, 0.6) if UNSPACED.search(word) else (4, 0.7)
    return any(
        (shared := _begin_alike(word, other)) >= least and shared >= share * min(len(word), len(other))
        for other in words_asked
    )


def _begin_alike(word: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(word, other, strict=False)))


def content(lowered: str, language: str) -> frozenset[str]:
    """Return the words of a text that tell of something, but for colours, sides and numbers."""
    return frozenset(
        token.stem
        for token in tokens(lowered, language)
        if is_content(token) and token.stem not in _COLOURS and not token.stem.isdigit()
    )


_WHOLES = frozenset(
    word
    for name in ("everything", "exception", "only")
    for ones in by_language(name).values()
    for word in named(tokens(" ; ".join(ones).lower(), "none"))
)
"""Words of all options but some, in every language: such a reply may have no other word that tells its language."""


@lru_cache(maxsize=16)
def _known(language: str) -> frozenset[str]:
    """Return the words that only say that a thing is there, or announce an answer."""
    return _stems_of(_KNOWN, language) | _WHOLES


@lru_cache(maxsize=16)
def _sides(language: str) -> frozenset[str]:
    return _stems_of(("side",), language)


def _stems_of(names: tuple[str, ...], language: str) -> frozenset[str]:
    said = " ; ".join(phrase.rstrip("*") for name in names for phrase in phrases(f"{name}.{language}"))
    return named(tokens(said.lower(), language))


@lru_cache(maxsize=64)
def known_classes(language: str, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if phrases(f"{name}.{language}"))
