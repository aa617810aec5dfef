"""Print builds: yields by reason, what readers without pictures reach, and what to do next."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gigavqa.cli.console import err, out
from gigavqa.cli.guessing_display import score_cells
from gigavqa.cli.tables import TableColumn, print_table
from gigavqa.construction.build_summary import BuildSummary, RecipeYield, best_readers
from gigavqa.construction.question_records import offered_texts
from gigavqa.runtime.plurals import count_noun, first_lines

_MOST_SENTENCES = 12
_YIELDS = (
    TableColumn("recipe"),
    TableColumn("candidates", right=True),
    TableColumn("not taken", leaves=1, right=True),
    TableColumn("guessable", leaves=2, right=True),
    TableColumn("questions", right=True),
    TableColumn("rejected", leaves=3, right=True),
    TableColumn("most for", leaves=4),
)
_GUESSING = (
    TableColumn("recipe"),
    TableColumn("best reader without pictures"),
    TableColumn("right %", right=True),
    TableColumn("95 %", leaves=1, right=True),
    TableColumn("chance %", right=True),
)


def print_build(made: BuildSummary, page: Path, *, has_reviews: bool) -> None:
    """Print what a build read, what each recipe yielded, what can be guessed, and the next commands."""
    told = f"{made.annotations:,} annotations of {count_noun(len(made.categories), 'category', 'categories')}"
    out.print(f"{made.name}: {told} in {count_noun(made.images, 'image')} ({made.form})", markup=False)
    print_omissions(made.omissions)
    print_table(_YIELDS, [_yield_row(each) for each in made.yields])
    out.print()
    print_table(_GUESSING, [score_cells(score) for score in best_readers(made.guessing["after"])])
    out.print()
    told = f"`gigavqa dataset reviews {made.name}` tells what people's reviews are still of" if has_reviews else ""
    told = told or "not reviewed by people"
    told = f"{made.examples:,} of them set apart as examples; {told}" if made.examples else told
    out.print(f"{made.questions:,} questions in the data set {made.name}; {told}", markup=False)
    out.print(f"open    {page.resolve().as_uri()} in a browser", markup=False)
    out.print(f"review  gigavqa build review {made.name}", markup=False)
    out.print(f"next    gigavqa submit -d {made.name} -m MODEL --plan {made.plan}", markup=False)


def print_builds(made: Sequence[BuildSummary]) -> None:
    """Print one line a build."""
    names = ("build", "questions", "images", "annotations", "form")
    columns = [TableColumn(name, right=name in names[1:4]) for name in names]
    rows = [[one.name, *(f"{n:,}" for n in (one.questions, one.images, one.annotations)), one.form] for one in made]
    print_table(columns, rows)


def print_explanation(found: Mapping[str, Any]) -> None:
    """Print how a question came about, or what was looked at in an image."""
    if "candidates" in found:
        told = f"{count_noun(found['objects'], 'object')}, {count_noun(len(found['candidates']), 'candidate')}"
        out.print(f"{found['image']}: {told}", markup=False)
        rows = [[one["id"], str(one["truth"]), one["outcome"]] for one in found["candidates"]]
        print_table([TableColumn("candidate"), TableColumn("truth"), TableColumn("what became of it", least=40)], rows)
        out.print()
        rows = [[one["recipe"], one["reason"], one["about"]] for one in found["rejected"]]
        print_table([TableColumn("recipe"), TableColumn("rejected for"), TableColumn("about", least=20)], rows)
        return
    record = found["question"] or {}
    lines = {
        "question": record.get("question", "(none)"),
        "options": " | ".join(offered_texts(record)),
        "truth": found["truth"],
        "outcome": found["outcome"],
        "image": found["image"],
        "program": found["program"],
    }
    for name, value in lines.items():
        if value != "":
            out.print(f"{name:9} {value}", markup=False)
    rows = [[one["id"], one["category"], ", ".join(f"{side:g}" for side in one["box"])] for one in found["objects"]]
    print_table([TableColumn("object"), TableColumn("category"), TableColumn("box in pixels")], rows)


def print_omissions(omissions: Mapping[str, Any]) -> None:
    """Print what was left out, by reason, and the first sentences."""
    if not omissions["counts"]:
        return
    told = ", ".join(f"{number:,} {reason}" for reason, number in sorted(omissions["counts"].items()))
    err.print(f"left out: {told}", markup=False)
    for line in first_lines([one["sentence"] for one in omissions["sentences"]], _MOST_SENTENCES):
        err.print(f"  {line}", markup=False)


def _yield_row(one: RecipeYield) -> list[str]:
    most = max(one.rejected, key=lambda reason: (one.rejected[reason], reason), default="")
    numbers = (one.candidates, one.superseded, one.guessable, one.questions, sum(one.rejected.values()))
    return [one.recipe, *(f"{number:,}" for number in numbers), most]
