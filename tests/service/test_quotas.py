"""Quotas hold whatever comes at once, and what one owner has used up is no less for another."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import httpx
import pytest
from redis import Redis

from gigavqa.store.redis_keys import KEYS
from tests.service.gateways import RunningGateway, problem_of
from tests.service.tenants import Tenant
from tests.service.workers import play
from tests.waiting import wait_until

AT_ONCE = 50


def at_once(ask: Callable[[], httpx.Response]) -> Counter[int]:
    """Ask fifty times at once; returns how often each status came."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return Counter(response.status_code for response in pool.map(lambda _: ask(), range(AT_ONCE)))


def test_fifty_jobs_at_once_fill_the_owners_part_of_the_queue_exactly(locked: RunningGateway) -> None:
    """Ten of four requests fit into forty; another owner's still find room, and played ones make room again."""
    ada, bob = Tenant(locked, "ada", queued_requests=40), Tenant(locked, "bob", queued_requests=40)
    assert at_once(ada.submit) == {201: 10, 429: 40}
    response = ada.submit()
    problem_of(response, 429, "quota-exceeded")
    assert int(response.headers["retry-after"]) <= 120
    assert bob.submit().status_code == 201
    with Redis.from_url(locked.redis_url) as redis:
        assert redis.hgetall(KEYS.queued()) == {b"ada": b"40", b"bob": b"4"}
        assert redis.get(KEYS.outstanding()) == b"44"
        play(locked.redis_url)
        assert redis.hgetall(KEYS.queued()) == {}
    assert ada.submit().status_code == 201


def test_what_is_cancelled_deleted_and_retried_is_counted(locked: RunningGateway) -> None:
    """The owner's count is what of his is in the queue, whatever became of it."""
    ada = Tenant(locked, "ada", queued_requests=8)
    with Redis.from_url(locked.redis_url) as redis:
        cancelled = ada.submit().json()["id"]
        ada.post(f"/v1/jobs/{cancelled}/cancel")
        assert redis.hgetall(KEYS.queued()) == {}
        others = [ada.submit().json()["id"] for _ in range(2)]
        problem_of(ada.post(f"/v1/jobs/{cancelled}/retry"), 429, "quota-exceeded")
        play(locked.redis_url)
        assert ada.post(f"/v1/jobs/{cancelled}/retry").status_code == 200
        assert redis.hgetall(KEYS.queued()) == {b"ada": b"4"}
        play(locked.redis_url)
        assert [ada.delete(f"/v1/jobs/{id_}").status_code for id_ in (cancelled, *others)] == [200] * 3
        assert redis.hgetall(KEYS.queued()) == {}
        assert [*redis.scan_iter(f"{KEYS.jobs_of('ada')}*")] == []


def test_a_job_that_never_fits_is_refused_for_good(start: Callable[..., RunningGateway]) -> None:
    """Small or large, it says so at once, and not that the client should come again."""
    for gateway in (start(require_keys=True), start(require_keys=True, inline_samples=1)):
        problem_of(Tenant(gateway, "ada", queued_requests=3).submit(), 422, "job-too-large")


def test_fifty_large_jobs_at_once_take_the_owners_places_exactly(start: Callable[..., RunningGateway]) -> None:
    """Those that wait for room are bounded for each owner, and for all together."""
    gateway = start(require_keys=True, inline_samples=1, queue_requests=4, waiting_jobs=5)
    ada, bob = Tenant(gateway, "ada", waiting_jobs=3), Tenant(gateway, "bob")
    first = ada.submit().json()["id"]
    wait_until(lambda: ada.get(f"/v1/jobs/{first}").json()["status"] == "in_progress", what="the first job's place")
    assert at_once(ada.submit) == {201: 3, 429: 47}
    problem_of(ada.submit(), 429, "quota-exceeded")
    assert [bob.submit().status_code for _ in range(3)] == [201, 201, 429]
    problem_of(bob.submit(), 429, "queue-full")


def test_a_large_job_waits_for_its_owners_room(start: Callable[..., RunningGateway]) -> None:
    """It keeps the bound of the key that it was submitted with, also when that is revoked; nobody else waits for it."""
    gateway = start(require_keys=True, inline_samples=1)
    ada, bob = Tenant(gateway, "ada", queued_requests=4), Tenant(gateway, "bob")
    first = ada.submit().json()["id"]
    wait_until(lambda: ada.get(f"/v1/jobs/{first}").json()["status"] == "in_progress", what="the first job")
    second, bobs = ada.submit().json()["id"], bob.submit().json()["id"]
    wait_until(lambda: bob.get(f"/v1/jobs/{bobs}").json()["status"] == "in_progress", what="the other's job")
    assert ada.get(f"/v1/jobs/{second}").json()["status"] == "validating"


def test_fifty_requests_at_once_spend_the_rate_exactly(locked: RunningGateway) -> None:
    """As many pass as a minute has; a key with a rate of its own is not slowed by it."""
    ada, bob = Tenant(locked, "ada", requests_a_minute=5), Tenant(locked, "bob")
    assert at_once(lambda: ada.get("/v1/models")) == {200: 5, 429: 45}
    assert bob.get("/v1/models").status_code == 200


def test_open_streams_are_bounded_for_each_key(locked: RunningGateway) -> None:
    """A stream that ends makes room for another one; another key's are its own."""
    ada, bob = Tenant(locked, "ada", open_streams=2), Tenant(locked, "bob", open_streams=2)
    job_id = ada.submit().json()["id"]
    path = f"/v1/jobs/{job_id}/events"
    with ExitStack() as stack:
        opened = [stack.enter_context(ada.stream("GET", path)) for _ in range(2)]
        assert [response.status_code for response in opened] == [200, 200]
        for refused in (path, f"/v1/jobs/{job_id}/results", f"/v1/jobs/{job_id}/verdicts"):
            problem_of(ada.get(refused), 429, "quota-exceeded")
        bobs = bob.submit().json()["id"]
        stack.enter_context(bob.stream("GET", f"/v1/jobs/{bobs}/events"))
        opened[0].close()
        wait_until(lambda: ada.get(f"/v1/jobs/{job_id}/results").status_code == 200, what="a place")
    with Redis.from_url(locked.redis_url) as redis:
        wait_until(lambda: not redis.keys(KEYS.streams("*")), what="the end of all streams")


@pytest.mark.slow
def test_fifty_streams_at_once_take_the_keys_places_exactly(locked: RunningGateway) -> None:
    """Those over the bound are refused before anything is sent."""
    ada = Tenant(locked, "ada", open_streams=7)
    path = f"/v1/jobs/{ada.submit().json()['id']}/events"
    with ExitStack() as stack, ThreadPoolExecutor(AT_ONCE) as pool:
        clients = [stack.enter_context(httpx.Client(headers=ada.headers, timeout=30)) for _ in range(AT_ONCE)]
        opened = list(
            pool.map(lambda client: stack.enter_context(client.stream("GET", f"{locked.url}{path}")), clients)
        )
        assert Counter(response.status_code for response in opened) == {200: 7, 429: 43}


def test_an_owner_goes_before_others_with_so_many_requests_and_no_more(locked: RunningGateway) -> None:
    """Over all keys and jobs of the owner; batch jobs go on, another owner has its own bound, and ends give back."""
    ada, more = (Tenant(locked, "ada", interactive_requests=10) for _ in range(2))
    bob = Tenant(locked, "bob", interactive_requests=10)
    urgent = [ada.submit(priority="interactive"), more.submit(priority="interactive")]
    assert [answer.status_code for answer in urgent] == [201, 201]
    for refused in (ada, more):
        answer = refused.submit(priority="interactive")
        problem_of(answer, 429, "quota-exceeded")
        assert int(answer.headers["retry-after"]) > 0
    assert [ada.submit().status_code, bob.submit(priority="interactive").status_code] == [201, 201]
    problem = problem_of(ada.submit(priority="interactive", repeats=3), 422, "job-too-large")
    assert "10 interactive requests" in problem["detail"]
    assert "priority batch" in problem["detail"]
    assert ada.post(f"/v1/jobs/{urgent[0].json()['id']}/cancel").status_code == 200
    assert more.submit(priority="interactive").status_code == 201
    play(locked.redis_url)
    with Redis.from_url(locked.redis_url) as redis:
        assert redis.hgetall(KEYS.queued()) == {}


def test_fifty_interactive_jobs_at_once_are_admitted_up_to_the_bound(locked: RunningGateway) -> None:
    """Exactly: what is counted is checked in the same step."""
    ada = Tenant(locked, "ada", interactive_requests=10, requests_a_minute=None)
    assert at_once(lambda: ada.submit(priority="interactive")) == {201: 2, 429: 48}
