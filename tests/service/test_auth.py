"""Keys at the door: who is let in, who is not, and what the one learns who is not."""

import hmac
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from redis import Redis

from gigavqa.runtime.errors import SettingsInvalidError
from gigavqa.service.http import auth
from gigavqa.service.settings import GatewaySettings
from gigavqa.store.listen_settings import requires_keys
from tests.service.gateways import RunningGateway, problem_of
from tests.service.tenants import BODY, Tenant, make_key, revoke
from tests.service.workers import play
from tests.waiting import wait_until

UNKNOWN = "gvq_zzzzzzzz_" + "A" * 43


def refused(response: httpx.Response) -> str:
    """Why a key was refused, from an answer that says how to present one."""
    assert response.headers["www-authenticate"] == 'Bearer realm="gigavqa"'
    return str(problem_of(response, 401, "invalid-api-key")["detail"])


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/jobs"),
        ("POST", "/v1/jobs"),
        ("GET", "/v1/jobs/job_1/results?follow=true"),
        ("GET", "/v1/jobs/job_1/events"),
        ("DELETE", "/v1/jobs/job_1"),
        ("GET", "/v1/workers"),
        ("GET", "/metrics"),
        ("GET", "/no/such/page"),
        ("HEAD", "/v1/jobs"),
        ("OPTIONS", "/v1/jobs"),
    ],
)
def test_without_a_key_nothing_is_done(locked: RunningGateway, method: str, path: str) -> None:
    """Streams, methods and addresses that do not exist are no way around it."""
    response = locked.client.request(method, path)
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == 'Bearer realm="gigavqa"'
    if method != "HEAD":
        assert "GIGAVQA_API_KEY" in refused(response)


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/", "/docs", "/openapi.json"])
def test_probes_and_the_documentation_need_no_key(locked: RunningGateway, path: str) -> None:
    """Also with a key that is worth nothing."""
    for headers in ({}, {"Authorization": f"Bearer {UNKNOWN}"}):
        assert locked.client.get(path, headers=headers).status_code == 200


def test_readiness_tells_strangers_no_more_than_probes_need(locked: RunningGateway) -> None:
    """Workers, and why a check failed, are for those who have a key."""
    locked.settings.data.rename(locked.settings.data.with_name("elsewhere"))
    told = locked.client.get("/readyz").json()
    assert (told["checks"]["data_root"], told["workers"], told["loaded"]) == ("failed", {}, {})
    assert Tenant(locked, "ada", "read").get("/readyz").json()["checks"]["data_root"] == "is not a folder"


@pytest.mark.parametrize("header", ["Authorization", "authorization", "X-API-Key"])
def test_a_key_comes_in_either_header(locked: RunningGateway, header: str) -> None:
    """As the `openai` SDK and as others send it; of two, the bearer's counts."""
    key, _ = make_key(locked.redis_url, "ada", "read")
    value = key if header == "X-API-Key" else f"Bearer {key}"
    assert locked.client.get("/v1/jobs", headers={header: value}).status_code == 200
    both = {"X-API-Key": key, "Authorization": f"Bearer {UNKNOWN}"}
    assert refused(locked.client.get("/v1/jobs", headers=both)) == "there is no such key"


@pytest.mark.parametrize("key", ["x", "gvq_", "sk-1234", UNKNOWN + "A", "gvq_ZZZZZZZZ_" + "A" * 43, "ä" * 56])
def test_what_is_no_key_is_refused(locked: RunningGateway, key: str) -> None:
    """The same words for all of it, which repeat nothing."""
    response = locked.client.get("/v1/jobs", headers={"Authorization": f"Bearer {key}".encode("latin-1")})
    assert refused(response) == "what was sent is no key of this service; keys look like gvq_........_..."


def test_an_unknown_key_and_a_wrong_secret_cost_and_say_the_same(
    locked: RunningGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server is asked once and one digest is compared, so that nothing tells which ids there are."""
    key, _ = make_key(locked.redis_url, "ada", "read")
    wrong = key[:-1] + ("A" if key[-1] != "A" else "B")
    compared: list[tuple[int, int]] = []
    real = hmac.compare_digest

    def compare(a: Any, b: Any) -> bool:
        compared.append((len(a), len(b)))
        return real(a, b)

    monkeypatch.setattr(hmac, "compare_digest", compare)
    costs, said = [], []
    with Redis.from_url(locked.redis_url) as redis:
        for presented in (UNKNOWN, wrong):
            redis.config_resetstat()
            said.append(refused(locked.client.get("/v1/jobs", headers={"Authorization": f"Bearer {presented}"})))
            costs.append(redis.info("commandstats")["cmdstat_hget"]["calls"])
    assert compared == [(64, 64), (64, 64)]
    assert costs == [1, 1]
    assert said == ["there is no such key"] * 2


def test_the_server_keeps_no_key(locked: RunningGateway) -> None:
    """A digest is enough to know one again; nothing on the server holds its secret."""
    key, _ = make_key(locked.redis_url, "ada", "operate")
    assert locked.client.get("/v1/jobs", headers={"X-API-Key": key}).status_code == 200
    with Redis.from_url(locked.redis_url) as redis:
        kept = b"".join(redis.dump(name) or b"" for name in redis.scan_iter("*"))
        told = b"".join(redis.hvals("gigavqa:keys"))
    assert b"digest" in told
    assert key[13:].encode() not in kept + told


def test_a_revoked_key_opens_nothing_from_then_on(locked: RunningGateway) -> None:
    """The next request is refused, and says so to whoever had the key."""
    ada = Tenant(locked, "ada")
    assert ada.get("/v1/jobs").status_code == 200
    revoke(locked.redis_url, ada.key.id)
    assert "is revoked" in refused(ada.get("/v1/jobs"))


@pytest.mark.slow
def test_a_key_expires_by_itself(locked: RunningGateway) -> None:
    """At its time, without anybody doing anything."""
    key, _ = make_key(locked.redis_url, "ada", expires_at=datetime.now(UTC) + timedelta(seconds=2))
    headers = {"X-API-Key": key}
    assert locked.client.get("/v1/jobs", headers=headers).status_code == 200
    wait_until(lambda: locked.client.get("/v1/jobs", headers=headers).status_code == 401, what="the expiry")
    assert "is expired" in refused(locked.client.get("/v1/jobs", headers=headers))


@pytest.mark.parametrize("path", ["results?follow=true", "events"])
def test_a_stream_ends_when_its_key_is_revoked(
    locked: RunningGateway, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """With what it would send next: nothing that is recorded after the revocation is told."""
    monkeypatch.setattr(auth, "RECHECK_SECONDS", 0.0)
    ada = Tenant(locked, "ada")
    job_id = ada.submit(samples=["cctv-0000", "cctv-0001"]).json()["id"]
    play(locked.redis_url, max_bundles=1)
    with ada.stream("GET", f"/v1/jobs/{job_id}/{path}") as response:
        received = response.iter_lines()
        next(received)
        revoke(locked.redis_url, ada.key.id)
        play(locked.redis_url)
        rest = "".join(received)
    assert '"status":"completed"' not in rest
    assert "cctv-0001" not in rest
    with Redis.from_url(locked.redis_url) as redis:
        wait_until(lambda: not redis.exists(f"gigavqa:streams:{ada.key.id}"), what="the stream's place")


def test_what_a_role_lacks_is_forbidden(locked: RunningGateway) -> None:
    """Who reads changes nothing, and only operators see what is counted of all."""
    reader, submitter, operator = (Tenant(locked, "ada", role) for role in ("read", "submit", "operate"))
    job_id = submitter.submit().json()["id"]
    assert reader.get(f"/v1/jobs/{job_id}").status_code == 200
    for method, path in (
        ("POST", "/v1/jobs"),
        ("POST", f"/v1/jobs/{job_id}/cancel"),
        ("POST", f"/v1/jobs/{job_id}/retry"),
        ("DELETE", f"/v1/jobs/{job_id}"),
    ):
        problem_of(reader.request(method, path, json=BODY if path == "/v1/jobs" else None), 403, "role-missing")
    for tenant in (reader, submitter):
        problem_of(tenant.get("/metrics"), 403, "role-missing")
    assert operator.get("/metrics").status_code == 200
    assert submitter.get(f"/v1/jobs/{job_id}").json()["status"] == "in_progress"


def test_a_key_is_no_pass_for_pages_of_other_sites(locked: RunningGateway) -> None:
    """What guards a browser stands before the key; the gateway's own pages need no token beside it."""
    ada = Tenant(locked, "ada")
    foreign = {"Origin": "https://elsewhere.example", "Sec-Fetch-Site": "cross-site"}
    problem_of(ada.submit(headers=foreign), 403, "foreign-origin")
    problem_of(ada.get("/v1/jobs", headers={"Host": "attacker.example"}), 421, "host-untrusted")
    assert ada.submit(headers={"Origin": locked.url, "Sec-Fetch-Site": "same-origin"}).status_code == 201


def test_where_keys_are_not_asked_for_they_are_not_looked_at(gateway: RunningGateway) -> None:
    """Clients that must send some key may send any; what they make is nobody's."""
    for key in ("x", UNKNOWN):
        response = gateway.client.post("/v1/jobs", json=BODY, headers={"Authorization": f"Bearer {key}"})
        assert (response.status_code, response.json()["owner"]) == (201, None)


def test_keys_that_are_not_asked_for_are_told_of(
    start: Callable[..., RunningGateway], settings: GatewaySettings, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever made them may believe that they are, behind a proxy."""
    make_key(str(settings.redis_url), "ada")
    with caplog.at_level("WARNING"):
        start()
        wait_until(lambda: "they are not asked for on 127.0.0.1" in caplog.text, what="the warning")


def test_an_answer_tells_no_key(locked: RunningGateway, caplog: pytest.LogCaptureFixture) -> None:
    """Neither the log nor any answer repeats it; the log names its public part."""
    key, known = make_key(locked.redis_url, "ada", "submit")
    with caplog.at_level("INFO"):
        headers = {"X-API-Key": key, "X-Request-Id": "mine"}
        texts = [locked.client.get(path, headers=headers).text for path in ("/v1/jobs", "/v1/jobs/x", "/metrics")]
        wait_until(lambda: f"key={known.id}" in caplog.text, what="the line of the log")
    assert key[13:] not in "".join(texts) + caplog.text


def test_where_requests_cannot_be_counted_nobody_is_let_in(locked: RunningGateway) -> None:
    """While the server refuses to write; the client is told to come back."""
    ada = Tenant(locked, "ada")
    with Redis.from_url(locked.redis_url) as redis:
        redis.config_set("maxmemory", "1")
        try:
            problem_of(ada.submit(), 503, "server-refuses-writes")
        finally:
            redis.config_set("maxmemory", "0")
    assert ada.submit().status_code == 201


def test_each_key_is_told_its_rate(locked: RunningGateway) -> None:
    """Which clients read to pace themselves; a refusal says when to come back, soon enough for them to do so."""
    ada, bob = Tenant(locked, "ada", requests_a_minute=3), Tenant(locked, "bob", requests_a_minute=100)
    left = [ada.get("/v1/workers").headers["x-ratelimit-remaining-requests"] for _ in range(3)]
    assert left == ["2", "1", "0"]
    response = ada.get("/v1/workers")
    problem_of(response, 429, "rate-exceeded")
    assert 1 <= int(response.headers["retry-after"]) <= 20
    assert response.headers["x-ratelimit-limit-requests"] == "3"
    assert response.headers["x-ratelimit-reset-requests"] in {"1m0s", "60s", "59s"}
    assert bob.get("/v1/workers").status_code == 200


def test_the_document_says_how_to_present_a_key(locked: RunningGateway) -> None:
    """Clients that are made from it, and the page, know both headers."""
    document = json.loads(locked.client.get("/openapi.json").text)
    assert document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    assert {"bearer": []} in document["security"]
    for methods in document["paths"].values():
        assert all("401" in operation["responses"] for operation in methods.values())


def test_settings_that_contradict_each_other_are_named(settings: GatewaySettings) -> None:
    """Asking for keys, and asking nobody."""
    changed = settings.model_copy(update={"require_keys": True, "allow_unauthenticated": True})
    with pytest.raises(SettingsInvalidError, match="GIGAVQA_REQUIRE_KEYS and GIGAVQA_ALLOW_UNAUTHENTICATED"):
        requires_keys(changed)
