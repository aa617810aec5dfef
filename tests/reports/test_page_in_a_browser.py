"""The report's page in a real browser: matrix, filters, permalinks and boxes; it asks nobody for anything."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from playwright.sync_api import Browser, Locator, expect

from gigavqa.contract.responses import ClosingAnswer, Response
from gigavqa.reports.writers.page.samples import OUTCOMES
from tests.browsing import with_browser
from tests.evaluation.responses import MODEL, response
from tests.reports.pages import BOX, HOSTILE, QUADRANTS, SIZE, asked, page, raster, several_models
from tests.reports.visits import Visit

pytestmark = [with_browser, pytest.mark.slow]
SEEN = f"sample=c1&at={MODEL}%7CS0%7CV2%7C0"
S2_OF_C1 = f"sample=c1&at={MODEL}%7CS2%7CV2%7C0"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two pages, as files that were opened by hand: of a few responses, and of several models."""
    folder = tmp_path_factory.mktemp("pages")
    made = {"few": page(), "several": page(several_models())}
    for name, html in made.items():
        (folder / f"{name}.html").write_text(html, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in made}


@pytest.fixture
def visit(browser: Browser, files: dict[str, Path]) -> Iterator[Visit]:
    """The page of a few responses."""
    opened = Visit(browser, files["few"])
    yield opened
    opened.tab.close()


@pytest.fixture
def several(browser: Browser, files: dict[str, Path]) -> Iterator[Visit]:
    """The page of several models' responses."""
    opened = Visit(browser, files["several"], width=1400)
    yield opened
    opened.tab.close()


def visiting(browser: Browser, folder: Path, given: list[Response], address: str = "") -> Visit:
    """Open the page of other responses."""
    file = folder / "report.html"
    file.write_text(page(given), encoding="utf-8")
    return Visit(browser, file, address)


def test_the_page_opens_without_a_complaint_or_a_request(visit: Visit) -> None:
    """Every response opened, every picture decoded: nothing but the file itself was asked for."""
    for mark in visit.tab.locator("#matrix button.mark").all():
        mark.click()
        expect(visit.tab.locator("#open .response")).to_be_visible()
    visit.mark("c1", f"{MODEL} S0 V2").click()
    expect(visit.tab.locator(".picture img").first).to_be_visible()

    assert visit.complaints == []
    assert [url for url in visit.requests if not url.startswith(("file:", "data:"))] == []


def test_a_page_with_a_viewer_links_to_the_evidence_of_each_response(browser: Browser, tmp_path: Path) -> None:
    """What is to be shown stands in the link: the picture by its content, boxes and rasters in its pixels."""
    file = tmp_path / "report.html"
    file.write_text(page(viewer="http://127.0.0.1:8471"), encoding="utf-8")
    visit = Visit(browser, file, S2_OF_C1)
    address, _, told = str(visit.tab.locator("#open .closer a").get_attribute("href")).partition("#")
    assert address == "http://127.0.0.1:8471/view"
    wish = json.loads(unquote(told))
    assert (wish["image"], wish["digest"], wish["title"]) == (raster().view.image, raster().digest, "c1")
    assert wish["seen"] == [{"region": [0, 0, *SIZE], "size": [640, 352], "caption": wish["seen"][0]["caption"]}]
    boxes = {(kind, tuple(map(round, box))) for kind, _, box in wish["boxes"]}
    assert ("read", (3000, 1800, 200, 120)) in boxes
    assert {kind for kind, _ in boxes} >= {"true", "read"}
    told = dict(wish["told"])
    letter = told["Truth"][0]
    assert f"{told['Truth']}\n" in f"{told['Options']}\n" and told["Truth"].startswith(f"{letter}: ")
    assert "gigavqa viewer" in visit.tab.locator("#open .closer").inner_text()
    assert wish["back"] is None, "a saved page leads back nowhere"
    expect(visit.tab.locator("#head")).to_be_hidden()
    assert visit.complaints == []
    visit.tab.close()


def test_a_link_to_the_evidence_shows_it_in_the_colours_that_the_model_was_shown(
    browser: Browser, tmp_path: Path
) -> None:
    """Each raster in those of its request, and the picture so, too."""
    file, show = tmp_path / "report.html", "bands=4,3,2 stretch=minmax"
    given = [response("c1", "Final answer: B", rasters=(raster(show=show),), **asked("c1", "V2"))]
    file.write_text(page(given, viewer="http://127.0.0.1:8471"), encoding="utf-8")
    visit = Visit(browser, file, SEEN)
    wish = json.loads(unquote(str(visit.tab.locator("#open .closer a").get_attribute("href")).partition("#")[2]))
    assert (wish["show"], [seen["show"] for seen in wish["seen"]]) == (show, [show])
    visit.tab.close()


def test_a_page_that_is_mailed_shows_the_surroundings_of_the_evidence(browser: Browser, files: dict[str, Path]) -> None:
    """Cut out of the sharpest picture that the page holds, with the boxes over them."""
    visit = Visit(browser, files["few"], S2_OF_C1)
    crops = visit.tab.locator("#open .crops figure")
    assert crops.count() > 1
    assert visit.tab.locator("#open .closer").count() == 0
    expect(crops.locator("svg.crop image").first).to_have_attribute("href", re.compile("^data:image/jpeg"))
    around = [float(number) for number in str(crops.locator("svg.crop").last.get_attribute("viewBox")).split()]
    assert around[0] < 3000 < around[0] + around[2]
    assert visit.complaints == []
    visit.tab.close()


def test_text_of_a_model_runs_nothing(visit: Visit) -> None:
    """The hostile answer can be read as it was written, and the title is the page's own."""
    visit.mark("c2", f"{MODEL} S0 V2").click()

    expect(visit.tab.locator("#open pre").last).to_contain_text(HOSTILE)
    assert visit.tab.title() == "UltraVR report: tiny <b>set</b>"
    assert visit.tab.locator("#open script, pre img, svg script").count() == 0


def test_the_matrix_has_a_line_a_sample_and_a_column_a_cell(several: Visit) -> None:
    """Five samples, sixteen cells under four models, and nothing of a sample before it is opened."""
    heads = several.tab.locator("#matrix thead tr")

    assert several.shown == ["a1", "c1", "c2", "r1", "w1"]
    assert [int(head.get_attribute("colspan") or 1) for head in heads.nth(0).locator("[scope=colgroup]").all()] == [
        4
    ] * 4
    assert heads.nth(2).locator("th").all_text_contents() == ["V0", "V1", "V2", "V2"] * 4
    assert several.tab.locator("#matrix button.mark").count() == 5 * 16
    assert several.tab.locator("#open *").count() == 0


def test_outcomes_differ_in_shape_and_are_said(visit: Visit) -> None:
    """No two marks have the same lines, the legend names each, and a mark says what it means."""
    shapes = visit.tab.evaluate("Object.values(MARKS).map((mark) => mark.innerHTML)")
    legend = visit.tab.locator(".legend li").all_text_contents()

    assert len(set(shapes)) == len(shapes) == len(OUTCOMES)
    assert "no single answer" in " ".join(legend)
    expect(visit.mark("c2", f"{MODEL} S0 V2")).to_have_accessible_name(f"c2, {MODEL} S0 V2: wrong")


def test_a_right_answer_that_was_cut_off_says_so_beside_its_mark(visit: Visit) -> None:
    """S2's reply to c1 is right and ends where its tokens ended."""
    mark = visit.mark("c1", f"{MODEL} S2 V2")
    expect(mark).to_have_accessible_name(f"c1, {MODEL} S2 V2: right, cut off at its limit of tokens")
    expect(mark).to_contain_class("cut")
    mark.click()

    expect(visit.tab.locator("#open .verdict")).to_contain_text("right: B")
    expect(visit.tab.locator("#open .verdict .badge")).to_have_text("cut off at its limit of tokens")


def test_samples_are_filtered_by_the_groups_they_belong_to(visit: Visit) -> None:
    """Of five samples two are of CCTV, one is logical verification, and none is both."""
    assert len(visit.shown) == 5
    visit.choose("in.domain", "cctv")
    assert visit.shown == ["c1", "c2"]
    visit.choose("in.domain", "")
    visit.choose("in.category", "logical_verification")
    assert visit.shown == ["r1"]
    visit.choose("in.domain", "cctv")
    assert visit.shown == []
    expect(visit.tab.locator("#nothing")).to_be_visible()


def test_samples_are_filtered_by_what_became_of_their_responses(visit: Visit) -> None:
    """c1 is right and abstains under V0; a1 failed; only c1 was asked steps, and got a count and boxes wrong."""
    expected = {"right": ["c1", "c2"], "wrong": ["c2"], "failed": ["a1"], "cut": ["c1"], "part": ["c1"],
                "part=operation=QUA": ["c1"]}  # fmt: skip
    for became, samples in expected.items():
        visit.where(0, becomes=became)
        assert visit.shown == samples, became
    visit.tab.get_by_role("button", name="Clear all").click()
    expect(visit.tab.locator("#shown")).to_have_text("5 of 5 samples, 8 responses")


def test_conditions_on_responses_are_composed(visit: Visit) -> None:
    """V2 wrong and V3 right is c2; V2 right and V0 without an answer is c1; both together is none."""
    visit.where(0, condition="V2", becomes="wrong")
    visit.tab.get_by_role("button", name="and …").click()
    visit.where(1, condition="V3", becomes="right")
    assert visit.shown == ["c2"]
    visit.where(0, becomes="right")
    visit.where(1, condition="V0", becomes="not=right")
    assert visit.shown == ["c1"]
    visit.tab.get_by_role("button", name="and …").click()
    visit.where(2, condition="V3", becomes="right")
    assert visit.shown == []
    visit.tab.get_by_role("button", name="Remove this condition").last.click()
    assert visit.shown == ["c1"]


def test_what_a_condition_leaves_open_is_the_same_in_all(browser: Browser, tmp_path: Path) -> None:
    """One model is wrong under V2 and another right under V3: no model is both."""
    given = [
        response("c1", "A", "V2"),
        response("c1", "B", "V3", model="glm-4.5v", request_id="other"),
        response("c2", "A", "V2"),
        response("c2", "B", "V3"),
    ]
    visit = visiting(browser, tmp_path, given, "where=%7C%7CV2%7Cwrong&where=%7C%7CV3%7Cright")

    assert visit.shown == ["c2"]
    visit.tab.close()


def test_a_part_of_the_columns_is_shown(several: Visit) -> None:
    """One condition of one model is one column, and only its outcomes count."""
    several.choose("show.condition", "V1")
    several.choose(
        "show.model",
        several.tab.locator("#filters select[name='show.model'] option").nth(1).get_attribute("value") or "",
    )

    assert several.tab.locator("#matrix thead tr").nth(2).locator("th").all_text_contents() == ["V1"]
    expect(several.tab.locator("#shown")).to_have_text("5 of 5 samples, 5 responses")


def test_samples_are_sorted_by_disagreement_and_by_share(browser: Browser, tmp_path: Path) -> None:
    """c1 has two outcomes alike in number, c2 three of one and one of another, r1 one alone."""
    texts = {"c1": "ABAB", "c2": "BBBA", "r1": "AAAA"}
    given = [
        response(name, f"Final answer: {letter}", repeat=at, request_id=f"{name}:{at}")
        for name, letters in texts.items()
        for at, letter in enumerate(letters)
    ]
    visit = visiting(browser, tmp_path, given)

    visit.choose("sort", "disagreement")
    assert visit.shown == ["c1", "c2", "r1"]
    visit.choose("sort", "worst")
    by_share = visit.shown
    visit.choose("sort", "best")
    assert visit.shown == by_share[::-1]
    assert visit.tab.locator("#matrix tbody td.share").first.inner_text() in {"75", "100"}
    visit.tab.close()


def test_ids_questions_and_answers_are_searched(visit: Visit) -> None:
    """All words must occur, in any case."""
    search = visit.tab.locator("#filters input[name=search]")
    for words, expected in {"W1": ["w1"], "LETTERS idea": ["r1"], "sitting comparing": ["c1", "c2"], "xyz": []}.items():
        search.fill(words)
        assert visit.shown == expected, words


def test_keys_and_buttons_go_from_sample_to_sample_and_back_goes_back(visit: Visit) -> None:
    """Through what the filter shows, in its order."""
    visit.choose("in.domain", "cctv")
    visit.tab.locator("#matrix tbody th a").first.click()
    assert visit.opened == "c1"
    visit.press("j")
    assert visit.opened == "c2"
    visit.press("j")
    assert visit.opened == "c2"
    visit.press("k")
    assert visit.opened == "c1"
    visit.tab.get_by_role("button", name="Next").click()
    assert visit.opened == "c2"
    visit.tab.go_back()
    expect(visit.tab.locator("#open h3")).to_have_text("c1")
    visit.press("Escape")
    assert visit.opened == ""
    visit.tab.go_back()
    expect(visit.tab.locator("#open h3")).to_have_text("c1")
    assert visit.shown == ["c1", "c2"]


def test_letters_typed_into_the_search_go_nowhere(visit: Visit) -> None:
    """`j` is a letter there."""
    visit.tab.locator("#matrix tbody th a").first.click()
    search = visit.tab.locator("#filters input[name=search]")
    search.focus()
    visit.press("j")

    assert visit.opened == "a1"
    assert search.input_value() == "j"


def test_an_address_opens_what_was_open(visit: Visit, browser: Browser) -> None:
    """Filters, order, conditions, sample and response: all of it stands in the address, by names."""
    visit.choose("in.domain", "cctv")
    visit.choose("sort", "disagreement")
    visit.where(0, condition="V2", becomes="right")
    visit.mark("c1", f"{MODEL} S2 V2").click()

    again = Visit(browser, visit.file, visit.address)

    assert "sample=c1" in visit.address
    assert again.shown == ["c1"]
    assert again.opened == "c1"
    expect(again.tab.locator("#open .response h4").first).to_contain_text("S2 V2")
    assert again.tab.locator("#filters select[name=sort]").input_value() == "disagreement"
    assert again.address == visit.address
    again.tab.close()


def test_an_address_lands_below_the_bar_that_stays(browser: Browser, files: dict[str, Path]) -> None:
    """The open sample begins where the sections' bar ends."""
    visit = Visit(browser, files["few"], SEEN)
    bar, sample = (visit.tab.locator(name).bounding_box() for name in ("nav", "#open"))

    assert bar is not None
    assert sample is not None
    assert 0 <= sample["y"] - (bar["y"] + bar["height"]) < 20
    visit.tab.close()


def test_an_address_of_a_sample_that_is_not_shown_says_so(browser: Browser, files: dict[str, Path]) -> None:
    """The page holds only a part of a large data set; what is not there is named as text."""
    visit = Visit(browser, files["few"], "sample=%3Cb%3Egone%3C/b%3E&where=|||nonsense&sort=nonsense")

    expect(visit.tab.locator("#open")).to_have_text("This page does not show a sample '<b>gone</b>'.")
    assert visit.complaints == []
    visit.tab.close()


def test_boxes_are_drawn_where_they_lie(browser: Browser, files: dict[str, Path]) -> None:
    """Truths, the model's box and V3's regions over the full picture, in its pixels; each kind can be hidden."""
    visit = Visit(browser, files["few"], S2_OF_C1)
    picture = visit.tab.locator(".views figure").first.locator("svg.boxes")

    assert picture.get_attribute("viewBox") == f"0 0 {SIZE.width} {SIZE.height}"
    (read,) = rectangles(picture, "read")
    assert read == pytest.approx([BOX[0] * SIZE.width, BOX[1] * SIZE.height, 200, 120])
    assert [1000, 600, 200, 120] in [pytest.approx(box) for box in rectangles(picture, "true")]
    assert not rectangles(picture, "local")  # c1 was never shown V3
    for box in (picture.locator("rect.true:not(.halo)").first, picture.locator("rect.read:not(.halo)")):
        expect(box).to_be_visible()
    visit.tab.locator("[data-layer=true]").uncheck()
    expect(picture.locator("rect.true").first).not_to_be_visible()
    expect(picture.locator("rect.read").first).to_be_visible()
    visit.tab.close()


def test_local_evidence_is_drawn_on_the_full_picture(browser: Browser, files: dict[str, Path]) -> None:
    """c2 was shown two quadrants under V3: both stand on the picture of V2."""
    visit = Visit(browser, files["few"], f"sample=c2&at={MODEL}%7CS0%7CV2%7C0")
    picture = visit.tab.locator(".views figure").first.locator("svg.boxes")

    assert rectangles(picture, "local") == [[float(number) for number in one.split(",")] for one in QUADRANTS.values()]
    visit.tab.close()


def rectangles(picture: Locator, kind: str) -> list[list[float]]:
    """Left, top, width and height of the boxes of one kind."""
    found = picture.locator(f"rect.{kind}:not(.halo)").all()
    return [[float(one.get_attribute(name) or "nan") for name in ("x", "y", "width", "height")] for one in found]


def test_a_picture_is_enlarged_and_put_away_with_the_keyboard(browser: Browser, files: dict[str, Path]) -> None:
    """Enter opens it, with its boxes; Escape closes it, and the sample stays open."""
    visit = Visit(browser, files["few"], S2_OF_C1)
    visit.tab.locator(".picture:has(img)").first.focus()
    visit.press("Enter")
    expect(visit.tab.locator("dialog img")).to_be_visible()
    expect(visit.tab.locator("dialog rect.read:not(.halo)")).to_be_visible()
    picture, boxes = visit.tab.locator("dialog img"), visit.tab.locator("dialog svg.boxes")
    natural, shown = (
        picture.evaluate(f"(one) => one.{kind}Width / one.{kind}Height") for kind in ("natural", "client")
    )
    assert shown == pytest.approx(natural, rel=0.01)
    assert boxes.bounding_box() == pytest.approx(picture.bounding_box())
    visit.press("Escape")
    expect(visit.tab.locator("dialog")).not_to_be_visible()
    assert visit.opened == "c1"
    visit.tab.close()


def test_the_prompt_stands_beside_the_answer(browser: Browser, files: dict[str, Path]) -> None:
    """As it was sent, with the place of its picture; thoughts are apart from what was said."""
    visit = Visit(browser, files["few"], SEEN)
    question, answer = visit.tab.locator("#open .turn > div").all()

    expect(question.locator("pre")).to_contain_text("[picture 1]")
    expect(question.locator("pre")).to_contain_text("Comparing standing adults and sitting children")
    expect(answer.locator("> pre")).to_have_text("Final answer: B")
    expect(answer.locator("details pre")).not_to_be_visible()
    answer.locator("summary").click()
    expect(answer.locator("details pre")).to_have_text("Two or three?")
    left, right = question.bounding_box(), answer.bounding_box()
    assert left is not None
    assert right is not None
    assert left["y"] == right["y"]
    visit.tab.close()


def test_a_prompt_of_another_version_is_not_shown_and_the_page_says_why(visit: Visit) -> None:
    """V0 of c1 was asked with an older one."""
    visit.mark("c1", f"{MODEL} S0 V0").click()

    expect(visit.tab.locator("#open .turn")).to_contain_text("it was asked with prompts s0/0; this version writes")


def test_a_response_tells_what_it_took(browser: Browser, files: dict[str, Path]) -> None:
    """Tokens, those from the cache, and seconds by phase."""
    visit = Visit(browser, files["few"], S2_OF_C1)

    expect(visit.tab.locator("#open .took")).to_contain_text("900 tokens read, 640 of them cached")
    expect(visit.tab.locator("#open .took")).to_contain_text("1.3 s reading")
    visit.tab.close()


def test_a_closing_turn_is_shown_below_the_answer(browser: Browser, tmp_path: Path) -> None:
    """And whether it agrees with what was read."""
    given = response("c1", "Final answer: B", closing=ClosingAnswer(kind="choice", text="C"))
    visit = visiting(browser, tmp_path, [given])
    visit.mark("c1", f"{MODEL} S0 V2").click()

    expect(visit.tab.locator("#open .took")).to_contain_text("closing turn differs")
    expect(visit.tab.locator("#open .who", has_text="Closing turn").locator("+ pre")).to_have_text("C")
    visit.tab.close()


def test_arrow_keys_walk_the_matrix(several: Visit) -> None:
    """One mark can be reached with Tab; arrows go on from it, Enter opens."""
    first = several.tab.locator("#matrix button.mark").first
    assert several.tab.locator("#matrix button.mark[tabindex='0']").count() == 1
    first.focus()
    for key in ("ArrowRight", "ArrowDown", "Enter"):
        several.press(key)

    assert several.opened == "c1"
    expect(several.tab.locator("#open .response h4").first).to_contain_text("S0 V1")


@pytest.mark.parametrize("width", [420, 1400])
def test_the_page_itself_never_scrolls_sideways(browser: Browser, files: dict[str, Path], width: int) -> None:
    """Neither on a telephone nor at a desk, with a sample open; at a desk no table that is open does, either."""
    visit = Visit(browser, files["several"], "sample=c1", width)

    assert visit.tab.evaluate("document.documentElement.scrollWidth") == width
    tables = visit.tab.locator("section[aria-labelledby^=table] .scroll").all()
    wide = [table for table in tables if table.evaluate("(one) => one.scrollWidth > one.clientWidth")]
    assert tables
    assert width < 1000 or not wide
    visit.tab.close()


def test_ids_stay_in_sight_while_a_narrow_matrix_scrolls(browser: Browser, files: dict[str, Path]) -> None:
    """The first column sticks, and the matrix scrolls within itself."""
    visit = Visit(browser, files["several"], width=420)
    matrix, name = visit.tab.locator("#matrix"), visit.tab.locator("#matrix tbody th").first
    matrix.scroll_into_view_if_needed()
    before = name.bounding_box()
    matrix.evaluate("(element) => { element.scrollLeft = 200; }")

    assert matrix.evaluate("(element) => element.scrollLeft") == 200
    assert name.bounding_box() == before
    visit.tab.close()


def test_parts_are_stacked_on_a_narrow_screen(browser: Browser, files: dict[str, Path]) -> None:
    """Question, truth and verdict stand below each other with their names."""
    visit = Visit(browser, files["few"], S2_OF_C1, width=420)
    boxes: list[Any] = [visit.tab.locator(f"tr[data-part=S3] [data-head='{head}']").bounding_box()
                        for head in ("Question", "Truth", "Verdict")]  # fmt: skip

    assert len({box["x"] for box in boxes}) == 1
    assert sorted(box["y"] for box in boxes) == [box["y"] for box in boxes]
    visit.tab.close()


def test_many_samples_and_cells_are_drawn_once_and_no_sample_before_it_is_opened(
    browser: Browser, tmp_path: Path
) -> None:
    """A page of hundreds of responses makes the elements of its matrix, and of one opened sample: nothing else."""
    given = [
        response("c1", f"Final answer: {'AB'[at % 2]}", condition, model=f"m{at}", request_id=f"{at}{condition}",
                 rasters=(raster(),), **asked("c1", "V2"))
        for at in range(40) for condition in ("V1", "V2")
    ]  # fmt: skip
    visit = visiting(browser, tmp_path, given)

    assert visit.tab.locator("#matrix button.mark").count() == 80
    assert visit.tab.locator("img").count() == 0
    visit.tab.locator("#matrix button.mark").first.click()
    assert visit.tab.locator("#open .response").count() == 1
    visit.tab.close()
