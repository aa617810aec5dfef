"""Brings a raw response into one written form, and cuts off what was only thought."""

import re
import unicodedata
from collections.abc import Iterator

_THINKING = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|channel|>analysis", "<|channel|>final"),
)
"""Opening and closing tags of the families that think aloud. The opening one may stand in the prompt instead."""

# A full stop after a single capital belongs to an option's letter, "B. Four people", and ends no sentence; unless what
# stands before the letter shows that the letter was the sentence's last word, "so it is B. Four people ...".
_LAST_LETTER = "|".join(rf"(?<={word} [A-Z]\.)" for word in (",", "or", "and", "is", "be", "option", "choice", "not"))
_SENTENCE_END = re.compile(rf"(?<=[.!?])(?<!\b[A-Z]\.)\s+|(?:{_LAST_LETTER})\s+|(?<=[。！？])")
_MARKUP = re.compile(r"<\|[a-z_]+\|>")


def answer_text(raw: str) -> str | None:
    """Return what follows the thinking, in Unicode's compatibility form; None where thinking never ended."""
    text = raw
    for opening, closing in _THINKING:
        if closing in text:
            text = text.rpartition(closing)[2]
        elif opening in text:
            before = text.partition(opening)[0]
            if not before.strip():
                return None
            text = before
    text = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return (_MARKUP.sub(" ", text) if "<|" in text else text).strip()


def lines_backwards(text: str) -> Iterator[str]:
    """Yield the lines that hold anything, the last one first."""
    return (line for line in reversed(text.splitlines()) if line.strip())


def sentences(line: str) -> list[str]:
    """Split a line into sentences."""
    return [part for part in _SENTENCE_END.split(line) if part.strip()]


def plain(text: str) -> str:
    """Lower-case a text and drop markup, outer punctuation and repeated space, to compare wordings."""
    return " ".join(re.sub(r"[*_`\"'“”‘’$\\{}<>]", " ", text).lower().split()).strip(" .,:;!?()[]。")
