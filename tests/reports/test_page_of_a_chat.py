"""The page of one chat that went on in rounds: all of them in order, with what was called, shown and found."""

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from playwright.sync_api import Browser, Locator, expect

from gigavqa.contract.responses import Failure
from gigavqa.reports.writers.page import texts
from tests.browsing import with_browser
from tests.evaluation.responses import MODEL, response
from tests.reports.chats import PAGES, ZOOMS, call, chat, rounds, turn
from tests.reports.pages import HOSTILE, SIZE, asked, page, raster
from tests.reports.visits import Visit

pytestmark = pytest.mark.slow

TEN = f"sample=c1&at={MODEL}%7CS0%7CV2+n10%7C0"
VIEWER = "http://127.0.0.1:8471"


def responses() -> list[Any]:
    """A chat that was answered, one whose rounds were used up, one that failed, and one without a loop."""
    return [
        chat(10),
        chat(5, "rounds", rasters=()),
        chat(7, None, failure=Failure(type="SearchDownError", message="no page"), rasters=()),
        response("c1", "Final answer: B", rasters=(raster(),), request_id="plain"),
    ]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of these, with the previews of all zooms."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page(responses(), shown=ZOOMS, viewer=VIEWER), encoding="utf-8")
    return path


def data_of(html: str) -> Any:
    """What the page's script is given."""
    found = re.search(r'id="data">(.*?)</script>', html)
    assert found is not None
    return json.loads(found[1])


def opened(browser: Browser, file: Path, address: str = TEN, width: int = 1200) -> tuple[Visit, list[Locator]]:
    """A chat, and its rounds."""
    visit = Visit(browser, file, address, width)
    return visit, visit.tab.locator("#open .round").all()


def words(place: Locator) -> str:
    """What stands there, in one line."""
    return " ".join(place.inner_text().split())


@with_browser
def test_every_round_stands_in_its_order_with_thought_call_and_result(browser: Browser, file: Path) -> None:
    """Tool, arguments and status of each; the answer, its verdict and the truth in the last one."""
    visit, shown = opened(browser, file)

    assert words(visit.tab.locator("#open .stop")) == "Ended after 5 rounds of at most 10: it answered."
    assert [one.locator("h5").inner_text() for one in shown] == [f"Round {number}" for number in range(1, 6)]
    assert "Thought It is small. Called zoom ok {}" in words(shown[0])
    assert "<r>[picture 2]</r>" in words(shown[0])
    assert "after 0.25 s" in words(shown[0])
    assert 'zoom ok {"box": [1, 2]}' in words(shown[1])
    assert "pages d-1, d-2, asked before in this job" in words(shown[2])
    assert "zoom bad box" in words(shown[3])
    assert "Error: no box" in words(shown[3])
    assert "Thought Two. Answered Final answer: B Judged right: B The truth B" in words(shown[4])
    visit.tab.close()


@with_browser
def test_texts_of_models_and_pages_stay_texts(browser: Browser, file: Path) -> None:
    """A thought, a call's arguments and a result hold elements; the page has none of them, and complains of nothing."""
    visit, shown = opened(browser, file)

    assert HOSTILE in shown[2].locator("pre").all_text_contents()
    assert visit.tab.locator("#open script, #open img[src=x]").count() == 0
    assert visit.tab.title() != "broken"
    assert visit.complaints == []
    visit.tab.close()


@with_browser
def test_long_results_are_folded(browser: Browser, file: Path) -> None:
    """Their beginning is a line that opens them; short ones stand there."""
    visit, shown = opened(browser, file)
    long = shown[2].locator("details", has_text="What the pages say")

    expect(long.locator("pre")).not_to_be_visible()
    long.locator("summary").click()
    expect(long.locator("pre")).to_contain_text(PAGES.strip()[-40:])
    expect(shown[3].locator("pre", has_text="Error: no box")).to_be_visible()
    visit.tab.close()


@with_browser
def test_zooms_are_drawn_on_the_picture_by_the_numbers_of_their_rounds(browser: Browser, file: Path) -> None:
    """Boxes in the picture's pixels; beside each round its raster, which is not listed again among the pictures."""
    visit, shown = opened(browser, file)
    picture = visit.tab.locator("#open .seen .views figure").first.locator("svg.boxes")
    boxes = picture.locator("rect.zoom:not(.halo)").all()
    places = [",".join(str(box.get_attribute(name)) for name in ("x", "y", "width", "height")) for box in boxes]

    assert picture.get_attribute("viewBox") == f"0 0 {SIZE.width} {SIZE.height}"
    assert places == list(ZOOMS.values())
    assert picture.locator("text").all_text_contents() == ["1", "2"]
    assert visit.tab.locator("#open .seen .views figure").count() == 1
    assert [one.locator("img").count() for one in shown] == [1, 1, 0, 0, 0]
    assert "region 1400,900,500,300" in words(shown[1].locator("figcaption"))
    visit.tab.locator("[data-layer=zoom]").first.uncheck()
    expect(picture.locator("text").first).not_to_be_visible()
    visit.tab.close()


@with_browser
def test_a_region_is_looked_at_closer_in_the_viewer(browser: Browser, file: Path) -> None:
    """The link opens the picture at the region of that zoom, with the boxes of all rounds."""
    visit, shown = opened(browser, file)
    address, _, told = str(shown[1].locator("figcaption a").get_attribute("href")).partition("#")
    wish = json.loads(unquote(told))

    assert address == f"{VIEWER}/view"
    assert (wish["image"], wish["at"]) == (raster().view.image, [1400, 900, 500, 300])
    assert [(kind, name) for kind, name, _ in wish["boxes"] if kind == "zoom"] == [
        ("zoom", "round 1"),
        ("zoom", "round 2"),
    ]
    assert len(wish["seen"]) == 3
    visit.tab.close()


@with_browser
@pytest.mark.parametrize(
    ("cell", "told", "last"),
    [
        ("n5", "Ended after 5 rounds of at most 5: no round was left for what it asked.", "nothing: the chat was over"),
        ("n7", "Failed after 4 rounds of at most 7: SearchDownError.", "Error: no box"),
    ],
)
def test_a_chat_without_an_answer_says_why(browser: Browser, file: Path, cell: str, told: str, last: str) -> None:
    """Its rounds are shown as far as it came."""
    visit, shown = opened(browser, file, TEN.replace("n10", cell))

    assert words(visit.tab.locator("#open .stop")) == told
    assert last in words(shown[-1])
    visit.tab.close()


@with_browser
def test_rounds_are_columns_choices_and_addresses(browser: Browser, file: Path) -> None:
    """Four cells of one protocol and condition, told apart in the matrix, in the strip, in filters and addresses."""
    visit = Visit(browser, file, TEN)

    heads = visit.tab.locator("#matrix thead tr.rounds th").all_text_contents()
    assert heads == ["", "n5", "n7", "n10"]
    assert visit.tab.locator("#open .strip thead th").all_text_contents() == ["S0V2", "S0V2n5", "S0V2n7", "S0V2n10"]
    visit.where(0, rounds="n5", becomes="not=right")
    assert visit.shown == ["c1"]
    assert "where=%7C%7Cn5%7Cnot%3Dright" in visit.address
    again = Visit(browser, file, visit.address)
    assert again.tab.locator("[data-clause='0'] select[name=rounds]").input_value() == "n5"
    visit.where(0, rounds="n10", becomes="not=right")
    assert visit.shown == []
    visit.choose("show.rounds", "n7")
    visit.where(0, rounds="", becomes="")
    expect(visit.tab.locator("#shown")).to_have_text("1 of 1 sample, 1 response")
    for each in (visit, again):
        each.tab.close()


@with_browser
@pytest.mark.parametrize("width", [420, 1280])
def test_rounds_fit_the_screen(browser: Browser, file: Path, width: int) -> None:
    """Side by side at a desk, below each other on a telephone; the page never scrolls sideways."""
    visit, shown = opened(browser, file, width=width)
    written, got = (shown[0].locator(".turn > div").nth(at).bounding_box() for at in (0, 1))

    assert visit.tab.evaluate("document.documentElement.scrollWidth") == width
    assert written is not None
    assert got is not None
    assert (written["y"] == got["y"]) is (width > 760)
    visit.tab.close()


def test_the_prompt_of_a_chat_stands_before_its_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is made again as any other, and rounds stand in the page beside it."""
    told = data_of(page([chat(**asked("c1", "V2"), max_rounds=None)]))["samples"][0]["responses"][0]

    assert (told["chat"], told["stop"], told["played"], len(told["rounds"])) == (1, "answered", 5, 5)


def test_parts_that_are_rounds_and_the_answer_stand_in_the_page_once() -> None:
    """The last round has no text of its own: that is the answer's."""
    html = page([chat()])
    (told,) = data_of(html)["samples"][0]["responses"]

    assert told["rounds"][-1] == {}
    assert html.count("Final answer: B") == 1


def test_rounds_of_a_page_are_bounded_and_what_is_left_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long texts are shortened to their share; behind the bound chats have neither rounds nor their pictures."""
    long = chat(10, turns=(turn("<call>", call("search", result="x" * 50_000)), *rounds()[:2]))
    told = data_of(page([long]))["samples"][0]["responses"][0]
    (result,) = (text for text in data_of(page([long]))["texts"] if "xxx" in text)
    assert "left out here" in result
    assert len(result) < 7000
    assert "rounds" in told

    monkeypatch.setattr(texts, "_ROUND_CHARACTERS", 2000)
    many = [chat(repeat=at) for at in range(40)]
    html = page(many, shown=ZOOMS)
    (sample,) = data_of(html)["samples"]
    kept = ["rounds" in one for one in sample["responses"]]
    assert kept == [True] * sum(kept) + [False] * (40 - sum(kept))
    assert 0 < sum(kept) < 5
    without = sample["responses"][-1]
    assert "left out, to keep this page small" in data_of(html)["texts"][without["untold"]]
    assert (without["stop"], without["played"], len(without["views"])) == ("answered", 5, 1)
    assert "zooms" not in without
