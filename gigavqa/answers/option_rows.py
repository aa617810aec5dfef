"""Reads rows that say of each option whether it is one of those asked for: "A: yes", "| Wagon 2 | empty | no |"."""

import re
from collections.abc import Iterator, Mapping

from gigavqa.answers.answer_space import key_of
from gigavqa.answers.listed import labelled_line, verdict_of
from gigavqa.answers.option_series import numbered_option

_MOST_LINES = 200
_ROW = re.compile(
    r"[\s>*•|_+-]*+(?:\d{1,2}[.)]\s+)?[\s*_`\"'“]*+(?P<label>[^:：|\n–—]{1,60}?)[\s*_`\"'”]*+(?:[:：|–—]|\s-\s)(?P<said>.*)"
)


def affirmed_rows(text: str, options: Mapping[str, str]) -> list[str]:
    """Return the options that rows affirm, where each option has one row that says yes or no of it; else none."""
    said: dict[str, bool | None] = {}
    if text.count("\n") > _MOST_LINES:
        return []
    for letter, verdict in _verdicts(text, options):
        if letter in said and said[letter] is not verdict:
            return []
        said[letter] = verdict
    if len(said) < len(options) or None in said.values():
        return []
    return [letter for letter in options if said[letter]]


def _verdicts(text: str, options: Mapping[str, str]) -> Iterator[tuple[str, bool | None]]:
    letters = {key_of(wording): letter for letter, wording in options.items()}
    for line in text.splitlines():
        if found := labelled_line(line, options):
            letter = found["letter"].upper()
            yield letter, verdict_of(found["said"], options[letter], found["box"] or "")
        elif row := _ROW.fullmatch(line):
            named = letters.get(key_of(row["label"])) or numbered_option(row["label"], options)
            if named:
                yield named, verdict_of(row["said"], row["label"])
