"""Reads the final answer of a chat's last text, and compares it with truths as the authors' runner does."""

import re
import string
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, NamedTuple

READER_VERSION = "vistahop-answers/3"
_THOUGHTS = ("think", "thinking")
_ENDS = re.compile(r"<\|im_end\|>|<\|endoftext\|>|<\|eot_id\|>|<\|end\|>|<end_of_turn>|</s>")
_OPENING, _CLOSING = "<answer>", "</answer>"
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_MARKED = re.compile(r"(?:(?<!\w)[-+])?\d+(?:[^\w\s]\d+)*|\b\w+[#+]+(?!\w)")
_WORD = 2  # characters; what has fewer is a letter, and no noun has it
_ARTICLES = frozenset({"a", "an", "the"})

AnswerStatus = Literal["tag", "whole", "empty", "unfinished"]
"""How an answer was found: between its tags, as all that was said, not at all, or within a thought without an end."""


class FinalAnswer(NamedTuple):
    """An answer as it was written, and how it was found; empty texts answer nothing."""

    text: str
    status: AnswerStatus


def read_answer(text: str) -> FinalAnswer:
    """Read the last `<answer>` behind the last thought; without one, all that stands there, up to an end of turn."""
    said = _behind_thoughts(text)
    closing = said.rfind(_CLOSING)
    opening = said.rfind(_OPENING, 0, max(closing, 0))
    if opening >= 0:
        answer = said[opening + len(_OPENING) : closing].strip()
        return FinalAnswer(answer, "tag" if answer else "empty")
    end = _ENDS.search(said)
    answer = (said[: end.start()] if end else said).strip()
    if not answer:
        return FinalAnswer("", "empty")
    return FinalAnswer(answer, "unfinished" if _is_thinking(said) else "whole")


def _behind_thoughts(text: str) -> str:
    ends = (text.rfind(f"</{name}>") + len(name) + 3 for name in _THOUGHTS if f"</{name}>" in text)
    return text[max(ends, default=0) :]


def _is_thinking(said: str) -> bool:
    return any(f"<{name}>" in said for name in _THOUGHTS)


@lru_cache(maxsize=16)
def normalize_text(text: str) -> str:
    """Lower case, without ASCII punctuation, articles and double spaces; an "a" before no word is a letter."""
    words = text.lower().translate(_NO_PUNCTUATION).split()
    pairs = zip(words, [*words[1:], ""], strict=False)
    kept = (word for word, other in pairs if word not in _ARTICLES or (word == "a" and len(other) < _WORD))
    return " ".join(kept)


def matches_truth(answer: str, truths: Iterable[str]) -> bool:
    """Return whether an answer is one of the truths to the word, and to the figure: 1.5 is not 15, nor C# C++.

    What is a truth to the last character is one, also where no word is left of it.
    """
    told, raw = normalize_text(answer), answer.strip()
    return bool(raw) and any(
        raw == truth.strip()
        or (bool(told) and told == normalize_text(truth) and find_figures(answer) == find_figures(truth))
        for truth in truths
    )


def find_figures(text: str) -> list[str]:
    """Return numbers, dates and times with the signs within and before them, and signs that end a word."""
    return [found[0].lower() for found in _MARKED.finditer(_THOUSANDS.sub("", text))]
