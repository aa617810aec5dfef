"""The OpenAPI document says everything of every operation, and its pages need no network."""

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from gigavqa.contract.jobs import Job, JobSpec
from gigavqa.evaluation.reviews import SampleReview
from gigavqa.reports.report import Report
from gigavqa.service.app import create_app
from gigavqa.service.http import examples
from gigavqa.service.http.openai_errors import is_openai_path
from gigavqa.service.openai import examples as openai_examples
from gigavqa.service.openai.batches import BatchList, BatchObject
from gigavqa.service.openai.completions import Completion
from gigavqa.service.openai.files import FileDeletion, FileList, FileObject
from gigavqa.service.openai.responses_output import ResponseObject
from gigavqa.service.operations.dataset_contents import ImageList, SampleDetail, SampleList
from gigavqa.service.operations.dataset_deletion import DatasetDeletion, DatasetStakes
from gigavqa.service.operations.dataset_imports import DatasetImport
from gigavqa.service.operations.inventory import DatasetCard, DatasetList, ModelCard, ModelList, WorkerList
from gigavqa.service.operations.manifests import Manifest
from gigavqa.service.operations.plans import PlanList
from gigavqa.service.operations.probes import Health, Readiness, ServiceIndex, Version
from gigavqa.service.operations.review_desk import RevealedSample
from gigavqa.service.operations.reviews import BlindSampleList, ReviewList
from gigavqa.service.results.labels import LabelList
from gigavqa.service.results.responses import ResultLine
from gigavqa.service.results.verdicts import VerdictLine
from gigavqa.service.results.webhooks import WebhookCard
from gigavqa.service.settings import GatewaySettings
from gigavqa.service.submission.jobs import JobDeletion, JobList
from tests.service.gateways import RunningGateway

OPERATIONS = {
    "GET /",
    "GET /v1/jobs",
    "POST /v1/jobs",
    "GET /v1/jobs/{job_id}",
    "DELETE /v1/jobs/{job_id}",
    "POST /v1/jobs/{job_id}/cancel",
    "POST /v1/jobs/{job_id}/retry",
    "GET /v1/jobs/{job_id}/results",
    "GET /v1/jobs/{job_id}/events",
    "PUT /v1/jobs/{job_id}/webhook",
    "GET /v1/jobs/{job_id}/previews/{key}",
    "GET /v1/jobs/{job_id}/labels",
    "PUT /v1/jobs/{job_id}/labels",
    "GET /v1/jobs/{job_id}/report",
    "GET /v1/reports",
    "GET /v1/jobs/{job_id}/verdicts",
    "GET /v1/verdicts",
    "GET /v1/models",
    "GET /v1/models/{model_id}",
    "POST /v1/chat/completions",
    "POST /v1/responses",
    "GET /v1/files",
    "POST /v1/files",
    "GET /v1/files/{file_id}",
    "DELETE /v1/files/{file_id}",
    "GET /v1/files/{file_id}/content",
    "GET /v1/batches",
    "POST /v1/batches",
    "GET /v1/batches/{batch_id}",
    "POST /v1/batches/{batch_id}/cancel",
    "GET /v1/workers",
    "GET /v1/workers/targets",
    "GET /v1/watch",
    "GET /v1/datasets",
    "POST /v1/datasets",
    "GET /v1/datasets/{name}",
    "DELETE /v1/datasets/{name}",
    "GET /v1/datasets/{name}/stakes",
    "GET /v1/datasets/{name}/samples",
    "GET /v1/datasets/{name}/samples/{sample_id}",
    "GET /v1/datasets/{name}/images",
    "GET /v1/datasets/{name}/manifest",
    "GET /v1/datasets/{name}/reviews",
    "POST /v1/datasets/{name}/reviews",
    "GET /v1/datasets/{name}/reviews/samples",
    "GET /v1/datasets/{name}/reviews/samples/{sample_id}",
    "GET /v1/plans",
    "GET /v1/version",
    "GET /healthz",
    "GET /readyz",
    "GET /metrics",
}
SHOWN: list[tuple[dict[str, Any], type[BaseModel]]] = [
    (examples.SPEC, JobSpec),
    (examples.SPEC_OF_CELLS, JobSpec),
    (examples.JOB, Job),
    (examples.CANCELLED_JOB, Job),
    (examples.JOBS, JobList),
    (examples.DELETION, JobDeletion),
    (examples.RESPONSE, ResultLine),
    (examples.MODELS, ModelList),
    (examples.MODEL_CARD, ModelCard),
    (openai_examples.COMPLETION, Completion),
    (openai_examples.RESPONSE, ResponseObject),
    (openai_examples.FILE, FileObject),
    (openai_examples.FILES, FileList),
    (openai_examples.FILE_DELETION, FileDeletion),
    (openai_examples.BATCH, BatchObject),
    (openai_examples.BATCHES, BatchList),
    (examples.WORKERS, WorkerList),
    (examples.DATASETS, DatasetList),
    (examples.DATASET, DatasetCard),
    (examples.DATASET_IMPORT, DatasetImport),
    (examples.DATASET_STAKES, DatasetStakes),
    (examples.DATASET_DELETION, DatasetDeletion),
    (examples.DATASET_CHECK, DatasetImport),
    (examples.SAMPLES, SampleList),
    (examples.SAMPLE, SampleDetail),
    (examples.IMAGES, ImageList),
    (examples.MANIFEST, Manifest),
    (examples.LABELS, LabelList),
    (examples.REVIEWS, ReviewList),
    (examples.REVIEW, SampleReview),
    (examples.BLIND_SAMPLES, BlindSampleList),
    (examples.REVEALED_SAMPLE, RevealedSample),
    (examples.PLANS, PlanList),
    (examples.VERSION, Version),
    (examples.WEBHOOK, WebhookCard),
    (examples.READINESS, Readiness),
    (examples.UNREADINESS, Readiness),
    (examples.HEALTH, Health),
    (examples.INDEX, ServiceIndex),
    (examples.REPORT, Report),
    (examples.VERDICT, VerdictLine),
]


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The OpenAPI document; no server is needed to write it."""
    environ = {"GIGAVQA_HOME": str(tmp_path_factory.mktemp("home"))}
    return create_app(GatewaySettings.from_environment(environ)).openapi()


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every operation by method and path."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def references(node: Any) -> Iterator[str]:
    """Every reference in the document."""
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for child in node.values():
            yield from references(child)
    elif isinstance(node, list):
        for child in node:
            yield from references(child)


def test_every_operation_is_there(document: dict[str, Any]) -> None:
    """No operation is missing, and none is there that nobody knows of."""
    assert {name for name, _ in operations(document)} == OPERATIONS


def test_every_operation_says_what_it_is(document: dict[str, Any]) -> None:
    """Each has a summary, a description and a tag that is described."""
    tags = {tag["name"] for tag in document["tags"]}
    for name, operation in operations(document):
        assert operation["summary"], name
        assert operation["description"], name
        assert set(operation["tags"]) <= tags, name


def test_every_operation_shows_an_answer(document: dict[str, Any]) -> None:
    """Each success that has a body has an example of it."""
    for name, operation in operations(document):
        successes = [answer for status, answer in operation["responses"].items() if status.startswith("2")]
        assert successes, name
        for answer in successes:
            assert all("example" in media for media in answer["content"].values()), name


def test_json_answers_have_a_schema(document: dict[str, Any]) -> None:
    """Whatever a program reads is described field by field."""
    for name, operation in operations(document):
        for status, answer in operation["responses"].items():
            for media_type, media in answer.get("content", {}).items():
                if "json" in media_type:
                    assert "$ref" in media["schema"], (name, status)


def test_every_operation_names_its_problems(document: dict[str, Any]) -> None:
    """Each error is declared as a problem document with an example, and none as anything else."""
    for name, operation in operations(document):
        if is_openai_path(name.partition(" ")[2]):
            continue  # see the next test
        errors = {status: answer for status, answer in operation["responses"].items() if status[0] in "45"}
        assert {"422", "500"} <= set(errors), name
        for status, answer in errors.items():
            if name == "GET /readyz" and status == "503":
                continue  # the probe's own answer
            media = answer["content"]["application/problem+json"]
            assert media["schema"] == {"$ref": "#/components/schemas/Problem"}, name
            assert media["examples"], name
            assert len(answer["content"]) == 1, name


def test_what_openai_s_clients_call_names_their_errors(document: dict[str, Any]) -> None:
    """Each error is declared as OpenAI's object with an example, and none with the 422 that OpenAI does not have."""
    called = [(name, each) for name, each in operations(document) if is_openai_path(name.partition(" ")[2])]
    assert len(called) == 13
    for name, operation in called:
        errors = {status: answer for status, answer in operation["responses"].items() if status[0] != "2"}
        assert {"400", "500", "default"} <= set(errors), name
        assert "422" not in errors, name
        for status, answer in errors.items():
            media = answer["content"]["application/json"]
            assert media["schema"] == {"$ref": "#/components/schemas/OpenAIError"}, name
            assert status == "default" or media["examples"], name


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    """No schema is missing from the components."""
    known = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert set(references(document)) <= known


@pytest.mark.parametrize(("example", "model"), SHOWN)
def test_examples_are_what_they_show(example: dict[str, Any], model: type[BaseModel]) -> None:
    """Each example is valid for its model."""
    model.model_validate(example)


def test_the_pages_load_nothing_from_elsewhere(gateway: RunningGateway) -> None:
    """/docs and the files that it names come from the gateway itself."""
    page = gateway.client.get("/docs").text
    assert "://" not in page
    assert gateway.client.get("/static-offline-docs/swagger-ui-bundle.js").status_code == 200
