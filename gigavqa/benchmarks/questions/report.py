"""Contents of a report on custom data sets: accuracies, letters, and the differences between models and conditions."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gigavqa.benchmarks.questions.judging import QuestionDetails
from gigavqa.benchmarks.questions.samples import LETTERS, Question
from gigavqa.evaluation.cell_scores import outcome_rate
from gigavqa.evaluation.metrics.accuracy import Contrast, Grouping, Strata
from gigavqa.evaluation.metrics.chance import above_chance
from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from gigavqa.evaluation.metrics.intervals import Floats, Indices, proportion
from gigavqa.evaluation.metrics.paired import holm, paired_test
from gigavqa.evaluation.score_frame import CellKey
from gigavqa.evaluation.scores import Scores
from gigavqa.evaluation.tables import Caveat, Column, ColumnGroup, Contents, Figure, Row, Table
from gigavqa.runtime.plurals import count_noun

QuestionScores = Scores[Question, QuestionDetails]
_MOST_GROUPS = 200
"""Groups of one kind that have a row: a column of other names, such as file names, sorts nothing."""


def report(scores: QuestionScores) -> Contents:
    """Fill the tables that have any row."""
    facts = _QuestionFacts.of(scores.samples, scores.scored)
    accuracy = _accuracy_table(scores, facts)
    tables = (
        accuracy,
        *_group_tables(scores),
        _difference_table(scores, "models", _pairs_of_models(scores)),
        _difference_table(scores, "conditions", _pairs_of_cells(scores)),
        _letter_table(scores, facts),
    )
    figure = Figure(
        name="accuracy",
        caption="Accuracy by model, protocol and condition, beside that of guessing.",
        form="bars",
        axis="accuracy (%)",
        table="accuracy",
        columns=("accuracy", "chance"),
    )
    return Contents(
        tables=tuple(table for table in tables if table.rows),
        figures=(figure,) if accuracy.rows else (),
        caveats=tuple(_caveats(facts)),
    )


class _QuestionFacts(NamedTuple):
    """What tables say of questions besides their groups, in their order: found in one look at each.

    The share of guesses that are right, the first truth of those that are scored, which letters are options of any, and
    how many are open.
    """

    chance: Floats
    truths: Sequence[str | None]
    letters: Sequence[str]
    open: int

    @classmethod
    def of(cls, questions: Sequence[Question], scored: npt.NDArray[np.bool_]) -> "_QuestionFacts":
        """Look at each question once."""
        chance, options, open_ = np.zeros(len(questions)), set[str](), 0
        truths: list[str | None] = []
        for at, (question, is_scored) in enumerate(zip(questions, scored.tolist(), strict=True)):
            chance[at] = question.chance
            options.update(question.options or ())
            truths.append(question.answers[0] if is_scored else None)
            open_ += question.kind == "open"
        return cls(chance, truths, [letter for letter in LETTERS if letter in options], open_)


def _caveats(facts: _QuestionFacts) -> Iterator[Caveat]:
    if unscored := facts.open:
        number = len(facts.truths)
        text = f"{unscored} of {number} questions are open: their answers are kept, and no number counts them"
        yield Caveat(scope="report", text=text)


def _accuracy_table(scores: QuestionScores, facts: _QuestionFacts) -> Table:
    """One row for every cell that was asked."""
    return Table(
        name="accuracy",
        title="Accuracy",
        caption="Right answers in %, with 95 % intervals. Chance is the mean over questions of one in as many as there "
        "are options, one in as many as there are sets of letters where several are asked for, one half for yes or "
        "no, and nothing for answers that cannot be guessed so.",
        groups=(
            ColumnGroup(
                title="",
                columns=(
                    Column(key="accuracy", title="accuracy", keys={"metric": "accuracy"}, strong=True),
                    Column(key="chance", title="chance", keys={"metric": "chance"}),
                    Column(key="above", title="above chance", unit="difference", keys={"metric": "above_chance"}),
                    Column(key="abstention", title="abstains", keys={"metric": "abstention_rate"}),
                    Column(key="unreadable", title="unreadable", unit="loss", keys={"metric": "unreadable_rate"}),
                ),
            ),
        ),
        rows=tuple(_accuracy_row(scores, cell, facts.chance) for cell in scores.cells),
    )


def _accuracy_row(scores: QuestionScores, cell: CellKey, chance: Floats) -> Row:
    means, replies = scores.means(*cell), scores.cell(*cell)
    known = ~np.isnan(means)
    accuracy = proportion(means)
    guessed = float(chance[known].mean()) if known.any() else None
    return Row(
        title=_cell_title(scores, cell),
        keys=cell.keys,
        values=(
            accuracy,
            Estimate(value=guessed, count=accuracy.count),
            NO_ESTIMATE if guessed is None else above_chance(accuracy, guessed),
            outcome_rate(replies, "abstained"),
            outcome_rate(replies, "unreadable"),
        ),
    )


def _cell_title(scores: QuestionScores, cell: CellKey) -> str:
    return f"{scores.title_of(cell.model)} · {cell.how}"


def _group_tables(scores: QuestionScores) -> Iterator[Table]:
    """For every kind of group: one row a group, one column a cell. Groups beside the category stand in long forms."""
    for kind in scores.columns.groups:
        members = scores.columns.members(kind)
        if 1 < len(members) <= _MOST_GROUPS:
            yield _group_table(scores, kind, members)


def _group_table(scores: QuestionScores, kind: str, members: Mapping[str, Indices]) -> Table:
    means = {cell: scores.means(*cell) for cell in scores.cells}
    columns = (
        ColumnGroup(
            title=scores.title_of(model),
            columns=tuple(
                Column(
                    key=str(cell),
                    title=cell.how,
                    label=_cell_title(scores, cell),
                    keys={**cell.keys, "metric": "accuracy"},
                )
                for cell in scores.cells
                if cell.model == model
            ),
        )
        for model in scores.models
    )
    cells = [cell for model in scores.models for cell in scores.cells if cell.model == model]
    return Table(
        name=f"by_{kind}",
        title=f"Accuracy by {kind}",
        caption=f"Right answers in %, with 95 % intervals, of the questions of each {kind}.",
        groups=tuple(columns),
        rows=tuple(
            Row(title=name, keys={kind: name}, values=tuple(proportion(means[cell][at]) for cell in cells))
            for name, at in members.items()
        ),
        detail=kind != "category",
    )


class _CellPair(NamedTuple):
    """Two cells that are compared, and what the comparison is called."""

    first: CellKey
    second: CellKey
    title: str
    keys: dict[str, str]


def _pairs_of_models(scores: QuestionScores) -> Iterator[_CellPair]:
    """Yield every two models that were asked alike."""
    for first, second in combinations(scores.models, 2):
        for cell in (cell for cell in scores.cells if cell.model == first):
            other = cell._replace(model=second)
            if other in scores.cells:
                title = f"{scores.title_of(first)} − {scores.title_of(second)} · {cell.how}"
                yield _CellPair(cell, other, title, {**cell.keys, "less": second})


def _pairs_of_cells(scores: QuestionScores) -> Iterator[_CellPair]:
    """Yield every two conditions of one protocol, and every two protocols under one condition, of each model."""
    for model in scores.models:
        for one, other in combinations([cell for cell in scores.cells if cell.model == model], 2):
            if (one.protocol == other.protocol) != (one.condition == other.condition):
                less, more = sorted((one, other), key=lambda cell: cell.condition)
                title = f"{scores.title_of(model)} · {more.how} − {less.how}"
                yield _CellPair(more, less, title, {**more.keys, "less": less.how})


def _difference_table(scores: QuestionScores, of: str, pairs: Iterable[_CellPair]) -> Table:
    pairs = list(pairs)
    strata = Strata.of(scores.columns, Grouping())
    means = {cell: scores.means(*cell) for pair in pairs for cell in pair[:2]}
    tests = [paired_test(means[pair.first], means[pair.second]) for pair in pairs]
    corrected = holm([test.p for test in tests])
    return Table(
        name=f"{of}_paired",
        title=f"Differences between {of}",
        caption=_CAPTION.format(comparisons=count_noun(len(pairs), "comparison")),
        groups=(ColumnGroup(title="", columns=_DIFFERENCE),),
        rows=tuple(
            Row(
                title=pair.title,
                keys=pair.keys,
                values=(
                    Contrast({"one": means[pair.first], "other": means[pair.second]}, strata).gap("one", "other"),
                    test.first_better,
                    test.second_better,
                    _p_value(test.p),
                    _p_value(p),
                ),
            )
            for pair, test, p in zip(pairs, tests, corrected, strict=True)
        ),
    )  # fmt: skip


_CAPTION = (
    "Over the questions that both answered: the difference in points with its 95 % interval, the questions that only "
    "one of both has right, and McNemar's exact test of these. This table makes {comparisons}: the last column "
    "is corrected for that (Holm); the intervals are not."
)
_DIFFERENCE = (
    Column(key="difference", title="difference", unit="difference", keys={"metric": "paired_difference"}, strong=True),
    Column(key="first", title="only the first", unit="count", keys={"metric": "first_better"}),
    Column(key="second", title="only the second", unit="count", keys={"metric": "second_better"}),
    Column(key="p", title="p", unit="text", keys={"metric": "p"}),
    Column(key="p_holm", title="p (Holm)", unit="text", keys={"metric": "p_holm"}),
)


def _p_value(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _letter_table(scores: QuestionScores, facts: _QuestionFacts) -> Table:
    """One row for every true letter of a cell: how often each letter was answered to it, and how often none."""
    columns = [Column(key=letter, title=letter, unit="count", keys={"answered": letter}) for letter in facts.letters]
    rows = [row for cell in scores.cells for row in _letter_rows(scores, cell, facts)]
    return Table(
        name="letters",
        title="Letters answered",
        caption="Replies to choices by the true letter (rows) and the letter that was answered (columns). The last row "
        "of each cell sums up: a model that prefers a letter answers it more often than it is true.",
        groups=(
            ColumnGroup(title="Answered", columns=(*columns, Column(key="none", title="no letter", unit="count"))),
            ColumnGroup(title="", columns=(Column(key="true", title="true", unit="count"),)),
        ),
        rows=tuple(rows),
        detail=True,
    )


def _letter_rows(scores: QuestionScores, cell: CellKey, facts: _QuestionFacts) -> Iterator[Row]:
    counts: dict[str, Counter[str | None]] = {}
    choices = scores.cell(*cell).answered.detailed
    for sample, details in zip(choices.sample.tolist(), choices.details, strict=True):
        if (truth := facts.truths[sample]) is not None:
            counts.setdefault(truth, Counter())[details.letter] += 1
    sums = sum(counts.values(), Counter())
    for letter in (*(letter for letter in facts.letters if letter in counts), *([""] if counts else ())):
        found = counts[letter] if letter else sums
        yield Row(
            title=f"{_cell_title(scores, cell)} · {letter or 'all'}",
            keys={**cell.keys, "truth": letter or "all"},
            values=(*(found[other] for other in facts.letters), found[None], found.total()),
            summary=not letter,
        )
