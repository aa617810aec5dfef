"""Cuts a sentence into groups: options that are joined by nothing but marks and "and", with the words about them."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gigavqa.answers.asked import words_in
from gigavqa.answers.known_words import bare, content, denies, known_classes
from gigavqa.answers.lexicon import Words, lazy_pattern, words
from gigavqa.answers.negation import Mention

JOINT = lazy_pattern(
    rf"[,،、，;；/&+\n]|\s[–—-]\s|—|{words('contrast', 'set_against', 'addition', 'alternative')}"
    r"|(?<=\s)[وف](?=\w)|(?<=\w)[와과]\s|^[와과]\s|(?<=\w)と",
    re.IGNORECASE,
)
_CONTRAST = lazy_pattern(rf"{words('contrast', 'set_against')}|[;；]", re.IGNORECASE)
CROSS = re.compile(r"[✗✘✖❌×☐✕🚫⛔❎]|\[ ?\]")
TICK = re.compile(r"[✓✔✅☑⭕]|\[[xX✓✔]\]")
_DENIAL_BEFORE, _DENIAL_BEHIND = Words("denial_before"), Words("denial_behind")
_NOR, _ALTERNATIVE = Words("nor"), Words("alternative")


class OptionGroup(NamedTuple):
    """Options that are joined, with what stands before them and behind; how they stand to the group before."""

    letters: tuple[str, ...]
    lead: str
    tail: str
    is_set_against: bool
    is_either: bool
    is_related: bool = False


def groups_of(sentence: str, mentions: Sequence[Mention], language: str) -> Iterator[OptionGroup]:
    """Yield the options of a sentence that are joined by nothing but marks and words such as "and"."""
    lead, letters = sentence[: mentions[0].start], [str(mentions[0].value)]
    is_set_against = is_either = is_related = False
    for one, other in zip(mentions, [*mentions[1:], None], strict=False):
        between = sentence[one.end : other.start if other else len(sentence)]
        if other is None:
            yield OptionGroup(tuple(letters), lead, between, is_set_against, is_either, is_related)
        elif is_joint(between, language):
            letters.append(str(other.value))
            is_either |= _ALTERNATIVE.search(between.lower()) is not None
        else:
            tail, rest, is_parted = _parted(between)
            yield OptionGroup(tuple(letters), lead, tail, is_set_against, is_either, is_related or not is_parted)
            is_related = not is_parted
            lead, letters = rest, [str(other.value)]
            is_set_against, is_either = _CONTRAST.search(between) is not None, False


def _parted(between: str) -> tuple[str, str, bool]:
    """Return what stands behind one option and before the next, and whether a joint or a denial parts these."""
    if joints := [*JOINT.finditer(between)]:
        return between[: joints[-1].start()], between[joints[-1].end() :], True
    if denial := _DENIAL_BEFORE.search(between.lower()):
        return between[: denial.start()], between[denial.start() :], True
    if denial := _DENIAL_BEHIND.search(between.lower()):
        end = max(denial.end(), between.find(" ", denial.end()))
        return between[:end], between[end:], True
    return between, between, False


def is_joint(between: str, language: str) -> bool:
    """Return whether what stands between two options joins them, and says nothing of the first alone."""
    said = bare(between)
    if words_in(language, *known_classes(language, ("copula", "existence_told"))).search(said):
        return False
    if _CONTRAST.search(said) or CROSS.search(between) or TICK.search(between) or denies(_NOR.sub(" ", said), language):
        return False
    return bool(not said.strip() or JOINT.search(said)) and not content(JOINT.sub(" ", said), language)
