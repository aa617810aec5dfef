"""Withdrawals of what a text says: retractions, first thoughts, conditions, examples."""

import re
from collections.abc import Callable

from gigavqa.answers.lexicon import UNSPACED, Words, lazy_pattern, words
from gigavqa.answers.text import LONGEST

_RETRACTION = Words("retraction")
_TAKEN_BACK = Words("retraction", "second_look")
_MOST_RETRACTIONS = 8
"""Retractions that are looked at, from the end: a model that runs in circles takes back thousands."""
_FIRST_THOUGHT = Words("first_thought")
_HYPOTHESIS = Words("hypothesis")
_CONDITION, _FORCED = lazy_pattern(words("condition")), lazy_pattern(words("forced"))


_ASCRIBED = Words(
    "speaker",
    pattern=rf"{{}}[^.;!?。！？]{{0,60}}?{words('saying')}\s*+[:：,]?\s*+(?:{words('that')})?(?P<said>[^,，;.!?。]{{0,40}})$",
)
_OF_ANOTHER = Words(
    "speaker",
    pattern=rf"(?:{{}}(?:['’]s?|の|的|의)?\s*+(?:[^\W\d_]+\s+){{0,2}}?{words('guess')}|{words('guess')}\s+[^.;!?,]{{0,24}}?{{}})[^.;!?,，。]{{0,24}}$",
)
_ANSWERED = Words(
    "answerer",
    pattern=rf"{{}}[^.;!?。！？]{{0,60}}?{words('saying', 'answering')}\s*+[:：,]?\s*+(?:{words('that')})?"
    r"(?P<said>[^,，;.!?。]{0,40})$",
)
_ANSWERER = Words("answerer")
_SPEAKER, _SAYING_BEHIND = Words("speaker"), Words("saying_behind")
_CONCLUSION = Words("conclusion")
_FALSE = lazy_pattern(rf"[\s*_\"'”’)(¡,，-]{{0,8}}(?:{words('contrast')}\s*)?{words('taken_as_false')}")
_DOUBTED = Words("doubt", pattern=r"{}(?:\s+[^\W\d_]{1,8}){0,4}\s*$")
_IF = lazy_pattern(rf"[\s*_)\],，]{{0,6}}{words('condition_behind')}")
_CONTRAST = Words("contrast")
_CONCESSION = Words("concession")
_UNREAL, _CONDITION_BEHIND = Words("unreal"), Words("condition_behind")


def behind_retraction(text: str, says: Callable[[str], bool], *, short: bool = False) -> str:
    """Return what stands behind the last retraction of a text behind which something is said; else the text.

    In a `short` text, that answers one step, a second look is one as well.
    """
    return last_said(_TAKEN_BACK if short else _RETRACTION, text, says)


def last_said(mark: Words, text: str, says: Callable[[str], bool]) -> str:
    """Return what stands behind the last of some marks behind which something is said; else the text."""
    found = [match.end() for match in mark.finditer(text.lower()) if _begins(text, match)]
    left = LONGEST  # each look reads to the end anew
    for at in reversed(found[-_MOST_RETRACTIONS:]):
        left -= len(text) - at
        if left < 0:
            break
        if says(text[at:]):
            return text[at:]
    return text


def _begins(text: str, match: re.Match[str]) -> bool:
    """Return whether a phrase begins where a word can: of Han, kana and hangul behind no other of them, "都不对。"."""
    return not UNSPACED.match(match[0]) or not text[max(0, match.start() - 1) : match.start()].isalpha()


def is_first_thought(sentence: str) -> bool:
    """Return whether a sentence tells of a first impression."""
    return bool(_FIRST_THOUGHT.search(sentence.lower()))


def is_hypothesis(before: str) -> bool:
    """Return whether what stands before an announcement in its sentence makes it a mere example or somebody's guess."""
    lowered = before.lower()
    return bool(_HYPOTHESIS.search(lowered)) and bool(_HYPOTHESIS.search(_behind_contrast(lowered)))


def is_doubted(before: str) -> bool:
    """Return whether what stands before an announcement only asks for it, "unclear whether the"."""
    return bool(_DOUBTED.search(before.lower()))


def holds_if(behind: str) -> bool:
    """Return whether what stands right behind a value makes it hold on a condition, "B if the wall is blue"."""
    lowered = behind.lower()
    return bool(_IF.match(lowered)) and not _FORCED.search(lowered)


def is_conditional(clause: str) -> bool:
    """Return whether a clause, or what stands before a value in it, holds on a condition only, and no "but" ends it."""
    lowered = clause.lower().rpartition(":")[2].lstrip(_BEFORE_CLAUSE)
    if not _CONDITION.match(lowered) or _FORCED.match(lowered):
        return False
    rest = _behind_contrast(lowered)
    return rest is lowered or bool(_CONDITION.match(rest.lstrip(_BEFORE_CLAUSE)))


_AT_ONCE = 12
"""Characters behind a value in which Hindi, Japanese and Korean say that it would be."""
_BEFORE_CLAUSE = " *_-,，("


def opens_with_contrast(sentence: str) -> bool:
    """Return whether a sentence begins with a word that sets it against what was said, "But ..."."""
    return bool(_CONTRAST.pattern.match(sentence.lower().lstrip(" *_-")))


def _behind_contrast(clause: str) -> str:
    parts = _CONTRAST.split(clause)
    return clause if len(parts) == 1 else parts[-1]


def is_ascribed(before: str, behind: str = "") -> bool:
    """Return whether what stands about an announcement, or a value, has another say it: "a caption claims that the"."""
    lowered = before.lower()
    if is_answered_by_others(before, behind):
        return True
    if not _SPEAKER.may_be_in(lowered):
        return False
    found = _ASCRIBED.search(lowered)
    if found and not _CONCLUSION.search(found["said"]):
        return True
    if _OF_ANOTHER.search(lowered):
        return True
    return bool(behind and _SPEAKER.search(lowered) and _SAYING_BEHIND.search(behind.lower()))


def is_answered_by_others(before: str, behind: str = "") -> bool:
    """Return whether what stands about a value has somebody else answer so: "the other annotator counted"."""
    lowered = before.lower()
    if not _ANSWERER.may_be_in(lowered):
        return False
    found = _ANSWERED.search(lowered)
    if found and not _CONCLUSION.search(found["said"]):
        return True
    return bool(behind and _SAYING_BEHIND.search(behind.lower()))


def is_denied_at_once(behind: str) -> bool:
    """Return whether the sentence behind another denies it, "That is false"."""
    return bool(_FALSE.match(behind.lower()))


def is_unreal(before: str, behind: str = "") -> bool:
    """Whether words before a value tell that it would be on a condition that does not hold, be that behind it."""
    at_once = behind[:_AT_ONCE].lower()
    lowered = before.lower()
    if not _UNREAL.search(lowered + at_once):
        return False
    lowered = _behind_contrast(lowered)
    sentence = _CONCESSION.sub(" ", lowered + behind.lower())
    if not _UNREAL.search(lowered + at_once) or _FORCED.search(sentence):
        return False
    return is_conditional(lowered) or bool(_CONDITION_BEHIND.search(sentence))
