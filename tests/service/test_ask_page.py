"""The page that asks a served model, and the one that makes a data set of a table, in a real browser."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest
import tifffile
from playwright.sync_api import Browser, FilePayload, Page, expect

from gigavqa.service.settings import GatewaySettings
from gigavqa.workers.engines.simulation.answers import AnswerScript
from gigavqa.workers.engines.simulation.engine import SimulatedEngine
from tests.browsing import PHONE, Complaints, axe_findings, elsewhere, fits, launched_browser, with_axe, with_browser
from tests.service.datasets import NAME
from tests.service.gateways import MODEL, RunningGateway
from tests.service.openai.conftest import wait_for_worker
from tests.service.openai.pictures import png
from tests.service.openai.workers import ENTRY, working
from tests.service.tenants import make_key
from tests.viewer.viewing import viewing
from tests.waiting import wait_until

IMAGE = f"{NAME}/images/plaza-0.png"


@pytest.fixture(scope="module")
def browser(_all_standing: Any) -> Iterator[Browser]:
    """One browser for all tests of this file; after the gateways, as its driver is an event loop of this thread."""
    with launched_browser() as opened:
        yield opened


@pytest.fixture
def served(settings: GatewaySettings, gateway: RunningGateway) -> Iterator[RunningGateway]:
    """A gateway with a worker on the simulated engine."""
    with working(settings):
        wait_for_worker(gateway)
        yield gateway


@pytest.fixture
def sent(tmp_path: Path) -> Path:
    """A picture of this disk, of 320 x 256 pixels."""
    path = tmp_path / "harbour.png"
    path.write_bytes(png(1))
    return path


def put(tab: Page, question: str) -> None:
    """Ask, and wait until it is answered."""
    number = tab.locator(".talk .answer").count()
    tab.locator("#question").fill(question)
    tab.keyboard.press("Enter")
    expect(tab.locator(".talk .answer")).to_have_count(number + 1)
    expect(tab.locator("#said")).to_contain_text("has answered")
    expect(tab.locator(".talk .answer").last).not_to_be_empty()


def draw(tab: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Draw a region from one part of the picture to another."""
    box = tab.locator(".frame").bounding_box()
    assert box
    x, y, width, height = box["x"], box["y"], box["width"], box["height"]
    tab.mouse.move(x + start[0] * width, y + start[1] * height)
    tab.mouse.down()
    tab.mouse.move(x + end[0] * width, y + end[1] * height, steps=3)
    tab.mouse.up()


def chats(tab: Page) -> list[list[Any]]:
    """What every question sent so far asked, as messages; filled as they are asked."""
    found: list[list[Any]] = []
    tab.on(
        "request",
        lambda request: found.append(request.post_data_json["messages"]) if "/completions" in request.url else None,
    )
    return found


@with_browser
@pytest.mark.slow
def test_a_picture_of_this_disk_is_asked_about_and_looked_at_again(
    served: RunningGateway, browser: Browser, sent: Path
) -> None:
    """It is sent once; the conversation goes on with a region that was drawn, and the address holds all of it."""
    tab = browser.new_page()
    seen, asked = Complaints(tab), chats(tab)
    tab.goto(f"{served.url}/ask")
    tab.locator("#file").set_input_files(sent)
    expect(tab.locator("#said")).to_have_text("harbour.png is ready")
    put(tab, "What is this?")
    draw(tab, (0.25, 0.25), (0.5, 0.5))
    expect(tab.locator("#shows")).to_contain_text("The question shows region 8")
    x, y, width, height = map(int, tab.locator("#region").input_value().split(","))
    assert (abs(x - 80) < 4, abs(y - 64) < 4, abs(width - 80) < 6, abs(height - 64) < 6) == (True,) * 4
    put(tab, "And here?")
    expect(tab.locator(".talk canvas")).to_have_count(2)
    put(tab, "Sure?")
    first, second, third = asked
    (file,) = served.client.get("/v1/files").json()["data"]
    assert first[0]["content"][0]["image_url"] == {"url": f"gigavqa:{file['id']}"}
    assert [message["role"] for message in second] == ["user", "assistant", "user"]
    assert f"{file['id']}?region=" in second[-1]["content"][0]["image_url"]["url"]
    assert third[-1]["content"] == [{"type": "text", "text": "Sure?"}]
    assert file["expires_at"]
    tab.reload()
    expect(tab.locator("#said")).to_have_text("harbour.png is ready")
    expect(tab.locator("#region")).to_have_value(f"{x},{y},{width},{height}")
    assert seen.told == []
    tab.close()


@with_browser
@pytest.mark.slow
def test_a_deep_picture_is_asked_about_under_a_display_that_was_chosen(
    served: RunningGateway, browser: Browser, tmp_path: Path
) -> None:
    """It is taken, and not asked about before: proposals are a click each, and stand in message and address."""
    deep = tmp_path / "scene.tif"
    bands = {"photometric": "minisblack", "planarconfig": "contig", "extrasamples": [0] * 3}
    tifffile.imwrite(deep, np.arange(64 * 64 * 4, dtype=np.uint16).reshape(64, 64, 4), **bands)
    tab = browser.new_page()
    seen, asked = Complaints(tab), chats(tab)
    tab.goto(f"{served.url}/ask")
    tab.locator("#file").set_input_files(deep)
    expect(tab.locator("#shows")).to_contain_text("choose a display")
    expect(tab.locator("#send")).to_be_disabled()
    proposals = tab.locator("#proposals button")
    expect(proposals).to_have_count(3)
    proposals.filter(has_text="bands=4,3,2").click()
    display = "bands=4,3,2 stretch=percentile:2:98"
    expect(tab.locator("#display")).to_have_value(display)
    expect(tab.locator("#shows")).to_contain_text(f"the whole picture, {display}")
    put(tab, "What is this?")
    tab.locator("#display").fill("bands=1 stretch=minmax")
    put(tab, "And so?")
    addresses = [turn[-1]["content"][0]["image_url"]["url"] for turn in asked]
    assert [parse_qs(address.partition("?")[2])["show"] for address in addresses] == [
        [display],
        ["bands=1 stretch=minmax"],
    ]
    tab.get_by_role("button", name="Keep as a sample").last.click()
    tab.locator("#name").fill("deep")
    tab.get_by_role("button", name="Make a data set").click()
    expect(tab.locator("#made")).to_contain_text("Made: deep")
    kept = served.client.get("/v1/datasets/deep/samples/q1").json()
    assert kept["record"]["show"] == ["bands=1 stretch=minmax"]
    tab.reload()
    expect(tab.locator("#display")).to_have_value("bands=1 stretch=minmax")
    expect(tab.locator("#proposals button")).to_have_count(3)
    tab.locator("#display").fill("bands=7")
    tab.locator("#question").fill("And so?")
    tab.keyboard.press("Enter")
    expect(tab.locator(".talk .failed")).to_contain_text("asks for band 7")
    assert [told for told in seen.told if "400" not in told and "422" not in told] == []
    tab.close()


@with_browser
@pytest.mark.slow
def test_an_answer_is_read_as_it_grows_and_stopped(
    gateway: RunningGateway, settings: GatewaySettings, browser: Browser
) -> None:
    """What was written until then stays to be read; the model writes no more, and the question can be asked again."""
    answer = "<b>bold</b> " + " ".join(f"ship {number}" for number in range(400))
    tab = browser.new_page()
    with working(settings, lambda: SimulatedEngine(ENTRY, speed=0.1, script=AnswerScript([[answer]]))) as worker:
        elsewhere(lambda: wait_for_worker(gateway))
        tab.goto(f"{gateway.url}/ask?question=Which%3F")
        tab.get_by_role("button", name="Ask", exact=True).click()
        expect(tab.locator(".talk .answer")).to_contain_text("<b>bold</b> ship 0")
        expect(tab.locator("#said")).to_contain_text("is asked")
        expect(tab.locator("#model")).to_be_disabled()
        tab.get_by_role("button", name="Stop").click()
        expect(tab.locator(".talk .failed")).to_contain_text("Stopped.")
        expect(tab.locator("#question")).to_have_value("Which?")
        assert "ship 399" not in tab.locator(".talk .answer").inner_text()
        elsewhere(lambda: wait_until(lambda: worker.running == 0, what="the end of the answer"))
    tab.close()


@with_browser
@pytest.mark.slow
def test_a_picture_that_comes_while_an_answer_is_written_belongs_to_the_next_question(
    gateway: RunningGateway, settings: GatewaySettings, browser: Browser, sent: Path, tmp_path: Path
) -> None:
    """What is kept is what was asked; the next question shows the new picture, in a conversation of its own."""
    other = tmp_path / "other.png"
    other.write_bytes(png(2))
    answer = " ".join(f"ship {number}" for number in range(60))
    tab = browser.new_page()
    asked = chats(tab)
    with working(settings, lambda: SimulatedEngine(ENTRY, speed=0.1, script=AnswerScript([[answer]]))):
        elsewhere(lambda: wait_for_worker(gateway))
        tab.goto(f"{gateway.url}/ask")
        tab.locator("#file").set_input_files(sent)
        expect(tab.locator("#said")).to_have_text("harbour.png is ready")
        tab.locator("#region").fill("0,0,160,128")
        tab.locator("#question").fill("About harbour?")
        tab.keyboard.press("Enter")
        expect(tab.locator(".talk .answer")).to_contain_text("ship 0")
        tab.locator("#file").set_input_files(other)
        expect(tab.locator("#said")).to_have_text("other.png is ready")
        tab.get_by_role("button", name="Keep as a sample").click()
        expect(tab.locator("#samples li")).to_contain_text("harbour.png, region 0,0,160,128")
        expect(tab.locator("#shows")).to_have_text("The question shows the whole picture.")
        tab.locator("#question").fill("About other?")
        tab.keyboard.press("Enter")
        expect(tab.locator(".talk .answer")).to_have_count(2)
        files = {
            one["filename"]: one["id"] for one in elsewhere(lambda: gateway.client.get("/v1/files").json()["data"])
        }
        shown = [
            [part["image_url"]["url"] for part in one[-1]["content"] if part["type"] == "image_url"] for one in asked
        ]
        assert [len(messages) for messages in asked] == [1, 1]
        assert shown[0][0].startswith(f"gigavqa:{files['harbour.png']}?region=")
        assert shown[1] == [f"gigavqa:{files['other.png']}"]
        tab.get_by_role("button", name="Stop").click()
        expect(tab.locator(".talk .failed")).to_contain_text("Stopped.")
    tab.close()


@with_browser
@pytest.mark.slow
def test_what_was_asked_is_kept_as_a_sample_and_made_a_data_set(
    served: RunningGateway, browser: Browser, sent: Path
) -> None:
    """With picture, region and truth, of a picture that was sent as of one of a data set."""
    tab = browser.new_page()
    tab.goto(f"{served.url}/ask?image={IMAGE}&region=0,0,320,240")
    expect(tab.locator("#said")).to_have_text(f"{IMAGE} is ready")
    put(tab, "How many?")
    tab.locator(".talk").get_by_label("True answer").fill("A")
    tab.get_by_role("button", name="Keep as a sample").click()
    tab.locator("#file").set_input_files(sent)
    expect(tab.locator("#said")).to_have_text("harbour.png is ready")
    put(tab, "What is this?")
    tab.locator(".talk").get_by_label("True answer").fill("N/A")
    tab.get_by_role("button", name="Keep as a sample").click()
    expect(tab.locator("#question")).to_be_focused()
    tab.reload()
    expect(tab.locator("#samples li")).to_have_count(2)
    tab.get_by_label("Name of the data set").fill("mine")
    tab.get_by_role("button", name="Make a data set").click()
    expect(tab.locator("#made")).to_contain_text(re.compile(r"Nothing is made\..*mine\.jsonl:1: .* a letter \(A\)"))
    tab.get_by_label("True answer of question 1").fill("3")
    tab.get_by_role("button", name="Make a data set").click()
    expect(tab.locator("#made li").first).to_contain_text("mine.jsonl")
    tab.locator("#made").get_by_role("link", name="mine").click()
    expect(tab.locator("#title")).to_have_text("mine")
    samples = served.client.get("/v1/datasets/mine/samples").json()["data"]
    assert [(one["question"], one["truth"]) for one in samples] == [("How many?", "3"), ("What is this?", "")]
    record = served.client.get("/v1/datasets/mine/samples/q1").json()["record"]
    assert "0,0,320,240" in str(record)
    tab.close()


@with_browser
@pytest.mark.slow
def test_a_question_that_is_kept_twice_is_one_of_its_type(served: RunningGateway, browser: Browser) -> None:
    """What was said of it last counts, and what nothing was said of stays; a choice has its options."""
    tab = browser.new_page()
    tab.goto(f"{served.url}/ask?image={IMAGE}")
    expect(tab.locator("#said")).to_have_text(f"{IMAGE} is ready")
    talk = tab.locator(".talk")
    for question, kind, answer, kept in (
        ("How many?", "number", "3", "1 question kept"),
        ("Which colour?", "choice", "blue", "2 questions kept"),
        ("How many?", "", "4", "It was kept before, and is kept once, as it is said now"),
    ):
        put(tab, question)
        talk.get_by_label("True answer").fill(answer)
        talk.get_by_label("Type").select_option(kind)
        if kind == "choice":
            talk.get_by_label("Options").fill("red | blue")
        expect(talk.get_by_label("Options")).to_be_visible(visible=kind == "choice")
        talk.get_by_role("button", name="Keep as a sample").click()
        expect(tab.locator("#said")).to_have_text(kept)
    expect(tab.locator("#samples li")).to_have_count(2)
    tab.reload()
    expect(tab.get_by_label("Type of question 1")).to_have_value("number")
    tab.get_by_label("Name of the data set").fill("mine")
    tab.get_by_role("button", name="Make a data set").click()
    tab.locator("#made").get_by_role("link", name="mine").click()
    expect(tab.locator("#title")).to_have_text("mine")
    samples = served.client.get("/v1/datasets/mine/samples").json()["data"]
    assert [(one["question"], one["truth"], one["options"]) for one in samples] == [
        ("How many?", "4", None),
        ("Which colour?", "B", {"A": "red", "B": "blue"}),
    ]
    types = [served.client.get(f"/v1/datasets/mine/samples/q{at}").json()["record"]["question_type"] for at in (1, 2)]
    assert types == ["number", "choice"]
    tab.close()


@with_browser
@pytest.mark.slow
def test_the_page_says_what_to_do_where_no_model_is_served(
    gateway: RunningGateway, settings: GatewaySettings, browser: Browser
) -> None:
    """And goes on by itself as soon as one is, with the model and the conversation of before."""
    tab = browser.new_page()
    tab.goto(f"{gateway.url}/ask")
    expect(tab.locator("#unserved")).to_contain_text("gigavqa up --model MODEL")
    expect(tab.locator("#asking")).to_be_hidden()
    with working(settings):
        expect(tab.locator("#model")).to_have_value(MODEL)
        expect(tab.locator("#unserved")).to_be_hidden()
        put(tab, "Who are you?")
    expect(tab.locator("#unserved")).to_be_visible()
    asked = chats(tab)
    with working(settings):
        expect(tab.locator("#asking")).to_be_visible()
        put(tab, "And who am I?")
    assert [message["role"] for message in asked[0]] == ["user", "assistant", "user"]
    tab.goto(f"{gateway.url}/ask?model=gone")
    with working(settings):
        expect(tab.locator("#shows")).to_contain_text("gone is served by nobody now")
        expect(tab.locator("#model")).to_have_value("gone")
        expect(tab.get_by_role("button", name="Ask", exact=True)).to_be_disabled()
    tab.close()


@with_browser
@pytest.mark.slow
def test_a_refused_question_is_told_and_can_be_asked_again(served: RunningGateway, browser: Browser) -> None:
    """It is no part of the conversation, and stands in its field again; what is known to be wrong is not asked."""
    tab, name = browser.new_page(viewport=PHONE), f"broken-{'long' * 45}.png"
    asked = chats(tab)
    tab.goto(f"{served.url}/ask?image={IMAGE}&region=9000,0,10,10&question=Where%3F")
    expect(tab.locator("#said")).to_have_text(f"{IMAGE} is ready")
    for region, told in (
        ("9000,0,10,10", "reaches outside of the picture, which has 640"),
        ("pct:60,0,50,10", "reaches outside"),
        ("0,0,0,9", "is empty"),
        ("10,10", "A region is x,y,width,height"),
    ):
        tab.locator("#region").fill(region)
        expect(tab.locator("#shows")).to_contain_text(told)
        expect(tab.get_by_role("button", name="Ask", exact=True)).to_be_disabled()
        expect(tab.locator(".region")).to_be_hidden()
    tab.get_by_role("button", name="Whole picture").click()
    tab.locator("#file").set_input_files({"name": "notes.txt", "mimeType": "text/plain", "buffer": b"no picture"})
    expect(tab.locator("#said")).to_contain_text("notes.txt: the first bytes are those of no image format")
    expect(tab.locator("#picture")).to_contain_text("plaza-0.png")
    broken = png(2)[:-2000]
    tab.locator("#file").set_input_files({"name": name, "mimeType": "image/png", "buffer": broken})
    expect(tab.locator("#said")).to_have_text(f"{name} is ready")
    tab.get_by_role("button", name="Ask", exact=True).click()
    expect(tab.locator(".talk .failed")).to_contain_text(re.compile(f"{name}.*save the picture anew"))
    expect(tab.locator("#question")).to_have_value("Where?")
    assert fits(tab)
    tab.get_by_role("button", name="No picture").click()
    put(tab, "Where?")
    assert [len(messages) for messages in asked] == [1, 1]
    tab.close()


@with_browser
@pytest.mark.slow
def test_a_view_of_the_viewer_is_asked_about(
    settings: GatewaySettings, start: Callable[..., RunningGateway], browser: Browser
) -> None:
    """From a data set's pictures to the viewer, and with what is seen there to the question."""
    with viewing(settings.folder) as viewer, working(settings):
        gateway = elsewhere(lambda: start(viewer_url=viewer.url))
        tab = browser.new_page()
        seen = Complaints(tab)
        tab.goto(f"{gateway.url}/datasets/{NAME}")
        expect(tab.get_by_role("link", name="Ask about images/plaza-0.png")).to_be_visible()
        tab.get_by_role("link", name="Look closer at images/plaza-0.png").click()
        expect(tab.locator("#ask")).to_have_attribute("href", f"{gateway.url}/ask?image={IMAGE.replace('/', '%2F')}")
        tab.get_by_role("button", name="Zoom in").click()
        tab.get_by_role("button", name="Zoom in").click()
        tab.get_by_role("button", name="Zoom in").click()
        expect(tab.locator("#ask")).to_have_attribute("href", re.compile(r"region=\d+%2C\d+%2C\d+%2C\d+$"))
        tab.locator("#ask").click()
        expect(tab.locator("#said")).to_have_text(f"{IMAGE} is ready")
        expect(tab.locator(".frame img")).to_have_js_property("naturalWidth", 640)
        expect(tab.locator(".region")).to_be_visible()
        put(tab, "What is here?")
        expect(tab.locator(".talk .shown img")).to_be_visible()
        assert seen.told == []
        tab.close()


@with_browser
@pytest.mark.slow
def test_a_table_is_checked_and_made_on_its_page(gateway: RunningGateway, browser: Browser, sent: Path) -> None:
    """What is wrong is named by line; without it the rows are looked at, and made. Files are dropped or chosen."""
    table = "foto,question,answer\nharbour.png,How many?,3\nnone.png,Where?,there\n"
    tab = browser.new_page()
    tab.goto(f"{gateway.url}/import")
    tab.locator("#folder").set_input_files(sent.parent)
    dropped = tab.evaluate_handle(
        "(text) => { const all = new DataTransfer(); all.items.add(new File([text], 'ships.csv')); return all; }", table
    )
    tab.dispatch_event("body", "drop", {"dataTransfer": dropped})
    expect(tab.get_by_label("Name")).to_have_value("ships")
    expect(tab.get_by_role("button", name="Make the data set")).to_be_disabled()
    tab.get_by_label("Columns called otherwise").fill("foto=image")
    tab.get_by_role("button", name="Check").click()
    expect(tab.get_by_role("region", name="Problems, as a table")).to_contain_text("ships.csv:3")
    tab.get_by_label("Leave out bad rows").check()
    tab.get_by_role("button", name="Check").click()
    expect(tab.get_by_role("region", name="The first questions, as a table")).to_contain_text("How many?")
    tab.get_by_role("button", name="Make the data set").click()
    tab.locator("#found").get_by_role("link", name="ships").click()
    expect(tab.locator("#samples [data-sample]")).to_have_count(1)
    tab.close()


@with_browser
@pytest.mark.slow
def test_a_check_counts_for_what_was_checked_alone(gateway: RunningGateway, browser: Browser, tmp_path: Path) -> None:
    """Pictures are told apart by their paths, two tables are refused, and what is changed meanwhile is checked anew."""
    for folder, number in (("tree/a", 1), ("tree/b", 2), ("wood/a", 3)):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "x.png").write_bytes(png(number))
    table = "image,question,answer\na/x.png,How many?,3\nb/x.png,How many?,4\n"
    capitals, other = (
        FilePayload(name=name, mimeType="text/csv", buffer=table.encode()) for name in ("ONE.CSV", "two.csv")
    )
    tab = browser.new_page()
    tab.goto(f"{gateway.url}/import")
    tab.locator("#folder").set_input_files(tmp_path / "tree")
    expect(tab.locator("#files")).to_contain_text("2 pictures: a/x.png, b/x.png")
    tab.locator("#folder").set_input_files(tmp_path / "wood")
    expect(tab.locator("#found")).to_contain_text("tree/a/x.png, which is here, and wood/a/x.png would both be a/x.png")
    tab.locator("#file").set_input_files([capitals, other])
    expect(tab.locator("#found")).to_contain_text("ONE.CSV and two.csv are tables")
    tab.locator("#file").set_input_files(capitals)
    expect(tab.get_by_label("Name")).to_have_value("ONE")
    tab.get_by_role("button", name="Check").click()
    tab.get_by_label("Name").fill("changed")
    expect(tab.locator("#said")).to_contain_text("has changed since the check began")
    expect(tab.get_by_role("button", name="Make the data set")).to_be_disabled()
    expect(tab.locator("#found")).to_be_empty()
    tab.get_by_role("button", name="Check").click()
    expect(tab.locator("#found")).to_contain_text("2 questions about 2 pictures")
    tab.get_by_role("button", name="Make the data set").click()
    expect(tab.locator("#found").get_by_role("link", name="changed")).to_be_visible()
    images = gateway.client.get("/v1/datasets/changed/images").json()["data"]
    assert [one["name"] for one in images] == ["images/a/x.png", "images/b/x.png"]
    tab.close()


@with_browser
@pytest.mark.slow
def test_a_key_asks_and_sends(locked: RunningGateway, browser: Browser, sent: Path) -> None:
    """By the key that the tab keeps; a data set wants one that operates, and the page says so."""
    key, _ = elsewhere(lambda: make_key(locked.redis_url, "ada"))
    with working(locked.settings):
        tab = browser.new_page()
        tab.goto(f"{locked.url}/ask")
        tab.get_by_label("API key").fill(key)
        tab.get_by_role("button", name="Show").click()
        expect(tab.locator("#model")).to_have_value(MODEL)
        tab.locator("#file").set_input_files(sent)
        expect(tab.locator("#said")).to_have_text("harbour.png is ready")
        put(tab, "What is this?")
        tab.get_by_role("button", name="Keep as a sample").click()
        tab.get_by_label("Name of the data set").fill("mine")
        tab.get_by_role("button", name="Make a data set").click()
        expect(tab.locator("#made")).to_contain_text("needs 'operate'")
        expect(tab.locator("#samples li")).to_have_count(1)
        tab.on("dialog", lambda dialog: dialog.accept())
        tab.get_by_role("button", name="Forget key").click()
        expect(tab.locator("#key")).to_be_visible()
        expect(tab.locator("#samples li")).to_have_count(0)
        tab.close()


@with_browser
@pytest.mark.slow
def test_a_key_is_asked_for_before_files_are_chosen(locked: RunningGateway, browser: Browser) -> None:
    """One that no header can carry is no key, and its field stays; one of too small a role is told beforehand."""
    key, _ = elsewhere(lambda: make_key(locked.redis_url, "ada"))
    tab = browser.new_page()
    tab.goto(f"{locked.url}/import")
    tab.get_by_label("API key").fill(f"\u201c{key}\u201d")
    tab.get_by_role("button", name="Show").click()
    expect(tab.locator("#said")).to_contain_text("This is no key")
    tab.get_by_label("API key").fill(key)
    tab.get_by_role("button", name="Show").click()
    expect(tab.locator("#said")).to_have_text("The key's role is 'submit'; this needs 'operate'.")
    tab.locator("#file").set_input_files(
        {"name": "a.csv", "mimeType": "text/csv", "buffer": b"question,answer\nWho?,I\n"}
    )
    expect(tab.get_by_role("button", name="Check")).to_be_disabled()
    tab.close()


@with_browser
@pytest.mark.slow
def test_a_data_set_is_asked_from_its_page(served: RunningGateway, browser: Browser) -> None:
    """By a plan and a served model; the start page of an empty installation leads to one's own data set."""
    tab = browser.new_page()
    tab.goto(served.url)
    expect(tab.locator("#next").get_by_role("link", name="Ask")).to_be_visible()
    expect(tab.locator("#next").get_by_role("link", name="New data set")).to_be_visible()
    tab.goto(f"{served.url}/datasets/{NAME}")
    tab.locator("#job").get_by_label("Title").fill("Mine\u202e turned")
    tab.locator("#job").get_by_label("Display").fill("gamma=1.4")
    tab.get_by_role("button", name="Start the job").click()
    expect(tab.locator("#title")).to_have_text("Mine turned")
    (job,) = served.client.get("/v1/jobs").json()["data"]
    assert (job["spec"]["dataset"], job["spec"]["models"]) == (NAME, [MODEL])
    spec = served.client.get(f"/v1/jobs/{job['id']}").json()["spec"]
    assert spec["options"]["show"] == "gamma=1.4"
    assert tab.url == f"{served.url}/jobs/{job['id']}"
    tab.close()


@with_axe
@with_browser
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [420, 1440])
def test_axe_finds_nothing_in_a_conversation(
    served: RunningGateway, browser: Browser, sent: Path, width: int, scheme: Any
) -> None:
    """With a picture, a region, an answer, and a question that is kept."""
    tab = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    tab.goto(f"{served.url}/ask")
    tab.locator("#file").set_input_files(sent)
    expect(tab.locator("#said")).to_have_text("harbour.png is ready")
    tab.locator("#region").fill("10,10,100,100")
    put(tab, "What is this?")
    put(tab, "Sure?")
    tab.get_by_role("button", name="Keep as a sample").first.click()
    assert axe_findings(tab) == []
    assert fits(tab)
    tab.close()
