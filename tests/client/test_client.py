"""The Python client against a real service: jobs, streams, frames, questions of one's own, and errors."""

import json
import socket
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import httpx
import numpy as np
import pytest
from PIL import Image

from gigavqa import (
    AsyncClient,
    Client,
    ConflictError,
    GatewayUnreachableError,
    ImageQuestion,
    Job,
    JobStatus,
    NotFoundError,
    QuestionFile,
    QuestionsError,
    RefusedError,
    Response,
)
from gigavqa.cli.client import TerminalClient
from gigavqa.client import calls
from gigavqa.client.connection import request_headers
from gigavqa.client.errors import ProblemError
from gigavqa.client.retries import LineSplitter
from tests.cli.conftest import Service
from tests.cli.installation import MODEL
from tests.client.conftest import SAMPLES, SPEC
from tests.client.cutting import cutting_proxy


def test_a_key_is_sent_with_every_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that is given, else that of the environment; none where there is none."""
    monkeypatch.setenv("GIGAVQA_API_KEY", " gvq_a ")
    assert request_headers()["Authorization"] == "Bearer gvq_a"
    assert request_headers("gvq_b")["Authorization"] == "Bearer gvq_b"
    assert [*request_headers("")] == ["User-Agent"]


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """A folder of two pictures."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    for name in ("left", "right"):
        Image.linear_gradient("L").resize((640, 480)).convert("RGB").save(folder / f"{name}.png")
    return folder


@pytest.fixture
def data(service: Service) -> Path:
    """The service's data root."""
    return service.installation.home / "data"


def test_a_job_is_submitted_watched_and_ends(client: Client) -> None:
    """What is watched begins with the job, gets on, and ends with the job as it ended."""
    seen = list(client.watch(client.submit(SPEC).id))
    done = [job.request_counts.completed for job in seen]
    assert done == sorted(done) and done[-1] == SAMPLES
    assert seen[-1].status is JobStatus.COMPLETED and seen[-1].finished_at is not None


def test_a_job_that_does_not_end_in_time_is_told_so(client: Client) -> None:
    """A model that no worker serves: the wait ends in time and says how far the job is; cancelled, it is deleted."""
    job = client.submit({**SPEC, "models": ["qwen3-vl-8b"]})
    with pytest.raises(TimeoutError, match=rf"{job.id} is in_progress after 1 s: 0 of 4"):
        client.wait(job.id, timeout=1)
    assert client.cancel(job.id).status is JobStatus.CANCELLED
    assert client.delete(job.id) == job.id
    with pytest.raises(NotFoundError, match=job.id):
        client.job(job.id)


def test_the_same_key_gives_the_same_job_and_jobs_are_listed_newest_first(client: Client, job: Job) -> None:
    """Pages are joined: more jobs than one page of one are all there, each once."""
    assert client.submit(SPEC, "the-job-of-the-tests").id == job.id
    newest = client.submit({**SPEC, "seed": 1, "metadata": {"owner": "me"}})
    listed = [one.id for one in client.jobs(limit=None)]
    assert listed[0] == newest.id and job.id in listed and len(set(listed)) == len(listed)
    assert [one.id for one in client.jobs(limit=1)] == [newest.id]
    chosen = client.jobs(metadata={"owner": "me"}, created_after=job.created_at, dataset="tiny", order="oldest")
    assert [one.id for one in chosen] == [newest.id]
    with pytest.raises(RefusedError, match="inside of a network"):
        client.tell_end(job.id, "http://127.0.0.1:1/", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")


def test_responses_come_as_objects_and_go_on_behind_a_cursor(client: Client, job: Job) -> None:
    """Two parts of the stream are the whole, and a filter leaves out what it should."""
    whole = list(client.responses(job.id))
    assert all(isinstance(one, Response) and one.turns[-1].text for one in whole)
    first = list(client.result_lines(job.id, limit=1))
    rest = client.responses(job.id, after=json.loads(first[-1])["cursor"])
    assert [one.request_id for one in rest] == [one.request_id for one in whole[1:]]
    assert len(list(client.responses(job.id, sample_id="cctv-0002"))) == 1
    assert list(client.responses(job.id, status="failed")) == []


def test_results_and_verdicts_are_data_frames(client: Client, job: Job) -> None:
    """One row a response, with its text, its tokens and its verdict; both can be joined by the request."""
    results, verdicts = client.results(job.id), client.verdicts(job.id)
    assert len(results) == len(verdicts) == len(results.merge(verdicts, on="request_id")) == SAMPLES
    assert (results["prompt_tokens"] > 0).all() and results["failure"].isna().all()
    assert set(results["finish_reason"]) == {"stop"} and results["text"].str.len().all()
    assert set(verdicts["outcome"]) <= {"right", "wrong"}
    assert b"".join(client.verdict_file([job.id], "csv")).count(b"\n") == SAMPLES + 1


def test_a_report_comes_in_the_form_that_is_asked_for(client: Client, job: Job) -> None:
    """Markdown unless told otherwise; as JSON it holds tables."""
    assert client.report(job.id).startswith("#")
    assert json.loads(client.report(job.id, form="json"))["tables"]


def test_one_question_about_one_picture_is_answered(client: Client, pictures: Path, data: Path) -> None:
    """The picture is read where it lies, and asking the same again asks no model."""
    question = ImageQuestion(pictures / "left.png", "Which side is brighter?", data=data)
    first = client.ask(question, model=MODEL)
    assert first.turns[-1].text and first.condition == "V2"
    assert client.ask(question, model=MODEL) == first
    assert client.ask(question, model=MODEL, again=True).job_id != first.job_id


def test_a_picture_of_16_bits_is_asked_about_as_it_is_declared_to_be_shown(
    client: Client, pictures: Path, data: Path
) -> None:
    """And the response says what was black and white."""
    Image.fromarray(np.arange(90_000, dtype=np.uint16).reshape(300, 300) % 5000).save(pictures / "deep.png")
    question = ImageQuestion(pictures / "deep.png", "Is it bright?", data=data, show="window=1000:800")
    assert [raster.tone for raster in client.ask(question, model=MODEL).rasters] == ["bands=1 limits=600:1400"]
    with pytest.raises(QuestionsError, match="gigavqa show "):
        client.ask(ImageQuestion(pictures / "deep.png", "Is it bright?", data=data), model=MODEL)


def test_a_file_of_questions_is_asked_at_several_conditions(client: Client, pictures: Path, data: Path) -> None:
    """The job that does it has every question at each condition."""
    source = pictures.parent / "questions.csv"
    source.write_text("image,question,answer\nleft.png,Is it bright?,yes\nright.png,Is it bright?,no\n")
    asked = QuestionFile(source, pictures, conditions=("V0", "V2"), data=data)
    job = client.wait(client.ask_all(asked, models=[MODEL]).id)
    assert (job.status, job.request_counts.completed) == (JobStatus.COMPLETED, 4)
    assert client.ask_all(asked, models=[MODEL]).id == job.id


@pytest.mark.parametrize(
    ("name", "told"),
    [("questions.csv", "none.png"), ("questions.txt", "no file of questions")],
)
def test_questions_that_cannot_be_asked_are_named(
    client: Client, pictures: Path, data: Path, name: str, told: str
) -> None:
    """Nothing is submitted, and one sentence names what is wrong."""
    (pictures.parent / name).write_text("image,question\nnone.png,Why?\n")
    with pytest.raises(QuestionsError, match=told):
        client.ask_all(QuestionFile(pictures.parent / name, pictures, data=data), models=[MODEL])


def test_a_data_root_that_the_gateway_does_not_have_is_told(client: Client, pictures: Path, tmp_path: Path) -> None:
    """Instead of a job that cannot find its pictures."""
    with pytest.raises(QuestionsError, match="another data root"):
        client.ask(ImageQuestion(pictures / "left.png", "Why?", data=tmp_path / "elsewhere"), model=MODEL)


def test_what_is_refused_says_what_is_wrong(client: Client, job: Job) -> None:
    """The problem document's sentence is the message; kind, status, findings and the request's id are at hand."""
    with pytest.raises(RefusedError, match="no-such-model") as refused:
        client.submit({**SPEC, "models": ["no-such-model"]})
    error = refused.value
    assert (error.status, error.kind) == (422, "submission-invalid")
    assert error.findings[0]["pointer"] == "#/models/0" and error.request_id
    with pytest.raises(RefusedError, match="repeats") as unsent:
        client.submit({**SPEC, "repeats": 0})
    assert (unsent.value.status, unsent.value.kind) == (422, "request-invalid")
    with pytest.raises(ConflictError) as conflict:
        client.retry(job.id)
    assert conflict.value.kind == "job-state-conflict"


def test_a_gateway_that_never_answered_is_not_waited_for() -> None:
    """The sentence names the address and what helps."""
    with Client("http://127.0.0.1:9") as client, pytest.raises(GatewayUnreachableError, match="gigavqa up"):
        client.jobs()


def test_a_gateway_that_is_at_work_is_not_said_to_be_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """It took the request, and the answer did not come in time."""
    monkeypatch.setattr(calls, "TIMEOUT", httpx.Timeout(5.0, read=0.05))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with Client(url) as client, pytest.raises(GatewayUnreachableError, match="may still be at work") as told:
            client.jobs()
    assert "gigavqa up" not in str(told.value)


async def test_the_asynchronous_client_does_the_same(url: str, pictures: Path, data: Path) -> None:
    """Submit, watch, read, frame, report and ask, awaited."""
    async with AsyncClient(url) as client:
        job = await client.wait((await client.submit(SPEC)).id)
        assert job.request_counts.completed == SAMPLES
        assert len([one async for one in client.responses(job.id, follow=True)]) == SAMPLES
        assert len(await client.results(job.id)) == len(await client.verdicts(job.id)) == SAMPLES
        assert (await client.report(job.id)).startswith("#")
        assert job.id in [one.id for one in await client.jobs(limit=None)]
        answer = await client.ask(
            ImageQuestion(pictures / "right.png", "Which side is darker?", data=data), model=MODEL
        )
        assert answer.turns[-1].text
        with pytest.raises(NotFoundError):
            await client.job("job_none")


def test_without_pandas_a_sentence_says_what_to_install(client: Client, job: Job) -> None:
    """In an interpreter that finds no pandas, frames are refused and everything else works."""
    script = f"""
import sys
sys.modules["pandas"] = None
import importlib.util
found = importlib.util.find_spec
from gigavqa import Client, PackageMissingError
with Client({client.url!r}) as client:
    assert len(list(client.responses({job.id!r}))) == {SAMPLES}
    try:
        client.verdicts({job.id!r})
    except PackageMissingError as error:
        print(error)
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert "pip install pandas" in run.stdout


def test_a_broken_stream_goes_on_where_it_was(service: Service, job: Job) -> None:
    """Through a proxy that cuts every connection after some bytes, each response comes once and in order."""
    with cutting_proxy(service.installation.url, after=3500) as (url, cuts), Client(url) as client:
        lines = list(client.result_lines(job.id))
        assert cuts() >= 1
    with Client(service.installation.url) as straight:
        assert lines == list(straight.result_lines(job.id))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 10_000])
def test_a_line_of_results_ends_at_a_line_feed_alone(size: int) -> None:
    """Whatever else ends lines in Unicode may stand in an answer, and a chunk may end within a character."""
    said = ["one\u2028two\u2029three\u0085four\x0b\x0c\x1c\r", "日本", ""]
    stream = b"".join(json.dumps({"text": text}, ensure_ascii=False).encode() + b"\n\n" for text in said)
    lines, found = LineSplitter(), list[str]()
    for start in range(0, len(stream), size):
        found += lines.take(stream[start : start + size])
    assert [json.loads(line)["text"] for line in found] == said


def test_a_stream_that_never_began_is_asked_for_as_long_as_any_call() -> None:
    """A terminal's client, which has no patience, asks once where results are a 503."""
    asked: list[str] = []

    class Away(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(503)
            self.send_header("Retry-After", "1")
            self.send_header("Content-Length", "0")
            self.end_headers()

    with ThreadingHTTPServer(("127.0.0.1", 0), Away) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        client = TerminalClient(f"http://127.0.0.1:{server.server_port}")
        with client, pytest.raises(ProblemError):
            next(client.result_lines("job_1"))
        server.shutdown()
    assert len(asked) == 1
