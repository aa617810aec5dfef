"""The drawn papers: what questions ask stands on the pages that they name, and is what was drawn."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gigavqa.benchmarks.mmcr.samples import MMCRSample
from gigavqa.benchmarks.mmcr.taxonomy import CROSS, QUESTION_TYPES
from gigavqa.demo.mmcr.dataset import build_demo_dataset
from gigavqa.demo.mmcr.pages import BAR, BAR_UNIT, MARGIN, SIZE
from gigavqa.demo.mmcr.plan import COLOURS, DOCUMENTS, plan_papers
from gigavqa.evaluation.datasets import load_dataset

SEED = 7


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data set, whole."""
    return build_demo_dataset(tmp_path_factory.mktemp("data") / "papers", seed=SEED, progress=lambda _: None)


@pytest.fixture(scope="module")
def samples(folder: Path) -> list[MMCRSample]:
    """Its samples, as anybody loads them."""
    return [sample for sample in load_dataset(folder).samples if isinstance(sample, MMCRSample)]


def test_every_type_and_document_is_asked_about(samples: list[MMCRSample]) -> None:
    """Single sources once, cross-source types twice; two questions a document and three about one."""
    kinds = Counter(sample.type for sample in samples)
    assert kinds == {kind: 2 if kind in CROSS else 1 for kind in QUESTION_TYPES}
    assert sorted(Counter(sample.document for sample in samples).values()) == [2] * 6 + [3]
    assert {sample.subject for sample in samples} == set(DOCUMENTS.values())
    assert Counter(sample.answer for sample in samples) == dict.fromkeys("ABCDE", 3)


def test_evidence_of_cross_source_questions_lies_on_different_pages(samples: list[MMCRSample]) -> None:
    """Those of one source stand on one page; every document has one that needs two."""
    for sample in samples:
        assert len(sample.evidence.pages) == (2 if sample.type in CROSS else 1)
        assert len(sample.images) == 3
    assert {sample.document for sample in samples if sample.type in CROSS} == set(DOCUMENTS)


def test_options_set_the_matchers_traps(samples: list[MMCRSample]) -> None:
    """One option begins another, and options of one question begin with the article."""
    options = [list((sample.options or {}).values()) for sample in samples]
    assert any({"Orla", "Orla Nova"} <= set(texts) for texts in options)
    assert any(all(text.startswith("A ") for text in texts) for texts in options)
    assert all(len({text.lower() for text in texts}) == 5 for texts in options)


def test_bars_are_as_tall_as_their_numbers(folder: Path) -> None:
    """On every first page, the columns of the bars' colour have the heights that were drawn, in order."""
    for paper in plan_papers(SEED):
        pixels = np.asarray(Image.open(folder / f"images/{paper.name}/001.png"))
        assert pixels.shape == (SIZE.height, SIZE.width, 3)
        width = (SIZE.width - 2 * MARGIN) / len(paper.methods)
        columns = [round(MARGIN + (at + 0.5) * width) for at in range(len(paper.methods))]
        found = [int((pixels[: SIZE.height // 2 + 200, column] == BAR).all(axis=-1).sum()) for column in columns]
        assert [round(height / BAR_UNIT) for height in found] == list(paper.heights)


def test_points_have_their_methods_colours(folder: Path) -> None:
    """On every last page each of the five colours is drawn twice, as a point and in the legend."""
    for paper in plan_papers(SEED):
        pixels = np.asarray(Image.open(folder / f"images/{paper.name}/003.png"))[: SIZE.height // 2]
        areas = {name: int((pixels == colour).all(axis=-1).sum()) for name, colour in COLOURS.items() if name != "Grey"}
        assert max(areas.values()) - min(areas.values()) <= 8 and min(areas.values()) > 1000


def test_answers_follow_from_what_was_drawn(samples: list[MMCRSample]) -> None:
    """The colour of the best method, and the penalty by the formula, worked out from the plan."""
    papers = {paper.name: paper for paper in plan_papers(SEED)}
    by_id = {sample.id: sample for sample in samples}
    tides, moors = papers["tides"], papers["moors"]
    best = max(range(5), key=lambda at: sum(tides.results[at]))
    assert (by_id["tides-q1"].options or {})[by_id["tides-q1"].answer] == f"{tides.colours[best]}."
    penalty = moors.factor * min(moors.heights) + moors.offset
    assert (by_id["moors-q1"].options or {})[by_id["moors-q1"].answer] == f"{penalty}."


def test_the_same_seed_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    """Pages and records; another seed gives others, and a complete data set is not drawn again."""
    again = build_demo_dataset(tmp_path / "papers", seed=SEED, progress=lambda _: None)
    for path in [*sorted(folder.rglob("*.png"))[:6], folder / "samples" / "papers.jsonl"]:
        assert path.read_bytes() == (again / path.relative_to(folder)).read_bytes()
    said: list[str] = []
    build_demo_dataset(folder, seed=SEED, progress=said.append)
    assert said == ["papers: complete"]
    assert plan_papers(SEED) != plan_papers(SEED + 1)
    assert json.loads((folder / "manifest.json").read_text())["records"] is True
