"""What HTTP expects of any service: HEAD, gzip, validators, and words that cannot be misread."""

import gzip
import json
import logging
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.service.gateways import MODEL, RunningGateway, problem_of
from tests.service.test_operations import metric
from tests.service.workers import play
from tests.waiting import wait_until

HALF = "\\ud800"
JSON = {"Content-Type": "application/json"}


def post(gateway: RunningGateway, body: str) -> httpx.Response:
    """Submit a body as it is."""
    return gateway.client.post("/v1/jobs", content=body.encode(), headers=JSON)


def body_with(**fields: Any) -> str:
    """A body of a job; `HALF` in it stands for half of a surrogate pair."""
    body = {"dataset": "town", "models": [MODEL], "plan": "table1", **fields}
    return json.dumps(body).replace("HALF", HALF)


@pytest.mark.parametrize(
    "path", ["/v1/jobs", "/healthz", "/v1/models", "/v1/jobs/{id}/results?follow=true", "/v1/jobs/{id}/events"]
)
def test_head_is_get_without_the_body(gateway: RunningGateway, path: str) -> None:
    """Streams that would go on with the job, too, whose makers end."""
    path = path.format(id=gateway.submit().json()["id"])
    head = gateway.client.head(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-type"]
    wait_until(lambda: metric(gateway, "gigavqa_open_streams") == 0, what="the end of the streams")
    assert gateway.client.head("/v1/jobs/job_none").status_code == 404


def test_the_instrumentation_counts_head_by_its_route(new_gateway: RunningGateway) -> None:
    """Under its own name and the same template."""
    new_gateway.client.head("/v1/jobs/job_none")
    labels = {"method": "HEAD", "route": "/v1/jobs/{job_id}", "status": "404"}
    wait_until(lambda: metric(new_gateway, "gigavqa_http_requests_total", **labels) == 1)


def test_methods_that_a_client_makes_up_are_one_series(new_gateway: RunningGateway) -> None:
    """However many words the protocol of the connection lets through."""
    for method in ("PROPFIND", "PURGE", "MKCOL", "LOCK", "SEARCH"):
        assert new_gateway.client.request(method, "/v1/jobs").status_code == 405
    wait_until(lambda: metric(new_gateway, "gigavqa_http_requests_total", method="other", status="405") == 5)
    assert "PURGE" not in new_gateway.client.get("/metrics").text


def test_a_page_is_compressed_for_who_accepts_it(gateway: RunningGateway) -> None:
    """A report page of some hundred kilobytes crosses the wire in a fraction of them."""
    job_id = gateway.submit(plan="table1").json()["id"]
    play(gateway.redis_url)
    path = f"/v1/jobs/{job_id}/report?format=html"
    plain = gateway.client.get(path, headers={"Accept-Encoding": "identity"})
    with gateway.client.stream("GET", path, headers={"Accept-Encoding": "gzip"}) as packed:
        raw = b"".join(packed.iter_raw())
    assert packed.headers["content-encoding"] == "gzip"
    assert "Accept-Encoding" in packed.headers["vary"]
    assert gzip.decompress(raw).decode() == plain.text
    assert len(raw) < len(plain.content) / 2


def test_a_line_that_is_followed_is_not_held_back(gateway: RunningGateway) -> None:
    """A client that accepts gzip, as most do, reads the first response while the job goes on."""
    job_id = gateway.submit().json()["id"]
    headers = {"Accept-Encoding": "gzip"}
    with gateway.client.stream("GET", f"/v1/jobs/{job_id}/results?follow=true", headers=headers) as stream:
        play(gateway.redis_url, max_bundles=1)
        assert json.loads(next(stream.iter_lines()))["request_id"]
        assert gateway.job(job_id)["status"] == "in_progress"


def test_validators_are_compared_as_the_standard_says(gateway: RunningGateway) -> None:
    """Lists, weak ones, the star; another tag, a part of one and no tag at all do not match."""
    job_id = gateway.submit().json()["id"]
    path = f"/v1/jobs/{job_id}/report"
    tag = gateway.client.get(path).headers["etag"]
    bare = tag.removeprefix("W/")
    for known in (tag, bare, f'"other", {tag}', f'W/"a,b",{bare} , "c"', "*"):
        response = gateway.client.get(path, headers={"If-None-Match": known})
        assert (response.status_code, response.headers["etag"], response.content) == (304, tag, b""), known
    for known in ('"other"', bare.strip('"'), bare[:-2] + '"', ""):
        assert gateway.client.get(path, headers={"If-None-Match": known}).status_code == 200, known


def test_the_root_says_where_everything_is(gateway: RunningGateway) -> None:
    """To a program as JSON, to a browser as a page that may run its own scripts alone; every address of it answers."""
    index = gateway.client.get("/").json()
    addresses = [value for value in index.values() if value.startswith("/")]
    assert all(gateway.client.get(address).status_code == 200 for address in addresses)
    browser = gateway.client.get("/", headers={"Accept": "text/html,*/*;q=0.8"})
    assert browser.headers["content-type"].startswith("text/html") and "<script " in browser.text
    policy = browser.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'; ") and "unsafe" not in policy


@pytest.mark.parametrize("content_type", [None, "text/plain", "application/x-www-form-urlencoded", "json"])
def test_a_body_that_is_not_declared_as_json_is_refused(gateway: RunningGateway, content_type: str | None) -> None:
    """A form of another page's cannot declare it."""
    headers = {} if content_type is None else {"Content-Type": content_type}
    response = gateway.client.post("/v1/jobs", content=body_with(), headers=headers)
    problem_of(response, 415, "media-type-unsupported")


@pytest.mark.parametrize(
    "content_type", ["application/json", "Application/JSON; charset=utf-8", "application/vnd.x+json"]
)
def test_json_may_be_declared_in_every_way(gateway: RunningGateway, content_type: str) -> None:
    """Capitals, parameters, and formats that are JSON underneath."""
    response = gateway.client.post("/v1/jobs", content=body_with(), headers={"Content-Type": content_type})
    assert response.status_code == 201


@pytest.mark.parametrize("body", ["{", "[" * 100_000, '{"seed": ' + "9" * 5000 + "}", "\udcff"])
def test_what_cannot_be_parsed_is_a_problem_of_the_body(gateway: RunningGateway, body: str) -> None:
    """Cut off, endlessly deep, endlessly long, and no UTF-8."""
    response = gateway.client.post("/v1/jobs", content=body.encode("utf-8", "surrogateescape"), headers=JSON)
    problem_of(response, 400, "body-malformed")


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"dataset": "HALF"}, "#/dataset"),
        ({"models": ["HALF"]}, "#/models/0"),
        ({"samples": ["a", "HALF"]}, "#/samples/1"),
        ({"metadata": {"owner": "HALF"}}, "#/metadata/owner"),
        ({"sampling": {"temperature": "HALF"}}, "#/sampling/temperature"),
    ],
)
def test_half_a_character_is_refused_by_field(gateway: RunningGateway, fields: dict[str, Any], pointer: str) -> None:
    """It has no bytes, so it could be neither kept nor given back as it came; also with an idempotency key."""
    for headers in (JSON, JSON | {"Idempotency-Key": "k"}):
        response = gateway.client.post("/v1/jobs", content=body_with(**fields), headers=headers)
        problem = problem_of(response, 422, "request-invalid")
        assert any(str(error["pointer"]).startswith(pointer) for error in problem["errors"])


@pytest.mark.parametrize("fields", [{"sampling": {"HALF": 1}}, {"metadata": {"HALF": "x"}}, {"HALF": 1}])
def test_half_a_character_in_a_name_is_refused_in_words(gateway: RunningGateway, fields: dict[str, Any]) -> None:
    """The answer, which names it, is text all the same."""
    problem_of(post(gateway, body_with(**fields)), 422, "request-invalid")


TOO_MUCH: list[tuple[dict[str, Any], str]] = [
    ({"models": ["m"] * 65}, "#/models"),
    ({"models": [1] * 1000}, "#/models/0"),
    ({"cells": [{"protocol": "S0", "condition": "V2"}] * 65}, "#/cells"),
    ({"cells": [{f"x{number}": 1 for number in range(1000)}]}, "#/cells/0"),
    ({"samples": ["s"] * 200_001}, "#/samples"),
    ({"samples": [1] * 1000}, "#/samples/0"),
    ({"metadata": {f"k{number}": "v" for number in range(17)}}, "#/metadata"),
    ({"metadata": {"k": "v" * 513}}, "#/metadata/k"),
    ({"metadata": {"k" * 65: "v"}}, "#/metadata/" + "k" * 65),
    ({"sampling": {f"k{number}": 1 for number in range(17)}}, "#/sampling"),
    ({"repeats": 10**9}, "#/repeats"),
    ({"seed": 2**63}, "#/seed"),
    ({f"x{number}": 1 for number in range(100_000)}, "#"),
]


@pytest.mark.parametrize(("fields", "pointer"), TOO_MUCH, ids=[pointer for _, pointer in TOO_MUCH])
def test_what_is_too_much_is_one_error(gateway: RunningGateway, fields: dict[str, Any], pointer: str) -> None:
    """A body that costs its sender little must not become a million findings."""
    problem = problem_of(post(gateway, body_with(**fields)), 422, "request-invalid")
    assert [str(error["pointer"]).startswith(pointer) for error in problem["errors"]] == [True]


def test_sixteen_pairs_of_metadata_come_back_as_they_came(gateway: RunningGateway) -> None:
    """As many and as long as OpenAI's."""
    metadata = {f"{number:064d}": "ü" * 512 for number in range(16)}
    job = gateway.submit(metadata=metadata).json()
    assert job["spec"]["metadata"] == metadata
    assert gateway.client.get("/v1/jobs").json()["data"][0]["spec"]["metadata"] == metadata


@pytest.mark.parametrize("top_k", [1_000_001, 2**40])
def test_top_k_has_an_upper_bound(gateway: RunningGateway, top_k: int) -> None:
    """No vocabulary has so many tokens, and no engine so many bits."""
    problem = problem_of(gateway.submit(sampling={"top_k": top_k}), 422, "submission-invalid")
    assert "top_k" in problem["errors"][0]["detail"]


def test_a_line_of_the_log_cannot_be_forged(gateway: RunningGateway, caplog: pytest.LogCaptureFixture) -> None:
    """A path is decoded before it is logged; line ends and what steers terminals are shown, not sent."""
    with caplog.at_level(logging.INFO, logger="service.access"):
        gateway.client.get("/v1/x%0AINFO%20forged%1b%5b31m%E2%80%A8", headers={"X-Request-Id": "mine"})
        wait_until(lambda: "request_id=mine" in caplog.text, what="the line of the log")
    (message,) = [record.getMessage() for record in caplog.records if "request_id=mine" in record.getMessage()]
    assert message.startswith("GET /v1/x\\nINFO\\x20forged\\x1b[31m\\u2028 404 ")


def test_operations_have_names_to_write_clients_with(gateway: RunningGateway) -> None:
    """`submit_job`, and not the path once more."""
    paths = gateway.client.get("/openapi.json").json()["paths"]
    ids = [operation["operationId"] for methods in paths.values() for operation in methods.values()]
    assert len(set(ids)) == len(ids)
    assert {"submit_job", "list_jobs", "get_report"} <= set(ids)
    assert all(name.isidentifier() and "v1" not in name for name in ids)


def test_old_jobs_that_ended_go_where_the_operator_says_so(start: Callable[..., RunningGateway]) -> None:
    """Those that go on stay, however old."""
    gateway = start(retention_days=1e-9, trim_seconds=0.05)
    going_on = gateway.submit().json()["id"]
    done = gateway.submit(samples=["cctv-0000"]).json()["id"]
    gateway.client.post(f"/v1/jobs/{done}/cancel")
    wait_until(lambda: gateway.client.get(f"/v1/jobs/{done}").status_code == 404, what="the deletion")
    assert gateway.job(going_on)["status"] == "in_progress"


def test_a_page_beside_the_description_refuses_a_query_as_all_do(gateway: RunningGateway) -> None:
    """Its operation is in no document, and has no parameter all the same."""
    problem = problem_of(gateway.client.get("/redoc?job=1"), 422, "request-invalid")
    assert problem["errors"][0]["parameter"] == "job"
