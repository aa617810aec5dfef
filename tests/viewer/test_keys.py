"""A viewer that asks for keys: who sees pictures, by which of two ways, and for how long."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, expect

from gigavqa.runtime.embedded_store import start_store
from tests.browsing import elsewhere, launched_browser, with_browser
from tests.service.tenants import make_key, revoke
from tests.viewer.test_page import Visit
from tests.viewer.viewing import Viewing, viewing
from tests.waiting import wait_until

PICTURE = "set/images/a.tif"
UNKNOWN = "gvq_zzzzzzzz_" + "A" * 43


@dataclass(frozen=True)
class Locked:
    """A viewer that asks for keys, and the server that has them."""

    viewer: Viewing
    redis_url: str

    def ask(self, key: str = "", path: str = f"{PICTURE}/info.json") -> httpx.Response:
        """Ask for something with a key, or without one."""
        name, _, wish = path.rpartition("/")
        return self.viewer.get(name, wish, **({"Authorization": f"Bearer {key}"} if key else {}))

    def open_session(self, key: str) -> httpx.Response:
        """Present a key as the page does."""
        url = f"{self.viewer.url}/session"
        return httpx.post(url, headers={"Authorization": f"Bearer {key}"}, timeout=60)

    def look(self, cookie: str) -> int:
        """The status of a picture that is asked for with a cookie."""
        address = self.viewer.address(PICTURE, "full/64,/0/default.jpg")
        return httpx.get(address, headers={"Cookie": f"other=1; {cookie}"}, timeout=60).status_code


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory, home: Path) -> Iterator[Locked]:
    """Over the pictures of the others, and a picture each in the folders that are owners'."""
    own = tmp_path_factory.mktemp("locked")
    for folder in ("uploads/ada", "results/_previews"):
        (own / folder).mkdir(parents=True)
        shutil.copy(home / "secret.png", own / folder / "0123456789abcdef.png")
    with ExitStack() as stack:
        server = start_store(own / "server")
        stack.callback(server.stop)
        make_key(server.url, "root", "operate")
        arguments = "--require-keys", "--data", str(home / "data"), "--session-seconds", "3600"
        yield Locked(stack.enter_context(viewing(own, *arguments)), server.url)


def test_without_a_key_there_is_the_page_and_nothing_in_it(locked: Locked) -> None:
    """Pictures, descriptions, metrics and addresses that do not exist ask for one, and say how."""
    url = locked.viewer.url
    picture = locked.viewer.address(PICTURE, "full/64,/0/default.jpg")
    for address in (picture, locked.viewer.address(PICTURE, "info.json"), f"{url}/metrics", f"{url}/none"):
        answer = httpx.get(address, timeout=60)
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Bearer realm="gigavqa"')
        assert "Authorization: Bearer" in answer.text
    assert httpx.post(f"{url}/session", timeout=60).status_code == 401
    for path in ("/", "/view", "/files/view.js", "/healthz"):
        assert httpx.get(f"{url}{path}", timeout=60, follow_redirects=True).status_code == 200
    asked = httpx.options(picture, headers={"Origin": "https://a.example.org"}, timeout=60)
    assert "Authorization" in asked.headers["access-control-allow-headers"]


def test_every_key_sees_every_picture_of_the_data_root_and_nothing_else(locked: Locked) -> None:
    """Whatever its owner and role; uploads and what models saw belong to owners, and are no pictures of it."""
    for owner, role in (("ada", "read"), ("bob", "submit"), ("root", "operate")):
        key, _ = make_key(locked.redis_url, owner, role)  # type: ignore[arg-type]  # of the tuple's texts
        found = locked.ask(key)
        assert (found.status_code, found.json()["width"]) == (200, 1500)
        assert locked.viewer.get(PICTURE, "info.json", **{"X-API-Key": key}).status_code == 200
        pinned = f"{PICTURE}@{found.headers['etag'].strip(chr(34)).partition('-')[0]}"
        assert "private" in locked.ask(key, f"{pinned}/info.json").headers["cache-control"]
        name = "0123456789abcdef.png"
        for other in (
            f"upload:ada/{name}",
            f"../uploads/ada/{name}",
            f"uploads/ada/{name}",
            f"../results/_previews/{name}",
        ):
            assert locked.ask(key, f"{other}/info.json").status_code == 404
        metrics = httpx.get(f"{locked.viewer.url}/metrics", headers={"X-API-Key": key}, timeout=60)
        assert metrics.status_code == (200 if role == "operate" else 403)


def test_a_key_that_is_unknown_over_or_revoked_opens_nothing(locked: Locked) -> None:
    """From the next request on; what it had opened before is a 304 no more."""
    over, _ = make_key(locked.redis_url, "ada", "read", expires_at=datetime.now(UTC) - timedelta(seconds=1))
    mine, known = make_key(locked.redis_url, "ada", "read")
    tag = locked.ask(mine).headers["etag"]
    revoke(locked.redis_url, known.id)
    for key, told in ((UNKNOWN, "no such key"), ("secret", "no key"), (over, "expired"), (mine, "revoked")):
        for path in (f"{PICTURE}/info.json", "none.png/info.json"):
            answer = locked.ask(key, path)
            assert (answer.status_code, told in answer.text) == (401, True)
    known_before = {"Authorization": f"Bearer {mine}", "If-None-Match": tag}
    assert locked.viewer.get(PICTURE, "info.json", **known_before).status_code == 401


def test_a_session_opens_pictures_while_its_key_is_good(locked: Locked) -> None:
    """No script and no other site's page has the cookie; another's secret, or none, is no session."""
    key, known = make_key(locked.redis_url, "ada", "read")
    said = locked.open_session(key).headers["set-cookie"]
    cookie, *flags = said.split("; ")
    assert {flag.lower() for flag in flags} == {"httponly", "path=/", "samesite=strict"}
    assert key.rpartition("_")[2] not in said
    assert locked.look(cookie) == 200
    name, _, named = cookie.partition("=")
    other = locked.open_session(make_key(locked.redis_url, "bob", "read")[0]).headers["set-cookie"]
    mixed = f"{named.partition('.')[0]}.{other.partition(';')[0].partition('.')[2]}"
    for wrong in (f"{named}x", named.partition(".")[0], mixed, f"*.{named}", key, ""):
        assert locked.look(f"{name}={wrong}") == 401
    again = httpx.post(f"{locked.viewer.url}/session", headers={"Cookie": cookie}, timeout=60)
    assert "set-cookie" not in again.headers, "a session does not prolong itself"
    revoke(locked.redis_url, known.id)
    assert locked.look(cookie) == 401


def test_a_session_ends(locked: Locked, home: Path) -> None:
    """After as long as the operator says, whatever the browser keeps."""
    key, _ = make_key(locked.redis_url, "ada", "read")
    arguments = "--require-keys", "--data", str(home / "data"), "--session-seconds", "0.5"
    with viewing(locked.viewer.home, *arguments) as brief:
        here = Locked(brief, locked.redis_url)
        cookie = here.open_session(key).headers["set-cookie"].partition(";")[0]
        wait_until(lambda: here.look(cookie) == 401, what="the session's end")
        assert here.ask(key).status_code == 200


def test_behind_a_proxy_with_encryption_the_cookie_is_for_it_alone(locked: Locked, home: Path) -> None:
    """It leaves the browser encrypted, to the viewer's part of the site."""
    key, _ = make_key(locked.redis_url, "ada", "read")
    arguments = "--require-keys", "--data", str(home / "data"), "--url", "https://slides.example.org/viewer/"
    with viewing(locked.viewer.home, *arguments) as proxied:
        flags = Locked(proxied, locked.redis_url).open_session(key).headers["set-cookie"].split("; ")
        assert {"Secure", "Path=/viewer/"} <= set(flags)


@pytest.fixture
def browser() -> Iterator[Browser]:
    """A browser."""
    with launched_browser() as opened:
        yield opened


@pytest.mark.slow
@with_browser
def test_the_page_asks_for_a_key_and_then_shows_the_evidence(browser: Browser, locked: Locked) -> None:
    """Tiles and rasters come by the cookie; the page keeps no key, and says so when it has been revoked."""
    key, known = elsewhere(lambda: make_key(locked.redis_url, "ada", "read"))
    visit = Visit(browser, locked.viewer)
    status, secret = visit.tab.locator("#status"), visit.tab.get_by_label("API key")
    expect(status).to_contain_text("to those who have a key")
    secret.fill(UNKNOWN)
    secret.press("Enter")
    expect(status).to_contain_text("there is no such key")
    secret.fill(key)
    secret.press("Enter")
    visit.opened()
    expect(secret).to_be_hidden()
    visit.tab.get_by_role("button", name="As the model saw it").click()
    raster = visit.tab.locator("#model img.raster")
    wait_until(lambda: raster.evaluate("image => image.naturalWidth") == 150, what="the raster")
    assert visit.tab.evaluate("[document.cookie, localStorage.length, sessionStorage.length]") == ["", 0, 0]
    elsewhere(lambda: revoke(locked.redis_url, known.id))
    visit.tab.get_by_label("Which raster").select_option("1")
    expect(status).to_contain_text("The session is over", timeout=60_000)
    expect(secret).to_be_visible()
    assert [one for one in visit.complaints if "401" not in one] == []
    visit.tab.close()
