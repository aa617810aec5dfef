"""Reads a truth out of plain statements, where a reply says neither yes nor no: by the words of its question.

"Two cranes stand beside the quay" says yes to "Is there a crane?", and "There is a crane, but no workers" does not say
no to it. What is supposed, sought or only likely says nothing (decision 0010).
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from gigavqa.answers.abstention import abstains, find_abstention
from gigavqa.answers.asked import Asked, words_in
from gigavqa.answers.clauses import clauses, is_unsure
from gigavqa.answers.content_words import Token, is_content, named, run_at, stem_of, tokens
from gigavqa.answers.count_truths import as_counted
from gigavqa.answers.counting import numbers_in
from gigavqa.answers.lexicon import Words, lazy_pattern, phrases, words
from gigavqa.answers.numerals import NUMBER, NUMERALS
from gigavqa.answers.plain_truths import says_plainly
from gigavqa.answers.predicates import of_predicate
from gigavqa.answers.readings import AMBIGUOUS, Reading, parsed
from gigavqa.answers.sentence_forms import VERDICT
from gigavqa.answers.text import sentences_of

_LONGEST = 1_000
"""Characters of a text whose statements are read; a longer one argues."""
_NUMBER_BEHIND = frozenset({"ja", "ko"})
_CONCORD = frozenset({"fr", "es", "pt", "ru"})
"""Languages in which two words of denial deny once."""


def as_stated(asked: Asked, text: str, reading: Reading) -> Reading:
    """Return what the statements of a text say to a question of yes or no; the reading itself where they say nothing.

    A word of truth or falsehood decides before any statement.
    """
    if len(text) > _LONGEST or reading.status not in ("parsed", "ambiguous", "unparsable") or find_abstention(text):
        return reading
    if reading.value is False and _NOBODY_BUT.search(text.lower()):
        return AMBIGUOUS
    text = _QUOTED.sub(" ", text)
    is_explicit = _is_explicit(asked, text)
    if not (is_explicit and reading.status == "parsed"):
        told = as_counted(asked, text) or (None if reading.value else _nobody(asked, text))
        if told is not None:
            return told
    if not asked.existing:
        return of_predicate(asked, text, reading, is_explicit)
    return reading if is_explicit and reading.status != "unparsable" else _as_there(asked, text, reading)


def _as_there(asked: Asked, text: str, reading: Reading) -> Reading:
    """Return whether a text says that what is asked for is there; ambiguous where a truth is of something else."""
    said = _said(asked, text)
    if said == {True} and _is_elsewhere(asked, text):
        return AMBIGUOUS
    if len(said) == 1 and None not in said:
        return parsed(said.pop())
    return AMBIGUOUS if len(said) > 1 or reading.status == "parsed" else reading


_NOBODY_BUT = Words("nobody_told", pattern=rf"{{}}\s{words('but', 'exception')}")
_QUOTED = lazy_pattern(rf"{words('saying')}[:,]?\s?[\"“«„「][^\"“”«»„「」]*[\"”»“」]", re.IGNORECASE)
"""What somebody said, in quotation marks."""


def _nobody(asked: Asked, text: str) -> Reading | None:
    """Return no where a text says that nobody is where people are asked for, "The swings are deserted."."""
    if not asked.find("somebody_asked") or asked.is_denied:
        return None
    nobody, negator = words_in(asked.language, "nobody_told", "unoccupied"), words_in(asked.language, "negator")
    in_order = sentences_of(text)
    if (
        len(in_order) > 1
        or not in_order
        or words_in(asked.language, "contrast", "exception", "but").search(text.lower())
    ):
        return None
    rest = nobody.sub(" ", text.lower())
    spoken = named(tokens(negator.sub(" ", rest), asked.language))
    return parsed(False) if rest != text.lower() and spoken <= asked.words else None


def _is_elsewhere(asked: Asked, text: str) -> bool:
    """Return whether a text lacks words of the question, and sets something against what is there."""
    lowered = text.lower()
    is_narrower = bool(asked.words - named(tokens(lowered, asked.language)))
    return is_narrower and words_in(asked.language, "contrast").search(lowered) is not None


def _said(asked: Asked, text: str) -> set[bool | None]:
    """Return what the clauses of a text say of what was asked for; nothing where a denial is asked for."""
    if asked.is_denied:
        return set()
    negator = words_in(asked.language, "negator")
    speaking = [
        sentence
        for sentence in sentences_of(text)
        if negator.search(lowered := sentence.lower())
        or asked.existing <= named(tokens(lowered, asked.language))
        or _is_without(asked, lowered)
    ]
    return {truth for one in speaking for clause in clauses(asked, one) for truth in _existence(asked, clause)}


def _is_explicit(asked: Asked, text: str) -> bool:
    """Return whether a text holds a word of truth or falsehood that is no mere denial of a noun."""
    lowered, denial = text.lower(), words_in(asked.language, "negator", "none_there")
    if _FALSEHOOD.search(lowered) or says_plainly(text, False) or says_plainly(text, True):
        return True
    rest = denial.sub(" ", lowered)
    return rest == lowered or VERDICT.search(rest) is not None


def _existence(asked: Asked, clause: str) -> Iterator[bool | None]:
    """Yield whether a clause says that what was asked for is there, or is not; None where it is in doubt."""
    if _is_without(asked, clause):
        yield False
        return
    negators = [*words_in(asked.language, "negator").finditer(clause)]
    if not negators and not asked.existing <= named(tokens(clause, asked.language)):
        return
    found = _spoken(asked, clause, negators)
    said = named(found)
    if not asked.existing <= said:
        is_of_it = asked.existing_noun in said if said else _denies_all(asked, clause)
        if negators and said <= asked.words and is_of_it and not abstains(clause):
            yield False
        return
    if is_unsure(asked, clause):
        yield None
    elif negators:
        yield False if _is_denied(asked, clause, found, negators) else None
    else:
        is_narrower = bool(said - asked.words) and not asked.words <= said
        if not is_narrower and _is_there(asked, clause, found):
            yield True


def _is_without(asked: Asked, clause: str) -> bool:
    """Return whether one word of a clause says that there is none of what was asked for, "cloudless", "wolkenlos"."""
    if words_in(asked.language, "negator").search(clause):
        return False
    nouns = (found["noun"] for found in _without(asked.language).finditer(clause))
    return any({stem_of(noun)} == asked.existing for noun in nouns)


@lru_cache(maxsize=16)
def _without(language: str) -> re.Pattern[str]:
    endings = "|".join(phrases(f"without_behind.{language}")) or "(?!)"
    return re.compile(rf"(?<![^\W_])(?P<noun>[^\W\d_]{{3,}}?)-?(?:{endings})(?![^\W_])")


def _denies_all(asked: Asked, clause: str) -> bool:
    """Return whether a clause without a noun denies that there is any, "none can be seen", "it is not visible"."""
    kinds = ("nothing", "none_alone", "none_there", "none_behind", "existence_asked_behind", "existence_told")
    return words_in(asked.language, *kinds).search(clause) is not None


_FALSEHOOD = Words("falsehood_told")


def _spoken(asked: Asked, clause: str, negators: Sequence[re.Match[str]]) -> list[Token]:
    """Return the words of a clause; those are empty that deny, say that a thing is there, or how many there are."""

    def is_empty(token: Token) -> bool:
        if token.is_posture or token.stem.isdigit() or clause[token.start : token.end] in NUMERALS:
            return True
        return any(one.start() <= token.start < one.end() for one in (*negators, *numbers))

    numbers = numbers_in(clause)
    return [Token("", *one[1:]) if is_empty(one) else one for one in tokens(clause, asked.language)]


def _is_denied(asked: Asked, clause: str, found: Sequence[Token], negators: Sequence[re.Match[str]]) -> bool:
    """Return whether a clause denies that there is what was asked for, and not only something of it."""
    if len(negators) > 1 and asked.language not in _CONCORD:
        return False
    none = words_in(asked.language, "none_there").search(clause)
    if named(found) <= asked.words:
        return True
    if none is None:
        return False
    run = next((run_at(found, at) for at, one in enumerate(found) if is_content(one) and one.start >= none.end()), ())
    return asked.existing <= named(run) <= asked.words


def _is_there(asked: Asked, clause: str, found: Sequence[Token]) -> bool:
    """Return whether a clause says that there is a thing: by a word for it, a number or an article before it."""
    at = next(at for at, one in enumerate(found) if is_content(one) and one.stem in asked.existing)
    run = run_at(found, at)
    is_asked = [one.stem in asked.existing for one in run]
    if not all(is_asked) and not _is_head(asked, is_asked):
        return False
    before = clause if asked.language in _NUMBER_BEHIND else clause[: found[at].start]
    if _is_of_another(asked, found, run[0], clause):
        return False
    return bool(
        words_in(asked.language, "existence_told", "posture").search(clause)
        or NUMBER.search(before)
        or words_in(asked.language, "indefinite").search(before)
    )


def _is_head(asked: Asked, is_asked: Sequence[bool]) -> bool:
    """Return whether what was asked for is the noun of its phrase: the last word, or the first before adjectives."""
    return is_asked[0 if asked.is_head_first else -1]


def _is_of_another(asked: Asked, found: Sequence[Token], first: Token, clause: str) -> bool:
    """Return whether a noun only tells of which another is, "the shadow of a crane"."""
    before = [one for one in found if one.end <= first.start]
    while before and not is_content(before[-1]):
        if clause[before[-1].start : before[-1].end] in phrases(f"genitive.{asked.language}"):
            noun = next((one for one in reversed(before[:-1]) if is_content(one)), None)
            return noun is not None and noun.stem not in _AMOUNTS
        before.pop()
    return False


_AMOUNTS = frozenset(map(stem_of, (*phrases("mass_noun"), *phrases("group_noun"))))
