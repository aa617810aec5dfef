"""The pages of the gateway in a real browser: one head, live, on phone and desk, with a key where one is wanted."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from gigavqa.service.pages.assets import address_of
from gigavqa.service.settings import GatewaySettings
from tests.browsing import Complaints, axe_findings, elsewhere, fits, launched_browser, with_axe, with_browser
from tests.service.datasets import NAME, record, write_dataset
from tests.service.gateways import RunningGateway
from tests.service.proxies import below_a_path
from tests.service.tenants import BODY, make_key
from tests.service.workers import play
from tests.viewer.viewing import viewing

HOSTILE = "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script>"
WIDTHS = (420, 1440)
SCHEMES = ("light", "dark")


@pytest.fixture(scope="module")
def browser(_all_standing: Any) -> Iterator[Browser]:
    """One browser for all tests of this file; after the gateways, as its driver is an event loop of this thread."""
    with launched_browser() as opened:
        yield opened


def pages_of(gateway: RunningGateway) -> dict[str, str]:
    """Every page, by its address, and what its heading says once it shows something."""
    job_id = gateway.submit(metadata={"note": HOSTILE}).json()["id"]
    elsewhere(lambda: play(gateway.redis_url, max_bundles=1))
    elsewhere(lambda: play(gateway.redis_url, lambda _: None))
    return {
        "/": "Jobs",
        f"/jobs/{job_id}": "town: S0 V2",
        "/ask": "Ask",
        "/datasets": "Data sets",
        "/import": "New data set",
        "/datasets/town": "Town",
        "/models": "Models",
        "/workers": "Workers",
        "/watch": "Is it well?",
        "/watch/runbook": "Runbook",
        "/docs": "API",
    }


def opened(tab: Page, gateway: RunningGateway, path: str, heading: str) -> Page:
    """Open a page, and wait until it has asked for what it shows."""
    tab.goto(gateway.url + path)
    expect(tab.locator("#title")).to_have_text(heading)
    expect(tab.locator("#said")).not_to_have_text("asking the gateway")
    tab.wait_for_load_state("networkidle")
    return tab


@with_browser
@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
def test_every_page_fits_and_complains_of_nothing(gateway: RunningGateway, browser: Browser, width: int) -> None:
    """It is in one language of head, leads to all others, asks the gateway alone, and is never wider than a phone."""
    for path, heading in pages_of(gateway).items():
        tab = browser.new_page(viewport={"width": width, "height": 800})
        seen = Complaints(tab)
        opened(tab, gateway, path, heading)
        assert fits(tab), path
        assert tab.locator("header nav a").all_inner_texts() == [
            "Jobs", "Ask", "Data sets", "Models", "Workers", "Watch", "API",
        ]  # fmt: skip
        assert tab.locator("header nav a[aria-current]").count() == 1
        assert seen.told == [], path
        assert all(url.startswith(gateway.url) for url in seen.requests), path
        tab.close()


@with_axe
@with_browser
@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_nothing_on_any_page(gateway: RunningGateway, browser: Browser, width: int, scheme: Any) -> None:
    """Contrast, names, landmarks and what a keyboard reaches."""
    for path, heading in pages_of(gateway).items():
        tab = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        opened(tab, gateway, path, heading)
        assert axe_findings(tab) == [], path
        tab.close()


@with_axe
@with_browser
@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_nothing_on_a_report(gateway: RunningGateway, browser: Browser, width: int, scheme: Any) -> None:
    """Opened from the gateway, with one of its samples."""
    job_id = gateway.submit().json()["id"]
    elsewhere(lambda: play(gateway.redis_url))
    tab = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    tab.goto(f"{gateway.url}/v1/jobs/{job_id}/report?format=html#sample=cctv-0000")
    expect(tab.locator("#open")).to_be_visible()
    assert axe_findings(tab) == []
    assert fits(tab)
    tab.close()


@with_browser
@pytest.mark.slow
def test_a_job_is_cancelled_retried_and_deleted_from_its_page(gateway: RunningGateway, browser: Browser) -> None:
    """Each by the API, and what brings nothing back only when somebody says so again."""
    job_id = gateway.submit().json()["id"]
    tab = browser.new_page()
    seen = Complaints(tab)
    tab.goto(f"{gateway.url}/jobs/{job_id}")
    expect(tab.locator("#cancel")).to_be_visible()
    elsewhere(lambda: play(gateway.redis_url, lambda _: None))
    expect(tab.get_by_role("region", name="Failed requests by reason, as a table")).to_contain_text(
        "ImageUnreadableError"
    )
    expect(tab.get_by_role("region", name="Failed requests by reason, as a table")).to_contain_text(
        "gigavqa dataset check"
    )
    tab.locator("#retry").click()
    expect(tab.locator("#cancel")).to_be_visible()
    tab.locator("#cancel").click()
    tab.get_by_role("button", name="Leave it").click()
    assert gateway.job(job_id)["status"] == "in_progress"
    tab.locator("#cancel").click()
    tab.get_by_role("button", name="Cancel the job").click()
    expect(tab.locator("#delete")).to_be_visible()
    tab.get_by_text("Events").click()
    expect(tab.locator(".events li").first).to_contain_text("cancelled")
    tab.locator("#delete").click()
    tab.get_by_role("button", name="Delete the job").click()
    expect(tab.locator("#said")).to_contain_text("no job yet")
    assert gateway.client.get(f"/v1/jobs/{job_id}").status_code == 404
    assert seen.told == []
    tab.close()


@with_browser
@pytest.mark.slow
def test_a_job_is_called_by_the_title_that_somebody_gave_it(gateway: RunningGateway, browser: Browser) -> None:
    """In the list, and on its page."""
    job_id = gateway.submit(metadata={"title": "Ships at noon"}).json()["id"]
    tab = browser.new_page()
    opened(tab, gateway, f"/jobs/{job_id}", "Ships at noon")
    opened(tab, gateway, "/", "Jobs")
    expect(tab.get_by_role("link", name="Ships at noon")).to_be_visible()
    tab.close()


@with_browser
@pytest.mark.slow
def test_a_report_that_takes_long_is_announced_at_once(gateway: RunningGateway, browser: Browser) -> None:
    """The page is there before the report is, and takes its place once that comes."""
    job_id = gateway.submit().json()["id"]
    elsewhere(lambda: play(gateway.redis_url))
    tab = browser.new_page()
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    tab.route("**/v1/jobs/*/report?format=html", hold)
    opened(tab, gateway, f"/jobs/{job_id}", "town: S0 V2")
    tab.locator("#report").click()
    expect(tab.locator("#said")).to_contain_text("The report is being made")
    expect(tab.locator("#crumbs").get_by_role("link", name=job_id)).to_be_visible()
    held[0].continue_()
    expect(tab.locator("#matrix")).to_be_visible()
    assert tab.url == f"{gateway.url}/jobs/{job_id}/report"
    tab.close()


@with_browser
@pytest.mark.slow
def test_jobs_that_are_picked_are_compared_in_one_report(gateway: RunningGateway, browser: Browser) -> None:
    """Those that have answers; the report leads back to each of them."""
    done = [gateway.submit(seed=seed, metadata={"title": f"Seed {seed}"}).json()["id"] for seed in (1, 2)]
    elsewhere(lambda: play(gateway.redis_url))
    waiting = gateway.submit(seed=3).json()["id"]
    tab = browser.new_page()
    seen = Complaints(tab)
    opened(tab, gateway, "/", "Jobs")
    expect(tab.locator(f"[data-pick='{waiting}']")).to_be_disabled()
    for job_id in done:
        tab.locator(f"[data-pick='{job_id}']").check()
    tab.get_by_role("link", name="Compare 2 jobs").click()
    expect(tab.locator("#matrix")).to_be_visible()
    for title in ("Seed 1", "Seed 2"):
        expect(tab.get_by_role("row", name=re.compile(f"{title}: ")).first).to_be_visible()
        expect(tab.locator("#matrix").get_by_role("columnheader", name=re.compile(f"^{title}: "))).to_be_visible()
    assert tab.locator("#head a").all_inner_texts() == ["gigavqa", "Jobs", *done, NAME]
    tab.locator("#head").get_by_role("link", name=done[1]).click()
    expect(tab.locator("#title")).to_have_text("Seed 2")
    assert seen.told == []
    tab.close()


@with_browser
@pytest.mark.slow
def test_a_gateway_below_a_path_of_its_host_is_walked_through(gateway: RunningGateway, browser: Browser) -> None:
    """Behind a proxy that takes the path off: no page asks for anything beside it, and every link stays below it."""
    job_id = gateway.submit().json()["id"]
    elsewhere(lambda: play(gateway.redis_url))
    with below_a_path(gateway.url, "/vqa") as url:
        tab = browser.new_page()
        seen = Complaints(tab)
        tab.goto(f"{url}/")
        tab.locator(f"a[data-job='{job_id}']").click()
        expect(tab.locator("#title")).to_have_text("town: S0 V2")
        tab.locator("#report").click()
        expect(tab.locator("#matrix")).to_be_visible()
        tab.locator("#head").get_by_role("link", name=NAME).click()
        expect(tab.locator("#samples [data-sample]")).to_have_count(4)
        tab.get_by_role("link", name="Ask about images/plaza-0.png").click()
        expect(tab.locator("#said")).to_have_text(f"{NAME}/images/plaza-0.png is ready")
        for place in ("Data sets", "Models", "Workers", "Watch"):
            tab.get_by_role("navigation", name="Pages").get_by_role("link", name=place).click()
            expect(tab.locator("#said")).not_to_have_text("asking the gateway")
        tab.goto(f"{url}/watch/runbook")
        expect(tab.locator(".runbook").first).to_be_visible()
        tab.goto(f"{url}/docs")
        expect(tab.locator(".swagger-ui .opblock").first).to_be_visible()
        tab.goto(f"{url}/jobs")
        expect(tab.locator("#title")).to_have_text("Jobs")
        assert tab.url == f"{url}/"
        assert seen.told == []
        assert all(one.startswith(f"{url}/") for one in seen.requests)
        tab.close()


@with_browser
@pytest.mark.slow
def test_names_are_never_markup(gateway: RunningGateway, browser: Browser) -> None:
    """Of questions, options, and whatever a job is labelled with."""
    records = [record(0, question=HOSTILE, options={"A": HOSTILE, "B": "b"}, answer="A"), record(1)]
    write_dataset(gateway.settings.data, records, "hostile")
    job_id = gateway.submit(metadata={"note": HOSTILE}).json()["id"]
    tab = browser.new_page()
    for path, place in ((f"/jobs/{job_id}", "#asked"), ("/datasets/hostile", "#samples")):
        tab.goto(gateway.url + path)
        expect(tab.locator(place)).to_contain_text(HOSTILE)
        assert "broken" not in tab.title()
    tab.close()


@with_browser
@pytest.mark.slow
def test_colours_stay_as_they_were_chosen(gateway: RunningGateway, browser: Browser) -> None:
    """Over pages: as the system, light, dark."""
    tab = browser.new_context(color_scheme="light").new_page()
    background = "getComputedStyle(document.body).backgroundColor"
    tab.goto(gateway.url)
    tab.get_by_role("button", name="Colours: as the system").click()
    tab.get_by_role("button", name="Colours: light").click()
    assert tab.evaluate(background) == "rgb(20, 23, 29)"
    tab.goto(f"{gateway.url}/models")
    assert tab.evaluate(background) == "rgb(20, 23, 29)"
    tab.get_by_role("button", name="Colours: dark").click()
    assert tab.evaluate(background) == "rgb(251, 250, 247)"
    tab.close()


@with_browser
@pytest.mark.slow
def test_a_key_is_asked_for_once_and_kept_for_the_tab(locked: RunningGateway, browser: Browser) -> None:
    """It serves every page, and is kept nowhere else."""
    key, _ = elsewhere(lambda: make_key(locked.redis_url, "ada"))
    headers = {"Authorization": f"Bearer {key}"}
    job_id = locked.client.post("/v1/jobs", json=BODY, headers=headers).json()["id"]
    elsewhere(lambda: play(locked.redis_url))
    tab = browser.new_page()
    tab.goto(locked.url)
    expect(tab.locator("#said")).to_contain_text("asks for a key")
    tab.get_by_label("API key").fill(key)
    tab.get_by_role("button", name="Show").click()
    expect(tab.locator(f"li[data-job='{job_id}']")).to_be_visible()
    for path in ("/datasets/town", "/models", "/workers", f"/jobs/{job_id}"):
        tab.goto(locked.url + path)
        expect(tab.locator("#key")).to_be_hidden()
    tab.locator("#report").click()
    expect(tab.locator("#matrix")).to_be_visible()
    assert tab.url == f"{locked.url}/jobs/{job_id}/report"
    tab.locator("#matrix tbody th a").first.click()
    assert "#sample=" in tab.url
    tab.locator("#head").get_by_role("link", name=job_id).click()
    expect(tab.locator("h1")).to_have_text("town: S0 V2")
    assert tab.evaluate("[document.cookie, Object.keys(sessionStorage)]") == ["", ["gigavqa.key"]]
    tab.get_by_role("button", name="Forget key").click()
    expect(tab.locator("#key")).to_be_visible()
    tab.close()


@with_browser
@pytest.mark.slow
def test_data_sets_show_their_pictures_where_a_viewer_runs(
    settings: GatewaySettings, start: Callable[..., RunningGateway], browser: Browser
) -> None:
    """Small ones in the list and on the data set's page, each of which leads to the viewer, and that back."""
    with viewing(settings.folder) as viewer:
        gateway = elsewhere(lambda: start(viewer_url=viewer.url))
        tab = browser.new_page()
        seen = Complaints(tab)
        tab.goto(f"{gateway.url}/datasets")
        expect(tab.locator("#datasets img")).to_have_count(2)
        expect(tab.locator("#datasets img").first).to_have_js_property("naturalWidth", 320)
        tab.get_by_role("link", name="Town").click()
        expect(tab.locator("#images img")).to_have_count(2)
        expect(tab.locator("#images img").first).to_have_js_property("naturalWidth", 480)
        tab.get_by_role("button", name="2 questions").first.click()
        expect(tab.locator("#samples [data-sample]")).to_have_count(2)
        assert "image=images%2Fplaza-0.png" in tab.url
        tab.get_by_role("link", name="Look closer at images/plaza-0.png").click()
        expect(tab.locator("#picture")).to_contain_text("town/images/plaza-0.png")
        tab.get_by_role("link", name="Back to town").click()
        expect(tab.locator("#title")).to_have_text("Town")
        expect(tab.locator("#samples [data-sample]")).to_have_count(2)
        assert seen.told == []
        tab.close()


def test_files_of_the_pages_are_kept_for_good(gateway: RunningGateway) -> None:
    """Under addresses of their content: another version has others, and knows no older ones."""
    page = gateway.client.get("/", headers={"Accept": "text/html"})
    named = re.findall(r'(?:src|href)="\.(/pages/[^"]+)"', page.text)
    assert len(named) == 5
    for address in named:
        answer = gateway.client.get(address)
        assert "immutable" in answer.headers["cache-control"]
        assert (answer.status_code, answer.headers["x-content-type-options"]) == (200, "nosniff")
    assert gateway.client.get(re.sub("/pages/[0-9a-f]+", "/pages/0000", named[0])).status_code == 404
    assert gateway.client.get("/pages/../shell.html").status_code == 404


def test_pages_say_nothing_without_a_key(start: Callable[..., RunningGateway]) -> None:
    """They are open, as their files are; what they show is not."""
    gateway = start(require_keys=True)
    for path in (
        "/ask",
        "/reports",
        "/import",
        "/datasets",
        "/datasets/town",
        "/models",
        "/workers",
        "/watch",
        "/jobs/job_0",
        address_of("jobs.js"),
    ):
        assert gateway.client.get(path).status_code == 200, path
    for path in ("/v1/datasets", "/v1/models", "/v1/workers", "/v1/watch", "/v1/jobs/job_0"):
        assert gateway.client.get(path).status_code == 401, path


@pytest.mark.parametrize("path", ["/?status=failed", "/models?paper=ultravr", "/datasets/town?image=a.png"])
def test_pages_keep_what_was_chosen_in_their_addresses(gateway: RunningGateway, path: str) -> None:
    """No query of a page is refused, as it is for its script."""
    assert gateway.client.get(path, headers={"Accept": "text/html"}).status_code == 200
