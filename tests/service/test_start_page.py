"""The start page in a real browser: it lists jobs as they get on, fits a phone, and asks nobody else for anything."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browsing import PHONE, Complaints, elsewhere, fits, launched_browser, with_browser
from tests.service.gateways import RunningGateway
from tests.service.workers import play

pytestmark = [with_browser, pytest.mark.slow]


@pytest.fixture
def browser(gateway: RunningGateway) -> Iterator[Browser]:
    """Debian's chromium; after the gateway, because its driver is an event loop of this thread."""
    with launched_browser() as browser:
        yield browser


def test_jobs_are_shown_live_on_a_phone_in_the_dark(gateway: RunningGateway, browser: Browser) -> None:
    """A job appears, gets on and ends while the page is open; its name leads to its page, and that to its report."""
    tab = browser.new_page(viewport=PHONE, color_scheme="dark")
    seen = Complaints(tab)
    tab.goto(gateway.url)
    expect(tab.locator("#said")).to_contain_text("no job yet")
    expect(tab.locator("#next")).to_contain_text("gigavqa demo")
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
    assert fits(tab)
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 29)"
    tab.locator("#status").select_option("")
    card.locator("a").first.click()
    expect(tab.locator("h1")).to_have_text("town: S0 V2")
    tab.locator("#report").click()
    expect(tab.locator("h1")).to_have_text("town")
    tab.locator("#head").get_by_role("link", name="Jobs").click()
    expect(card).to_be_visible()
    assert not seen.told and all(url.startswith(gateway.url) for url in seen.requests)
    tab.close()


def test_what_was_chosen_stands_in_the_address(gateway: RunningGateway, browser: Browser) -> None:
    """So that it can be sent: whoever opens it sees the same jobs."""
    kept = gateway.submit().json()["id"]
    other = gateway.submit(seed=1).json()["id"]
    gateway.client.post(f"/v1/jobs/{other}/cancel")
    tab = browser.new_page()
    tab.goto(gateway.url)
    expect(tab.locator("#jobs li")).to_have_count(2)
    tab.locator("#status").select_option("cancelled")
    tab.locator("#dataset").select_option("town")
    expect(tab.locator("#jobs li")).to_have_count(1)
    address = tab.url
    again = browser.new_page()
    again.goto(address)
    expect(again.locator(f"li[data-job='{other}']")).to_be_visible()
    expect(again.locator(f"li[data-job='{kept}']")).to_have_count(0)
