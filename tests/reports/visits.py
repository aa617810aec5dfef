"""A report's page as it is opened in a real browser, with everything that it complained of or asked for."""

from pathlib import Path

from playwright.sync_api import Browser, Locator, Page

from tests.browsing import Complaints


class Visit:
    """An opened page, with everything that it complained of or asked for."""

    def __init__(self, browser: Browser, file: Path, address: str = "", width: int = 1200) -> None:
        self.tab: Page = browser.new_page(viewport={"width": width, "height": 900})
        seen = Complaints(self.tab)
        self.complaints, self.requests = seen.told, seen.requests
        self.file = file
        self.tab.goto(f"{file.as_uri()}#{address}")

    def choose(self, name: str, value: str) -> None:
        """Choose one of the filter's values."""
        self.tab.locator(f"#filters label > select[name='{name}']").select_option(value)

    def where(self, number: int, **clause: str) -> None:
        """Fill one of the conditions on responses, from 0; `becomes` is what became of the response."""
        for name, value in clause.items():
            control = "is" if name == "becomes" else name
            self.tab.locator(f"[data-clause='{number}'] select[name={control}]").select_option(value)

    def press(self, key: str) -> None:
        """Press a key anywhere."""
        self.tab.keyboard.press(key)

    def mark(self, sample: str, cell: str) -> Locator:
        """The mark of a response in the matrix, by its model, protocol and condition."""
        return self.tab.locator(f"#matrix button[title^='{sample}, {cell}']")

    @property
    def shown(self) -> list[str]:
        """Ids of the samples that the matrix shows, in order."""
        return self.tab.locator("#matrix tbody th a").all_text_contents()

    @property
    def opened(self) -> str:
        """The sample that is open; empty for none."""
        heading = self.tab.locator("#open h3")
        return heading.inner_text() if heading.count() else ""

    @property
    def address(self) -> str:
        """What stands behind the file's name."""
        return self.tab.url.partition("#")[2]
