"""Print how often readers who see texts alone are right, against chance."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gigavqa.cli.tables import TableColumn, print_table
from gigavqa.evaluation.errors import Problem

if TYPE_CHECKING:
    from gigavqa.construction.guessing.guessing import ReaderScore

_SHOWN = 3
_COLUMNS = (
    TableColumn("category"),
    TableColumn("reader without pictures"),
    TableColumn("right %", right=True),
    TableColumn("95 %", leaves=2, right=True),
    TableColumn("chance %", leaves=1, right=True),
    TableColumn("questions", leaves=3, right=True),
    TableColumn("", leaves=0),
)


def print_guessing(scores: "Sequence[ReaderScore]") -> None:
    """Print the best readers of each category, and whether they beat chance."""
    by_recipe: defaultdict[str, list[ReaderScore]] = defaultdict(list)
    for score in scores:
        by_recipe[score.recipe].append(score)
    best = [sorted(one, key=lambda score: -(score.right.value or 0.0))[:_SHOWN] for one in by_recipe.values()]
    print_table(_COLUMNS, [_row(score) for scores_of in best for score in scores_of], more="`--json` has all readers")


def guessing_warnings(scores: "Sequence[ReaderScore]") -> "Iterator[Problem]":
    """Yield a warning for each category that a reader of texts alone can guess, by its best reader."""
    worst: dict[str, ReaderScore] = {}
    for score in scores:
        known = worst.get(score.recipe)
        if score.guesses and (known is None or (score.right.value or 0) > (known.right.value or 0)):
            worst[score.recipe] = score
    for recipe, score in worst.items():
        right, chance = 100 * (score.right.value or 0.0), 100 * score.chance
        told = f"can be guessed without pictures: '{score.reader}' is right in {right:.1f} %, chance in {chance:.1f} %"
        yield Problem(recipe, None, None, f"{told}; balance its answers")


def score_cells(score: Mapping[str, Any]) -> list[str]:
    """Return a reader's score, as JSON has it: category, reader, share of right answers, its interval, and chance."""
    interval = "-" if score["low"] is None else f"{100 * score['low']:.1f}-{100 * score['high']:.1f}"
    right, chance = (f"{100 * (score[key] or 0.0):.1f}" for key in ("right", "chance"))
    return [score["category"], score["reader"], right, interval, chance]


def _row(score: "ReaderScore") -> list[str]:
    return [*score_cells(score.document()), str(score.right.count), "guessable" if score.guesses else ""]
