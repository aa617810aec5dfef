"""Reads what says which options are meant by all of them: "All of the above.", "All except B."."""

from collections.abc import Mapping, Sequence

from gigavqa.answers.asked import Asked
from gigavqa.answers.known_words import asks_for_lack, denies, states, unknown_words
from gigavqa.answers.lexicon import Words, lazy_pattern, words
from gigavqa.answers.negation import Mention

_EVERYTHING = Words("everything", "universal")
_WHOLE = Words("everything")
_EXCEPT = lazy_pattern(
    rf"{words('exception', 'exception_behind')}|{words('everything')}\s+(?:[^\W\d_]+\s+)?{words('but')}"
)
_LONGEST = 120
"""Characters of a sentence that names all options but some."""


def all_options(sentence: str, asked: Asked | None, language: str) -> bool:
    """Return whether a sentence that names no option says that all are meant, and nothing else."""
    lowered = sentence.lower()
    if len(sentence) > _LONGEST or not _WHOLE.search(lowered) or _EXCEPT.search(lowered):
        return False
    return not unknown_words(sentence, asked, language) and not denies(lowered, language)


def all_but(
    sentence: str, mentions: Sequence[Mention], options: Mapping[str, str], asked: Asked | None, language: str
) -> frozenset[str] | None:
    """Return the options that are left where a sentence excepts some of all; empty where it is not understood.

    None where it is no such sentence.
    """
    lowered = sentence.lower()
    if not mentions or len(sentence) > _LONGEST or not _EVERYTHING.search(lowered):
        return None
    parts, end = list[str](), 0
    for one in mentions:
        parts += [lowered[end : one.start]]
        end = one.end
    said = " ; ".join([*parts, lowered[end:]])
    if not _EXCEPT.search(said):
        return None
    rest = _EXCEPT.sub(" ; ", said)
    if unknown_words(rest, asked, language):
        return frozenset()
    excepted = frozenset(str(one.value) for one in mentions)
    others = frozenset(options) - excepted
    if denies(rest, language):
        return others if asks_for_lack(asked) else excepted
    return excepted if states(rest, asked, language) and asks_for_lack(asked) else others
