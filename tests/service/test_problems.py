"""Every error is a problem document, and every answer carries the request's id."""

import json
import logging
from collections.abc import Callable

import pytest

from tests.service.gateways import RunningGateway, openai_error_of, problem_of
from tests.waiting import wait_until


def test_an_unknown_path_is_a_problem(gateway: RunningGateway) -> None:
    """Errors of the framework look like those of the gateway."""
    assert "/v2" in problem_of(gateway.client.get("/v2"), 404, "not-found")["detail"]


def test_a_wrong_method_is_a_problem_that_names_the_right_ones(gateway: RunningGateway) -> None:
    """All methods of the path are allowed, not only those of its first route."""
    response = gateway.client.put("/v1/jobs")
    problem_of(response, 405, "method-not-allowed")
    assert response.headers["allow"] == "GET, HEAD, POST"


def test_every_wrong_field_of_a_body_is_pointed_at(gateway: RunningGateway) -> None:
    """Missing, wrong and unknown fields are named together."""
    body = {"models": [], "repeats": 0, "colour": "red"}
    problem = problem_of(gateway.client.post("/v1/jobs", json=body), 422, "request-invalid")
    assert {error["pointer"] for error in problem["errors"]} == {"#/dataset", "#/models", "#/repeats", "#/colour"}


def test_a_body_that_is_not_json_is_a_problem(gateway: RunningGateway) -> None:
    """The place of the error is told."""
    headers = {"Content-Type": "application/json"}
    response = gateway.client.post("/v1/jobs", content=b'{"dataset":', headers=headers)
    problem = problem_of(response, 400, "body-malformed")
    assert "character 11" in problem["detail"]


def test_a_body_that_is_declared_too_large_is_refused(start: Callable[..., RunningGateway]) -> None:
    """The declared length is enough to know."""
    gateway = start(max_body_bytes=100)
    problem_of(gateway.client.post("/v1/jobs", content=b"x" * 101), 413, "body-too-large")


def test_a_body_of_unknown_length_is_refused_when_it_grows_too_large(start: Callable[..., RunningGateway]) -> None:
    """A chunked body is read no further than the limit."""
    gateway = start(max_body_bytes=100)
    chunks = (b"x" * 60 for _ in range(2))
    problem_of(gateway.client.post("/v1/jobs", content=chunks), 413, "body-too-large")


def test_a_body_within_the_limit_arrives_whole(start: Callable[..., RunningGateway]) -> None:
    """A chunked body is put together again."""
    gateway = start(max_body_bytes=200)
    body = json.dumps({"dataset": "nowhere", "models": ["demo-qwen3-vl"], "plan": "table1"}).encode()
    chunks = (body[start : start + 7] for start in range(0, len(body), 7))
    response = gateway.client.post("/v1/jobs", content=chunks, headers={"Content-Type": "application/json"})
    problem_of(response, 422, "submission-invalid")


def test_a_request_keeps_the_id_that_it_came_with(gateway: RunningGateway, caplog: pytest.LogCaptureFixture) -> None:
    """The id is returned, stands in the problem document, and is logged."""
    with caplog.at_level(logging.INFO, logger="service.access"):
        response = gateway.client.get("/v1/jobs/job_none", headers={"X-Request-Id": "mine-42"})
        wait_until(lambda: "request_id=mine-42" in caplog.text, what="the line of the log")
    assert problem_of(response, 404, "job-not-found")["request_id"] == "mine-42"


@pytest.mark.parametrize("given", [None, "", "two words", "x" * 129])
def test_a_request_without_a_usable_id_is_given_one(gateway: RunningGateway, given: str | None) -> None:
    """Ids that could forge a line of the log are not taken over."""
    response = gateway.client.get("/healthz", headers={} if given is None else {"X-Request-Id": given})
    made = response.headers["x-request-id"]
    assert made != given
    assert len(made) == 32


def test_a_failure_of_the_gateway_gives_nothing_away(new_gateway: RunningGateway) -> None:
    """An error that no table knows is a problem that names the class alone, with the request's id."""

    async def fail() -> None:
        raise RuntimeError("the secret")

    new_gateway.app.add_api_route("/fail", fail)
    response = new_gateway.client.get("/fail")
    problem = problem_of(response, 500, "internal")
    assert "RuntimeError" in problem["detail"]
    assert "secret" not in response.text


def test_a_broken_catalogue_is_named(gateway: RunningGateway) -> None:
    """A file of the operator's that cannot be read is the gateway's failure, not the client's."""
    folder = gateway.settings.catalogue
    folder.mkdir(parents=True)
    (folder / "broken.toml").write_text("id = 7")
    error = openai_error_of(gateway.client.get("/v1/models"), 500, "catalogue_invalid")
    assert "broken.toml" in error["message"]
