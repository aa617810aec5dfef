"""A job that weighs answers asks twice of each sample, and reports by how much the picture makes them likelier."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import JobSpec
from gigavqa.contract.requests import InferenceRequest
from gigavqa.contract.responses import Failure, Response, TokenLogprob, TurnResponse
from gigavqa.evaluation.datasets import Dataset, load_dataset
from gigavqa.evaluation.errors import EvaluationError, JudgesMixedError
from gigavqa.evaluation.expansion import expand, prepare_expansion
from gigavqa.evaluation.replies import reply_of
from gigavqa.reports.report import Report, build_report, report_on_tally, tally_replies
from gigavqa.reports.score import score_files
from gigavqa.reports.tallies import dump_tally, merge_tally
from gigavqa.tiling.geometry import Size
from tests.benchmarks.ultravr.good_records import GOOD
from tests.evaluation.folders import write_dataset
from tests.evaluation.responses import response
from tests.reports.tables import table_of

CATALOGUE = load_catalogue()
MODEL = "demo-qwen3-vl"


def hop(name: str, image: str, answers: list[str], hops: int, category: str) -> dict[str, Any]:
    """A record of VistaHop."""
    fields = {"question": f"{name}?", "answers": answers, "hops": hops, "category": category}
    return {"id": name, "images": [f"images/{image}.png"], **fields}


RECORDS = [
    hop("quay", "harbour", ["1911", "in 1911"], 3, "Society"),
    hop("crane", "harbour", ["Norrland"], 7, "Society"),
    hop("leaf", "garden", ["fern"], 12, "Life"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three questions on three levels, two of them about one picture."""
    folder = write_dataset(tmp_path / "hops", *RECORDS)
    (folder / "dataset.toml").write_text('name = "hops"\nbenchmark = "vistahop"\ntitle = "Hops"\n')
    return folder


@pytest.fixture
def dataset(folder: Path) -> Dataset:
    """The same, read."""
    return load_dataset(folder)


def job(**changes: Any) -> JobSpec:
    """A job that weighs answers."""
    cells = [{"protocol": "direct", "condition": "V2"}]
    return JobSpec.model_validate(
        {"dataset": "hops", "models": [MODEL], "cells": cells, "likelihood": "black", **changes}
    )


def requests(dataset: Dataset, **changes: Any) -> list[InferenceRequest]:
    """What it asks."""
    return [request for _, request in expand(dataset, job(**changes), CATALOGUE, lambda _: Size(4000, 3000))]


def test_each_sample_is_weighed_with_its_views_and_behind_the_mask(dataset: Dataset) -> None:
    """One after the other, with the first truth for an answer; nothing else differs."""
    asked = requests(dataset)
    assert len(asked) == prepare_expansion(dataset, job(), CATALOGUE).num_requests == 6
    assert len({request.id for request in asked}) == 6
    by_sample = {one.sample_id: [each for each in asked if each.sample_id == one.sample_id] for one in asked}
    for shown, masked in by_sample.values():
        assert ([view.mask for view in shown.views], [view.mask for view in masked.views]) == ([""], ["black"])
        assert {shown.protocol, masked.protocol} == {"likelihood"}
        assert shown.turns[0].forced == masked.turns[0].forced
        assert shown.turns[0].text == masked.turns[0].text
    assert by_sample["quay"][0].turns[0].forced == "1911"
    assert by_sample["quay"][0].details["asked"] == "direct"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"cells": [{"protocol": "direct", "condition": "V0"}]}, "direct:V0 shows no picture"),
        ({"cells": [{"protocol": "search", "condition": "V2", "rounds": 3}]}, "search:V2:3 goes on in rounds"),
        ({"repeats": 2}, "leave out repeats"),
        ({"closing": "auto"}, "leave out closing"),
    ],
)
def test_what_has_no_likelihood_is_refused(dataset: Dataset, changes: dict[str, Any], why: str) -> None:
    """Before anything is asked, by the field."""
    with pytest.raises(EvaluationError, match=f"likelihood: .*{why}"):
        prepare_expansion(dataset, job(**changes), CATALOGUE)


def test_several_turns_are_refused_and_letters_are_those_shown(tmp_path: Path) -> None:
    """UltraVR's steps are answered one by one; asked once, the answer is the option's letter."""
    steps = load_dataset(write_dataset(tmp_path / "steps", GOOD["rs-logic"]))
    with pytest.raises(EvaluationError, match="likelihood: S4:V2 asks sample 'rs-logic' in several turns"):
        requests(steps, cells=[{"protocol": "S4", "condition": "V2"}])
    once = requests(steps, cells=[{"protocol": "S0", "condition": "V2"}])
    assert [one.turns[0].forced for one in once] == ["B", "B"]


@pytest.mark.parametrize("mask", ["grey", "black@pct:0,0,9,9"])
def test_a_mask_must_fit_all_samples(mask: str) -> None:
    """One of the three, without a region."""
    with pytest.raises(ValidationError, match="mask"):
        job(likelihood=mask)


def weighed(request: InferenceRequest, *logprobs: float, **changes: Any) -> Response:
    """What a worker records of a request."""
    tokens = tuple(TokenLogprob(token="x", logprob=one) for one in logprobs)
    turn = TurnResponse(text=request.turns[0].forced or "", finish_reason="stop", forced=True, logprobs=tokens)
    fields = request.labels.model_dump(exclude={"sample_id", "condition"})
    return response(request.sample_id, "", **{**fields, "turns": (turn,), **changes})


def by_hand(dataset: Dataset) -> list[Response]:
    """Of `quay` the picture makes 2 nats, of `crane` 1, of `leaf` 0.1 less; the second token is as likely in both."""
    gains = {"quay": 2.0, "crane": 1.0, "leaf": -0.1}
    return [
        weighed(one, -3.0 + (0 if one.details["mask"] else gains[one.sample_id]), -1.0) for one in requests(dataset)
    ]


def row(report: Report, **keys: str) -> dict[str, Any]:
    """The values of the row of these keys, and of no more."""
    table = table_of(report, "likelihood")
    everywhere = {"model", "protocol", "condition", "mask"}
    (found,) = [one for one in table.rows if {k: v for k, v in one.keys.items() if k not in everywhere} == keys]
    return dict(zip([column.key for column in table.columns], found.values, strict=True))


def test_a_case_worked_by_hand(dataset: Dataset) -> None:
    """Mean gain (2 + 1 - 0.1) / 3; a token, half of it; ratios e^2, e and e^-0.1, two of three above 1.20."""
    report = build_report(dataset, by_hand(dataset), CATALOGUE, job())
    every = row(report)
    assert (every["samples"], every["unpaired"]) == (3, 0)
    assert every["shown"].value == pytest.approx(-4 + 2.9 / 3)
    assert every["masked"].value == pytest.approx(-4)
    assert every["gain"].value == pytest.approx(2.9 / 3)
    assert every["gain_a_token"].value == pytest.approx(2.9 / 6)
    assert every["mean"].value == pytest.approx((math.e**2 + math.e + math.exp(-0.1)) / 3)
    assert every["median"].value == pytest.approx(math.e)
    assert every["above"].value == pytest.approx(2 / 3)
    # Of two pictures both are drawn, or one of them twice: 2.9 / 3, 3 / 2 or -0.1.
    assert (every["gain"].low, every["gain"].high) == (pytest.approx(-0.1), pytest.approx(1.5))
    assert row(report, level="L1")["gain"].value == pytest.approx(2.0)
    assert row(report, level="L3")["gain"].value == pytest.approx(-0.1)
    assert row(report, category="Society")["gain"].value == pytest.approx(1.5)
    assert row(report, category="Society")["gain"].low is None  # of one picture
    least = table_of(report, "likelihood_samples").rows
    assert [one.keys["sample"] for one in least] == ["leaf", "crane", "quay"]


def test_what_is_not_told_is_counted(dataset: Dataset) -> None:
    """A request that failed leaves its sample unpaired; it is in no mean."""
    told = by_hand(dataset)
    told[0] = told[0].model_copy(update={"turns": (), "failure": Failure(type="EngineDiedError", message="gone")})
    every = row(build_report(dataset, told, CATALOGUE, job()))
    assert (every["samples"], every["unpaired"]) == (2, 1)


def test_a_tally_that_was_written_says_the_same(dataset: Dataset) -> None:
    """And so do files of the responses, scored without a service."""
    told = by_hand(dataset)
    expected = build_report(dataset, told, CATALOGUE, job())
    tally, merged = (tally_replies(dataset, replies, CATALOGUE) for replies in (map(reply_of, told), ()))
    merge_tally(merged, "job", json.loads(json.dumps(dump_tally(tally))), dataset.benchmark)
    again = report_on_tally(dataset, merged, CATALOGUE, job())
    assert table_of(again, "likelihood") == table_of(expected, "likelihood")


def test_files_are_scored_alike(dataset: Dataset, folder: Path) -> None:
    """Lines as the service streams them."""
    told = by_hand(dataset)
    file = folder.parent / "responses.ndjson"
    file.write_text("".join(f"{one.model_dump_json()}\n" for one in told))
    expected = build_report(dataset, told, CATALOGUE, job())
    assert table_of(score_files(folder, file), "likelihood") == table_of(expected, "likelihood")


def test_given_answers_never_count_as_the_model_s(dataset: Dataset) -> None:
    """All would be right: they have no accuracy, and do not stand among answers."""
    told = by_hand(dataset)
    report = build_report(dataset, told, CATALOGUE, job())
    assert all(cell.accuracy.value is None for cell in report.cells)
    answer = response("quay", "1911", model=MODEL, protocol="direct", request_id="quay:direct")
    with pytest.raises(JudgesMixedError, match="how likely a given answer is"):
        build_report(dataset, [*told, answer], CATALOGUE)
