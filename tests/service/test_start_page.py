"""The start page in a real browser: it lists jobs as they get on, fits a phone, and asks nobody else for anything."""

import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.service.gateways import RunningGateway
from tests.service.workers import play

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on PATH: apt-get install chromium")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip
PHONE = {"width": 360, "height": 740}


@pytest.fixture
def browser(gateway: RunningGateway) -> Iterator[Browser]:
    """Debian's chromium; after the gateway, because its driver is an event loop of this thread."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


def elsewhere(work: Callable[[], object]) -> None:
    """Do something in a thread of its own: this one turns the event loop of the browser's driver."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()


@pytest.mark.slow
def test_jobs_are_shown_live_on_a_phone_in_the_dark(gateway: RunningGateway, browser: Browser) -> None:
    """A job appears, gets on and ends while the page is open; its name leads to its report."""
    tab = browser.new_page(viewport=PHONE, color_scheme="dark")
    complaints: list[str] = []
    requests: list[str] = []
    tab.on("console", lambda message: complaints.append(message.text))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("request", lambda request: requests.append(request.url))
    tab.goto(gateway.url)
    expect(tab.locator("#said")).to_contain_text("no job yet")
    job_id = gateway.submit(metadata={"note": "<b>bold</b>"}).json()["id"]
    card = tab.locator(f"li[data-job='{job_id}']")
    expect(card).to_contain_text("0 of 4")
    elsewhere(lambda: play(gateway.redis_url, max_bundles=1))
    expect(card).to_contain_text("2 of 4")
    elsewhere(lambda: play(gateway.redis_url, lambda _: None))
    expect(card).to_contain_text("2 failed")
    expect(card.locator(".completed")).to_have_text("completed")
    tab.locator("#status").select_option("cancelled")
    expect(tab.locator("#jobs li")).to_have_count(0)
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing is wider than the phone"
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 29)"
    tab.locator("#status").select_option("")
    card.locator("a").click()
    expect(tab.locator("h1")).to_contain_text("town")
    assert not complaints and all(url.startswith(gateway.url) for url in requests)
    tab.close()
