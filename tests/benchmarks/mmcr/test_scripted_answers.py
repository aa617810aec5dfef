"""Answers of known skill go the whole way of a job about the drawn papers; every number is known beforehand.

The engine is the simulated one, and says so in every response; what it says is scripted here.
"""

from typing import NamedTuple

import pytest

from gigavqa.benchmarks.mmcr.asking import RotationProtocol
from gigavqa.benchmarks.mmcr.samples import MMCRSample
from gigavqa.benchmarks.mmcr.taxonomy import QUESTION_TYPES
from gigavqa.demo.mmcr.dataset import build_demo_dataset
from gigavqa.evaluation.datasets import load_dataset
from gigavqa.evaluation.metrics.estimates import Estimate
from tests.benchmarks.mmcr.examples import right, wrong
from tests.benchmarks.scripted import Played, play
from tests.reports.tables import caveats_of, percent_of, row_of, values_of

pytestmark = pytest.mark.slow

SKILLS = ("always right", "right in four rotations", "the first letter", "no letter", "refuses", "quotes its letter")
"""Of the fifteen samples, in their order, each in turn: three, three, three, two, two and two."""


def scripted(sample: MMCRSample, skill: str, protocol: RotationProtocol) -> str:
    """What is said to a sample; with a chain of thought always what is right, behind all letters."""
    letter = right(sample, protocol.rotation)
    if protocol.family == "C":
        return f"It may be A, B, C, D or E.\nAnswer: {letter}.\nThat is all, and not A."
    return {
        "always right": f"Answer: ({letter})",
        "right in four rotations": wrong(sample, 3) if protocol.rotation == 3 else letter,
        "the first letter": "A",
        "no letter": "The one that was drawn first.",
        "refuses": "I am sorry, I cannot process the file.",
        "quotes its letter": f'A careful look says that the answer is "{letter}".',
    }[skill]


class Papers(NamedTuple):
    """The samples in their order, and what became of the job that asked them."""

    samples: list[MMCRSample]
    played: Played


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Papers:
    """The drawn papers, asked with and without a chain of thought; played once for all tests."""
    home = tmp_path_factory.mktemp("home")
    folder = build_demo_dataset(home / "data" / "papers", progress=lambda _: None)
    samples = [sample for sample in load_dataset(folder).samples if isinstance(sample, MMCRSample)]
    skills = {sample.id: (sample, SKILLS[at % len(SKILLS)]) for at, sample in enumerate(samples)}
    played = play(
        home, "papers", "mmcr-cot", lambda asked: scripted(*skills[asked.sample], RotationProtocol.of(asked.protocol))
    )
    return Papers(samples, played)


def test_every_page_is_rendered_once_for_all_its_questions(papers: Papers) -> None:
    """Fifteen questions in five rotations, with and without a chain of thought, about 21 pages."""
    assert papers.played.job["request_counts"]["completed"] == 150
    assert papers.played.renders == 21


def test_the_page_shows_documents_as_pages(papers: Papers) -> None:
    """It has all pages of a sample's document by name, marks those with evidence, and tells it in words."""
    tides = papers.played.shown["tides-q1"]
    views = sorted((view["name"], view["evidence"]) for view in tides["views"])
    assert views == [("001.png", False), ("002.png", True), ("003.png", True)]
    assert tides["evidence"] == ["pages 2, 3", "figure 2", "table 1"]


def test_tables_of_known_skill_are_known_to_the_last_digit(papers: Papers) -> None:
    """Three of fifteen are right in all rotations, all are with a chain of thought, and so on."""
    samples, report = papers.samples, papers.played.report
    first = sum(sample.answer == "A" for at, sample in enumerate(samples) if SKILLS[at % 6] == "the first letter")
    quoted = sum(sample.answer == "A" for at, sample in enumerate(samples) if SKILLS[at % 6] == "quotes its letter")

    # 3 x 1, 3 x 4/5, 3 x 1/5 and, where the article is right by chance, 2 x 1/5.
    assert percent_of(report, "main", "circular") == 20.0
    assert percent_of(report, "consistency", "mean", protocol="N") == round(100 * 6.4 / 15, 2) == 42.67
    assert percent_of(report, "main", "plain") == round(100 * (3 + 3 + first + quoted) / 15, 2)
    assert percent_of(report, "consistency", "consistent", protocol="N") == 20.0
    assert percent_of(report, "consistency", "unmatched", protocol="N") == round(100 * 20 / 75, 2) == 26.67
    assert percent_of(report, "consistency", "refused", protocol="N") == round(100 * 10 / 75, 2) == 13.33
    assert percent_of(report, "main_careful", "circular") == round(100 * 5 / 15, 2) == 33.33

    kinds = {kind: [at for at, sample in enumerate(samples) if sample.type == kind] for kind in QUESTION_TYPES}
    for kind, at in kinds.items():
        assert percent_of(report, "main", kind) == round(100 * sum(one % 6 == 0 for one in at) / len(at), 2)
        assert percent_of(report, "cot_types", f"{kind}_gap") == round(
            100 * sum(one % 6 != 0 for one in at) / len(at), 2
        )
    cross = [at for kind in QUESTION_TYPES if len(kinds[kind]) == 2 for at in kinds[kind]]
    share = sum(at % 6 == 0 for at in cross) / 10
    assert percent_of(report, "main", "gap") == pytest.approx(100 * (share - (0.6 - 2 * share)), abs=0.01)
    assert [percent_of(report, "cot", name) for name in ("without", "with", "gap")] == [20.0, 100.0, 80.0]

    errors = values_of(report, "table_s1")
    assert (errors["matching"], errors["cases"]) == (2 - quoted, 9 - first - quoted)
    statuses = {name: row_of(report, "rotations", protocol="N0").values[6 + at] for at, name in
                enumerate(("option", "text", "refused", "unmatched"))}  # fmt: skip
    assert statuses == {"option": 11, "text": 0, "refused": 2, "unmatched": 2}
    assert values_of(report, "consistency", protocol="N")["pages"] == "3"
    gap = values_of(report, "cot")["gap"]
    assert isinstance(gap, Estimate) and gap.low is not None and gap.low < 0.8 < (gap.high or 0)
    assert any("simulated engine" in told for told in caveats_of(report))
