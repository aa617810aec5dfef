"""Reads an answer that is one of several texts, or any short text, or a ratio."""

import re
from collections.abc import Hashable, Iterator
from typing import Any

from gigavqa.answers.abstention import abstains, commits, find_abstention
from gigavqa.answers.answer_space import AnswerSpace, key_of, text_of
from gigavqa.answers.asked import Asked
from gigavqa.answers.choices_asked import stated_choices
from gigavqa.answers.doubts import is_unsafe
from gigavqa.answers.final import parse_answer
from gigavqa.answers.lexicon import Words, lazy_pattern, words
from gigavqa.answers.listed import verdict_of
from gigavqa.answers.negation import Mention, joined, said_values, settled
from gigavqa.answers.normalization import passages
from gigavqa.answers.ordinal_options import with_pairs
from gigavqa.answers.readings import AMBIGUOUS, UNPARSABLE, Reading, parsed
from gigavqa.answers.text import last_sentence, lines_backwards, plain, sentences, sentences_of
from gigavqa.answers.withdrawals import behind_retraction, is_first_thought

_RATIO = re.compile(r"(?<![\d.])(\d{1,6})\s*(?::|：|∶|/|\bto\b)\s*(\d{1,6})(?!\d|\.\d)", re.IGNORECASE)


def read_choice(value: Any, space: AnswerSpace, asked: Asked | None = None) -> Reading:
    """Read one text of a space: the whole answer, the one announced, or the last sentence's; else an option letter.

    Of several that a text states, the one that it states of what was `asked`.
    """
    if isinstance(value, dict):
        chosen = {
            key for inner in value.values() if isinstance(inner, str) and (key := key_of(inner)) in space.canonical
        }
        return parsed(space.canonical[chosen.pop()]) if len(chosen) == 1 else UNPARSABLE
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, bool) and {"yes", "no"} <= space.canonical.keys():
        return parsed(space.canonical["yes" if value else "no"])
    text = text_of(value)
    if text is None:
        return UNPARSABLE
    if not space.choices:
        return _read_free(text, space)
    if (key := key_of(text)) in space.canonical:
        return parsed(space.canonical[key])
    return _read_prose(with_pairs(space.without_list_numbers(text), space.mentions, str), space, asked)


def _read_prose(whole: str, space: AnswerSpace, asked: Asked | None) -> Reading:
    text = behind_retraction(whole, lambda rest: bool(space.named_in(rest)))
    if (judged := _judged(text, space)) is not None:
        return judged
    reading = (
        _announced(text, space)
        or _lettered(text, space)
        or _emphasized(text, space)
        or _stated_as_asked(text, space, asked)
        or _stated(text, space)
        or _last_named(text, space)
    )
    if reading.status == "parsed" and is_unsafe(whole, reading.value, space.mentions):
        return AMBIGUOUS
    return reading


def _judged(text: str, space: AnswerSpace) -> Reading | None:
    """Read the one choice that a list of verdicts affirms, "- horse: no ...", "- donkey: yes ..."."""
    said = dict(row_verdicts(text, space))
    affirmed = [choice for choice, verdict in said.items() if verdict]
    is_list = len(affirmed) == 1 and list(said.values()).count(False) == len(said) - 1 > 0
    return parsed(affirmed[0]) if is_list else None


def row_verdicts(text: str, space: AnswerSpace) -> Iterator[tuple[str, bool | None]]:
    """Yield the choice of each line that one opens, and whether what stands behind affirms it; None for neither."""
    for key, row in _rows(text, space):
        yield space.canonical[key], verdict_of(row["said"], row["label"])


def _rows(text: str, space: AnswerSpace) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield each line that a choice opens, behind that in the form in which it is compared."""
    for row in filter(None, map(_ROW.fullmatch, text.splitlines())):
        if (key := key_of(row["label"])) in space.canonical:
            yield key, row


_ROW = re.compile(
    r"[\s>*•|_+-]*+(?:\d{1,2}[.)]\s+)?[\s*_`\"'“]*+(?P<label>[^:：|\n–—]{1,60}?)[\s*_`\"'”]*+(?:[:：|–—]|\s-\s)(?P<said>.*)"
)


def _emphasized(text: str, space: AnswerSpace) -> Reading | None:
    """Read the one choice that stands in bold, alone or behind what it is of: "**Material: glass**"."""
    keys = {key_of(re.split("[:：]", bold)[-1]) for bold in _BOLD.findall(text)}
    chosen = {space.canonical[key] for key in keys if key in space.canonical}
    return parsed(*chosen) if len(chosen) == 1 and not abstains(last_sentence(text)) else None


def _stated_as_asked(text: str, space: AnswerSpace, asked: Asked | None) -> Reading | None:
    stated = stated_choices(asked, text, space.mentions) if asked else []
    return parsed(*stated) if len(stated) == 1 else None


def _stated(text: str, space: AnswerSpace) -> Reading | None:
    """Read the one choice that a sentence states, "the nearest object is the case.", before others are described."""
    if (first := _first_in_order(text, space)) is not None:
        return parsed(first)
    *before, last = sentences_of(text) or [""]
    if len(set(said_values(last, space.mentions(last)))) < 2 or _SETTLES.search(last.lower()):
        return None
    stated = {
        mentions[0].value
        for sentence in before
        if len(mentions := space.mentions(sentence)) == 1
        and _IS.search(sentence[: mentions[0].start].lower())
        and not sentence[mentions[0].end :].strip(" .*_`\"'”!")
        and space.settled_in(sentence)
    }
    return parsed(*stated) if len(stated) == 1 else None


def _first_in_order(text: str, space: AnswerSpace) -> Hashable:
    """Return the choice that a text of one sentence states before those that follow it, "the bus, then the taxi"."""
    found = space.mentions(text) if len(sentences(text)) == 1 else []
    is_first = len(found) > 1 and _IS.search(text[: found[0].start].lower()) and _NEXT.match(text, found[0].end)
    return found[0].value if is_first else None


_NEXT = lazy_pattern(rf"[*_`\"'”]*\s?,?\s(?:and\s)?{words('next_in_order')}", re.IGNORECASE)
_IS = lazy_pattern(rf"{words('copula')}\s+(?:{words('filler')}\s+)*[*_`\"'“]*$")
_SETTLES = Words("conclusion", "contrast", "retraction", "affirmation", "announcement")
_BOLD = re.compile(r"\*\*([^*\n]{1,60})\*\*")


def _announced(text: str, space: AnswerSpace) -> Reading | None:
    for passage in passages(text):
        first = next((line for line in passage.splitlines() if line.strip()), "")
        if passage is text:
            return None if _lists_choices(text, space) else _opening(first, space)
        told = next(iter(sentences(first)), "")
        if named := space.settled_in(told) or space.settled_in(first):
            return parsed(*named) if len(named) == 1 else _opening(first, space) or AMBIGUOUS
    return None


def _lists_choices(text: str, space: AnswerSpace) -> bool:
    """Return whether two lines or more are rows that choices open, "- red cube: 1.2 m"."""
    return len({key for key, _ in _rows(text, space)}) > 1


def _opening(line: str, space: AnswerSpace) -> Reading | None:
    """Read a line that begins with a choice and then explains it."""
    opening = re.split(r"[,.;:!(—\n]|\s[–-]\s|\bbecause\b|\bsince\b", line, maxsplit=1)[0]
    key = key_of(opening)
    if key not in space.canonical or len(joined(line, space.mentions(line))) > 1:
        return None
    return None if is_first_thought(line) else parsed(space.canonical[key])


def _lettered(text: str, space: AnswerSpace) -> Reading | None:
    options = {chr(ord("A") + at): choice for at, choice in enumerate(space.choices[:26])}
    answer = parse_answer(text, options) if len(options) > 1 else None
    if answer is None or answer.value is None or (answer.status != "marker" and len(plain(text)) > 1):
        return None
    return parsed(options[answer.value])


def _last_named(text: str, space: AnswerSpace) -> Reading:
    for line in lines_backwards(text):
        for sentence in reversed(sentences(line)):
            if find_abstention(sentence) and not commits(sentence) and not space.settled_in(sentence):
                return UNPARSABLE
            if (named := space.settled_in(sentence)) and not is_first_thought(sentence):
                return parsed(*named) if len(named) == 1 else AMBIGUOUS
    return UNPARSABLE


def _read_free(text: str, space: AnswerSpace) -> Reading:
    for passage in passages(text):
        line = passage.strip().partition("\n")[0] if passage is not text else passage
        if key := space.canonical_of(line):
            return parsed(key)
    return UNPARSABLE


def read_ratio(value: Any) -> Reading:
    """Read a ratio of two whole numbers, "2:1" as it is written; the last one announced or written."""
    text = text_of(value)
    if isinstance(value, list) and len(value) == 2:
        text = f"{value[0]}:{value[1]}"
    for passage in passages(text or ""):
        if ratios := list(_RATIO.finditer(passage)):
            return _ratio_of(passage, ratios, announced=passage is not text)
    return UNPARSABLE


def _ratio_of(passage: str, ratios: list[re.Match[str]], *, announced: bool) -> Reading:
    mentions = [Mention(*ratio.span(), f"{int(ratio[1])}:{int(ratio[2])}") for ratio in ratios]
    meant = settled(passage, mentions)
    if len(meant) == 1:
        return parsed(*meant)
    if not meant or len(joined(passage, mentions)) > 1:
        return AMBIGUOUS if meant else UNPARSABLE
    return parsed(mentions[0 if announced else -1].value)
