"""Read what a text states of all that a question of yes or no asks, and what it only denies of something else.

A clause says yes that has the words of the question in its order, whatever it adds behind them or to a noun: "The woman
wears glasses with a red frame." A denial, or the contrary of one word, says no, and adds nothing. What it says of all
is told from what it says of some.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from gigavqa.answers.abstention import find_abstention
from gigavqa.answers.asked import ASPECT, Asked, words_in
from gigavqa.answers.clauses import ASKS, clauses, clauses_of, is_unsure
from gigavqa.answers.content_words import named, stem_of, tokens
from gigavqa.answers.lexicon import Words, phrases
from gigavqa.answers.numerals import NUMBER
from gigavqa.answers.plain_truths import is_according_to
from gigavqa.answers.readings import AMBIGUOUS, Reading, parsed
from gigavqa.answers.text import sentences_of
from gigavqa.answers.withdrawals import is_first_thought
from gigavqa.answers.word_order import Statement, holds

_MOST_STATEMENTS = 2
_CONCLUSION = Words("conclusion")
_SEEMING = Words("seeming_so")


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
    """Read what the statements of a text come to; a text of many argues, unless it concludes."""
    in_order = sentences_of(text)
    if asked.is_denied or not asked.in_order or not in_order or find_abstention(text) or is_according_to(text):
        return None
    if len(in_order) > _MOST_STATEMENTS:
        in_order = in_order[-1:] if _CONCLUSION.search(in_order[-1].lower()) else []
    if words_in(asked.language, "contrast", "exception", "left_out").search(" ".join(in_order).lower()):
        return None
    said = {truth for sentence in in_order for truth in _said(asked, sentence)}
    return parsed(said.pop()) if len(said) == 1 and None not in said else None


def _said(asked: Asked, sentence: str) -> Iterator[bool | None]:
    """Yield what the clauses of a sentence say of the question; None of one that only may be so."""
    if sentence.rstrip().endswith(ASKS) or is_first_thought(sentence):
        return
    for clause in clauses_of(asked.language, _SEEMING.sub(" ", _CONCLUSION.sub(" ", sentence.lower()))):
        statement = _statement(asked, clause)
        truth = _truth_of(asked, statement)
        if truth is not None:
            yield None if statement.denials > 1 or is_unsure(asked, clause) else truth


def _statement(asked: Asked, clause: str) -> Statement:
    negator = words_in(asked.language, "negator")
    spoken = tokens(negator.sub(lambda found: " " * len(found[0]), clause), asked.language)
    return Statement(
        clause, tuple(one for one in spoken if one.stem and one.stem not in ASPECT), len([*negator.finditer(clause)])
    )


def _truth_of(asked: Asked, statement: Statement) -> bool | None:
    """Return whether a statement affirms the question or denies it; None where it says something else."""
    said = tuple(one.stem for one in statement.spoken)
    if _is_of_all(asked) and (found := _of_all(asked, statement)) is not None:
        return found
    if _is_same(asked, said):
        return statement.denials == 0
    turned = _with_contrary(asked, said)
    if turned != said and _is_same(asked, turned):
        return statement.denials > 0
    if statement.denials or _is_partial(asked, statement):
        return None
    if holds(asked, statement, said) or _shows(asked, statement):
        return True
    return False if turned != said and holds(asked, statement, turned) else None


def _with_contrary(asked: Asked, said: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a clause with the last word of the question in place of its contrary, "closed"."""
    last = asked.in_order[-1]
    others = next((others for word, others in asked.contraries if word == last), frozenset())
    if last in said:
        return said
    return tuple(last if one in others else one for one in said)


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


def _is_partial(asked: Asked, statement: Statement) -> bool:
    """Return whether a statement holds of a part only, or of so many: "one barrier", "half", "almost"."""
    if words_in(asked.language, "vague_share", "partly").search(statement.clause):
        return True
    return NUMBER.search(statement.clause) is not None and not NUMBER.search(asked.text)


def _shows(asked: Asked, statement: Statement) -> bool:
    """Return whether a statement says that all is there that a question without a verb of its own names."""
    if asked.opens_with_verb or not asked.has_no_preposition or _is_of_all(asked):
        return False
    is_told = words_in(asked.language, "existence_told").search(statement.clause) is not None
    return is_told and bool(asked.find("shown_asked")) and asked.words <= named(statement.spoken)


def _is_of_all(asked: Asked) -> bool:
    return not _words_of_all(asked.language).isdisjoint(asked.in_order)


def _of_all(asked: Asked, statement: Statement) -> bool | None:
    """Return whether a statement says that what is asked of all holds of each, or not of some."""
    said = tuple(one.stem for one in statement.spoken)
    rest = [word for word in asked.in_order if word not in _words_of_all(asked.language)]
    if not rest:
        return None
    every = [at for at, one in enumerate(said) if one in _words_of_all(asked.language)]
    others = [one for one in said if one not in _words_of_all(asked.language)]
    if every and others == rest:
        return statement.denials == 0
    if statement.denials == 1 and {*rest} <= {*others}:
        return False
    is_some = words_in(asked.language, "only").search(statement.clause) is not None
    if is_some and NUMBER.search(statement.clause) and {*rest} <= {*others} and not statement.denials:
        return False
    return None


@lru_cache(maxsize=16)
def _words_of_all(language: str) -> frozenset[str]:
    """Return the words by which a language says that something holds of each."""
    return frozenset(map(stem_of, (*phrases(f"everything.{language}"), *phrases(f"of_each.{language}"))))
