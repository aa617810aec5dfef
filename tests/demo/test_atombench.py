"""The drawn streets: always the same, true by what was drawn, and enough to fill every cell of every table."""

from collections import Counter
from pathlib import Path
from typing import get_args

import pytest

from gigavqa.benchmarks.atombench.samples import AtomSample
from gigavqa.benchmarks.atombench.taxonomy import CERTAINTIES, DIFFICULTIES, DIMENSION_OF, SCOPES, ConclusionKind
from gigavqa.catalogue.load import load_catalogue
from gigavqa.demo.atombench.dataset import build_dataset
from gigavqa.demo.atombench.paint import SIZE, paint_scene
from gigavqa.demo.atombench.questions import records
from gigavqa.demo.atombench.scenes import TRAITS, plan_scenes
from gigavqa.evaluation.datasets import load_dataset
from gigavqa.evaluation.inspection import inspect_dataset
from gigavqa.evaluation.metrics.estimates import Estimate
from gigavqa.reports.report import build_report
from gigavqa.tiling.headers import read_header
from tests.benchmarks.atombench.questions import answer

MODELS = ("gpt-5", "qwen3-vl-8b", "glm-4.5v")


@pytest.fixture(scope="module")
def streets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data set at its full size."""
    return build_dataset(tmp_path_factory.mktemp("data") / "streets", progress=lambda _: None)


@pytest.fixture(scope="module")
def samples(streets: Path) -> list[AtomSample]:
    """Its questions, as anybody loads them."""
    return [sample for sample in load_dataset(streets).samples if isinstance(sample, AtomSample)]


def test_it_passes_the_benchmarks_own_checks(streets: Path) -> None:
    """No error and no warning, and pictures of the size that was meant."""
    found = inspect_dataset(streets, lambda image, show: read_header(streets / image, show).size)
    assert (found.errors, found.warnings) == ([], [])
    assert {read_header(path).size for path in (streets / "images").iterdir()} == {SIZE}


def test_it_has_questions_of_every_kind(samples: list[AtomSample]) -> None:
    """28 on five pictures: six clues on one, three on others, two conclusions each; all labels; four to six options."""
    levels = Counter((sample.place, sample.level) for sample in samples)
    assert sorted(count for (_, level), count in levels.items() if level == "clue") == [3, 3, 3, 3, 6]
    assert [count for (_, level), count in levels.items() if level == "conclusion"] == [2] * 5
    labels = {name: {getattr(one, name) for one in samples} - {None} for name in ("domain", "step", "kind")}
    assert labels == {"domain": set(DIMENSION_OF), "step": set(range(1, 7)), "kind": set(get_args(ConclusionKind))}
    assert {one.scope for one in samples} - {None} == set(SCOPES)
    assert {one.certainty for one in samples} - {None} == set(CERTAINTIES)
    assert {one.difficulty for one in samples} - {None} == set(DIFFICULTIES)
    assert {one.num_options for one in samples} == {4, 5, 6}


@pytest.mark.parametrize("seed", range(5))
def test_the_truth_is_what_was_drawn(seed: int) -> None:
    """A clue's right option says how its scene shows the domain; a rule's right country is the one that fits alone."""
    scenes = plan_scenes(seed)
    for scene, record in zip(scenes, records(scenes, seed), strict=True):
        for clue in record["clues"]:
            assert clue["options"][clue["answer"]].lower() == scene.way(clue["domain"]).lower()
        location, decisive = record["conclusions"]
        true = [f"{TRAITS[domain].subject} {scene.way(domain)}" for domain in scene.asked]
        rules = location["question"].removesuffix(". Where was this picture taken?").split("; ")
        number = len(rules[0].split(" and ")) if " and " in rules[0] else 1
        fitting = [rule for rule in rules if sum(fact in rule for fact in true) == number]
        assert [rule.split()[1] for rule in fitting] == [location["options"][location["answer"]]]
        assert any(fact in decisive["options"][decisive["answer"]] for fact in true)


def test_the_same_seed_draws_the_same(streets: Path, tmp_path: Path) -> None:
    """Pixels and records; what is complete is not drawn again, and another seed shows other things."""
    scene = plan_scenes(7)[0]
    paint_scene(scene, 7, tmp_path / "again.jpg")
    assert (tmp_path / "again.jpg").read_bytes() == (streets / scene.image).read_bytes()
    said: list[str] = []
    build_dataset(streets, progress=said.append)
    assert said == ["streets: complete"]
    assert plan_scenes(7) == plan_scenes(7) != plan_scenes(8)


def test_answers_to_it_fill_every_cell_of_every_table(streets: Path, samples: list[AtomSample]) -> None:
    """Three models that answer a third of the questions wrong each, and every outcome of golden evidence occurs."""
    responses = []
    for shift, model in enumerate(MODELS):
        for at, one in enumerate(samples):
            letters = ["right", "right", "wrong"]
            first = letters[(at + shift) % 3]
            right = one.answer if first == "right" else next(letter for letter in "AB" if letter != one.answer)
            responses.append(answer(one.id, "right", model=model).model_copy(update={"turns": said(right)}))
            if one.level == "conclusion":
                final = one.answer if (at + shift) % 4 else next(letter for letter in "AB" if letter != one.answer)
                responses.append(answer(one.id, "right", "AG", model=model).model_copy(update={"turns": said(final)}))
    report = build_report(load_dataset(streets), responses, load_catalogue())
    for name in ("table2", "table3", "table4", "figure3a", "figure3b", "figure3c", "figure7", "figure8"):
        table = report.table(name)
        assert table is not None
        numbers = [value for row in table.rows for value in row.values if isinstance(value, Estimate)]
        assert None not in [number.value for number in numbers], name
    golden = report.table("golden_evidence")
    assert golden is not None
    assert all(sum(row.values[at] for row in golden.rows if isinstance(row.values[at], int)) for at in range(4))
    assert {figure.name for figure in report.figures} == {
        *(f"figure3{letter}" for letter in "abcd"), "figure5a", "figure5b", "figure6a", "figure6b", "figure7", "figure8"
    }  # fmt: skip


def said(letter: str) -> object:
    """The one turn of a reply that names a letter."""
    return tuple(
        turn.model_copy(update={"text": f'{{"answer": "It is option {letter}."}}'})
        for turn in answer("x", "right").turns
    )
