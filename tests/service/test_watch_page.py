"""The operator page in a real browser: it says live whether all is well, on a phone, and asks nobody else anything."""

import asyncio
import hashlib
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect
from redis import Redis

from gigavqa.service.operations import watch
from gigavqa.service.pages import routes
from gigavqa.store.connection import connect
from gigavqa.store.worker_registry import WorkerRegistry, WorkerStatus
from tests.browsing import PHONE, Complaints, elsewhere, fits, launched_browser, with_browser
from tests.service.gateways import MODEL, RunningGateway
from tests.service.workers import play
from tests.waiting import wait_until

pytestmark = with_browser
FILES = Path(routes.__file__).parent / "files"
IDLE = "Nothing is wrong, and no worker serves a model"
RELEASED = "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f"


@pytest.fixture(autouse=True)
def _half_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """However full this machine's is."""
    monkeypatch.setattr("shutil.disk_usage", lambda _: shutil._ntuple_diskusage(2**40, 2**39, 2**39))


@contextmanager
def tab_of(**options: object) -> Iterator[Page]:
    """A tab of Debian's chromium."""
    with launched_browser() as browser:
        yield browser.new_page(**options)


async def announce(redis_url: str) -> None:
    """Announce a worker that is ready, as one does."""
    redis = connect(redis_url)
    now = datetime.now(UTC)
    status = WorkerStatus(worker="test-worker", models=(MODEL,), loaded=MODEL, state="ready", since=now)
    await WorkerRegistry(redis).announce(status, ttl=60)
    await redis.aclose()


@pytest.mark.slow
def test_the_page_says_live_whether_all_is_well_on_a_phone(
    start: Callable[..., RunningGateway], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job that nobody serves is a concern, and a full server another; all is well once a worker is there."""
    monkeypatch.setattr("gigavqa.service.gateway.WATCH_SECONDS", 0.2)
    gateway = start()
    with tab_of(viewport=PHONE, color_scheme="dark") as tab:
        seen = Complaints(tab)
        tab.goto(gateway.url)
        tab.get_by_role("link", name="Watch").click()
        expect(tab.locator("#verdict")).to_have_text(IDLE, timeout=30_000)
        elsewhere(gateway.submit)
        expect(tab.locator("#verdict li")).to_have_text(
            f"Now: 2 bundles wait for {MODEL}, and no worker serves it. what to do", timeout=30_000
        )
        expect(tab.locator("[data-name='Queue'] b")).to_have_text("2")
        expect(tab.locator("#models tr").nth(1)).to_contain_text(MODEL)
        with Redis.from_url(gateway.redis_url) as redis:
            redis.config_set("maxmemory", 1)
            expect(tab.locator("#verdict li").first).to_contain_text("takes no writes", timeout=30_000)
            redis.config_set("maxmemory", 0)
        elsewhere(lambda: play(gateway.redis_url))
        expect(tab.locator("#verdict")).to_have_text(IDLE, timeout=30_000)
        elsewhere(lambda: asyncio.run(announce(gateway.redis_url)))
        expect(tab.locator("#verdict")).to_have_text("All is well", timeout=30_000)
        expect(tab.locator("#charts canvas")).to_have_count(4)
        assert fits(tab)
        assert not seen.told
        assert all(url.startswith(gateway.url) for url in seen.requests)


def test_a_point_tells_what_happened_since_the_one_before(
    start: Callable[..., RunningGateway], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Responses a second, at least once, and their sum by model; columns are equally long."""
    monkeypatch.setattr("gigavqa.service.gateway.WATCH_SECONDS", 0.2)
    gateway = start()

    def watched() -> dict[str, dict[str, list[float]]]:
        answer: dict[str, dict[str, list[float]]] = gateway.client.get("/v1/watch").json()
        return answer

    wait_until(lambda: len(watched()["points"]["time"]) > 1, what="the second point")
    gateway.submit()
    wait_until(lambda: max(watched()["points"]["waiting"]) == 2, what="bundles that wait")
    play(gateway.redis_url)
    wait_until(lambda: max(filter(None, watched()["points"]["completed"]), default=0) > 0, what="responses a second")
    points = watched()["points"]
    assert len({len(column) for column in points.values()}) == 1
    wait_until(lambda: gateway.client.get("/v1/watch").json()["models"][0]["completed"] == 4, what="all responses")


def test_every_concern_has_a_line_in_the_runbook() -> None:
    """Which the page leads to by the name of its alert."""
    named = set(re.findall(r'alert="(\w+)"', Path(watch.__file__).read_text(encoding="utf-8")))
    told = set(re.findall(r"^### (\w+)$", (FILES / "watching.md").read_text(encoding="utf-8"), re.MULTILINE))
    assert named and named <= told


def test_the_library_is_the_released_one() -> None:
    """Bytes of uPlot 1.6.32 as npm has them, with its licence beside it."""
    assert hashlib.sha256((FILES / "uPlot.iife.min.js").read_bytes()).hexdigest() == RELEASED
    assert "MIT License" in (FILES / "uPlot-LICENSE.txt").read_text(encoding="utf-8")


def test_the_page_asks_for_a_key_where_the_gateway_does(start: Callable[..., RunningGateway]) -> None:
    """The page itself tells nothing; what it shows is behind a key."""
    gateway = start(require_keys=True)
    assert httpx.get(f"{gateway.url}/watch").is_success
    assert httpx.get(f"{gateway.url}/v1/watch").status_code == httpx.codes.UNAUTHORIZED
