"""The evidence page in a real browser, over a viewer that runs."""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browsing import Complaints, axe_findings, launched_browser, with_axe, with_browser
from tests.viewer.viewing import Viewing
from tests.waiting import wait_until

pytestmark = [pytest.mark.slow, with_browser]
FILES = Path(__file__).parents[2] / "viewer" / "files"
RELEASED = "14d587cd3ee7c4861f1a41077ce642029364a21029956ba635bd8fb1202cf9ad"
HOSTILE = "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script>"
WISH = {
    "image": "set/images/a.tif",
    "title": "sample-1",
    "told": [["Question", "How many?"], ["Truth", "B"], ["model S0 V2 answered", HOSTILE]],
    "boxes": [
        ["true", "S1", [300, 200, 100, 80]],
        ["true", HOSTILE, [900, 700, 60, 60]],
        ["read", "S1", [320, 210, 120, 90]],
        ["local", "", [0, 0, 750, 550]],
        ["zoom", "", [200, 100, 400, 300]],
        ["unknown", "", [0, 0, 1, 1]],
        ["true", "not a box", [0, 0, "x", 1]],
    ],
    "seen": [
        {"region": [0, 0, 1500, 1100], "size": [150, 112], "caption": "full image"},
        {"region": [0, 0, 750, 550], "size": [96, 64], "caption": "a quarter"},
    ],
}


class Visit:
    """An opened page, with everything that it complained of or asked others for."""

    def __init__(self, browser: Browser, viewer: Viewing, wish: Any = WISH, **options: Any) -> None:
        self.tab: Page = browser.new_page(**{"viewport": {"width": 1200, "height": 800}, **options})
        self.complaints = Complaints(self.tab).told
        self.tab.on("request", lambda request: self.note(request.url, viewer))
        text = wish if isinstance(wish, str) else json.dumps(wish)
        self.tab.goto(f"{viewer.url}/view#{quote(text)}")

    def note(self, url: str, viewer: Viewing) -> None:
        """Note what goes to others than the viewer."""
        if not url.startswith((f"{viewer.url}/", "data:", "blob:")):
            self.complaints.append(url)

    def opened(self) -> "Visit":
        """Wait until the picture is shown."""
        expect(self.tab.locator("#status")).to_contain_text("Shown at", timeout=30_000)
        return self

    def boxes(self, kind: str) -> int:
        """How many boxes of a kind can be seen over the full picture."""
        return self.tab.locator(f"#full rect.{kind}:not(.halo):visible").count()

    @property
    def shown(self) -> list[int]:
        """Left, top, width and height of what is shown, as the page says it."""
        told = self.tab.locator("#status").inner_text().partition(":")[2].partition(".")[0]
        return [int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", told)]

    def place(self, pane: str) -> list[float]:
        """Where boxes are drawn in a pane: its viewport, in numbers."""
        told = self.tab.locator(f"#{pane} svg g").get_attribute("transform") or ""
        return [round(float(number), 1) for number in re.findall(r"-?[\d.]+(?:e-?\d+)?", told)]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this file."""
    with launched_browser() as opened:
        yield opened


@pytest.fixture
def visit(browser: Browser, viewer: Viewing) -> Iterator[Visit]:
    """The page of one sample."""
    opened = Visit(browser, viewer).opened()
    yield opened
    opened.tab.close()


def test_no_more_of_a_picture_is_said_to_be_shown_than_there_is(browser: Browser, viewer: Viewing) -> None:
    """On a phone, whose window is higher than the picture."""
    visit = Visit(browser, viewer, viewport={"width": 420, "height": 900}).opened()
    assert visit.shown == [0, 0, 1500, 1100]
    visit.tab.close()


def test_every_layer_has_a_switch_and_every_box_a_line(visit: Visit) -> None:
    """Four kinds of boxes; what is no box is left out; a switch hides boxes and their lines."""
    assert [visit.boxes(kind) for kind in ("true", "read", "local", "zoom")] == [2, 1, 1, 1]
    assert visit.tab.locator("#boxes li:visible").count() == 5
    visit.tab.get_by_label("the truth (2)").uncheck()
    assert [visit.boxes(kind) for kind in ("true", "read", "local", "zoom")] == [0, 1, 1, 1]
    assert visit.tab.locator("#boxes li:visible").count() == 3
    assert visit.complaints == []


def test_choosing_a_box_goes_to_it(visit: Visit) -> None:
    """The picture is shown around it at its own resolution, and the box is marked."""
    visit.tab.locator("#boxes button").first.click()
    expect(visit.tab.locator("#status")).not_to_contain_text("0, 0, 1,5")
    left, top, width, height = visit.shown
    assert left < 300
    assert left + width > 400
    assert top < 200
    assert top + height > 280
    assert width < 700
    expect(visit.tab.locator("#full rect.true.pointed:not(.halo)")).to_have_count(1)


@pytest.mark.parametrize(
    ("back", "says"),
    [
        (["http://127.0.0.1:8470/jobs/job_1/report#sample=a", "the report"], "Back to the report"),
        (["https://elsewhere.example/jobs/job_1", "the report"], "Back to https://elsewhere.example"),
        (["javascript:alert(1)", "the report"], None),
        ("no page", None),
    ],
)
def test_the_way_back_names_where_it_leads(browser: Browser, viewer: Viewing, back: Any, says: str | None) -> None:
    """By its own name on this machine alone, since a link may come from anywhere; nothing but pages is led to."""
    visit = Visit(browser, viewer, WISH | {"back": back}).opened()
    if says:
        assert visit.tab.locator("#back").inner_text() == says
        assert visit.tab.locator("#back").get_attribute("href") == back[0]
    else:
        expect(visit.tab.locator("#head")).to_be_hidden()
    visit.tab.close()


@with_axe
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [420, 1440])
def test_axe_finds_nothing(browser: Browser, viewer: Viewing, width: int, scheme: str) -> None:
    """On phone and desk, in both schemes."""
    visit = Visit(browser, viewer, viewport={"width": width, "height": 800}, color_scheme=scheme).opened()
    assert axe_findings(visit.tab) == []
    visit.tab.close()


def test_an_address_may_name_the_region_that_is_shown_first(browser: Browser, viewer: Viewing) -> None:
    """It is shown with little around it; what is no region is passed over."""
    visit = Visit(browser, viewer, WISH | {"at": [300, 200, 400, 300]}).opened()
    left, top, width, height = visit.shown
    assert 0 < left < 300
    assert left + width > 700
    assert 0 < top < 200 or top == 0
    assert top + height > 500
    assert width < 900
    visit.tab.close()
    visit = Visit(browser, viewer, WISH | {"at": [300, 200, "x", 300]}).opened()
    assert visit.shown[0] == 0
    visit.tab.close()


def test_what_the_model_saw_stands_beside_it_and_moves_with_it(visit: Visit) -> None:
    """The raster has the recorded size, unsmoothed; whichever pane is moved, the other follows."""
    visit.tab.get_by_role("button", name="As the model saw it").click()
    raster = visit.tab.locator("#model img.raster")
    expect(raster).to_be_visible()
    visit.tab.wait_for_load_state("networkidle")
    assert raster.evaluate("image => [image.naturalWidth, image.naturalHeight]") == [150, 112]
    assert raster.evaluate("image => getComputedStyle(image).imageRendering") == "pixelated"
    for leader, follower in (("full", "model"), ("model", "full")):
        before = visit.place(follower)

        def moved(before: list[float] = before) -> bool:
            return visit.place("full") == visit.place("model") != before

        visit.tab.locator(f"#{leader} .openseadragon-canvas").focus()
        visit.tab.keyboard.press("=")
        wait_until(moved, what="both panes at one place")
    visit.tab.get_by_label("Which raster").select_option("1")
    expect(visit.tab.locator("#seen-caption")).to_contain_text("96 × 64 pixels of 750 × 550")
    assert visit.complaints == []


def test_boxes_leave_as_geojson_in_pixels_of_the_full_picture(visit: Visit) -> None:
    """As QuPath reads it: closed polygons, named and classified."""
    with visit.tab.expect_download() as download:
        visit.tab.get_by_text("Download the boxes").click()
    told = json.loads(download.value.path().read_text(encoding="utf-8"))
    first = told["features"][0]
    assert (told["type"], len(told["features"])) == ("FeatureCollection", 5)
    assert first["geometry"]["coordinates"] == [[[300, 200], [400, 200], [400, 280], [300, 280], [300, 200]]]
    assert (first["properties"]["name"], first["properties"]["classification"]) == ("S1", {"name": "the truth"})


def test_openseadragon_is_the_file_that_was_released() -> None:
    """Version 6.1.1 of npm's package, with its licence; whoever takes another one says so here."""
    content = (FILES / "openseadragon.min.js").read_bytes()
    assert content.startswith(b"//! openseadragon 6.1.1\n")
    assert hashlib.sha256(content).hexdigest() == RELEASED
    assert "Redistributions in binary form" in (FILES / "openseadragon-LICENSE.txt").read_text()


def test_nothing_in_the_address_runs(visit: Visit) -> None:
    """Texts of a link are shown as they are written."""
    assert visit.tab.title() == "sample-1: evidence"
    expect(visit.tab.locator("#said-of-it")).to_contain_text(HOSTILE)
    assert visit.tab.locator("main img:not(.raster), #boxes script").count() == 0


@pytest.mark.parametrize(
    ("wish", "told"),
    [
        ("no JSON", "holds no picture that can be read"),
        ("[1]", "No picture is named"),
        ({"image": "set/images/none.png"}, "does not exist"),
        ({"image": "set/images/a.tif", "digest": "0" * 32}, "has changed"),
    ],
)
def test_what_cannot_be_shown_is_said(browser: Browser, viewer: Viewing, wish: Any, told: str) -> None:
    """A picture that was replaced is none: it is not what the model saw."""
    visit = Visit(browser, viewer, wish)
    expect(visit.tab.locator("#status")).to_contain_text(told)
    visit.tab.close()


def test_the_page_fits_a_phone_and_needs_no_mouse(browser: Browser, viewer: Viewing) -> None:
    """No sideways scrolling; every control has a name, the canvas too, and keys zoom it."""
    visit = Visit(browser, viewer, viewport={"width": 360, "height": 740}, color_scheme="dark").opened()
    assert visit.tab.evaluate("document.documentElement.scrollWidth") <= 360
    for button in visit.tab.locator("button:visible").all():
        assert button.inner_text().strip() or button.get_attribute("title")
    canvas = visit.tab.get_by_role("application", name="set/images/a.tif, 1,500 by 1,100 pixels")
    canvas.focus()
    before = visit.tab.locator("#status").inner_text()
    visit.tab.keyboard.press("=")
    expect(visit.tab.locator("#status")).not_to_have_text(before)
    assert visit.complaints == []
    visit.tab.close()
