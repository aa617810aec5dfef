"""A job asks over the corpus that it was submitted with, or not at all."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from gigavqa.contract.tool_loops import SearchTool
from gigavqa.retrieval.documents import corpus_digest
from gigavqa.runtime.embedded_store import running_store
from tests.benchmarks.vistahop.files import OURS, PAGE, write
from tests.service.gateways import RunningGateway, problem_of, running, settings_of
from tests.service.workers import claim_all, play

CELLS = [{"protocol": "search", "condition": "V2", "rounds": 3}]


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[RunningGateway]:
    """A gateway with the harbours and their corpus of one page."""
    with running_store(tmp_path / "server") as url:
        settings = settings_of(tmp_path, url)
        folder = write(settings.data / "harbours", [OURS])
        for name in (*OURS["images"], "thumbs/quay4.jpg"):
            (folder / name).parent.mkdir(exist_ok=True)
            Image.new("RGB", (640, 480), (90, 120, 60)).save(folder / name)
        with running(settings) as gateway:
            yield gateway


def searched(gateway: RunningGateway) -> str:
    """The version of the corpus that a new job's chats search."""
    assert gateway.submit(dataset="harbours", cells=CELLS).status_code == 201
    (request,) = claim_all(gateway.redis_url)
    assert request.loop is not None
    (version,) = {tool.source_version for tool in request.loop.tools if isinstance(tool, SearchTool)}
    return version


def test_a_corpus_that_changed_is_another_data_set(gateway: RunningGateway) -> None:
    """Retries are refused; a new job searches what lies there now."""
    corpus = gateway.settings.data / "harbours/corpus"
    job_id = gateway.submit(dataset="harbours", cells=CELLS).json()["id"]
    play(gateway.redis_url, lambda _: None)
    (corpus / "b.jsonl").write_text(json.dumps({**PAGE, "id": "d-099"}) + "\n")
    problem_of(gateway.client.post(f"/v1/jobs/{job_id}/retry"), 409, "dataset-changed")
    assert searched(gateway) == corpus_digest(corpus)


def test_what_people_said_of_chats_is_no_other_data_set(gateway: RunningGateway) -> None:
    """A job is retried after its chats were labelled, and its report names which labels it is by."""
    job_id = gateway.submit(dataset="harbours", cells=CELLS).json()["id"]
    play(gateway.redis_url, lambda _: None)
    before = gateway.client.get(f"/v1/jobs/{job_id}/report").json()
    said = {"job": job_id, "request": "r", "annotator": "ann", "correct": True}
    (gateway.settings.data / "harbours/judgements.jsonl").write_text(json.dumps(said) + "\n")
    after = gateway.client.get(f"/v1/jobs/{job_id}/report").json()
    assert after["dataset_digest"] == before["dataset_digest"]
    assert "labels" in after["versions"] and "labels" not in before["versions"]
    assert gateway.client.post(f"/v1/jobs/{job_id}/retry").is_success


def test_what_people_say_later_is_read(gateway: RunningGateway) -> None:
    """Files beside the records are looked at again when they change; one that cannot be used is named."""
    folder = gateway.settings.data / "harbours"
    assert gateway.submit(dataset="harbours", cells=CELLS).status_code == 201
    (folder / "judgements.jsonl").write_text('{"job": "j"}\n')
    problem = problem_of(gateway.submit(dataset="harbours", cells=CELLS), 422, "dataset-invalid")
    assert problem["errors"][0]["file"] == "judgements.jsonl"


@pytest.mark.parametrize("name", ["images/harbour.tif", "thumbs/quay4.jpg"])
def test_a_picture_that_is_missing_is_named(gateway: RunningGateway, name: str) -> None:
    """The question's own, and that of a hit of its image search."""
    (gateway.settings.data / "harbours" / name).unlink()
    problem = problem_of(gateway.submit(dataset="harbours", cells=CELLS), 422, "submission-invalid")
    assert [(one["image"], one["sample"]) for one in problem["errors"]] == [(f"harbours/{name}", OURS["id"])]
