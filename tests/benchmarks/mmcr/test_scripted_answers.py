"""Answers of known skill go the whole way of a worker, and every number of the report is known beforehand.

The engine is the simulated one, and says so in every response; what it says is scripted here.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from redis.asyncio import Redis

from benchmarks.mmcr.asking import Protocol
from benchmarks.mmcr.samples import Question
from benchmarks.mmcr.taxonomy import KINDS
from demo.mmcr.dataset import build_demo_dataset
from evaluation.datasets import Dataset, load_dataset
from evaluation.expansion import expand
from evaluation.metrics.estimates import Estimate
from evaluation.outcomes import sample_outcomes
from evaluation.prompts import Prompts
from evaluation.report import Report, build_report
from evaluation.writers.page.page import render_html
from jobs.models import Grow, JobSpec, Sampling, TurnResponse
from jobs.queue import JobQueue
from jobs.registry import JobRegistry
from service.submission.admission import bundle_requests
from tests.benchmarks.mmcr.examples import right, wrong
from tests.evaluation.tables import caveats_of, row_of, value_of, values_of
from tests.waiting import async_wait_until
from tests.workers.conftest import redis, server  # noqa: F401 - fixtures
from tests.workers.examples import ENTRY, job_of, responses_of
from tests.workers.rig import running_worker
from tiling.headers import read_header
from workers.engines.engine import Message
from workers.engines.simulated_engine import SimulatedEngine

SKILLS = ("always right", "right in four rotations", "the first letter", "no letter", "refuses", "quotes its letter")
"""Of the fifteen samples, in their order, each in turn: three, three, three, two, two and two."""


def scripted(sample: Question, skill: str, protocol: Protocol) -> str:
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


class ScriptedEngine(SimulatedEngine):
    """The simulated engine with other words in its mouth."""

    scripts: dict[str, str]

    async def generate(
        self, chat: Sequence[Message], sampling: Sampling, request_id: str, priority: int = 0, grow: Grow | None = None
    ) -> TurnResponse:
        """Take as long as it takes, and say what the script says to this prompt."""
        turn = await super().generate(chat, sampling, request_id, priority, grow)
        return turn.model_copy(update={"text": self.scripts[chat[-1].text]})


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The drawn papers, in a data root."""
    root = tmp_path_factory.mktemp("data")
    build_demo_dataset(root / "papers", progress=lambda _: None)
    return root


def samples_of(dataset: Dataset) -> list[Question]:
    """The samples, typed."""
    return [sample for sample in dataset.samples if isinstance(sample, Question)]


async def played(redis: Redis, root: Path, pyramids: Path) -> tuple[Dataset, Report, str]:  # noqa: F811
    """Play the plan with and without a chain of thought; returns data set, report and page."""
    dataset = load_dataset(root / "papers")
    skills = {sample.id: SKILLS[at % len(SKILLS)] for at, sample in enumerate(dataset.samples)}
    by_id = {sample.id: sample for sample in samples_of(dataset)}
    spec = JobSpec(dataset="papers", models=(ENTRY.id,), plan="mmcr-cot")
    requests = [*expand(dataset, spec, {ENTRY.id: ENTRY}, lambda image: read_header(root / image).size)]
    engine = ScriptedEngine(ENTRY, speed=0)
    engine.scripts = {
        request.turns[0].text: scripted(
            by_id[request.sample_id], skills[request.sample_id], Protocol.of(request.protocol)
        )
        for _, request in requests
    }
    job, _ = await JobRegistry(redis).create(spec)
    await JobQueue(redis).enqueue(job.id, [*bundle_requests(job, requests, 50)], "digest")
    async with running_worker(redis, root, pyramids, lambda: engine) as rig:
        await async_wait_until(lambda: is_final(redis, job.id), timeout=240, what="the job's end")
    responses = await responses_of(redis, job.id)
    assert len(responses) == len(requests) == len(engine.scripts) == 150
    assert rig.library.stats().renders == 21
    report = build_report(dataset, responses, {ENTRY.id: ENTRY}, spec)
    prompts = Prompts(dataset, {job.id: spec})
    return dataset, report, render_html(report, sample_outcomes(dataset, responses, {ENTRY.id: ENTRY}, prompts))


async def is_final(redis: Redis, job_id: str) -> bool:  # noqa: F811
    """Whether nothing more will happen to the job."""
    return (await job_of(redis, job_id)).status.final


def percent(report: Report, table: str, column: str, **keys: str) -> float | None:
    """A number as the paper prints it."""
    value = value_of(report, table, column, **keys).value
    return None if value is None else round(100 * value, 2)


def shows_documents(page: str) -> None:
    """The page has all pages of a sample's document by name, marks those with evidence, and tells it in words."""
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    tides = next(sample for sample in json.loads(data[1])["samples"] if sample["id"] == "tides-q1")
    views = sorted((view["name"], view["evidence"]) for view in tides["views"])
    assert views == [("001.png", False), ("002.png", True), ("003.png", True)]
    assert tides["evidence"] == ["page 2, 3", "figure 2", "table 1"]


async def test_tables_of_known_skill_are_known_to_the_last_digit(redis: Redis, papers: Path, tmp_path: Path) -> None:  # noqa: F811
    """Three of fifteen are right in all rotations, all are with a chain of thought, and so on."""
    dataset, report, page = await played(redis, papers, tmp_path)
    samples = samples_of(dataset)
    shows_documents(page)
    first = sum(sample.answer == "A" for at, sample in enumerate(samples) if SKILLS[at % 6] == "the first letter")
    quoted = sum(sample.answer == "A" for at, sample in enumerate(samples) if SKILLS[at % 6] == "quotes its letter")

    # 3 x 1, 3 x 4/5, 3 x 1/5 and, where the article is right by chance, 2 x 1/5.
    assert percent(report, "main", "circular") == 20.0
    assert percent(report, "consistency", "mean", protocol="N") == round(100 * 6.4 / 15, 2) == 42.67
    assert percent(report, "main", "plain") == round(100 * (3 + 3 + first + quoted) / 15, 2)
    assert percent(report, "consistency", "consistent", protocol="N") == 20.0
    assert percent(report, "consistency", "unmatched", protocol="N") == round(100 * 20 / 75, 2) == 26.67
    assert percent(report, "consistency", "refused", protocol="N") == round(100 * 10 / 75, 2) == 13.33
    assert percent(report, "main_careful", "circular") == round(100 * 5 / 15, 2) == 33.33

    kinds = {kind: [at for at, sample in enumerate(samples) if sample.type == kind] for kind in KINDS}
    for kind, at in kinds.items():
        assert percent(report, "main", kind) == round(100 * sum(one % 6 == 0 for one in at) / len(at), 2)
        assert percent(report, "cot_types", f"{kind}_gap") == round(100 * sum(one % 6 != 0 for one in at) / len(at), 2)
    cross = [at for kind in KINDS if len(kinds[kind]) == 2 for at in kinds[kind]]
    share = sum(at % 6 == 0 for at in cross) / 10
    assert percent(report, "main", "gap") == pytest.approx(100 * (share - (0.6 - 2 * share)), abs=0.01)
    assert [percent(report, "cot", name) for name in ("without", "with", "gap")] == [20.0, 100.0, 80.0]

    errors = values_of(report, "table_s1")
    assert (errors["matching"], errors["cases"]) == (2 - quoted, 9 - first - quoted)
    statuses = {name: row_of(report, "rotations", protocol="N0").values[6 + at] for at, name in
                enumerate(("option", "text", "refused", "unmatched"))}  # fmt: skip
    assert statuses == {"option": 11, "text": 0, "refused": 2, "unmatched": 2}
    assert values_of(report, "consistency", protocol="N")["pages"] == "3"
    gap = values_of(report, "cot")["gap"]
    assert isinstance(gap, Estimate) and gap.low is not None and gap.low < 0.8 < (gap.high or 0)
    assert any("simulated engine" in told for told in caveats_of(report))
