"""Lists that go through the options one by one: rows, tables, sections, check boxes, questions. One parser reads all.

A list is labels in their order, each with what is said of it up to the next. Where one option alone is affirmed, or all
but one are denied, that one is meant; else the list says nothing, and never its last row.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from gigavqa.answers.letters import is_of_noun, latin, letters_of
from gigavqa.answers.lexicon import lazy_pattern, words
from gigavqa.answers.negation import verdicts
from gigavqa.answers.spellings import one_spelling
from gigavqa.answers.text import plain, sentences

_YES, _NO = "✓✔✅☑○◯⭕", "✗✘✖❌×☐✕🚫⛔❎"
_MARK = lazy_pattern(rf"(?P<no>[{_NO}]|\[ ?\])|(?P<yes>[{_YES}]|\[[xX✓✔]\])")
_BOX = rf"\[[ xX✓✔]?\]|[{_YES}{_NO}]"
_ENDED = r"(?=[*_`\s]*(?:[^\w\s]|$))"
_HEAD = lazy_pattern(
    rf"[\s*_:：?？–—=>→⇒(\[-]*+(?:{words('copula')}\s+)?"
    rf"(?:(?P<no>{words('negation', 'holds_not')}|{words('no')}{_ENDED})"
    rf"|(?P<yes>{words('holding')}|{words('yes', 'holds')}{_ENDED}))"
)
"""How a verdict begins, behind its label."""
_LONGEST = 240
"""Characters behind a label in which the verdict on it begins."""
_LONGEST_VERDICT = 32
"""Characters of a row's last sentence that is a verdict alone, "This doesn't fit."."""
_SHORT = 12


class OptionList(NamedTuple):
    """Lines of a text that list options, and the one that they leave; `ambiguous` where they affirm several."""

    first: int
    last: int
    letter: str | None = None
    ambiguous: bool = False


class _OptionRow(NamedTuple):
    at: int
    letter: str
    box: str
    said: str


class _LabelPatterns(NamedTuple):
    line: re.Pattern[str]
    inline: re.Pattern[str]
    chained: re.Pattern[str]


@lru_cache(maxsize=32)
def _labels(letters: str) -> _LabelPatterns:
    mark = rf"[{_YES}{_NO}]"
    noun = rf"(?i:{words('option_noun')}|(?P<statement>{words('statement_noun')}))"
    return _LabelPatterns(
        re.compile(
            rf"[\s>#*_|+•-]*+(?:\d{{1,2}}[.)]\s+)?(?P<box>{_BOX})?[\s*_|]*+(?:{noun}\s*+)?[(\[*_`\"'“]*+"
            rf"(?P<letter>[{letters}{letters.lower()}])[)\]*_`\"'”]*+(?:\s*+(?:[.):：\]|=→⇒–—-]+>?|$|(?={mark}))|\s+(?=\[)|(?<=[)\]*]))"
            r"(?P<said>.*)"
        ),
        re.compile(
            rf"(?<![A-Za-z0-9])(?:(?P<box>{_BOX})\s{{0,3}}(?P<boxed>[{letters}])(?![A-Za-z0-9])"
            rf"|(?P<letter>[{letters}])[)*_]{{0,3}}(?P<said>\s{{0,3}}[?？]\s{{0,4}}(?:{_BOX}|[^.,;!?。，？\n]{{1,32}})"
            rf"|[\s:：=-]{{0,4}}(?:{_BOX})))"
        ),
        re.compile(
            rf"(?<![^\W_])[(\[*_`\"'“]{{0,3}}(?P<letter>[{letters}])[)\]*_`\"'”]{{0,4}}"
            rf"\s{{0,2}}(?:(?<=\))|[:：.=→⇒]|-?>|[–—-](?=\s)|[는은は](?=\s))"
        ),
    )


def labelled_line(line: str, options: Mapping[str, str]) -> re.Match[str] | None:
    """Return the label that opens a line; none of a statement where the options speak of lettered ones themselves."""
    match = _labels("".join(options)).line.fullmatch(line)
    return None if match and match["statement"] and _own(options) else match


def _own(options: Mapping[str, str]) -> bool:
    """Return whether the options speak of lettered nouns themselves, "Only Claim A"."""
    return letters_of(tuple(options.items())).own


def option_line(line: str, options: Mapping[str, str]) -> str | None:
    """Return the option that a line is: its letter alone, or its letter and its words."""
    if len(line) < _SHORT and (alone := latin(plain(line))) in options:
        return alone
    return restated_option(line, options)


def restated_option(line: str, options: Mapping[str, str]) -> str | None:
    """Return the option whose letter and words are a line."""
    match = labelled_line(line, options)
    letter = match["letter"].upper() if match else ""
    return letter if match and match["said"] and _is_same(match["said"], options[letter]) else None


def _is_same(said: str, wording: str) -> bool:
    return one_spelling(plain(said)) == one_spelling(plain(wording))


_MOST_ADDED = 3
"""Words that a row may have besides its option's, and still only repeat it: "Birds can be seen" for "birds seen"."""


def begun_option(line: str, options: Mapping[str, str]) -> str | None:
    """Return the option whose letter, with all of its words or the first of them, is a line."""
    match = labelled_line(line, options)
    said, letter = (plain(match["said"]), match["letter"].upper()) if match else ("", "")
    if not said:
        return None
    wording = plain(options[letter])
    ours, theirs = said.split(), wording.split()
    repeats = len(theirs) > 1 and {*theirs} <= {*ours} and len(ours) <= len(theirs) + _MOST_ADDED
    return letter if repeats or wording.startswith(said) else None


def listings(text: str, lines: Sequence[str], options: Mapping[str, str]) -> dict[int, OptionList]:
    """Return the lists of a text, by each of their lines."""
    found: dict[int, OptionList] = {}
    for rows, last in (*_by_lines(lines, options), *_inline(text, options), *_chained(lines, options)):
        if len({row.letter for row in rows}) > 1:
            listing = OptionList(rows[0].at, last, *_left(rows, options))
            found |= {at: listing for at in range(listing.first, last + 1) if at not in found}
    return found


def _by_lines(lines: Sequence[str], options: Mapping[str, str]) -> Iterator[tuple[list[_OptionRow], int]]:
    """Yield the rows of each list whose labels open lines, in their order, with the last line of the list."""
    rows: list[_OptionRow] = []
    for at, line in enumerate(lines):
        match = labelled_line(line, options)
        if match is None or (match["letter"].islower() and not _is_label(match, line, options)):
            continue
        letter = match["letter"].upper()
        if rows and letter <= rows[-1].letter:
            yield _sections(rows, lines, options)
            rows = []
        rows.append(_OptionRow(at, letter, match["box"] or "", match["said"]))
    if rows:
        yield _sections(rows, lines, options)


def _is_label(match: re.Match[str], line: str, options: Mapping[str, str]) -> bool:
    """Return whether a small letter is a label: behind a box, before its option's words or a verdict."""
    return bool(match["box"] or option_line(line, options) or _HEAD.match(match["said"].lower()))


def _sections(rows: list[_OptionRow], lines: Sequence[str], options: Mapping[str, str]) -> tuple[list[_OptionRow], int]:
    """Give headings what stands below them, up to the next one, or of the last up to an empty line."""
    ends = [row.at for row in rows[1:]]
    bare = all(not row.box and (not plain(row.said) or option_line(lines[row.at], options)) for row in rows)
    if not bare or not all(any(map(str.strip, lines[row.at + 1 : end])) for row, end in zip(rows, ends, strict=False)):
        return rows, rows[-1].at
    last = next((at for at in range(rows[-1].at + 1, len(lines)) if lines[at].strip()), rows[-1].at)
    ends.append(last + 1)
    said = (" ".join(lines[row.at + 1 : end]).strip() for row, end in zip(rows, ends, strict=True))
    return [row._replace(said=told) for row, told in zip(rows, said, strict=True)], last


def _inline(text: str, options: Mapping[str, str]) -> Iterator[tuple[list[_OptionRow], int]]:
    """Yield the rows of a list within lines: marks beside letters, or questions that are answered at once."""
    if "?" not in text and "？" not in text and not _MARK.search(text):
        return
    rows = [
        _OptionRow(
            text.count("\n", 0, found.start()),
            found["letter"] or found["boxed"],
            found["box"] or "",
            found["said"] or "",
        )
        for found in _labels("".join(options)).inline.finditer(text)
        if not is_of_noun(text, found.start("boxed" if found["boxed"] else "letter"), own=_own(options))
    ]
    if rows:
        yield rows, rows[-1].at


def _chained(lines: Sequence[str], options: Mapping[str, str]) -> Iterator[tuple[list[_OptionRow], int]]:
    """Yield the rows of each list that is one line, "A: no, B: yes": labels in their order, a verdict behind each."""
    for at, line in enumerate(lines):
        found = _chained_labels(line, options)
        if len(found) < 2:
            continue
        own = _own(options)
        labels = [label for label in found if not is_of_noun(line, label.start("letter"), own=own)]
        letters = [label["letter"] for label in labels]
        if letters != sorted(set(letters)) or not _is_long(letters, options):
            continue
        ends = [*(label.start() for label in labels[1:]), len(line)]
        said = [line[label.end() : end] for label, end in zip(labels, ends, strict=True)]
        rows = [_OptionRow(at, *row) for row in zip(letters, _circles(said), said, strict=True)]
        if all(_is_judged(row, options[row.letter]) for row in rows):
            yield rows, at


def may_be_list(line: str, options: Mapping[str, str]) -> bool:
    """Return whether two labels stand in a line."""
    return len(_chained_labels(line, options)) > 1


def _chained_labels(line: str, options: Mapping[str, str]) -> list[re.Match[str]]:
    if len(line) < _SHORT or sum(map(line.count, options)) < 2:
        return []
    return [*_labels("".join(options)).chained.finditer(line)]


_LEAST = 3


def _is_long(letters: Sequence[str], options: Mapping[str, str]) -> bool:
    """Return whether so many labels make a list: three, or two from the first option on; "B. No, C." is none."""
    return len(letters) >= _LEAST or (len(letters) > 1 and letters[0] == next(iter(options)))


_CIRCLES = ({"o": "○", "x": "×"}, {"1": "○", "0": "×"})


def _circles(said: Sequence[str]) -> list[str]:
    """Return the marks that rows stand for which hold nothing but O or X, or 1 or 0; none where one holds more."""
    told = [plain(one).strip(" /|،") for one in said]
    for marks in _CIRCLES:
        if all(one in marks for one in told):
            return [marks[one] for one in told]
    return [""] * len(said)


def _is_judged(row: _OptionRow, wording: str) -> bool:
    """Return whether a row begins with a verdict, that is no word of its option."""
    rest = row.said[:_LONGEST].lower().replace(wording.lower(), " ", 1)
    return bool(_HEAD.match(rest) or _MARK.match(rest.lstrip(" *_`"))) or (
        bool(row.box) and plain(row.said) != plain(wording)
    )


def _left(rows: Sequence[_OptionRow], options: Mapping[str, str]) -> tuple[str | None, bool]:
    """Return the option that a list leaves, and whether it affirms several."""
    said = {row.letter: _verdict(row, options[row.letter]) for row in rows}
    affirmed, denied = ([letter for letter, verdict in said.items() if verdict is one] for one in (True, False))
    open_ones = [letter for letter, verdict in said.items() if verdict is None]
    if len(affirmed) == 1 and len(denied) >= len(open_ones):
        return affirmed[0], False
    if not affirmed and len(open_ones) == 1 and len(denied) == len(options) - 1:
        return open_ones[0], False
    return None, len(affirmed) > 1


def _verdict(row: _OptionRow, wording: str) -> bool | None:
    return verdict_of(row.said, wording, row.box)


def verdict_of(said: str, wording: str, box: str = "") -> bool | None:
    """Return whether what is said behind a label affirms it or denies it.

    None where it does neither, or only repeats the option's words.
    """
    said = said[:_LONGEST].lower()
    marks = {bool(mark["yes"]) for mark in _MARK.finditer(box + said)}
    if len(marks) == 1:
        return marks.pop()
    for cell in said.replace(wording.lower(), " ", 1).split("|"):
        if head := _HEAD.match(cell):
            return bool(head["yes"])
        first, *others = sentences(cell) or [""]
        for sentence in (first, *(other for other in others[-1:] if len(other) <= _LONGEST_VERDICT)):
            told = verdicts(sentence)
            if len(told) == 1:
                return next(iter(told))
    return None
