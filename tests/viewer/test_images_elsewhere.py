"""The viewer shows images elsewhere by the rules of those here."""

import io
from pathlib import Path

import httpx
import numpy as np
import pytest
from PIL import Image

from tests.ranges.conftest import draw_pyramid
from tests.ranges.server import file_server
from tests.viewer.viewing import viewing

REGION = "256,512,256,256/max/0/default.png"


@pytest.mark.slow
def test_deep_zoom_of_an_image_elsewhere_reads_its_tiles_alone(tmp_path: Path) -> None:
    """The same pixels as of the file here; what is not listed, not there or not given is told by its status."""
    (tmp_path / "data").mkdir()
    pyramid = draw_pyramid(tmp_path / "data" / "here.tif")
    with file_server() as server:
        url = server.serve("pictures/there.tif", pyramid.read_bytes())
        refused = server.serve("pictures/refused.tif", pyramid.read_bytes(), faults=["refused"] * 99)
        unlisted = server.serve("there.tif", pyramid.read_bytes())
        remote = ("--remote-images", f"{server.prefix}pictures/", "--remote-private-hosts", "127.0.0.1")
        with viewing(tmp_path, *remote) as viewer:
            info = viewer.get(url, "info.json").json()
            assert (info["width"], info["height"]) == (2048, 2048)
            there, here = viewer.get(url, REGION), viewer.get("here.tif", REGION)
            assert there.status_code == httpx.codes.OK
            assert np.array_equal(_pixels(there), _pixels(here))
            assert server.sent["/pictures/there.tif"] < 0.5 * pyramid.stat().st_size
            asked = server.requests["/pictures/there.tif"]
            assert viewer.get(url, REGION).content == there.content
            assert server.requests["/pictures/there.tif"] == asked
            statuses = {name: viewer.get(name, "info.json") for name in (f"{url}x", refused, unlisted)}
            assert [each.status_code for each in statuses.values()] == [404, 502, 404]
            assert "GIGAVQA_REMOTE_IMAGES" in statuses[unlisted].text
            assert str(tmp_path) not in "".join(each.text for each in statuses.values())


def _pixels(reply: httpx.Response) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(reply.content)))
