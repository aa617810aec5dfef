"""A report over what a job recorded is that over its exported files, whatever lies in parts or on the server."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import JobSpec
from gigavqa.contract.requests import InferenceRequest
from gigavqa.contract.schema_versions import read_response
from gigavqa.evaluation.datasets import load_dataset
from gigavqa.evaluation.outcomes import sample_outcomes
from gigavqa.evaluation.prompts import PromptRebuilder
from gigavqa.reports.report import Report
from gigavqa.reports.score import score_files
from gigavqa.reports.writers.exports import render_csv, render_json, render_latex
from gigavqa.reports.writers.markdown import render_markdown
from gigavqa.reports.writers.page.page import render_html
from gigavqa.reports.writers.verdict_columns import VerdictFileLayout
from gigavqa.reports.writers.verdict_files import VERDICT_FORMATS, VerdictFormat, verdict_chunks
from gigavqa.service.settings import GatewaySettings
from tests.service.gateways import MODEL, RunningGateway
from tests.service.test_tallies import drain, judged
from tests.service.workers import play
from tests.testing.test_benchmark_suite import SAMPLES, checks_of

Start = Callable[..., RunningGateway]
TEXTS = ("Final answer: A", '{"answer": "A"}', "B", "<answer>1911</answer>", "7", "I cannot tell.", "A or B", "hm", "")
FORMS = {"json": render_json, "md": render_markdown, "csv": render_csv, "tex": render_latex}


def said(request: InferenceRequest) -> str | None:
    """Any text by the request, or a failure."""
    draw = random.Random(request.request_id)
    return draw.choice(TEXTS) if draw.random() < 0.9 else None


@pytest.mark.slow
@pytest.mark.parametrize("benchmark", SAMPLES)
def test_both_reports_are_the_same_bytes(settings: GatewaySettings, start: Start, benchmark: str) -> None:
    """In every form, on the server and in parts; offline the lines come in another order, and from two files."""
    checks_of(settings.data, benchmark)
    gateway = start()
    job_id = _submitted(gateway, benchmark)
    play(gateway.redis_url, said)
    live = _reports(gateway, job_id)
    lines = gateway.client.get(f"/v1/jobs/{job_id}/results").text.splitlines()
    gateway.stop()
    drain(settings)
    gateway = start()
    assert _reports(gateway, job_id) == live
    assert gateway.client.get(f"/v1/jobs/{job_id}/results").text.splitlines() == lines
    random.Random(1).shuffle(lines)
    assert len(lines) > 1
    folder = settings.data / "mine"
    files = _files(settings.data.parent, lines)
    offline = score_files(folder, *files).model_copy(update={"jobs": Report.model_validate_json(live["json"]).jobs})
    spec = JobSpec.model_validate(gateway.job(job_id)["spec"])
    for form, render in FORMS.items():
        assert render(offline).splitlines() == live[form].splitlines(), form
    assert _page(offline, folder, lines, job_id, spec) == live["html"]


@pytest.mark.slow
@pytest.mark.parametrize("benchmark", SAMPLES)
def test_verdicts_that_stood_beside_parts_are_the_same_bytes(
    settings: GatewaySettings, start: Start, benchmark: str
) -> None:
    """As judged on the server, and as judged anew offline: in every form, a response or a part a row, with texts."""
    checks_of(settings.data, benchmark)
    gateway = start()
    job_id = _submitted(gateway, benchmark)
    play(gateway.redis_url, said)
    fresh = _verdicts(gateway, job_id)
    lines = gateway.client.get(f"/v1/jobs/{job_id}/results").text.splitlines()
    gateway.stop()
    drain(settings)
    made, again = start(), start()
    assert _verdicts(made, job_id) == fresh
    assert (judged(made) > 0, _verdicts(again, job_id) == fresh, judged(again)) == (True, True, 0)
    dataset = load_dataset(settings.data / "mine")
    responses = [read_response(line, extra="ignore") for line in lines]
    for (form, *named), content in fresh.items():
        layout = VerdictFileLayout.of(dataset, **dict.fromkeys(named, True))
        rows = map(layout.whole_row, sample_outcomes(dataset, responses, load_catalogue()))
        assert b"".join(verdict_chunks(rows, form, layout)) == content


def _verdicts(gateway: RunningGateway, job_id: str) -> dict[tuple[VerdictFormat, *tuple[str, ...]], bytes]:
    """The files of a job's verdicts, by their form and what was asked for besides."""
    kinds = [(form, *named) for form in VERDICT_FORMATS for named in ((), ("parts",), ("texts",), ("parts", "texts"))]
    path = f"/v1/jobs/{job_id}/verdicts"
    asked = {kind: {"format": kind[0], **dict.fromkeys(kind[1:], "true")} for kind in kinds}
    return {kind: gateway.client.get(path, params=asked[kind]).raise_for_status().content for kind in kinds}


def _reports(gateway: RunningGateway, job_id: str) -> dict[str, str]:
    """The report of a job in every form."""
    path = f"/v1/jobs/{job_id}/report"
    return {form: gateway.client.get(path, params={"format": form}).text for form in (*FORMS, "html")}


def _submitted(gateway: RunningGateway, benchmark: str) -> str:
    """The id of a job over the first plan that a data set of one sample can be asked."""
    plans = [plan["name"] for plan in gateway.client.get("/v1/plans").json()["data"] if plan["benchmark"] == benchmark]
    body = {"dataset": "mine", "models": [MODEL], "repeats": 3}
    answers = (gateway.client.post("/v1/jobs", json=body | {"plan": plan}) for plan in plans)
    return next(str(answer.json()["id"]) for answer in answers if answer.is_success)


def _files(folder: Path, lines: list[str]) -> list[Path]:
    paths = [folder / f"exported-{at}.ndjson" for at in range(2)]
    for at, path in enumerate(paths):
        path.write_text("\n".join(lines[at::2]))
    return paths


def _page(report: Report, folder: Path, lines: list[str], job_id: str, spec: JobSpec) -> str:
    dataset = load_dataset(folder)
    responses = (read_response(line, extra="ignore") for line in lines)
    return render_html(
        report, sample_outcomes(dataset, responses, load_catalogue(), PromptRebuilder(dataset, {job_id: spec}))
    )
