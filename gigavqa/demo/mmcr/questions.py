"""The fifteen questions: which document each is about, what it asks, and options whose truth the drawing decides."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from gigavqa.benchmarks.mmcr.taxonomy import LETTERS
from gigavqa.demo.draws import stream
from gigavqa.demo.mmcr.plan import Paper

Record = dict[str, Any]


class PaperQuestion(NamedTuple):
    """A question, its options' wordings with the right one first, and where its sources stand: page by source."""

    text: str
    options: Sequence[str]
    sources: Mapping[str, int]


_FIGURE1, _FIGURE2, _FIGURE3 = {"figure 1": 1}, {"figure 2": 3}, {"figure 3": 1}
_TABLE1, _TABLE2 = {"table 1": 2}, {"table 2": 3}
_TEXT, _FORMULA, _ALGORITHM = {"section 3": 2}, {"formula 1": 2}, {"algorithm 1": 3}


def _first(values: Sequence[str], at: int) -> list[str]:
    """Return the wordings with the right one first."""
    return [values[at], *(value for place, value in enumerate(values) if place != at)]


def _tallest(paper: Paper) -> int:
    return paper.heights.index(max(paper.heights))


def _shortest(paper: Paper) -> int:
    return paper.heights.index(min(paper.heights))


def _farthest(paper: Paper) -> int:
    ends = [curve[-1] for curve in paper.curves]
    return ends.index(max(ends))


def _best(paper: Paper) -> int:
    return paper.means.index(max(paper.means))


def _worst(paper: Paper) -> int:
    return paper.means.index(min(paper.means))


def _figure(paper: Paper) -> PaperQuestion:
    return PaperQuestion(
        "Which method has the tallest bar in figure 1?", _first(paper.methods, _tallest(paper)), _FIGURE1
    )


def _table(paper: Paper) -> PaperQuestion:
    column = [row[2] for row in paper.results]
    return PaperQuestion(
        "Which method has the highest accuracy on Dusk in table 1?",
        _first([f"{name}." for name in paper.methods], column.index(max(column))),
        _TABLE1,
    )


def _text(paper: Paper) -> PaperQuestion:
    options = _first([f"A {share}." for share in paper.shares], 1)
    return PaperQuestion(f"How much of its width does {paper.methods[1]} lose?", options, _TEXT)


def _formula(paper: Paper) -> PaperQuestion:
    below = paper.offset % len(LETTERS)  # so that neither the least nor the middle number is always right
    options = _first([f"{paper.factor - below + at}." for at in range(len(LETTERS))], below)
    return PaperQuestion("By which number is the error multiplied in formula 1?", options, _FORMULA)


def _pseudocode(paper: Paper) -> PaperQuestion:
    line = paper.steps.index("prune")
    options = _first([f"Line {number}." for number in range(1, 6)], line)
    return PaperQuestion("Which line of algorithm 1 prunes the batch?", options, _ALGORITHM)


def _multi_figure(at: Callable[[Paper], int], which: str) -> Callable[[Paper], PaperQuestion]:
    return lambda paper: PaperQuestion(
        f"What colour has, in figure 2, the method with the {which} bar in figure 1?",
        _first([f"{colour}." for colour in paper.colours], at(paper)),
        {**_FIGURE1, **_FIGURE2},
    )


def _by_figure_3(paper: Paper) -> PaperQuestion:
    return PaperQuestion(
        "What colour has, in figure 2, the method whose line ends highest in figure 3?",
        _first([f"{colour}." for colour in paper.colours], _farthest(paper)),
        {**_FIGURE3, **_FIGURE2},
    )


def _figure_table(at: Callable[[Paper], int], which: str) -> Callable[[Paper], PaperQuestion]:
    return lambda paper: PaperQuestion(
        f"What colour has, in figure 2, the method with the {which} mean in table 1?",
        _first([f"{colour}." for colour in paper.colours], at(paper)),
        {**_FIGURE2, **_TABLE1},
    )


def _figure_text(at: Callable[[Paper], int], which: str) -> Callable[[Paper], PaperQuestion]:
    return lambda paper: PaperQuestion(
        f"How many hours does the method with the {which} bar in figure 1 need in stage two?",
        _first([f"{hours} hours." for hours in paper.hours], at(paper)),
        {**_FIGURE1, **_TEXT},
    )


def _figure_formula(at: Callable[[Paper], int], which: str) -> Callable[[Paper], PaperQuestion]:
    return lambda paper: PaperQuestion(
        f"What is, by formula 1, the penalty of the method with the {which} bar in figure 1?",
        _first([f"{paper.factor * height + paper.offset}." for height in paper.heights], at(paper)),
        {**_FIGURE1, **_FORMULA},
    )


def _multi_table(at: Callable[[Paper], int], which: str) -> Callable[[Paper], PaperQuestion]:
    return lambda paper: PaperQuestion(
        f"How many parameters, by table 2, has the method with the {which} mean in table 1?",
        _first([f"{millions} million." for millions in paper.millions], at(paper)),
        {**_TABLE1, **_TABLE2},
    )


QUESTIONS: tuple[tuple[str, str, Callable[[Paper], PaperQuestion]], ...] = (
    ("tides", "figure_table", _figure_table(_best, "highest")),
    ("tides", "figure", _figure),
    ("reefs", "multi_figure", _multi_figure(_tallest, "tallest")),
    ("reefs", "table", _table),
    ("dunes", "figure_text", _figure_text(_tallest, "tallest")),
    ("dunes", "text", _text),
    ("moors", "figure_formula", _figure_formula(_shortest, "shortest")),
    ("moors", "formula", _formula),
    ("fjords", "multi_table", _multi_table(_best, "highest")),
    ("fjords", "pseudocode", _pseudocode),
    ("atolls", "figure_table", _figure_table(_worst, "lowest")),
    ("atolls", "multi_figure", _by_figure_3),
    ("glades", "figure_text", _figure_text(_shortest, "shortest")),
    ("glades", "figure_formula", _figure_formula(_tallest, "tallest")),
    ("glades", "multi_table", _multi_table(_worst, "lowest")),
)
"""Document, type and question of each sample."""


def records(seed: int, papers: Sequence[Paper], pages: Mapping[str, Sequence[str]]) -> list[Record]:
    """Return the records of all questions; every letter is right three times."""
    by_name = {paper.name: paper for paper in papers}
    rng = stream(seed, "mmcr", "letters")
    letters = [LETTERS[at % len(LETTERS)] for at in rng.permutation(len(QUESTIONS))]
    found, counts = [], dict.fromkeys(by_name, 0)
    for (name, kind, ask), answer in zip(QUESTIONS, letters, strict=True):
        counts[name] += 1
        asked = ask(by_name[name])
        right, *others = asked.options
        order = [others[at] for at in rng.permutation(len(others))]
        order.insert(LETTERS.index(answer), right)
        found.append(
            {
                "id": f"{name}-q{counts[name]}",
                "document": name,
                "subject": by_name[name].subject,
                "type": kind,
                "pages": list(pages[name]),
                "question": asked.text,
                "options": dict(zip(LETTERS, order, strict=True)),
                "answer": answer,
                "evidence": {"pages": sorted(set(asked.sources.values())), "sources": list(asked.sources)},
            }
        )
    return found
