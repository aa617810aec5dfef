"""A data set's page in a real browser: what can be done there, and with its jobs, by mouse, keyboard and ear."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from gigavqa.service.settings import GatewaySettings
from tests.browsing import Complaints, axe_findings, elsewhere, fits, launched_browser, with_axe, with_browser
from tests.service.datasets import NAME, record, write_dataset
from tests.service.gateways import RunningGateway
from tests.service.openai.conftest import wait_for_worker
from tests.service.openai.pictures import png
from tests.service.openai.workers import working
from tests.service.tenants import Tenant
from tests.service.workers import play

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser(_all_standing: Any) -> Iterator[Browser]:
    """One browser for all tests of this file; after the gateways, as its driver is an event loop of this thread."""
    with launched_browser() as opened:
        yield opened


@with_browser
def test_a_data_set_is_deleted_from_its_page(gateway: RunningGateway, browser: Browser) -> None:
    """Not while a job asks it, and only when somebody says so again, having read what it costs."""
    job_id = gateway.submit().json()["id"]
    tab = browser.new_page()
    seen = Complaints(tab)
    tab.goto(f"{gateway.url}/datasets/{NAME}")
    delete = tab.locator("#deletion").get_by_role("button", name="Delete the data set")
    delete.click()
    expect(tab.locator("#deleted")).to_have_text("1 job over it has not ended: cancel it, or wait.")
    elsewhere(lambda: play(gateway.redis_url))
    delete.click()
    dialog = tab.get_by_role("dialog")
    expect(dialog).to_contain_text("4 files of")
    expect(dialog).to_contain_text("1 job over it keeps its answers, but no report")
    dialog.get_by_role("button", name="Leave it").click()
    expect(tab.locator("#deleted")).to_have_text("")
    assert gateway.client.get(f"/v1/datasets/{NAME}").status_code == 200
    delete.click()
    dialog.get_by_role("button", name="Delete the data set").click()
    expect(tab.locator("#said")).to_have_text("no data set yet")
    assert tab.url == f"{gateway.url}/datasets"
    assert gateway.client.get(f"/v1/datasets/{NAME}").status_code == 404
    assert seen.told == []
    tab.goto(f"{gateway.url}/jobs/{job_id}")
    expect(tab.locator("#result")).to_contain_text(f"the data root has no data set '{NAME}'")
    tab.close()


@with_browser
def test_what_cannot_be_read_can_be_deleted(gateway: RunningGateway, browser: Browser) -> None:
    """Its page says what is wrong with it, by file and line."""
    write_dataset(gateway.settings.data, [record(0, answer="Z")], "broken")
    tab = browser.new_page()
    tab.goto(f"{gateway.url}/datasets/broken")
    expect(tab.locator("#said")).to_contain_text("answer 'Z'")
    tab.get_by_role("button", name="Delete the data set").click()
    tab.get_by_role("dialog").get_by_role("button", name="Delete the data set").click()
    expect(tab.locator("#datasets [data-dataset]")).to_have_count(1)
    assert not (gateway.settings.data / "broken").exists()
    tab.close()


@with_browser
def test_a_key_that_is_too_little_is_told_so(locked: RunningGateway, browser: Browser) -> None:
    """Before anything is begun."""
    with elsewhere(lambda: Tenant(locked, "ada")) as ada:
        key = ada.headers["Authorization"].removeprefix("Bearer ")
    tab = browser.new_page()
    tab.goto(f"{locked.url}/datasets/{NAME}")
    tab.get_by_label("API key").fill(key)
    tab.get_by_role("button", name="Show").click()
    expect(tab.locator("#deleted")).to_have_text("The key's role is 'submit'; this needs 'operate'.")
    expect(tab.locator("#delete")).to_be_disabled()
    tab.close()


TABLE = b"image,question,A,B,answer\nplaza.png,Which?,red,blue,A\n"
FAULTS = TABLE + b"none.png,,red,blue,Z\n"


def checked(tab: Page, url: str, table: bytes) -> None:
    """Check a table at the page that makes data sets of them, with the picture that its first row names."""
    picture = {"name": "plaza.png", "mimeType": "image/png", "buffer": png(1)}
    tab.goto(f"{url}/import")
    tab.locator("#file").set_input_files([{"name": "a.csv", "mimeType": "text/csv", "buffer": table}, picture])
    tab.get_by_role("button", name="Check").click()


@with_axe
@with_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [420, 1440])
def test_axe_finds_nothing_in_pages_that_are_used(
    gateway: RunningGateway, settings: GatewaySettings, browser: Browser, width: int, scheme: Any
) -> None:
    """A job is begun, jobs are compared, a data set is about to be deleted, a table is checked, good and bad."""
    jobs = [gateway.submit(seed=seed).json()["id"] for seed in (1, 2)]
    elsewhere(lambda: play(gateway.redis_url))
    tab = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    with working(settings):
        elsewhere(lambda: wait_for_worker(gateway))
        tab.goto(f"{gateway.url}/datasets/{NAME}")
        tab.get_by_text("What the plans ask").click()
        expect(tab.get_by_role("button", name="Start the job")).to_be_visible()
        assert (axe_findings(tab), fits(tab)) == ([], True)
    tab.locator("#delete").click()
    expect(tab.get_by_role("dialog")).to_be_visible()
    assert axe_findings(tab) == []
    for table, told in ((TABLE, "What it is"), (FAULTS, "What is wrong")):
        checked(tab, gateway.url, table)
        expect(tab.get_by_role("heading", name=told)).to_be_visible()
        assert (axe_findings(tab), fits(tab)) == ([], True), told
    expect(tab.locator("#found tbody tr")).to_have_count(3)
    tab.goto(f"{gateway.url}/reports?job={jobs[0]}&job={jobs[1]}")
    expect(tab.locator("#matrix")).to_be_visible()
    assert (axe_findings(tab), fits(tab)) == ([], True)
    tab.close()
