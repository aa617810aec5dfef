"""What is right to answer about a slide, read off the texts of a question alone: arithmetic of its own."""

import re
from collections.abc import Mapping
from typing import Any

_WORDS = {
    "a unifocal growth pattern": ("focality", "unifocal"),
    "a multifocal growth pattern": ("focality", "multifocal"),
    "unifocal growth": ("focality", "unifocal"),
    "multifocal growth": ("focality", "multifocal"),
    "no convincing in-situ component": ("in_situ", "absent"),
    "a distinct in-situ component": ("in_situ", "present"),
    "a purely invasive interpretation": ("in_situ", "absent"),
    "a mixed invasive-and-in-situ interpretation": ("in_situ", "present"),
    "the absence of lymphovascular invasion": ("lvi", "absent"),
    "the presence of lymphovascular invasion": ("lvi", "present"),
    "no lymphovascular invasion": ("lvi", "absent"),
    "lymphovascular invasion": ("lvi", "present"),
    "lymphovascular invasion present": ("lvi", "present"),
    "no invasive carcinoma": ("invasive", "absent"),
    "invasive carcinoma": ("invasive", "present"),
    "an invasive ductal carcinoma": ("histologic_type", "ductal"),
    "an invasive lobular carcinoma": ("histologic_type", "lobular"),
    "a high-grade lesion": ("grade", "3"),
    "a lower-grade lesion": ("grade", "1"),
}


def right_letter(record: Mapping[str, Any], labels: Mapping[str, Any]) -> str:
    """Return the letter that a reader of the labels gives to a record of T1, T2 or T3."""
    reader = {"T1": _compared, "T2": _verified, "T3": _summed_up}[record["subcategory"]]
    return reader(record, labels)


def _holds(claim: str, labels: Mapping[str, Any]) -> bool:
    finding, value = _WORDS[claim]
    return str(labels[finding]).removeprefix("leans ") == value


def _compared(record: Mapping[str, Any], labels: Mapping[str, Any]) -> str:
    found = re.fullmatch(r"When comparing (.+) and (.+), which interpretation is better .*", record["question"])
    assert found
    first, second = (next(c for c in _WORDS if c == text) for text in found.groups())
    leans = str(labels[_WORDS[first][0]]).startswith("leans ")
    assert _holds(first, labels) != _holds(second, labels)
    head = ("leans toward " if leans else "clearly favors ") + (first if _holds(first, labels) else second)
    (letter,) = [key for key, text in record["options"].items() if head in text]
    return letter


def _verified(record: Mapping[str, Any], labels: Mapping[str, Any]) -> str:
    found = re.fullmatch(
        r"Does the slide support all of the following together: (.+), (.+), and (.+)\?", record["question"]
    )
    assert found
    false = [claim for claim in found.groups() if not _holds(claim, labels)]
    assert len(false) <= 1
    if not false:
        return next(key for key, text in record["options"].items() if text.startswith("Yes"))
    return next(
        key for key, text in record["options"].items() if text == f"No, {false[0]} is not adequately supported."
    )


def _summed_up(record: Mapping[str, Any], labels: Mapping[str, Any]) -> str:
    right = [key for key, text in record["options"].items() if _fits(text, labels)]
    assert len(right) == 1
    return right[0]


def _fits(text: str, labels: Mapping[str, Any]) -> bool:
    found = re.fullmatch(r"An? (high-grade |lower-grade |)(invasive carcinoma|carcinoma) with (.+)\.", text)
    assert found
    grade, lesion, rest = found.groups()
    claims = re.split(r", | and ", rest)
    sure = all(_holds(claim, labels) for claim in claims)
    if grade:
        sure &= (labels["grade"] == "3") == (grade == "high-grade ")
    return sure and (lesion == "carcinoma" or labels["invasive"] == "present")
