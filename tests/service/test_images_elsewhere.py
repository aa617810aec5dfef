"""The gateway takes images elsewhere in jobs and new data sets: headers alone, of one version that requests carry."""

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from gigavqa.tiling import opening
from tests.ranges.conftest import draw_pyramid
from tests.ranges.server import FileServer, file_server
from tests.service.datasets import NAME, record, write_dataset
from tests.service.gateways import MODEL, RunningGateway
from tests.service.workers import claim_all


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A pyramid of 1024 pixels on a side."""
    return draw_pyramid(tmp_path_factory.mktemp("far") / "plaza.tif", 1024).read_bytes()


@pytest.fixture
def server() -> Iterator[FileServer]:
    """A server that the test fills."""
    with file_server() as state:
        yield state


@pytest.fixture
def far(start: Callable[..., RunningGateway], server: FileServer) -> Iterator[RunningGateway]:
    """A gateway whose operator lists the pictures of that server."""
    before = [*opening._MAKERS], [*opening._MADE]
    yield start(remote_images=(f"{server.prefix}pictures/",), remote_private_hosts=("127.0.0.1",), remote_seconds=5.0)
    opening._MAKERS[:], opening._MADE[:] = before


def _submit(gateway: RunningGateway, *images: str) -> httpx.Response:
    records = [record(number, image=image) for number, image in enumerate(images)]
    write_dataset(gateway.settings.data, records)
    cells = [{"protocol": "S0", "condition": condition} for condition in ("V0", "V2", "V3")]
    return gateway.client.post("/v1/jobs", json={"dataset": NAME, "models": [MODEL], "cells": cells})


def test_a_job_s_requests_carry_the_version_that_was_looked_at(
    far: RunningGateway, server: FileServer, content: bytes
) -> None:
    """Those about an image elsewhere, and no others; of its pixels nothing was read."""
    url = server.serve("pictures/plaza.tif", content)
    reply = _submit(far, url, "images/plaza-0.png")
    assert reply.status_code == httpx.codes.CREATED, reply.text
    views = [view for request in claim_all(far.redis_url) for view in request.views]
    pins = {view.image: {each.pin for each in views if each.image == view.image} for view in views}
    assert set(pins) == {url, f"{NAME}/images/plaza-0.png"}
    assert pins[f"{NAME}/images/plaza-0.png"] == {""}
    (pin,) = pins[url]
    assert pin.startswith("v")
    assert server.sent["/pictures/plaza.tif"] < 0.2 * len(content)


def test_a_job_over_images_that_are_not_there_is_refused_by_sample(
    far: RunningGateway, server: FileServer, content: bytes
) -> None:
    """One that is missing and one that is not listed, each by its address; the server's own paths are not told."""
    good = server.serve("pictures/plaza.tif", content)
    missing, unlisted = f"{server.prefix}pictures/none.tif", f"{server.prefix}other/plaza.tif"
    reply = _submit(far, good, missing, unlisted)
    assert reply.status_code == httpx.codes.UNPROCESSABLE_ENTITY
    told = {finding["sample"]: finding["detail"] for finding in reply.json()["errors"]}
    assert told["cctv-0001"] == f"{missing}: there is no such file (404)"
    assert told["cctv-0002"].startswith(f"image '{unlisted}' is below no listed address")
    assert str(far.settings.folder) not in reply.text


@pytest.mark.slow
def test_a_table_that_is_sent_may_name_images_elsewhere(
    far: RunningGateway, server: FileServer, content: bytes
) -> None:
    """The process that imports it reads what the gateway's operator lists."""
    url = server.serve("pictures/plaza.tif", content)
    table = f"image,question,A,B,answer\n{url},Which ship is longest?,the red one,the blue one,B\n"
    sent = far.client.post(
        "/v1/datasets", data={"name": "far"}, files=[("records", ("questions.csv", table.encode()))], timeout=120
    )
    assert sent.status_code == httpx.codes.CREATED, sent.text
    assert sent.json()["samples"][0]["images"] == [url]
    shown = far.client.get("/v1/datasets/far/images").json()["data"]
    assert [(image["name"], image["width"], image["num_bytes"]) for image in shown] == [(url, 1024, len(content))]
    assert not [*Path(far.settings.data / "far").rglob("*.tif")]


def test_a_chat_names_a_region_of_an_image_elsewhere(far: RunningGateway, server: FileServer, content: bytes) -> None:
    """Its size is known before any worker is asked: a region outside is refused, one inside waits for a model."""
    url = server.serve("pictures/plaza.tif", content).replace(":", "%3A").replace("/", "%2F")

    def ask(region: str) -> str:
        parts = [{"type": "image_url", "image_url": {"url": f"gigavqa:{url}?region={region}"}}]
        body = {"model": MODEL, "messages": [{"role": "user", "content": parts}]}
        return far.client.post("/v1/chat/completions", json=body).text

    assert "reaches outside an image of 1024x1024" in ask("1000,0,100,100")
    assert "reaches outside" not in ask("0,0,100,100")
