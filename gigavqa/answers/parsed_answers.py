"""Parsed final answers: its value, how it was found, and by which rule."""

from dataclasses import dataclass, field
from typing import Literal

from gigavqa.answers.markers import Announcement
from gigavqa.answers.negation import ConclusionRule

ParseStatus = Literal[
    "marker",
    "last",
    "option_text",
    "ambiguous",
    "abstained",
    "unfinished",
    "too_long",
    "overflowed",
    "filtered",
    "none",
]
"""How an answer was found, or why there is none; whether it is correct is another matter.

`marker` behind an announcement, `last` the last one named, `option_text` an option's words without its letter,
`ambiguous` several incompatible ones, `abstained` said to be unanswerable, `unfinished` thinking that never ended, or
a last sentence without an end, `too_long` more than is read, of which the end does not tell, `overflowed` a chat that
outgrew the model's context before its answer, `filtered` an answer that who serves the model withheld or refused,
`none` nothing that could be an answer.
"""
ReadingRule = Literal[Announcement, ConclusionRule, "opening", "verdicts", "option text", ""]
"""By which rule an answer was read, more finely than its status tells: behind an announcement in words, in a box or
under a key of JSON; as the opening line; by a list of verdicts; by a sentence's stance. Empty where none was."""


@dataclass(frozen=True)
class ParsedAnswer:
    """`value` is a letter, or a coordinate "(row, column)"; None where there is no single answer.

    `quoted` is the letter of the option whose words are the answer, where it names no letter (`option_text`): whether
    that counts is for the benchmark to say.
    """

    value: str | None
    status: ParseStatus
    quoted: str | None = field(default=None, compare=False)
    rule: ReadingRule = field(default="", compare=False)


AMBIGUOUS_ANSWER = ParsedAnswer(None, "ambiguous")


def single(values: frozenset[str], status: ParseStatus, rule: ReadingRule) -> ParsedAnswer:
    """Return an answer of one value; several are ambiguous."""
    return ParsedAnswer(next(iter(values)), status, rule=rule) if len(values) == 1 else AMBIGUOUS_ANSWER
