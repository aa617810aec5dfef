"""Prompts are told as they were sent, made again from data set and job; where that cannot be known, it is said."""

from typing import Any

import pytest

from gigavqa.contract.jobs import Cell, JobSpec
from gigavqa.contract.requests import InferenceRequest
from gigavqa.contract.responses import RasterRecord, Response
from gigavqa.evaluation.prompts import Prompt, PromptRebuilder
from gigavqa.evaluation.replies import reply_of
from tests.evaluation.responses import MODEL, response
from tests.reports.pages import DATASET, SIZE, raster, request_of

SAMPLES = {sample.id: sample for sample in DATASET.samples}
CELLS = [("S0", "V0"), ("S0", "V1"), ("S0", "V2"), ("S0", "V3"), ("S0", "V4"), ("S2", "V2"), ("S3", "V2"), ("S5", "V2")]


def answered(request: InferenceRequest, **changes: Any) -> Response:
    """A response to a request as the service records it: with its labels, and its views as rasters."""
    labels = {name: getattr(request, name) for name in ("request_id", "protocol", "prompt_version", "details")}
    rasters = tuple(shown(request, at) for at in range(len(request.views)))
    return response(request.sample_id, "B", request.condition, **{**labels, "rasters": rasters, **changes})


def shown(request: InferenceRequest, at: int) -> RasterRecord:
    """The raster of one view of a request."""
    return raster(f"{at:032x}").model_copy(update={"view": request.views[at]})


def prompt_of(given: Response, **specs: JobSpec) -> Prompt:
    """What is told of a response's prompt; `specs` are the jobs by id."""
    return PromptRebuilder(DATASET, specs).of(reply_of(given), SAMPLES[given.sample_id])


@pytest.mark.parametrize(("protocol", "condition"), CELLS)
def test_a_prompt_is_the_one_that_was_sent(protocol: str, condition: str) -> None:
    """Turn by turn, with given answers and the place of pictures; without its job, too, where that chose nothing."""
    request = request_of("c1", condition, protocol)

    assert prompt_of(answered(request)) == Prompt(turns=request.turns)


def test_the_jobs_options_and_seed_are_those_of_the_prompt() -> None:
    """No examples for S3, and the thumbnail of V1, as the job chose."""
    cell = Cell(protocol="S3", condition="V1")
    spec = JobSpec(
        dataset=DATASET.name, models=(MODEL,), cells=(cell,), seed=5, options={"examples": 0, "thumbnail": 77}
    )
    request = request_of("c1", "V1", "S3", seed=5, options=spec.options)
    given = answered(request)

    assert request.views[0].sizing == "longest:77"
    assert prompt_of(given, job=spec).turns == request.turns
    assert prompt_of(given).turns == request.turns  # the rasters tell the thumbnail


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"prompt_version": None}, "does not say by which version"),
        ({"prompt_version": "s0/0"}, "it was asked with prompts s0/0; this version writes"),
        ({"details": {"examples": ["r1"]}}, "its job's options"),
        ({"rasters": (raster("f" * 32, "0,0,10,10"),)}, "other views"),
        ({"protocol": "S99"}, "has no S99"),
    ],
)
def test_a_prompt_that_is_not_known_is_not_told(changes: dict[str, Any], why: str) -> None:
    """Another version, other examples, other views, or what the benchmark never asks: no text, and the reason."""
    told = prompt_of(answered(request_of("c1", "V2"), **changes))

    assert told.turns == ()
    assert why in told.unknown


def test_local_evidence_needs_the_size_of_its_image() -> None:
    """V3 of a request that failed before anything was rendered: the records give fractions, and nothing their scale."""
    told = prompt_of(answered(request_of("c1", "V3"), rasters=()))

    assert "does not say how big" in told.unknown


def test_earlier_forms_said_that_there_were_no_examples() -> None:
    """An empty list of them is the same as none."""
    request = request_of("c1", "V2")

    assert prompt_of(answered(request, details={"examples": []})).turns == request.turns


def test_a_picture_that_a_chat_looked_at_later_changes_no_prompt() -> None:
    """Rasters of a tool's calls follow those of the request."""
    request = request_of("c1", "V2")
    given = answered(request, rasters=(shown(request, 0), raster("f" * 32, f"0,0,{SIZE.width // 2},10")))

    assert prompt_of(given).turns == request.turns
