"""The fifteen questions: which document each is about, what it asks, and options whose truth the drawing decides."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from gigavqa.benchmarks.mmcr.taxonomy import LETTERS
from gigavqa.demo.draws import stream
from gigavqa.demo.mmcr.plan import Paper
from gigavqa.demo.records import Record, lettered


class PaperQuestion(NamedTuple):
    """A question, its options' wordings with the right one first, and its sources."""

    text: str
    options: Sequence[str]
    sources: tuple[str, ...]


_PAGES = {
    "figure 1": 1, "figure 3": 1, "table 1": 2, "section 3": 2, "formula 1": 2,
    "figure 2": 3, "table 2": 3, "algorithm 1": 3,
}  # fmt: skip
"""On which page each source stands."""

_PLACES: Mapping[str, Callable[[Paper], int]] = {
    "the tallest bar in figure 1": lambda paper: paper.heights.index(max(paper.heights)),
    "the shortest bar in figure 1": lambda paper: paper.heights.index(min(paper.heights)),
    "the highest mean in table 1": lambda paper: paper.means.index(max(paper.means)),
    "the lowest mean in table 1": lambda paper: paper.means.index(min(paper.means)),
}
"""Which of a document's methods has what."""
_ASKED: Mapping[str, tuple[str, str, Callable[[Paper], Iterable[object]]]] = {
    "figure 2": ("What colour has, in figure 2, the method with {}?", "{}.", lambda paper: paper.colours),
    "section 3": (
        "How many hours does the method with {} need in stage two?", "{} hours.", lambda paper: paper.hours,
    ),
    "formula 1": (
        "What is, by formula 1, the penalty of the method with {}?", "{}.",
        lambda paper: (paper.factor * height + paper.offset for height in paper.heights),
    ),
    "table 2": (
        "How many parameters, by table 2, has the method with {}?", "{} million.", lambda paper: paper.millions,
    ),
}  # fmt: skip
"""What a second source says of that method: question, wording, and the values of all methods."""


def _first(wording: str, values: Iterable[object], at: int) -> list[str]:
    """Return the wordings with the right one first."""
    worded = [wording.format(value) for value in values]
    return [worded.pop(at), *worded]


def _figure(paper: Paper) -> PaperQuestion:
    tallest = _PLACES["the tallest bar in figure 1"](paper)
    return PaperQuestion(
        "Which method has the tallest bar in figure 1?", _first("{}", paper.methods, tallest), ("figure 1",)
    )


def _table(paper: Paper) -> PaperQuestion:
    column = [row[2] for row in paper.results]
    options = _first("{}.", paper.methods, column.index(max(column)))
    return PaperQuestion("Which method has the highest accuracy on Dusk in table 1?", options, ("table 1",))


def _text(paper: Paper) -> PaperQuestion:
    options = _first("A {}.", paper.shares, 1)
    return PaperQuestion(f"How much of its width does {paper.methods[1]} lose?", options, ("section 3",))


def _formula(paper: Paper) -> PaperQuestion:
    below = paper.offset % len(LETTERS)  # so that neither the least nor the middle number is always right
    options = _first("{}.", range(paper.factor - below, paper.factor - below + len(LETTERS)), below)
    return PaperQuestion("By which number is the error multiplied in formula 1?", options, ("formula 1",))


def _pseudocode(paper: Paper) -> PaperQuestion:
    options = _first("Line {}.", range(1, 6), paper.steps.index("prune"))
    return PaperQuestion("Which line of algorithm 1 prunes the batch?", options, ("algorithm 1",))


def _by_figure_3(paper: Paper) -> PaperQuestion:
    ends = [curve[-1] for curve in paper.curves]
    return PaperQuestion(
        "What colour has, in figure 2, the method whose line ends highest in figure 3?",
        _first("{}.", paper.colours, ends.index(max(ends))),
        ("figure 3", "figure 2"),
    )


def _crossed(asked: str, place: str, *, asked_first: bool = False) -> Callable[[Paper], PaperQuestion]:
    """Ask of what one source says of the method that has a place in another."""

    def ask(paper: Paper) -> PaperQuestion:
        text, wording, values = _ASKED[asked]
        sources = (place.rpartition(" in ")[2], asked)
        options = _first(wording, values(paper), _PLACES[place](paper))
        return PaperQuestion(text.format(place), options, sources[::-1] if asked_first else sources)

    return ask


QUESTIONS: tuple[tuple[str, str, Callable[[Paper], PaperQuestion]], ...] = (
    ("tides", "figure_table", _crossed("figure 2", "the highest mean in table 1", asked_first=True)),
    ("tides", "figure", _figure),
    ("reefs", "multi_figure", _crossed("figure 2", "the tallest bar in figure 1")),
    ("reefs", "table", _table),
    ("dunes", "figure_text", _crossed("section 3", "the tallest bar in figure 1")),
    ("dunes", "text", _text),
    ("moors", "figure_formula", _crossed("formula 1", "the shortest bar in figure 1")),
    ("moors", "formula", _formula),
    ("fjords", "multi_table", _crossed("table 2", "the highest mean in table 1")),
    ("fjords", "pseudocode", _pseudocode),
    ("atolls", "figure_table", _crossed("figure 2", "the lowest mean in table 1", asked_first=True)),
    ("atolls", "multi_figure", _by_figure_3),
    ("glades", "figure_text", _crossed("section 3", "the shortest bar in figure 1")),
    ("glades", "figure_formula", _crossed("formula 1", "the tallest bar in figure 1")),
    ("glades", "multi_table", _crossed("table 2", "the lowest mean in table 1")),
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
                "options": lettered(order),
                "answer": answer,
                "evidence": {
                    "pages": sorted({_PAGES[source] for source in asked.sources}),
                    "sources": list(asked.sources),
                },
            }
        )
    return found
