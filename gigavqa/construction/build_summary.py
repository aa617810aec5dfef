"""What a build came to: what was read, what each recipe yielded and why no more, and what can be guessed."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from gigavqa.evaluation.installed import find_benchmark

if TYPE_CHECKING:
    from gigavqa.construction.builds import Build


@dataclass(frozen=True)
class RecipeYield:
    """What became of a recipe's candidates. `rejected` counts by reason, `superseded` are over a quota or a balance
    and counted by cause in `causes`, `guessable` were dropped."""

    recipe: str
    title: str
    candidates: int
    rejected: Mapping[str, int]
    superseded: int
    causes: Mapping[str, int]
    guessable: int
    questions: int
    examples: Mapping[str, list[str]]
    reasons: Mapping[str, str]


@dataclass(frozen=True)
class BuildSummary:
    """The result of a build, for a terminal, scripts and its page. `plan` is what to ask its questions with."""

    name: str
    form: str
    images: int
    annotations: int
    categories: Mapping[str, int]
    omissions: Mapping[str, Any]
    yields: tuple[RecipeYield, ...]
    guessing: Mapping[str, list[dict[str, Any]]]
    questions: int
    benchmark: str
    plan: str
    examples: int = 0
    """Of the questions, those that are set apart and never asked."""

    @classmethod
    def of(cls, build: "Build") -> "BuildSummary":
        """Return the summary of a build whose stages are done."""
        vocabulary, guessing = map(build.folder.read_json, ("vocabulary.json", "guessing.json"))
        questions = Counter(record["id"].rpartition("-")[0] for record in build.records())
        benchmark = build.settings.benchmark
        return cls(
            build.folder.name,
            build.form,
            images=vocabulary["images"],
            annotations=sum(vocabulary["categories"].values()),
            categories=vocabulary["categories"],
            omissions=build.omissions,
            yields=tuple(_yields(build, questions)),
            guessing=guessing,
            questions=questions.total(),
            benchmark=benchmark,
            plan=_plan(benchmark),
            examples=sum("split" in record for record in build.records()),
        )

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)


def best_readers(scores: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return for each recipe the reader without pictures that is most above chance."""
    best: dict[str, Mapping[str, Any]] = {}
    for score in scores:
        known = best.get(score["category"])
        if score["right"] is not None and (known is None or score["right"] > known["right"]):
            best[score["category"]] = score
    return [best[name] for name in sorted(best)]


def _plan(benchmark: str) -> str:
    """Return the benchmark's plan that shows the evidence, if it has one of that name, else its first one."""
    plans = find_benchmark(benchmark).plans
    return "evidence" if "evidence" in plans else next(iter(plans))


def _yields(build: "Build", questions: Mapping[str, int]) -> Iterator[RecipeYield]:
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
            superseded=selected["superseded"].get(recipe.name, 0),
            causes=selected["causes"].get(recipe.name, {}),
            guessable=guessable[recipe.name],
            questions=questions[recipe.name],
            examples=counts["examples"],
            reasons=dict(recipe.reasons),
        )
