"""Pictures of every kind are served as they are; whatever else an address may say is refused."""

import hashlib
import io
import os
import socket
from dataclasses import replace

import httpx
import numpy as np
import pytest
import tifffile
from PIL import Image

from gigavqa.catalogue.families.qwen import QwenBudget
from gigavqa.tiling.rendering import render
from gigavqa.tiling.store import RasterStore
from gigavqa.tiling.views import View
from tests.tiling.pictures import Pixels, as_pillow_sees, psnr, read_all, textured
from tests.viewer.conftest import SIZE
from tests.viewer.viewing import Viewing

PICTURE = textured(*SIZE, seed=1)
LOSSLESS = ("a.png", "a.webp", "a.jp2", "a.tif", "strips.tif", "turned.png", "a b@%2F.png")


def shown(response: httpx.Response) -> Pixels:
    """The pixels of an answer."""
    assert response.is_success, response.text
    return np.asarray(Image.open(io.BytesIO(response.content)).convert("RGB"))


@pytest.mark.parametrize("name", LOSSLESS)
def test_every_lossless_kind_of_file_shows_its_own_pixels(viewer: Viewing, name: str) -> None:
    """A tile at full resolution, one cropped at the edges, and all of it; EXIF is applied, names may hold anything."""
    for region, part in (
        ("512,512,512,512", PICTURE[512:1024, 512:1024]),
        ("1024,1024,512,512", PICTURE[1024:, 1024:]),
        ("full", PICTURE),
    ):
        np.testing.assert_array_equal(shown(viewer.get(f"set/images/{name}", f"{region}/max/0/default.png")), part)


def test_a_jpeg_shows_what_pillow_decodes(viewer: Viewing) -> None:
    """As near as two decoders are."""
    stored = as_pillow_sees(viewer.home / "data/set/images/a.jpg")
    assert psnr(shown(viewer.get("set/images/a.jpg", "full/max/0/default.png")), stored) > 50


def test_a_level_of_a_pyramid_is_shown_as_it_lies_in_the_file(viewer: Viewing) -> None:
    """Tiles at scale 2 are the averages of four pixels, without another resizing between."""
    half = np.asarray(Image.fromarray(PICTURE).reduce(2))
    tile = shown(viewer.get("set/images/a.tif", "0,0,1024,1024/512,512/0/default.png"))
    assert psnr(tile, half[:512, :512]) > 50


def test_a_tile_between_two_levels_is_made_of_averages(viewer: Viewing) -> None:
    """Scanners write every second level; theirs and those between are made alike."""
    tile = shown(viewer.get("set/images/strips.tif", "0,0,1024,1024/512,512/0/default.png"))
    np.testing.assert_array_equal(tile, np.asarray(Image.fromarray(PICTURE[:1024, :1024]).reduce(2)))


def test_a_slide_is_shown_at_levels_that_it_has_and_has_not(viewer: Viewing) -> None:
    """Its own quarter as it lies in the file, and a half, which is made of all its pixels."""
    slide = viewer.home / "data/set/images/slide.svs"
    quarter = shown(viewer.get("set/images/slide.svs", "full/175,125/0/default.png"))
    np.testing.assert_array_equal(quarter, read_all(slide, 1))
    half = Image.fromarray(read_all(slide)).resize((350, 250), Image.Resampling.BICUBIC)
    assert psnr(shown(viewer.get("set/images/slide.svs", "full/350,/0/default.png")), np.asarray(half)) > 45


def test_what_a_model_saw_is_the_very_raster_that_a_worker_kept(viewer: Viewing) -> None:
    """Its pixels are told from any that could be made again: here they are all of one colour."""
    budget = QwenBudget(factor=32, min_pixels=65536, max_pixels=512 * 512)
    path = viewer.home / "data/set/images/a.tif"
    raster = render(path, View(image="set/images/a.tif", region="0,0,900,600"), budget)
    height, width, _ = raster.pixels.shape
    red = np.full_like(raster.pixels, (200, 30, 30))
    RasterStore(viewer.home / "rasters", 10**8).put(replace(raster, pixels=red))
    np.testing.assert_array_equal(
        shown(viewer.get("set/images/a.tif", f"0,0,900,600/{width},{height}/0/default.png")), red
    )


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.tif", "strips.tif", "turned.png", "slide.svs"])
def test_what_a_model_saw_comes_by_the_very_rules(viewer: Viewing, name: str) -> None:
    """To the last bit, whatever lies in the file at this scale, and however the picture is turned."""
    budget = QwenBudget(factor=2, min_pixels=4, max_pixels=300 * 250)
    view = View(image=name, region="0,0,600,500")
    raster = render(viewer.home / "data/set/images" / name, view, budget)
    height, width, _ = raster.pixels.shape
    pyramids = viewer.count("pyramids")
    answer = viewer.get(f"set/images/{name}", f"0,0,600,500/{width},{height}/0/default.png?as=raster")
    assert (width, height) == (300, 250)
    np.testing.assert_array_equal(shown(answer), raster.pixels)
    assert viewer.count("pyramids") == pyramids, "nobody waits for a pyramid of what is small"


def test_sizes_distort_turn_and_mirror(viewer: Viewing) -> None:
    """In IIIF's order: region, size, mirroring, rotation clockwise, quality."""
    asked = shown(viewer.get("set/images/a.png", "100,200,400,200/max/!90/default.png"))
    np.testing.assert_array_equal(asked, np.rot90(PICTURE[200:400, 100:500, :][:, ::-1], -1))
    assert shown(viewer.get("set/images/a.png", "100,200,400,200/50,150/0/default.webp")).shape == (150, 50, 3)
    gray = viewer.get("set/images/a.png", "full/!200,200/0/gray.jpg")
    assert Image.open(io.BytesIO(gray.content)).mode == "L"
    assert set(np.unique(shown(viewer.get("set/images/a.png", "full/!200,200/0/bitonal.png")))) == {0, 255}


def test_the_description_names_its_own_address_tiles_and_sizes(viewer: Viewing) -> None:
    """Its id is what was asked; a base address leads to it, and linked data is named as such when it is asked for."""
    address = viewer.address("set/images/a.tif")
    redirect = viewer.get("set/images/a.tif")
    assert (redirect.status_code, redirect.headers["location"]) == (303, f"{address}/info.json")
    told = viewer.get("set/images/a.tif", "info.json", accept="application/ld+json")
    info = told.json()
    assert told.headers["content-type"].startswith("application/ld+json;profile=")
    assert (info["id"], info["width"], info["height"], info["profile"]) == (address, *SIZE, "level2")
    assert info["tiles"] == [{"width": 512, "height": 512, "scaleFactors": [1, 2, 4]}]
    assert {"width": 750, "height": 550} in info["sizes"]


def test_any_page_may_read_pictures_and_ask_before(viewer: Viewing) -> None:
    """CORS as level 2 wants it, also in errors; what is no picture is not opened to other pages."""
    asked = viewer.http.options(viewer.address("set/images/a.png", "info.json"))
    assert (asked.status_code, asked.headers["access-control-allow-origin"]) == (204, "*")
    assert viewer.get("nothing", "info.json").headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-origin" not in viewer.http.get(f"{viewer.url}/metrics").headers


def test_an_answer_that_is_known_is_not_made_again(viewer: Viewing) -> None:
    """The same bytes under every way to ask for them; 304 costs no rendering, and HEAD tells what GET would."""
    first = viewer.get("set/images/a.tif", "pct:0,0,50,50/300,/0/color.jpg")
    canonical = viewer.get("set/images/a.tif", "0,0,750,550/300,220/0/default.jpg")
    assert canonical.content == first.content
    assert canonical.headers["etag"] == first.headers["etag"]
    link = f'<{viewer.address("set/images/a.tif", "0,0,750,550/300,220/0/default.jpg")}>;rel="canonical"'
    assert link in first.headers["link"]
    head = viewer.http.head(viewer.address("set/images/a.tif", "0,0,750,550/300,220/0/default.jpg"))
    assert (head.headers["content-length"], head.content) == (str(len(first.content)), b"")
    renders = viewer.count("renders")
    for known in (first.headers["etag"], f'"x", W/{first.headers["etag"]}', "*"):
        again = viewer.get("set/images/a.tif", "0,0,750,550/!300,300/0/default.jpg", **{"if-none-match": known})
        assert (again.status_code, again.content) == (304, b"")
    assert viewer.count("renders") == renders


def test_a_picture_of_16_bits_is_refused_with_what_helps(viewer: Viewing) -> None:
    """It would be drawn black; whoever looks closer reads why it is not."""
    tifffile.imwrite(viewer.home / "data/set/images/deep.tif", np.zeros((64, 64), np.uint16))
    answers = [viewer.get("set/images/deep.tif", wish) for wish in ("info.json", "full/max/0/default.png")]
    assert {answer.status_code for answer in answers} == {422}
    assert all("set/images/deep.tif: has 16 bits a sample, 1 band" in answer.text for answer in answers)


def test_an_address_that_names_the_content_never_changes(viewer: Viewing) -> None:
    """It may be kept for a year; when the file is another one it names nothing."""
    image = viewer.home / "data/set/images/changing.png"
    Image.new("RGB", (64, 64), "red").save(image)
    plain = viewer.get("set/images/changing.png", "info.json")
    digest = plain.headers["etag"].strip('"').partition("-")[0]
    assert plain.headers["cache-control"] == "no-cache"
    pinned = f"set/images/changing.png@{digest}"
    kept = viewer.get(pinned, "full/max/0/default.png")
    assert kept.headers["cache-control"] == "public, max-age=31536000, immutable"
    Image.new("RGB", (64, 64), "blue").save(image)
    assert viewer.get(pinned, "full/max/0/default.png").status_code == 404
    assert tuple(shown(viewer.get("set/images/changing.png", "full/max/0/default.png"))[0, 0]) == (0, 0, 255)


def test_a_link_of_an_earlier_release_opens_while_its_digest_fits(viewer: Viewing) -> None:
    """Digests were of 16 samples and the time; they stand in responses that were recorded then."""
    image = viewer.home / "data/set/images/earlier.png"
    Image.new("RGB", (64, 64), "red").save(image)
    os.utime(image, ns=(10**18, 10**18))
    facts = f"{image.stat().st_size}:{10**18}".encode()
    digest = hashlib.blake2b(facts + image.read_bytes(), digest_size=16).hexdigest()
    assert viewer.get(f"set/images/earlier.png@{digest}", "full/max/0/default.png").status_code == 200
    os.utime(image)
    assert viewer.get(f"set/images/earlier.png@{digest}", "full/max/0/default.png").status_code == 404


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/iiif/3/..%2Fsecret.png/info.json", 404),
        ("/iiif/3/set%2F..%2F..%2Fsecret.png/info.json", 404),
        ("/iiif/3/%2Fetc%2Fpasswd/info.json", 404),
        ("/iiif/3/set%2Fimages%2Fa.png%00/info.json", 404),
        ("/iiif/3/set%5Cimages%5Ca.png/info.json", 404),
        ("/iiif/3/set%252Fimages%252Fa.png/info.json", 404),
        ("/iiif/3/%FF%FE/info.json", 400),
        ("/iiif/3/set/images/a.png/info.json", 404),
        ("/iiif/3/set%2Fimages/info.json", 404),
        ("/iiif/3/" + "x" * 5000 + "/info.json", 404),
        ("/iiif/3/" + "a%2F" * 15_000 + "/info.json", 404),
        ("/iiif/3/" + "a%09" * 15_000 + "/full/max/0/default.jpg", 404),
        ("/iiif/3/upload%3Afiles%2Ffile-1/full/max/0/default.jpg", 404),
        ("/iiif/3/set%2Fimages%2Fa.png/" + "9" * 50_000 + ",0,1,1/max/0/default.jpg", 400),
        ("/iiif/3/set%2Fimages%2Fbroken.jpg/full/max/0/default.png", 422),
        ("/iiif/3/set%2Fimages%2Fa.png/0,0,99999999999,1/max/0/default.jpg", 400),
        ("/iiif/3/set%2Fimages%2Fa.png/full/9999999999,/0/default.jpg", 400),
        ("/iiif/3/set%2Fimages%2Fa.png/full/^9999999999,/0/default.jpg", 501),
        ("/iiif/3/set%2Fimages%2Fa.png/pct:9999999999,0,1,1/max/0/default.jpg", 400),
        ("/iiif/3/set%2Fimages%2Fa.png/full/max/0/default.exe", 400),
        ("/iiif/3/", 404),
        ("/iiif%2F3/set%2Fimages%2Fa.png/info.json", 404),
    ],
)
def test_hostile_addresses_are_refused(viewer: Viewing, path: str, status: int) -> None:
    """In one sentence, without a word of where the data root lies; the path goes out byte by byte as it stands here."""
    host, port = viewer.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        request = f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n"
        connection.sendall(request.encode())
        head, _, body = b"".join(iter(lambda: connection.recv(65536), b"")).decode().partition("\r\n\r\n")
    assert int(head.split()[1]) == status
    assert body.count("\n") == 1
    assert len(body) < 600
    assert str(viewer.home) not in body


@pytest.mark.parametrize("hosts", ["", "Host: localhost\r\nHost: evil.example.org\r\n"], ids=["none", "two"])
def test_a_request_that_does_not_name_one_host_is_refused(viewer: Viewing, hosts: str) -> None:
    """Whoever stands before the viewer may have looked at another one."""
    host, port = viewer.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(f"GET / HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
    assert answer.startswith("HTTP/1.1 400 ")
    assert "it must have one" in answer


def test_a_name_that_the_viewer_is_not_called_by_is_refused(viewer: Viewing) -> None:
    """Somebody's page can point its own name at this machine, and would then read every picture."""
    refused = viewer.get("set/images/a.png", "info.json", host="evil.example.org")
    assert (refused.status_code, "evil.example.org" in refused.text) == (421, True)
    named = viewer.get("set/images/a.png", "info.json", host="localhost:1234")
    assert named.json()["id"] == "http://localhost:1234/iiif/3/set%2Fimages%2Fa.png"


def test_a_description_tells_the_side_of_a_pixel_where_the_file_does(viewer: Viewing) -> None:
    """In metres; of others nothing is said."""
    assert viewer.get("set/images/slide.svs", "info.json").json()["scale"] == {"x": 0.5e-6, "y": 0.5e-6}
    assert "scale" not in viewer.get("set/images/a.tif", "info.json").json()
