"""Reads what a text states of all that a question of yes or no asks, and what it only denies of something else."""

from collections.abc import Sequence

from gigavqa.answers.asked import Asked, words_in
from gigavqa.answers.clauses import ASKS, clauses, clauses_of, is_unsure
from gigavqa.answers.content_words import named, tokens
from gigavqa.answers.lexicon import Words
from gigavqa.answers.readings import AMBIGUOUS, Reading, parsed
from gigavqa.answers.text import sentences_of
from gigavqa.answers.withdrawals import is_first_thought

_MOST_STATEMENTS = 2
_CONCLUSION = Words("conclusion")


def of_predicate(asked: Asked, text: str, reading: Reading, is_explicit: bool) -> Reading:
    """Return what a text states of all that is asked; what it only denies of something else is no answer."""
    if reading.status != "parsed":
        return _predicate(asked, text) or reading
    if reading.value is not False or is_explicit:
        return reading
    stated = _predicate(asked, text)
    if stated is not None:
        return stated
    return reading if _denies(asked, text) else AMBIGUOUS


def _denies(asked: Asked, text: str) -> bool:
    """Return whether a clause denies what is asked, or a part of it, and nothing else: "It isn't.", "not armed"."""
    negator, none = words_in(asked.language, "negator"), words_in(asked.language, "nothing", "none_there", "none_alone")
    for clause in clauses(asked, text):
        if not negator.search(clause):
            continue
        spoken = named(tokens(negator.sub(" ", clause), asked.language))
        if spoken <= asked.words and (asked.find("existence_asked") or not none.search(clause)):
            return True
        if spoken >= asked.words:
            return True
    return False


def _predicate(asked: Asked, text: str) -> Reading | None:
    """Read a statement of all words of a question, in its order and no others, as yes; with a word of denial, as no.

    One that much else follows, or a contrast, is only a part of what the text says, unless it concludes.
    """
    in_order = sentences_of(text)
    if asked.is_denied or not asked.in_order or not in_order:
        return None
    if len(in_order) > _MOST_STATEMENTS:
        in_order = in_order[-1:] if _CONCLUSION.search(in_order[-1].lower()) else []
    if words_in(asked.language, "contrast", "exception", "left_out").search(" ".join(in_order).lower()):
        return None
    said = {truth for sentence in in_order for truth in _said(asked, sentence)}
    return parsed(said.pop()) if len(said) == 1 and None not in said else None


def _said(asked: Asked, sentence: str) -> list[bool | None]:
    """Return what the clauses of a sentence say of the question; None of one that only may be so."""
    if sentence.rstrip().endswith(ASKS) or is_first_thought(sentence):
        return []
    negator, said = words_in(asked.language, "negator"), list[bool | None]()
    for clause in clauses_of(asked.language, _CONCLUSION.sub(" ", sentence.lower())):
        spoken = tuple(one.stem for one in tokens(negator.sub(" ", clause), asked.language) if one.stem)
        is_turned = False
        if not _is_same(asked, spoken):
            spoken, is_turned = _with_contrary(asked, spoken), True
            if not _is_same(asked, spoken):
                continue
        denials = len([*negator.finditer(clause)]) + is_turned
        said.append(None if denials > 1 or is_unsure(asked, clause) else not denials)
    return said


def _with_contrary(asked: Asked, said: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a clause with the last word of the question in place of one that is none of it, "closed"."""
    last = asked.in_order[-1]
    others = next((others for word, others in asked.contraries if word == last), frozenset())
    return (*said[:-1], last) if said and said[-1] in others else said


def _is_same(asked: Asked, said: Sequence[str]) -> bool:
    """Return whether a clause has the words of a question in its order, but for its subject or an opening verb."""
    said, in_order = tuple(said), asked.in_order
    if said == in_order or (asked.has_subject and said == in_order[1:]):
        return True
    if len(said) != len(in_order):
        return False
    if len(said) == 2 and asked.has_no_preposition:
        return said == in_order[::-1]
    if not asked.opens_with_verb:
        return False
    first, *rest = in_order
    at = said.index(first) if first in said else 0
    return at > 0 and [*said[:at], *said[at + 1 :]] == rest
