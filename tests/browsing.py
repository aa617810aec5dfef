"""Debian's chromium for tests of pages, what pages complain of there, and what axe-core finds in them."""

import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

Value = TypeVar("Value")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
with_browser = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on PATH: apt-get install chromium")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip
PHONE = {"width": 360, "height": 740}
expect.set_options(timeout=20_000)  # machines that run tests are busy

AXE = Path(os.environ.get("AXE_CORE", Path(__file__).parents[1] / "node_modules/axe-core/axe.min.js"))
"""axe-core, which checks the accessibility of pages; it is a tool of tests, and no part of the package."""
with_axe = pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not there: npm install --no-save axe-core@4.10.3")
_AXE_RUN = """async () => {
    const found = await axe.run({exclude: [".swagger-ui"]}, {resultTypes: ["violations"]});
    return found.violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.html.slice(0, 200)}`));
}"""


@contextmanager
def launched_browser() -> Iterator[Browser]:
    """A browser for the length of a block; its driver is an event loop of this thread."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


def elsewhere(work: Callable[[], Value]) -> Value:
    """Do something in a thread of its own: this one turns the event loop of the browser's driver."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


class Complaints:
    """What a tab says is wrong, and every address that it asks for."""

    def __init__(self, tab: Page) -> None:
        self.told: list[str] = []
        self.requests: list[str] = []
        tab.on("console", lambda message: self.told.append(message.text))
        tab.on("pageerror", lambda error: self.told.append(str(error)))
        tab.on("request", lambda request: self.requests.append(request.url))


def fits(tab: Page) -> bool:
    """Whether nothing is wider than the window."""
    return bool(tab.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def axe_findings(tab: Page) -> list[str]:
    """What keeps somebody from using the page, each by axe's rule and its element; Swagger UI is another's."""
    # Not as a script of the page, which its policy would refuse.
    tab.context.new_cdp_session(tab).send("Runtime.evaluate", {"expression": AXE.read_text(encoding="utf-8")})
    found: list[str] = tab.evaluate(_AXE_RUN)
    return found
