"""The page of reviews in a real browser: blind first, by keys and by touch, and nothing that was said is lost."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Response, expect

from gigavqa.service.settings import GatewaySettings
from tests.browsing import Complaints, axe_findings, elsewhere, fits, launched_browser, with_axe, with_browser
from tests.service.gateways import RunningGateway
from tests.service.reviewing import RECORDS, SHIPS, say, write_ships
from tests.service.tenants import Tenant, make_key
from tests.viewer.viewing import Viewing, viewing

pytestmark = pytest.mark.slow
PAGE = f"/datasets/{SHIPS}/review"


@pytest.fixture(scope="module")
def browser(_all_standing: Any) -> Iterator[Browser]:
    """One browser for all tests of this file; after the gateways, as its driver is an event loop of this thread."""
    with launched_browser() as opened:
        yield opened


@pytest.fixture
def ships(settings: GatewaySettings) -> Iterator[Viewing]:
    """A viewer of questions to be reviewed."""
    write_ships(settings.data)
    with viewing(settings.folder) as viewer:
        yield viewer


@pytest.fixture
def reviewed(ships: Viewing, start: Callable[..., RunningGateway]) -> RunningGateway:
    """A gateway that knows the viewer."""
    gateway: RunningGateway = elsewhere(lambda: start(viewer_url=ships.url))
    return gateway


def written(settings: GatewaySettings, reviewer: str = "anonymous") -> list[dict[str, Any]]:
    """What stands in a reviewer's file."""
    path: Path = settings.data / SHIPS / f"reviews/{reviewer}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def answers(tab: Page) -> list[Response]:
    """Everything that the gateway's API tells the page, as it comes."""
    found: list[Response] = []
    tab.on("response", lambda response: found.append(response) if "/v1/" in response.url else None)
    return found


def is_open(tab: Page, sample: str) -> None:
    """Wait until a sample is on the screen."""
    expect(tab.locator("#asked")).to_contain_text(sample)


@with_browser
def test_a_sample_is_answered_before_its_truth_is_anywhere(
    reviewed: RunningGateway, settings: GatewaySettings, browser: Browser
) -> None:
    """Neither on the page nor in what it was told; then truth and evidence appear, and a reload keeps the answer."""
    tab = browser.new_page()
    seen, told = Complaints(tab), answers(tab)
    tab.goto(f"{reviewed.url}{PAGE}?sample=odd-1")
    is_open(tab, "odd-1")
    expect(tab.locator(".pane canvas").first).to_be_visible()
    known = [response.json() for response in told]
    assert [set(page["data"][0]) & {"truth", "evidence", "reviews", "record"} for page in known] == [set()]
    assert tab.locator(".pane rect").count() == 0
    tab.keyboard.press("k")  # there is nothing to be kept yet
    tab.keyboard.press("a")
    expect(tab.locator("#told")).to_contain_text("B: the right one (the truth)")
    expect(tab.locator("#told")).to_contain_text("A: the left one – your answer")
    boxes = tab.locator(".pane rect.true")
    expect(boxes).to_have_count(2)
    tab.keyboard.press("e")
    expect(boxes).to_have_count(0)
    tab.reload()
    expect(tab.locator("#told")).to_contain_text("A: the left one – your answer")
    assert written(settings) == []
    tab.keyboard.press("k")
    is_open(tab, "presence-1")
    (line,) = written(settings)
    assert (line["verdict"], line["answer"], line["seconds"] >= 0) == ("keep", "A", True)
    assert seen.told == []
    tab.close()


@with_browser
def test_samples_are_kept_mended_and_dropped_by_keys(
    reviewed: RunningGateway, settings: GatewaySettings, browser: Browser
) -> None:
    """Each goes to the next that is not reviewed; undone ones come back with what was answered."""
    tab = browser.new_page()
    seen = Complaints(tab)
    tab.goto(f"{reviewed.url}{PAGE}")
    is_open(tab, "count-1")
    tab.locator("#answer").fill("3")
    tab.keyboard.press("Enter")
    expect(tab.locator("#keep")).to_be_focused()
    tab.keyboard.press("m")
    tab.locator("#mended-question").fill("How many ships are red?")
    tab.get_by_role("button", name="Remove box 1").click()
    tab.get_by_role("button", name="Draw a box").click()
    area = tab.locator(".pane").bounding_box()
    assert area
    tab.mouse.move(area["x"] + area["width"] / 3, area["y"] + area["height"] / 3)
    tab.mouse.down()
    tab.mouse.move(area["x"] + area["width"] / 2, area["y"] + area["height"] / 2, steps=3)
    tab.mouse.up()
    expect(tab.get_by_role("textbox", name="Box 1")).to_be_visible()
    tab.get_by_role("button", name="Mend it").click()
    is_open(tab, "odd-1")
    mended = written(settings)[0]["fields"]
    ((left, top, right, bottom),) = mended.pop("boxes")
    assert mended == {"question": "How many ships are red?"}
    assert 0 < left < right == pytest.approx(320, abs=2)
    assert 0 < top < bottom == pytest.approx(240, abs=2)
    tab.keyboard.press("0")
    expect(tab.locator("#told")).to_contain_text("Your answer: it cannot be told")
    tab.keyboard.press("d")
    tab.keyboard.press("3")
    is_open(tab, "presence-1")
    tab.keyboard.press("u")
    is_open(tab, "odd-1")
    expect(tab.locator("#told")).to_contain_text("it cannot be told")
    tab.keyboard.press("k")
    is_open(tab, "presence-1")
    assert [(line["verdict"], line.get("reason")) for line in written(settings)] == [
        ("mend", None), ("drop", "unclear"), ("undo", None), ("keep", None)
    ]  # fmt: skip
    assert seen.told == []
    tab.close()


@with_browser
def test_what_was_reviewed_is_found_again(
    reviewed: RunningGateway, settings: GatewaySettings, browser: Browser
) -> None:
    """By arrows and by filters, and the tables tell of all of it once nothing is left."""
    elsewhere(lambda: [say(reviewed.client, RECORDS[at]["id"], answer=one) for at, one in enumerate("3A")])
    tab = browser.new_page()
    seen = Complaints(tab)
    tab.goto(f"{reviewed.url}{PAGE}")
    is_open(tab, "presence-1")
    tab.keyboard.press("1")
    expect(tab.locator("#keep")).to_be_visible()
    tab.keyboard.press("k")
    is_open(tab, "relation-1")
    tab.keyboard.press("ArrowLeft")
    is_open(tab, "presence-1")
    expect(tab.locator("#mine")).to_have_text("You said: kept")
    tab.keyboard.press("ArrowRight")
    is_open(tab, "relation-1")
    tab.locator("#answer").fill("a Shed")
    tab.keyboard.press("Enter")
    expect(tab.locator("#keep")).to_be_focused()
    tab.keyboard.press("d")
    tab.locator("#note").fill("two things do")
    tab.get_by_role("button", name="something else").click()
    expect(tab.locator("#over")).to_have_text("You have reviewed all of it.")
    expect(tab.locator("#tables")).to_contain_text("75 % [")
    assert written(settings)[-1]["note"] == "two things do"
    tab.locator("#state").select_option("drop")
    is_open(tab, "relation-1")
    tab.keyboard.press("?")
    expect(tab.get_by_role("dialog")).to_contain_text("keep, mend, drop")
    assert seen.told == []
    tab.close()


@with_browser
def test_a_verdict_whose_answer_is_lost_is_sent_again_and_written_once(
    reviewed: RunningGateway, settings: GatewaySettings, browser: Browser
) -> None:
    """The page says so and stays; the same key sends the same entry."""
    tab = browser.new_page()
    tab.goto(f"{reviewed.url}{PAGE}?sample=presence-1")
    is_open(tab, "presence-1")
    tab.keyboard.press("1")
    expect(tab.locator("#keep")).to_be_visible()
    lost: list[int] = []

    def lose(route: Any) -> None:
        lost.append(route.fetch().status) if route.request.method == "POST" and not lost else None
        route.abort() if len(lost) == 1 else route.continue_()
        lost.append(0)

    tab.route(f"**/v1/datasets/{SHIPS}/reviews", lose)
    tab.keyboard.press("k")
    expect(tab.locator("#said")).to_have_text("The gateway does not answer.")
    assert (lost[0], len(written(settings))) == (201, 1)
    tab.keyboard.press("k")
    is_open(tab, "relation-1")
    assert len(written(settings)) == 1
    tab.close()


@with_browser
def test_a_phone_reviews_by_touch(reviewed: RunningGateway, settings: GatewaySettings, browser: Browser) -> None:
    """Nothing is wider than its 390 pixels, and the next sample begins with its picture."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    tab = context.new_page()
    tab.goto(f"{reviewed.url}{PAGE}?sample=odd-1")
    is_open(tab, "odd-1")
    tab.get_by_role("button", name="B the right one").tap()
    tab.get_by_role("button", name="Drop").tap()
    assert fits(tab)
    tab.get_by_role("button", name="Do not drop it").tap()
    tab.get_by_role("button", name="Keep").tap()
    is_open(tab, "presence-1")
    assert fits(tab)
    expect(tab.locator("#stage")).to_be_in_viewport()
    assert [line["answer"] for line in written(settings)] == ["B"]
    context.close()


@with_browser
def test_what_two_differ_on_is_settled_by_who_operates(locked: RunningGateway, browser: Browser) -> None:
    """Conflicts are a list; verdicts of others stand beside the truth there, and the verdict settles them."""
    write_ships(locked.settings.data)

    def differ() -> str:
        with Tenant(locked, "ada") as ada, Tenant(locked, "bob") as bob:
            say(ada, "odd-1", answer="B")
            say(bob, "odd-1", "drop", reason="unclear", answer="A")
            say(bob, "count-1")
        return make_key(locked.redis_url, "root", "operate")[0]

    key = elsewhere(differ)
    tab = browser.new_page()
    tab.goto(f"{locked.url}{PAGE}?state=conflict")
    tab.get_by_label("API key").fill(key)
    tab.get_by_role("button", name="Show", exact=True).click()
    is_open(tab, "odd-1")
    expect(tab.locator("#stage")).to_contain_text("No viewer is known here")
    assert tab.locator("#others").count() == 0
    tab.keyboard.press("b")
    expect(tab.locator("#others li")).to_have_text(
        ["ada: kept (answered B)", "bob: dropped: it is not clear what is asked, or about what (answered A)"]
    )
    tab.keyboard.press("k")
    expect(tab.locator("#over")).to_have_text("Reviewers differ on none.")
    assert written(locked.settings, "root")[0]["settles"] is True
    expect(tab.locator("#tables")).to_contain_text("0 in conflict")
    tab.close()


@with_axe
@with_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_axe_finds_nothing_in_a_review(reviewed: RunningGateway, browser: Browser, width: int, scheme: Any) -> None:
    """Blind, told, mended, dropped, its keys and its tables."""
    elsewhere(lambda: [say(reviewed.client, record["id"]) for record in RECORDS[:1]])
    tab = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    tab.goto(f"{reviewed.url}{PAGE}?sample=odd-1")
    is_open(tab, "odd-1")
    assert (axe_findings(tab), fits(tab)) == ([], True)
    tab.keyboard.press("a")
    expect(tab.locator("#keep")).to_be_visible()
    for key in ("e", "m", "Escape", "d", "Escape"):
        tab.keyboard.press(key)
        assert (axe_findings(tab), fits(tab)) == ([], True), key
    tab.locator("#progress summary").click()
    expect(tab.locator("#tables table")).to_be_visible()
    assert (axe_findings(tab), fits(tab)) == ([], True)
    tab.close()
