"""Pictures of chats: sent, uploaded or named; each stored, rendered and encoded once, and refused by name."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import openai
import pytest

from gigavqa.service.settings import GatewaySettings
from tests.service.datasets import NAME
from tests.service.gateways import MODEL, RunningGateway
from tests.service.openai.pictures import asking, data_url, deep, png, twin
from tests.service.openai.workers import RunningWorker, folder_of_uploads
from tests.tiling.earth import write_geotiff

IMAGE = f"{NAME}/images/plaza-0.png"


def ask(client: openai.OpenAI, *urls: str, **asked: Any) -> Any:
    """Ask about pictures."""
    return client.chat.completions.create(model=MODEL, messages=asking(*urls), **asked)


def test_a_picture_sent_ten_times_is_stored_rendered_and_encoded_once(
    client: openai.OpenAI, worker: RunningWorker, settings: GatewaySettings
) -> None:
    """In one body and in several, beside another picture."""
    first, second = data_url(png(1)), data_url(png(2))
    for number in range(5):
        answer = ask(client, first, second, first, seed=number)
        assert answer.usage.prompt_tokens > 200
    assert len(folder_of_uploads(settings)) == 2
    assert worker.renders == 2
    assert worker.encoder_runs == 2


def test_an_uploaded_file_is_the_same_picture_as_one_in_the_body(
    client: openai.OpenAI, worker: RunningWorker, settings: GatewaySettings
) -> None:
    """Whichever way it comes, it is rendered once; and it is asked about by its id."""
    file = client.files.create(file=("land.png", png(3)), purpose="vision")
    asked = [
        {"role": "user", "content": [{"type": "file", "file": {"file_id": file.id}}, {"type": "text", "text": "?"}]}
    ]
    by_id = client.chat.completions.create(model=MODEL, messages=asked, seed=1)
    in_body = client.chat.completions.create(model=MODEL, messages=asking(data_url(png(3)), text="?"), seed=1)
    assert by_id.choices[0].message.content == in_body.choices[0].message.content
    assert by_id.usage.prompt_tokens == in_body.usage.prompt_tokens
    assert worker.renders == 1


def test_a_place_of_a_georeferenced_file_is_its_pixels(
    client: openai.OpenAI, worker: RunningWorker, tmp_path: Path
) -> None:
    """Rendered once for both names; and one outside is refused with what the image spans."""
    file = client.files.create(file=write_geotiff(tmp_path / "scene.tif"), purpose="vision")
    for region in ("projected:450100,5799500,450300,5799900", "10,10,20,40"):
        assert ask(client, f"gigavqa:{file.id}?region={region}").usage.prompt_tokens > 20
    assert worker.renders == 1
    with pytest.raises(openai.BadRequestError, match="outside the image, which spans lonlat:14"):
        ask(client, f"gigavqa:{file.id}?region=lonlat:1,2,3,4")


def test_a_file_of_16_bits_is_shown_as_a_chat_declares(client: openai.OpenAI, worker: RunningWorker) -> None:
    """One that it cannot be shown by is refused by name."""
    file = client.files.create(file=("deep.tif", deep()), purpose="vision")
    assert ask(client, f"gigavqa:{file.id}?show=stretch%3Dminmax").usage.prompt_tokens > 50
    assert worker.renders == 1
    for show, told in (("bands=4", "asks for band 4"), ("contrast=2", "'contrast' is none of bands")):
        with pytest.raises(openai.BadRequestError, match=told):
            ask(client, f"gigavqa:{file.id}?show={show}")


def test_a_region_of_an_uploaded_file_is_named_as_one_of_a_data_set_is(
    client: openai.OpenAI, worker: RunningWorker
) -> None:
    """It is what the file shows there, and is checked as any other region."""
    file = client.files.create(file=("land.png", png(3)), purpose="vision")
    whole, part = ask(client, f"gigavqa:{file.id}"), ask(client, f"gigavqa:{file.id}?region=pct:0,0,50,50")
    assert worker.renders == 2
    assert part.usage.prompt_tokens < whole.usage.prompt_tokens
    with pytest.raises(openai.BadRequestError, match="reaches outside"):
        ask(client, f"gigavqa:{file.id}?region=9000,0,1,1")
    with pytest.raises(openai.BadRequestError, match="there is no file"):
        ask(client, "gigavqa:file-none?region=0,0,1,1")


def test_what_a_power_cut_left_of_a_picture_is_replaced_when_it_comes_again(
    client: openai.OpenAI, worker: RunningWorker, settings: GatewaySettings
) -> None:
    """A file of another length is not what its name says."""
    ask(client, data_url(png(1)))
    (kept,) = folder_of_uploads(settings)
    kept.write_bytes(b"")
    ask(client, data_url(png(1)))
    assert kept.read_bytes() == png(1)


@pytest.mark.parametrize("way", ["in a body", "as a file"])
def test_twins_that_differ_in_one_tile_are_four_pictures(
    client: openai.OpenAI, worker: RunningWorker, way: str
) -> None:
    """Of equal size, in uncompressed tiles: each is rendered and encoded, and none is another's answer."""
    twins = [twin(grey) for grey in (10, 20, 30, 40)]
    assert len({len(each) for each in twins}) == 1
    for each in twins:
        if way == "in a body":
            ask(client, data_url(each), seed=1)
        else:
            file = client.files.create(file=("twin.tif", each), purpose="vision")
            shown = [{"type": "file", "file": {"file_id": file.id}}, {"type": "text", "text": "?"}]
            client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": shown}], seed=1)
    assert (worker.renders, worker.encoder_runs) == (4, 4)


def test_a_picture_of_a_data_set_is_shown_by_its_name_and_by_its_iiif_address(
    client: openai.OpenAI, worker: RunningWorker, gateway: RunningGateway
) -> None:
    """One region of it, named in both ways, is rendered once, and nothing is uploaded."""
    named = f"gigavqa:{IMAGE}?region=pct:0,0,50,50"
    address = f"{gateway.url}/iiif/{IMAGE.replace('/', '%2F')}/pct:0,0,50,50/max/0/default.jpg"
    viewer = f"http://127.0.0.1:8471/iiif/{IMAGE.replace('/', '%2F')}/pct:0,0,50,50/max/0/default.jpg"
    texts = {ask(client, url, seed=1).choices[0].message.content for url in (named, address, viewer)}
    assert len(texts) == 1
    assert worker.renders == 1
    assert folder_of_uploads(gateway.settings) == []


@pytest.mark.parametrize(
    ("url", "told"),
    [
        (f"gigavqa:{NAME}/images/none.png", "does not exist"),
        (f"gigavqa:{IMAGE}?region=9000,0,1,1", "reaches outside"),
        (f"gigavqa:{IMAGE}?rotate=90", "says rotate"),
        (f"gigavqa:{IMAGE}?condition=V3", "condition V3"),
        ("gigavqa:../secret.png", "not a relative path"),
        ("data:image/png;base64,AAAA", "image format"),
        ("data:image/png;base64,!!!!", "is not base64"),
        ("http://example.org/x.png", "GIGAVQA_IMAGE_HOSTS"),
        ("file:///etc/passwd", "is no picture"),
        ("upload:sha256/aa/bb", "is no picture"),
    ],
)
def test_a_picture_that_cannot_be_shown_is_refused_where_it_stands(
    client: openai.OpenAI, worker: RunningWorker, url: str, told: str
) -> None:
    """The message says what is wrong, and `param` where; the worker never hears of it."""
    with pytest.raises(openai.BadRequestError) as raised:
        ask(client, url)
    assert told in raised.value.message
    assert str(raised.value.param).startswith("messages")
    assert worker.renders == 0


def test_a_display_of_an_iiif_address_is_that_of_a_name(
    client: openai.OpenAI, worker: RunningWorker, gateway: RunningGateway
) -> None:
    """As the viewer shows it at the same address: one raster, under one canonical form."""
    (gateway.settings.data / NAME / "images/deep.tif").write_bytes(deep())
    name = f"{NAME}/images/deep.tif"
    named = f"gigavqa:{name}?show=stretch%3Dminmax%3Bgamma%3D1.4"
    address = f"{gateway.url}/iiif/{name.replace('/', '%2F')}/full/max/0/default.jpg"
    texts = {
        ask(client, url, seed=1).choices[0].message.content
        for url in (named, f"{address}?show=gamma%3D1.40+stretch%3Dminmax")
    }
    assert (len(texts), worker.renders) == (1, 1)
    with pytest.raises(openai.BadRequestError, match="show: 'strech' is none of bands"):
        ask(client, f"{address}?show=strech%3Dminmax")


@pytest.mark.parametrize("way", ["data", "file", "name", "iiif"])
def test_a_picture_of_16_bits_is_refused_by_whatever_way_it_comes(
    client: openai.OpenAI, worker: RunningWorker, gateway: RunningGateway, way: str
) -> None:
    """With what it is and what helps, and without a word of where it lies; the worker never hears of it."""
    (gateway.settings.data / NAME / "images/deep.tif").write_bytes(deep())
    name = f"{NAME}/images/deep.tif"
    urls = {
        "data": data_url(deep()),
        "name": f"gigavqa:{name}",
        "iiif": f"{gateway.url}/iiif/{name.replace('/', '%2F')}/full/max/0/default.jpg",
    }
    shown: dict[str, Any] = {"type": "image_url", "image_url": {"url": urls.get(way)}}
    if way == "file":
        kept = client.files.create(file=("deep.tif", deep()), purpose="user_data")
        shown = {"type": "file", "file": {"file_id": kept.id}}
    with pytest.raises(openai.BadRequestError, match=r"has 16 bits a sample, 1 band; .* `gigavqa show ") as raised:
        client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": [shown]}])
    assert str(gateway.settings.data.parent) not in raised.value.message
    assert worker.renders == 0


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        (
            "notes.txt",
            b"no picture at all",
            "notes.txt: the first bytes are those of no image format; models are shown",
        ),
        ("none.png", b"", "none.png: the file is empty"),
        ("cat.gif", b"GIF89a" + bytes(20), "cat.gif: GIF files are not served"),
        ('a"b.png', b"", 'a"b.png: the file is empty'),
    ],
)
def test_a_file_that_no_model_can_be_shown_is_refused_as_it_arrives(
    gateway: RunningGateway, name: str, content: bytes, told: str
) -> None:
    """By its own name, before anybody takes it for a picture that is ready; nothing of it is kept."""
    answer = gateway.client.post("/v1/files", data={"purpose": "vision"}, files={"file": (name, content)})
    assert answer.status_code == 400
    assert told in answer.json()["error"]["message"]
    assert gateway.client.get("/v1/files").json()["data"] == []
    assert [path for path in (gateway.settings.uploads / "files").iterdir() if path.is_file()] == []


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("way", ["data", "file", "region"])
def test_errors_of_pictures_call_them_as_whoever_sent_them_does(client: openai.OpenAI, way: str) -> None:
    """Of pixels that end too early as of a region that is not there: no name of the store, and no class of an error."""
    broken = png(1, (400, 400))
    broken = broken[: len(broken) // 2]
    kept = client.files.create(file=("broken.png", broken), purpose="vision").id
    url, name, told = {
        "data": (data_url(broken), "the picture", "its pixels cannot be read: save the picture anew"),
        "file": (f"gigavqa:{kept}", kept, "its pixels cannot be read: save the picture anew"),
        "region": (f"gigavqa:{kept}?region=5000,0,9,9", kept, "reaches outside an image of 400x400"),
    }[way]
    with pytest.raises(openai.BadRequestError) as raised:
        client.chat.completions.create(model=MODEL, messages=asking(url))
    message = raised.value.message
    assert name in message and told in message
    assert "upload:" not in message and "UnreadableError" not in message


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "[::1]", "[::ffff:10.0.0.1]", "localhost"]
)
def test_an_address_inside_of_a_network_is_never_fetched_from(
    start: Callable[..., RunningGateway], address: str
) -> None:
    """Not even where the operator lists it."""
    gateway = start(image_hosts=(address.strip("[]"),))
    body = {"model": MODEL, "messages": asking(f"http://{address}/x.png")}
    answer = gateway.client.post("/v1/chat/completions", json=body)
    assert answer.status_code == 400
    assert "inside of a network" in answer.json()["error"]["message"]


def test_a_body_beyond_its_bound_is_refused_with_limit_and_size(start: Callable[..., RunningGateway]) -> None:
    """The bound of chats is their own, and so is that of what is not a picture."""
    gateway = start(max_chat_bytes=200_000, max_body_bytes=5_000)
    asked = {"model": MODEL, "messages": asking(data_url(png(1, (400, 400))))}
    answer = gateway.client.post("/v1/chat/completions", json=asked)
    assert answer.status_code == 413
    assert "200000" in answer.json()["error"]["message"]
    text = {"model": MODEL, "messages": asking(text="word " * 2000)}
    answer = gateway.client.post("/v1/chat/completions", json=text)
    assert answer.status_code == 413
    assert "5000 bytes without its pictures" in answer.json()["error"]["message"]


def test_one_file_of_a_slide_of_several_is_refused_by_its_name(client: openai.OpenAI) -> None:
    """A `.mrxs` begins like the small JPEG that it also is, which nobody means."""
    for name in ("slide.mrxs", "0.DCM", "slide.vms"):
        with pytest.raises(openai.BadRequestError, match=f"{name}: is one file of a slide that has several"):
            client.files.create(file=(name, png(3)), purpose="vision")
