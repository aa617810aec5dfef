"""The report's page in a real browser: it filters, enlarges pictures, and asks nobody for anything."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.evaluation.pages import HOSTILE, page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on PATH: apt-get install chromium")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip


class Visit:
    """An opened page, with everything that it complained of or asked for."""

    def __init__(self, browser: Browser, file: Path) -> None:
        self.tab: Page = browser.new_page(viewport={"width": 1200, "height": 900})
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.tab.on("console", lambda message: self.complaints.append(message.text))
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on("request", lambda request: self.requests.append(request.url))
        self.tab.goto(file.as_uri())

    def choose(self, name: str, value: str) -> None:
        """Choose one of the filter's values."""
        self.tab.locator(f"#filters select[name={name}]").select_option(value)

    @property
    def shown(self) -> list[str]:
        """Ids of the samples that can be seen."""
        return self.tab.locator(".sample:not([hidden]) > summary .name").all_text_contents()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this file."""
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield opened
        opened.close()


@pytest.fixture
def visit(browser: Browser, tmp_path: Path) -> Iterator[Visit]:
    """The page of a few responses, as a file that was opened by hand."""
    file = tmp_path / "report.html"
    file.write_text(page(), encoding="utf-8")
    opened = Visit(browser, file)
    yield opened
    opened.tab.close()


def test_the_page_opens_without_a_complaint_or_a_request(visit: Visit) -> None:
    """Every sample opened, every picture decoded: nothing but the file itself was asked for."""
    for summary in visit.tab.locator(".sample > summary").all():
        summary.click()
    expect(visit.tab.locator(".picture img").first).to_be_visible()

    assert visit.complaints == []
    assert [url for url in visit.requests if not url.startswith(("file:", "data:"))] == []


def test_text_of_a_model_runs_nothing(visit: Visit) -> None:
    """The hostile answer can be read as it was written, and the title is the page's own."""
    visit.tab.locator(".sample", has=visit.tab.get_by_text("c2", exact=True)).locator("> summary").click()
    response = visit.tab.locator(".sample[open] .response")
    response.locator("> summary").click()

    assert HOSTILE in response.locator("pre").inner_text()
    assert visit.tab.title() == "UltraVR report: tiny <b>set</b>"
    assert visit.tab.locator("pre script, pre img, svg script").count() == 0


def test_samples_are_filtered_by_domain_and_category(visit: Visit) -> None:
    """Of five samples two are of CCTV, one is logical verification, and none is both."""
    assert len(visit.shown) == 5
    visit.choose("domain", "cctv")
    assert visit.shown == ["c1", "c2"]
    visit.choose("domain", "")
    visit.choose("category", "logical_verification")
    assert visit.shown == ["r1"]
    visit.choose("domain", "cctv")
    assert visit.shown == []
    expect(visit.tab.locator("#nothing")).to_be_visible()


def test_samples_are_filtered_by_outcome(visit: Visit) -> None:
    """c1 is right and abstains under V0; a1 failed; only c1 was asked steps, and got a count wrong."""
    for outcome, expected in {"right": ["c1"], "wrong": ["c2"], "abstained": ["c1"], "failed": ["a1"]}.items():
        visit.choose("outcome", outcome)
        assert visit.shown == expected
    visit.choose("outcome", "part")
    assert visit.shown == ["c1"]
    visit.tab.locator("#filters button").click()
    expect(visit.tab.locator("#shown")).to_have_text("5 of 5 samples, 7 responses")


def test_a_picture_is_enlarged_and_put_away_with_the_keyboard(visit: Visit) -> None:
    """Enter opens it, Escape closes it."""
    visit.tab.locator(".sample", has=visit.tab.get_by_text("c1", exact=True)).locator("> summary").click()
    visit.tab.locator(".picture:has(img)").first.focus()
    visit.tab.keyboard.press("Enter")
    expect(visit.tab.locator("dialog img")).to_be_visible()
    visit.tab.keyboard.press("Escape")
    expect(visit.tab.locator("dialog")).not_to_be_visible()
