"""Ground truths of lists that annotators wrote as one text: "Mitoses; Necrosis", "8, 9"."""

import re
from collections.abc import Sequence
from typing import Any

_SEPARATORS = re.compile(r"(?:[\s,;|/&•·\[\]\"'.-]|\band\b|\d+[.)])*", re.IGNORECASE)
_ROIS = re.compile(r"[\s\[(]*\d{1,2}(?:\s*(?:,|;|\s|and)\s*\d{1,2})*[\s\])]*")


def list_of(truth: Any, answer_format: Any, choices: Sequence[str]) -> Any:
    """Return a multi-select or ROI text as the list that it names, in its own order; anything else as it is.

    A text that holds more than choices and separators stays a text, so that checks can name it.
    """
    if not isinstance(truth, str):
        return truth
    if answer_format == "roi_list" and _ROIS.fullmatch(truth):
        return [int(number) for number in re.findall(r"\d+", truth)]
    return _choices_in(truth, choices) or truth if answer_format == "multi_select" else truth


def _choices_in(text: str, choices: Sequence[str]) -> list[str]:
    rest, places = text.lower(), {}
    for choice in sorted(choices, key=len, reverse=True):
        at = rest.find(choice.lower())
        if at >= 0:
            places[at] = choice
            rest = rest[:at] + " " * len(choice) + rest[at + len(choice) :]
    return [places[at] for at in sorted(places)] if _SEPARATORS.fullmatch(rest) else []
