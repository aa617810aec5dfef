"""Tallies that were written, read and merged say the same as one over all responses, to the last digit."""

import json
import random
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.responses import Response, Timings, TurnResponse
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.replies import reply_of
from gigavqa.reports.report import Report, build_report, report_on_tally, tally_replies
from gigavqa.reports.tallies import dump_tally, judging_fingerprint, merge_tally
from tests.benchmarks.ultravr.responders import answer, everything, only
from tests.benchmarks.ultravr.test_process import DATASET
from tests.evaluation.responses import response
from tests.reports.pages import raster

CATALOGUE = load_catalogue()
STEPS = ("S2", "S4", "S5")


def many(seed: int) -> list[Response]:
    """Responses of all kinds with parts, pictures and odd seconds, each to a request of its own."""
    draw = random.Random(seed)
    return [_one(number, draw) for number in range(60)]


def _one(number: int, draw: random.Random) -> Response:
    sample, repeat = draw.choice(DATASET.samples), draw.randrange(4)
    changes = {
        "request_id": f"r{number}",
        "job_id": draw.choice(("one", "two")),
        "repeat": repeat,
        "queued_seconds": draw.random(),
        "rendering_seconds": draw.random() / 3,
        "rasters": (raster(draw.choice("ab") * 32),) * draw.randrange(3),
    }
    if draw.random() < 0.5:
        asked = answer(sample, draw.choice(STEPS), knows=draw.choice((everything, only("S1", "S3"), only("S2"))))
        return asked.model_copy(update=changes)
    text = draw.choice(("Final answer: B", "C", "B or C", "not sure", "hm"))
    turn = TurnResponse(text=text, finish_reason="stop", timings=Timings(prefill=draw.random(), decode=draw.random()))
    unknown = sample.id if draw.random() < 0.9 else "nobody's"
    return response(unknown, text, draw.choice(("V0", "V2")), turns=(turn,), **changes)


def merged(dataset: Dataset, parts: Sequence[Sequence[Response]]) -> Report:
    """The report over parts of one job each, all but the last tallied, written and read again."""
    tally = tally_replies(dataset, map(reply_of, parts[-1]), CATALOGUE)
    for part in parts[:-1]:
        written = json.dumps(dump_tally(tally_replies(dataset, map(reply_of, part), CATALOGUE)))
        merge_tally(tally, part[0].job_id, json.loads(written), dataset.benchmark)
    return report_on_tally(dataset, tally, CATALOGUE)


@settings(deadline=None, max_examples=25, derandomize=True)
@given(seed=st.integers(0, 10_000), size=st.integers(1, 20))
def test_merged_tallies_fill_the_same_report(seed: int, size: int) -> None:
    """However the responses are spread over parts, and in whatever order these come."""
    responses = many(seed)
    draw = random.Random(seed)
    shuffled = draw.sample(responses, len(responses))
    by_job = [[one for one in shuffled if one.job_id == job] for job in ("one", "two")]
    parts = [of_job[first : first + size] for of_job in by_job for first in range(0, len(of_job), size)]
    assert merged(DATASET, draw.sample(parts, len(parts))) == build_report(DATASET, responses, CATALOGUE)


def test_tallies_are_known_by_their_judges() -> None:
    """Other records or labels, and another convention of a model's boxes, are other judges; another order is not."""
    known = judging_fingerprint(DATASET, CATALOGUE)
    model, entry = next((name, one) for name, one in CATALOGUE.items() if one.box_convention != "unit")
    other = {**CATALOGUE, model: entry.model_copy(update={"box_convention": "unit"})}
    assert judging_fingerprint(DATASET, dict(sorted(CATALOGUE.items(), reverse=True))) == known
    assert judging_fingerprint(DATASET, other) != known
    assert judging_fingerprint(replace(DATASET, digest="1" * 64), CATALOGUE) != known
    assert judging_fingerprint(replace(DATASET, labels="1" * 64), CATALOGUE) != known
