"""What a build came to: what was read, what each recipe yielded and why no more, and what can be guessed."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gigavqa.construction.builds import Build
from gigavqa.evaluation.tables import Table


@dataclass(frozen=True)
class RecipeYield:
    """What became of a recipe's candidates. `rejected` and `superseded` count by reason; `guessable` were dropped."""

    recipe: str
    title: str
    candidates: int
    rejected: Mapping[str, int]
    superseded: Mapping[str, int]
    guessable: int
    questions: int
    examples: Mapping[str, list[str]]
    reasons: Mapping[str, str]


@dataclass(frozen=True)
class BuildSummary:
    """The result of a build, for a terminal, scripts and its page."""

    name: str
    form: str
    images: int
    annotations: int
    categories: Mapping[str, int]
    omissions: Mapping[str, Any]
    yields: tuple[RecipeYield, ...]
    guessing: Mapping[str, Table]
    questions: int

    @classmethod
    def of(cls, build: Build) -> "BuildSummary":
        """Return the summary of a build whose stages are done."""
        vocabulary, omissions, guessing = map(
            build.folder.read_json, ("vocabulary.json", "omissions.json", "guessing.json")
        )
        questions = Counter(record["category"] for record in build.records())
        return cls(
            build.folder.name,
            build.form,
            images=vocabulary["images"],
            annotations=sum(vocabulary["categories"].values()),
            categories=vocabulary["categories"],
            omissions=omissions,
            yields=tuple(_yields(build, questions)),
            guessing={when: Table.model_validate(table) for when, table in guessing.items()},
            questions=questions.total(),
        )

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        tables = {when: table.model_dump(mode="json") for when, table in self.guessing.items()}
        return {**asdict(self), "guessing": tables}


def _yields(build: Build, questions: Mapping[str, int]) -> Iterator[RecipeYield]:
    found, selected = build.folder.read_json("rejections.json"), build.folder.read_json("selection.json")
    guessable = Counter(question.rpartition("-")[0] for question in selected["guessable"])
    nothing = {"candidates": 0, "rejected": {}, "examples": {}}
    for recipe in build.recipes:
        counts = found.get(recipe.name, nothing)
        yield RecipeYield(
            recipe.name,
            recipe.title,
            candidates=counts["candidates"],
            rejected=counts["rejected"],
            superseded=selected["superseded"][recipe.name],
            guessable=guessable[recipe.name],
            questions=questions[recipe.name],
            examples=counts["examples"],
            reasons=dict(recipe.reasons),
        )
