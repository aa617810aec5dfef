"""Print builds: yields by reason, what readers without pictures reach, and what to do next."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gigavqa.cli.console import err, out
from gigavqa.cli.tables import TableColumn, print_table
from gigavqa.runtime.plurals import count_noun

if TYPE_CHECKING:
    from gigavqa.construction.builds import BuildSummary

_MOST_SENTENCES = 12


def print_build(made: "BuildSummary") -> None:
    """Print what a build read, what each recipe yielded, what can be guessed, and the next commands."""
    told = f"{made.annotations:,} annotations of {count_noun(made.categories, 'category', 'categories')}"
    out.print(f"{made.name}: {told} in {count_noun(made.images, 'image')} ({made.form})", markup=False)
    _print_omissions(made.omissions)
    print_table(
        [
            TableColumn("recipe"),
            TableColumn("candidates", right=True),
            TableColumn("rejected", right=True, leaves=2),
            TableColumn("over quota", right=True, leaves=1),
            TableColumn("guessable", right=True, leaves=3),
            TableColumn("questions", right=True),
            TableColumn("most rejected for", leaves=4),
        ],
        [made.yield_row(recipe) for recipe in made.recipes],
    )
    for line in made.guessing_lines:
        out.print(line, markup=False)
    out.print(f"{count_noun(made.questions, 'question')} in {made.dataset}, not reviewed", markup=False)
    out.print(f"open    {made.page.resolve().as_uri()} in a browser", markup=False)
    out.print(f"review  gigavqa build review {made.name}", markup=False)
    out.print(f"next    gigavqa submit -d {made.name} -m MODEL --plan evidence", markup=False)


def _print_omissions(omissions: Mapping[str, Any]) -> None:
    if not omissions["counts"]:
        return
    told = ", ".join(f"{number:,} {reason}" for reason, number in sorted(omissions["counts"].items()))
    err.print(f"left out: {told}", markup=False)
    for omission in omissions["sentences"][:_MOST_SENTENCES]:
        err.print(f"  {omission['sentence']}", markup=False)


def print_explanation(found: Mapping[str, Any]) -> None:
    """Print how a question came about, or what was looked at in an image."""
    if "candidates" in found:
        told = f"{count_noun(found['objects'], 'object')}, {count_noun(len(found['candidates']), 'candidate')}"
        out.print(f"{found['image']}: {told}", markup=False)
        rows = [[one["recipe"], one["reason"], one["about"]] for one in found["rejected"]]
        print_table([TableColumn("recipe"), TableColumn("rejected for"), TableColumn("about", least=20)], rows)
        return
    record = found["question"] or {}
    lines = {
        "question": record.get("question", "(none was made)"),
        "options": " | ".join(record.get("choices", ())),
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
