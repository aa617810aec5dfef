"""Matches a reply with an option by the paper's two rules (section B.2), to the letter: `mmcr-matching/2`.

First the option letters that stand alone, then the options' wordings. What neither finds is no answer, and wrong. The
rules have known weaknesses, the article "A" among them; they are kept, and the careful reader stands beside.
"""

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from gigavqa.answers.abstention import abstains
from gigavqa.answers.final import parse_answer
from gigavqa.answers.text import LONGEST, thoughts_apart

MATCHER_VERSION = "mmcr-matching/2"
CAREFUL = "careful"

MatchStatus = Literal["option", "text", "refused", "unmatched"]
"""How an option was found: by its letter, by its wording; or that none was, with words that say so or without."""

_SEPARATORS = str.maketrans(dict.fromkeys(".()[],:;!*#{}", " "))
_MARKUP = "*_`'\"“”‘’ \t"
_MARKER = re.compile(
    rf"answer[{_MARKUP}]*(?:\bis[ \t]*)?:|^[#>*_ \t]{{0,8}}(?:final[ \t]{{1,8}})?answer[*_ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_REFUSAL = re.compile(
    r"\b(?:can(?:no|['’])?t|cannot|can\s+not|unable\s+to|not\s+able\s+to)\s+(?:\w+\s+){0,3}?"
    r"(?:help|assist|process|open|read|access|view|see|determine|answer)\b"
    r"|\b(?:do\s+not|don['’]?t|no)\s+(?:\w+\s+){0,2}?(?:see|find|have)\s+(?:any|an|the)?\s*(?:image|picture|page|file)"
    r"|\b(?:sorry|apologi[sz]e)\b",
    re.IGNORECASE,
)


class OptionMatch(NamedTuple):
    """The letter of the option that a reply was matched with, None where there is none, and how."""

    letter: str | None
    status: MatchStatus


def match_option(raw: str, options: Mapping[str, str], *, announced: bool = False) -> OptionMatch:
    """Match a raw reply with the options as they were shown.

    With `announced`, for prompts that ask for it, only what stands behind the last "answer:" counts, or below it as a
    heading, up to the end of the line.
    """
    text = thoughts_apart(raw)[1] or ""
    searched = _behind_marker(text) if announced else text
    letters = {token for token in searched.translate(_SEPARATORS).split() if token in options}
    if len(letters) == 1:
        return OptionMatch(letters.pop(), "option")
    lowered = searched.lower()
    quoted = [letter for letter, wording in options.items() if wording.lower() in lowered]
    if len(quoted) == 1:
        return OptionMatch(quoted[0], "text")
    return OptionMatch(None, "refused" if _is_refusal(text[:LONGEST]) else "unmatched")


def _behind_marker(text: str) -> str:
    markers = [*_MARKER.finditer(text)]
    return text[markers[-1].end() :].lstrip().partition("\n")[0].strip(_MARKUP) if markers else text


def _is_refusal(text: str) -> bool:
    return bool(_REFUSAL.search(text)) or abstains(text)


def read_final_letter(raw: str, options: Mapping[str, str]) -> str | None:
    """Return the letter that the core's reader of final answers finds; of an option's own words, that option's."""
    found = parse_answer(raw, options)
    return found.value or found.quoted
