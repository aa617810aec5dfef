"""Displays are chosen on the viewer's page, in a real browser: proposals, histograms, the line, and the legend."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browsing import Complaints, axe_findings, fits, launched_browser, with_axe, with_browser
from tests.viewer.conftest import SCENE
from tests.viewer.viewing import Viewing

pytestmark = [pytest.mark.slow, with_browser]
DISPLAY = "bands=4,3,2 stretch=percentile:2:98"
PLACE = {"crs": "EPSG:4326", "affine": [1e-4, 0, 8, 0, -1e-4, 47], "is_geographic": True}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this file."""
    with launched_browser() as opened:
        yield opened


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    """A desk's window that may write the clipboard."""
    page = browser.new_page(viewport={"width": 1200, "height": 900}, permissions=["clipboard-read", "clipboard-write"])
    yield page
    page.close()


def visit(tab: Page, viewer: Viewing, image: str = SCENE, show: str | None = DISPLAY, wish: Any = None) -> Complaints:
    """Open the page of a picture, shown so."""
    complaints = Complaints(tab)
    query = f"image={quote(image)}" + (f"&show={quote(show)}" if show is not None else "")
    tab.goto(f"{viewer.url}/view?{query}" + (f"#{quote(json.dumps(wish))}" if wish else ""))
    return complaints


def shows(tab: Page) -> str:
    """What the page's address says of the display."""
    return parse_qs(urlsplit(tab.url).query).get("show", [""])[0]


def is_shown(tab: Page) -> None:
    """Wait until the picture is there."""
    expect(tab.locator("#status")).to_contain_text("Shown at", timeout=30_000)


def test_a_refused_picture_offers_what_could_be_declared(tab: Page, scenes: Viewing) -> None:
    """By a sentence, with a small picture of each proposal; one click shows it so."""
    complaints = visit(tab, scenes, show=None)
    expect(tab.locator("#why")).to_contain_text("has 16 bits a sample, 5 bands")
    offers = tab.locator("#offers button")
    expect(offers).to_have_count(3)
    tab.wait_for_load_state("networkidle")
    assert tab.locator("#offers img").evaluate_all("all => all.every((one) => one.naturalWidth === 320)")
    expect(tab.locator("#panes")).to_be_hidden()
    offers.filter(has_text=DISPLAY).click()
    is_shown(tab)
    assert shows(tab) == DISPLAY
    expect(tab.locator("#line")).to_have_value(f'show = "{DISPLAY}"')
    assert [told for told in complaints.told if "422" not in told] == []


@pytest.mark.parametrize("show", ["strech=minmax", "bands=9 stretch=minmax"])
def test_a_wrong_address_says_what_is_wrong_and_offers_others(tab: Page, scenes: Viewing, show: str) -> None:
    """The grammar's own sentence."""
    visit(tab, scenes, show=show)
    expect(tab.locator("#why")).to_contain_text("show")
    expect(tab.locator("#offers button")).to_have_count(3)


def test_what_is_chosen_is_shown_stands_in_the_address_and_is_copied(tab: Page, scenes: Viewing) -> None:
    """Each change gives other tiles, other histograms and another line."""
    complaints = visit(tab, scenes)
    is_shown(tab)
    histograms = tab.locator("#histograms svg")
    expect(histograms).to_have_count(3)
    tab.locator("#bands-mode").select_option("1")
    expect(histograms).to_have_count(1)
    tab.locator("#bands select").select_option("5")
    tab.get_by_label("Stretch").select_option("range")
    tab.get_by_label("White at").fill("9000")
    tab.get_by_label("Black at").fill("100")
    tab.get_by_label("Gamma").fill("1.4")
    tab.get_by_label("Gamma").press("Tab")
    chosen = "bands=5 stretch=range:100:9000 gamma=1.4"
    expect(tab.locator("#line")).to_have_value(f'show = "{chosen}"')
    expect(tab.locator("#histograms figcaption")).to_contain_text("100 is black, 9,000 is white")
    assert shows(tab) == chosen
    tab.wait_for_load_state("networkidle")
    tiles = [url for url in complaints.requests if "/default.jpg" in url and "320" not in url]
    assert parse_qs(urlsplit(tiles[-1]).query)["show"] == [chosen]
    tab.get_by_role("button", name="Copy").click()
    expect(tab.locator("#copied")).to_have_text("Copied.")
    assert tab.evaluate("navigator.clipboard.readText()") == f'show = "{chosen}"'
    tab.reload()
    is_shown(tab)
    expect(tab.get_by_label("White at")).to_have_value("9000")
    # OpenSeadragon says so of tiles that come after another display was chosen.
    assert [told for told in complaints.told if not told.startswith("Ignoring tile")] == []


def test_what_is_no_display_is_said_and_changes_nothing(tab: Page, scenes: Viewing) -> None:
    """The picture stays, and so does the address."""
    visit(tab, scenes)
    is_shown(tab)
    tab.get_by_label("White at").fill("many")
    tab.get_by_label("White at").press("Tab")
    expect(tab.locator("#display-fault")).to_contain_text("'many' is no number")
    assert shows(tab) == DISPLAY
    tab.get_by_label("White at").fill("90")
    tab.get_by_label("White at").press("Tab")
    expect(tab.locator("#display-fault")).to_be_hidden()
    expect(tab.locator("#line")).to_have_value('show = "bands=4,3,2 stretch=percentile:2:90"')


def test_what_a_data_set_declares_is_where_one_comes_back_to(tab: Page, scenes: Viewing) -> None:
    """Its panel is closed until somebody opens it, and no sample is read before."""
    complaints = visit(tab, scenes, "set/images/chest.tif", show=None)
    is_shown(tab)
    assert not any("/samples/" in url for url in complaints.requests)
    tab.locator("#display summary").click()
    expect(tab.get_by_label("Stretch")).to_have_value("minmax")
    tab.locator("#proposals button").last.click()
    expect(tab.locator("#line")).to_have_value('show = "stretch=sigma:2"')
    assert shows(tab) == "stretch=sigma:2"
    tab.get_by_role("button", name="As its data set declares").click()
    expect(tab.locator("#line")).to_have_value('show = "stretch=minmax"')
    assert shows(tab) == ""


def test_what_a_model_saw_keeps_its_colours(tab: Page, scenes: Viewing) -> None:
    """Those of its own display, whatever is chosen beside it."""
    seen = [{"region": [0, 0, 512, 448], "size": [128, 112], "caption": "all", "show": "bands=1 stretch=minmax"}]
    complaints = visit(tab, scenes, show=None, wish={"image": SCENE, "show": DISPLAY, "seen": seen})
    is_shown(tab)
    tab.get_by_role("button", name="As the model saw it").click()
    raster = tab.locator("#model img.raster")
    expect(raster).to_be_visible()
    assert parse_qs(urlsplit(raster.get_attribute("src") or "").query)["show"] == ["bands=1 stretch=minmax"]
    tab.wait_for_load_state("networkidle")
    assert raster.evaluate("image => image.naturalWidth") == 128
    assert complaints.told == []


@pytest.mark.parametrize(("image", "unit"), [("set/images/slide.svs", "µm"), ("set/images/chest.tif", "px")])
def test_a_bar_has_the_length_that_it_says(tab: Page, scenes: Viewing, image: str, unit: str) -> None:
    """In microns where the file says what a pixel is, else in pixels; closer, it is of a smaller one."""
    visit(tab, scenes, image, show=None)
    is_shown(tab)
    side = 0.5 if unit == "µm" else 1

    def lengths() -> tuple[float, float]:
        told = tab.locator(".legend .scale span").inner_text().split()
        width = tab.locator(".legend .bar").evaluate("bar => parseFloat(bar.style.width)")
        percent = float(tab.locator("#status").inner_text().removeprefix("Shown at ").split(" %")[0])
        assert told[1] == unit
        assert 26 <= width <= 130
        return float(told[0].replace(",", "")), width * 100 / percent * side

    told, drawn = lengths()
    assert told == pytest.approx(drawn, rel=0.02)
    for _ in range(3):
        tab.get_by_role("button", name="Zoom in").click()
        tab.wait_for_timeout(600)
    closer, drawn = lengths()
    assert closer == pytest.approx(drawn, rel=0.02)
    assert closer < told


def test_the_legend_tells_where_the_cursor_is_and_where_north_is(tab: Page, scenes: Viewing) -> None:
    """In level-0 pixels and, where the image says so, in degrees; the needle turns with the picture."""

    def with_place(route: Route) -> None:
        told = route.fetch().json() | {"scale": {"x": 10, "y": 10, "north": 30, "place": PLACE}}
        route.fulfill(json=told)

    tab.route("**/info.json*", with_place)
    visit(tab, scenes, "set/images/chest.tif", show=None)
    is_shown(tab)
    expect(tab.locator("#where")).to_have_text("Centre: 256, 224; 46.977600° N, 8.025600° E (EPSG:4326)")
    box = tab.locator("#full").bounding_box()
    assert box
    tab.mouse.move(box["x"] + box["width"] / 2 + 10, box["y"] + box["height"] / 2)
    expect(tab.locator("#where")).to_contain_text("Cursor: 2")
    expect(tab.get_by_role("img", name="North is 30° clockwise from up")).to_be_visible()
    tab.get_by_role("button", name="Turn clockwise").click()
    expect(tab.get_by_role("img", name="North is 120° clockwise from up")).to_be_visible()


@with_axe
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [420, 1440])
def test_axe_finds_nothing(browser: Browser, scenes: Viewing, width: int, scheme: str) -> None:
    """Of the offers and of the panel, on phone and desk, in both schemes."""
    for show, ready in ((None, "#offers button"), (DISPLAY, "#histograms svg")):
        tab = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        visit(tab, scenes, show=show)
        expect(tab.locator(ready)).to_have_count(3)
        assert axe_findings(tab) == []
        assert fits(tab)
        tab.close()
