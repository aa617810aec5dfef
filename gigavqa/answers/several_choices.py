"""Reads an answer that is several of some texts: as a list, ticked, concluded or named."""

import re
from typing import Any

from gigavqa.answers.abstention import abstains
from gigavqa.answers.answer_space import AnswerSpace, key_of, text_of
from gigavqa.answers.asked import Asked
from gigavqa.answers.choices import row_verdicts
from gigavqa.answers.choices_asked import stated_choices
from gigavqa.answers.doubts import is_struck
from gigavqa.answers.lexicon import Words, lazy_pattern, words
from gigavqa.answers.normalization import is_blank, passages
from gigavqa.answers.readings import AMBIGUOUS, BLANK, UNPARSABLE, Reading, parsed
from gigavqa.answers.sentence_forms import DENIES
from gigavqa.answers.text import last_sentence, sentences_of
from gigavqa.answers.value_lists import LISTING, concluded_values
from gigavqa.answers.withdrawals import is_hypothesis

_SPLIT = re.compile(r"[,;，；、\n]|(?:^|\s)[-*•]\s+|\band\b")
_LETTERS = re.compile(r"\b([A-Z])\b")


def read_choices(value: Any, space: AnswerSpace, asked: Asked | None = None) -> Reading:
    """Read several texts of a space: a JSON list, or those that a text names; for an open space, its parts.

    Where some are stated of what was `asked`, and others of something else, only the former count.
    """
    if isinstance(value, str):
        value = _listed(value)
    if isinstance(value, list | tuple):
        texts = [text for item in value if (text := text_of(item)) is not None]
        return parsed(tuple(dict.fromkeys(_item(text, space) for text in texts))) if texts else UNPARSABLE
    return UNPARSABLE if not isinstance(value, str) else _read_several(space.without_list_numbers(value), space, asked)


def _item(text: str, space: AnswerSpace) -> str:
    key = key_of(text)
    if key in space.canonical:
        return space.canonical[key]
    if len(key) == 1 and (at := ord(key) - ord("a")) in range(len(space.choices)):
        return space.choices[at]
    named = space.named_in(text)
    return named[0] if len(named) == 1 else key


def _listed(text: str) -> Any:
    """Return the items of the last bracketed list of quoted texts; the text itself where there is none."""
    lists = [found for found in LISTING.findall(text) if '"' in found or "'" in found]
    if not lists:
        return text
    return [item.strip(" \"'") for item in re.findall(r"\"[^\"]*\"|'[^']*'", lists[-1])] or text


def _read_several(text: str, space: AnswerSpace, asked: Asked | None) -> Reading:
    for passage in (_known_part(one, space) for one in passages(text)):
        if is_blank(passage.strip().partition("\n")[0]):
            return BLANK
        if not space.choices:
            parts = [space.canonical_of(part) for part in _SPLIT.split(passage) if key_of(part)]
            return parsed(tuple(dict.fromkeys(parts))) if parts else UNPARSABLE
        if named := (
            _marked(passage, space)
            or _affirmed(passage, space)
            or _all_but(passage, space)
            or [*map(str, concluded_values(passage, space.mentions))]
            or (asked and [*map(str, stated_choices(asked, passage, space.mentions))])
            or space.listed_in(passage)
            or space.named_in(passage)
        ):
            return AMBIGUOUS if is_struck(text, named, space.mentions) else parsed(tuple(named))
        if letters := _letters_alone(passage, len(space.choices)):
            return parsed(tuple(space.choices[at] for at in letters))
    return UNPARSABLE


def _known_part(text: str, space: AnswerSpace) -> str:
    """Return a text without a first sentence that only repeats the question's choices.

    Of one that begins by saying that it cannot tell, the sentences that know something.
    """
    first, *rest = parts = sentences_of(text) or [""]
    behind = "\n".join(rest)
    if {mention.value for mention in space.mentions(first)} == set(space.canonical.values()) and space.named_in(behind):
        return behind
    if not abstains(first):
        return text
    return "\n".join(one for one in parts if not (abstains(one) or is_hypothesis(one) or _SOUGHT.search(one.lower())))


_SOUGHT = Words("sought")


def _affirmed(text: str, space: AnswerSpace) -> list[str]:
    """Return the choices that rows affirm, "| rice | yes |", where every row says yes or no of one; else none."""
    said = [*row_verdicts(text, space)]
    if len(said) < 2 or None in dict(said).values() or {choice for choice, _ in said} != set(space.canonical.values()):
        return []
    return [choice for choice, holds in said if holds]


def _marked(text: str, space: AnswerSpace) -> list[str]:
    """Return the choices that are ticked, "pen ✔ / pencil ✘", where each has a mark behind it: its last one."""
    found = space.mentions(text)
    ends = [*(mention.start for mention in found[1:]), len(text)]
    marks = [_TICKS.findall(text, mention.end, end) for mention, end in zip(found, ends, strict=True)] if found else []
    if len(found) < 2 or not all(marks):
        return []
    return [str(mention.value) for mention, mark in zip(found, marks, strict=True) if mark[-1] in "✓✔✅☑"]


def _all_but(text: str, space: AnswerSpace) -> list[str]:
    """Return the choices left where the last sentence says "everything but the lamp"; none where it denies that."""
    said = _BEFORE_LIST.split(last_sentence(text).strip(), maxsplit=1)[0]
    found = space.mentions(said)
    before = said[: found[0].start].lower() if found else ""
    if not _ALL_BUT.fullmatch(before) or DENIES.search(said.lower()):
        return []
    excepted = {mention.value for mention in found}
    return [choice for choice in space.choices if space.canonical_of(choice) not in excepted]


_BEFORE_LIST = re.compile("[:：;；—]")
_ALL_BUT = lazy_pattern(
    rf"\W*{words('whole')}[^.;:!?]{{0,40}}?{words('exception', 'left_out', 'but')}\s(?:{words('filler')}\s)*"
)
_TICKS = re.compile("[✓✔✅☑✗✘✖❌]")


def _letters_alone(text: str, count: int) -> list[int]:
    found = [ord(letter) - ord("A") for letter in _LETTERS.findall(text)]
    alone = not re.search(r"[a-z]{4,}", text)
    return list(dict.fromkeys(found)) if alone and found and max(found) < count else []
