"""The operator page in a real browser: it says live whether all is well, on a phone, and asks nobody else anything."""

import hashlib
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from redis import Redis

from gigavqa.service.operations import watch
from tests.service.gateways import MODEL, RunningGateway
from tests.service.workers import play
from tests.waiting import wait_until

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on PATH: apt-get install chromium")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip
PHONE = {"width": 360, "height": 740}
FILES = Path(watch.__file__).parent / "files"
RELEASED = "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f"


@pytest.fixture(autouse=True)
def _half_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """However full this machine's is."""
    monkeypatch.setattr("shutil.disk_usage", lambda _: shutil._ntuple_diskusage(2**40, 2**39, 2**39))


@contextmanager
def tab_of(**options: object) -> Iterator[Page]:
    """A tab of Debian's chromium."""
    with sync_playwright() as playwright:
        browser: Browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser.new_page(**options)
        browser.close()


def elsewhere(work: Callable[[], object]) -> None:
    """Do something in a thread of its own: this one turns the event loop of the browser's driver."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()


@pytest.mark.slow
def test_the_page_says_live_whether_all_is_well_on_a_phone(
    start: Callable[..., RunningGateway], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It begins well; a job that nobody serves is a concern, and a full server another; then all is well again."""
    monkeypatch.setattr("gigavqa.service.gateway.WATCH_SECONDS", 0.2)
    gateway = start()
    with tab_of(viewport=PHONE, color_scheme="dark") as tab:
        complaints: list[str] = []
        requests: list[str] = []
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("request", lambda request: requests.append(request.url))
        tab.goto(gateway.url)
        tab.get_by_role("link", name="watch").click()
        expect(tab.locator("#verdict")).to_have_text("All is well", timeout=30_000)
        elsewhere(gateway.submit)
        expect(tab.locator("#verdict li")).to_have_text(
            f"Now: 2 bundles wait for {MODEL}, and no worker serves it.", timeout=30_000
        )
        expect(tab.locator("[data-name='Queue'] b")).to_have_text("2")
        expect(tab.locator("#models tr").nth(1)).to_contain_text(MODEL)
        with Redis.from_url(gateway.redis_url) as redis:
            redis.config_set("maxmemory", 1)
            expect(tab.locator("#verdict li").first).to_contain_text("takes no writes", timeout=30_000)
            redis.config_set("maxmemory", 0)
        elsewhere(lambda: play(gateway.redis_url))
        expect(tab.locator("#verdict")).to_have_text("All is well", timeout=30_000)
        expect(tab.locator("#charts canvas")).to_have_count(4)
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing is wider than the phone"
        assert not complaints
        assert all(url.startswith(gateway.url) for url in requests)


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


def test_the_library_is_the_released_one() -> None:
    """Bytes of uPlot 1.6.32 as npm has them, with its licence beside it."""
    assert hashlib.sha256((FILES / "uPlot.iife.min.js").read_bytes()).hexdigest() == RELEASED
    assert "MIT License" in (FILES / "uPlot-LICENSE.txt").read_text(encoding="utf-8")


def test_the_page_asks_for_a_key_where_the_gateway_does(start: Callable[..., RunningGateway]) -> None:
    """The page itself tells nothing; what it shows is behind a key."""
    gateway = start(require_keys=True)
    assert httpx.get(f"{gateway.url}/watch").is_success
    assert httpx.get(f"{gateway.url}/v1/watch").status_code == httpx.codes.UNAUTHORIZED
