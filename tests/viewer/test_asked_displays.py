"""A display in the address shows a picture as it says, whatever its data set declares, and is part of every name."""

import io
from urllib.parse import quote

import httpx
import numpy as np
import pytest
from PIL import Image

from gigavqa.tiling.rendering import render
from gigavqa.tiling.views import View
from tests.tiling.pictures import SMALL_BUDGET, Pixels
from tests.viewer.conftest import SCENE
from tests.viewer.viewing import Viewing

DISPLAY = "bands=4,3,2 stretch=percentile:2:98"
REGION = "128,64,256,256"


def ask(viewer: Viewing, wish: str, show: str, name: str = SCENE, **headers: str) -> httpx.Response:
    """Ask for a picture as a display says."""
    return viewer.get(name, f"{wish}{'&' if '?' in wish else '?'}show={quote(show)}", **headers)


def shown(answer: httpx.Response) -> Pixels:
    """The pixels of an answer."""
    assert answer.is_success, answer.text
    return np.asarray(Image.open(io.BytesIO(answer.content)).convert("RGB"))


@pytest.mark.parametrize("scope", ["", " per=image"])
@pytest.mark.parametrize("as_raster", ["", "?as=raster"])
def test_a_tile_has_the_colours_of_the_view_of_its_region(scenes: Viewing, scope: str, as_raster: str) -> None:
    """To the byte: what `gigavqa view --show` renders of the same pixels."""
    path, display = scenes.home / "data" / SCENE, DISPLAY + scope
    seen = render(path, View(image=SCENE, region=REGION, show=display), SMALL_BUDGET).pixels
    tile = shown(ask(scenes, f"{REGION}/256,256/0/default.png{as_raster}", display))
    assert seen.std() > 20
    np.testing.assert_array_equal(tile, seen)


def test_a_region_that_has_limits_of_its_own_is_no_other_ones(scenes: Viewing) -> None:
    """One raster under two displays whose limits of the whole image are the same."""
    wish, path = f"{REGION}/256,256/0/default.png?as=raster", scenes.home / "data" / SCENE
    for scope in ("", " per=region"):
        display = f"bands=1 stretch=minmax{scope}"
        seen = render(path, View(image=SCENE, region=REGION, show=display), SMALL_BUDGET).pixels
        np.testing.assert_array_equal(shown(ask(scenes, wish, display)), seen)


def test_spellings_of_one_display_are_one_answer_and_others_are_not(scenes: Viewing) -> None:
    """ETag and canonical address hold the one text; what is known is a 304."""
    wish = "0,0,64,64/max/0/default.png"
    first, again = ask(scenes, wish, DISPLAY), ask(scenes, wish, "stretch=percentile:2.0:98;bands=4,3,2")
    other = ask(scenes, wish, "bands=1,2,3 stretch=percentile:2:98")
    assert first.headers["etag"] == again.headers["etag"] != other.headers["etag"]
    assert first.headers["link"] == again.headers["link"]
    assert "show=bands%3D4%2C3%2C2+stretch%3Dpercentile%3A2%3A98>" in first.headers["link"]
    assert ask(scenes, wish, DISPLAY, **{"If-None-Match": first.headers["etag"]}).status_code == 304
    assert ask(scenes, "info.json", DISPLAY).json()["width"] == 512


def test_the_address_is_more_particular_than_the_data_set(scenes: Viewing) -> None:
    """What is asked for replaces what is declared, as a job's option does; its answer never changes."""
    name, wish = "set/images/chest.tif", "0,0,64,64/max/0/default.png"
    declared, asked = scenes.get(name, wish), ask(scenes, wish, "stretch=range:0:60000", name)
    assert shown(asked).max() < shown(declared).max()
    digest = scenes.get(name, "info.json").headers["etag"].strip('"').partition("-")[0]
    pinned = f"{name}@{digest}"
    assert "no-cache" in scenes.get(pinned, wish).headers["cache-control"]
    assert "immutable" in ask(scenes, wish, "stretch=minmax", pinned).headers["cache-control"]


@pytest.mark.parametrize(
    ("show", "status", "kind", "told"),
    [
        ("strech=minmax", 400, "display-invalid", "show: 'strech' is none of"),
        ("bands=4,3", 400, "display-invalid", "show: bands=4,3 names neither"),
        ("bands=9 stretch=minmax", 422, "pixel-type", "`show` asks for band 9"),
        ("", 422, "pixel-type", "has 16 bits a sample"),
    ],
)
def test_what_cannot_be_shown_so_is_a_problem_that_names_the_part(
    scenes: Viewing, show: str, status: int, kind: str, told: str
) -> None:
    """Also of a description, and of the samples' own where the display is none."""
    for wish in ("info.json", "full/64,/0/default.jpg"):
        answer = ask(scenes, wish, show)
        problem = answer.json()
        assert (answer.status_code, problem["status"]) == (status, status)
        assert answer.headers["content-type"] == "application/problem+json"
        assert problem["type"] == f"urn:gigavqa:problem:{kind}"
        assert told in problem["detail"]
        assert [each["parameter"] for each in problem.get("errors", [])] == (["show"] if status == 400 else [])


def test_samples_are_described_for_whoever_chooses(scenes: Viewing) -> None:
    """Of an undeclared file why it is refused, and proposals; of a display its bands, histograms and limits."""
    address = f"{scenes.url}/samples/{quote(SCENE, safe='')}"
    told = httpx.get(address, timeout=60).json()
    assert (told["bands"], told["bits"], told["type"], told["nodata"]) == (5, 16, "uint16", None)
    assert "has 16 bits a sample" in told["refused"] and str(scenes.home) not in told["refused"]
    assert DISPLAY in told["proposals"]
    assert told["shown"] == []

    told = httpx.get(address, params={"show": "bands=4,3,2 stretch=range:100:70000"}, timeout=60).json()
    assert "has 16 bits" in told["refused"]
    assert [band["band"] for band in told["shown"]] == [4, 3, 2]
    for band in told["shown"]:
        assert band["limits"] == [100, 70000]
        assert len(band["counts"]) == 256
        assert sum(band["counts"]) == band["num_values"] == 448 * 512
        assert band["first"] <= 100 and band["last"] == 70000
        assert band["least"] <= band["low"] <= band["median"] <= band["high"] <= band["most"]
    wrong = httpx.get(address, params={"show": "bands=0"}, timeout=60)
    assert wrong.json()["errors"][0]["parameter"] == "show"


def test_samples_of_what_is_shown_as_it_is_have_no_limits(viewer: Viewing) -> None:
    """Three bands of 8 bits; a picture that is not there is none."""
    address = f"{viewer.url}/samples/{quote('set/images/a.png', safe='')}"
    told = httpx.get(address, timeout=60).json()
    assert (told["bits"], told["refused"], told["show"]) == (8, "", "")
    assert [band["limits"] for band in told["shown"]] == [None, None, None]
    assert httpx.get(f"{viewer.url}/samples/none.png", timeout=60).status_code == 404
