"""Names, regions, sizes and addresses of any length and shape are refused at every door, soon and in few words."""

import re
import time
from collections.abc import Callable
from itertools import product
from typing import NamedTuple
from urllib.parse import quote

import httpx
import pytest

from tests.service.datasets import NAME
from tests.service.gateways import MODEL, RunningGateway
from tests.service.openai.pictures import asking
from tests.service.openai.workers import RunningWorker

IMAGE = f"{NAME}/images/plaza-0.png"
CODED = quote(IMAGE, safe="")
_LONG = 300_000
_IN_A_PATH = 20_000
_SECONDS = 6.0
_MOST_SAID = 20_000

ODD = {
    "many folders": "a/" * _LONG,
    "many parents": "../" * _LONG,
    "many dots": "./" * _LONG,
    "one long part": "a" * _LONG,
    "digits": "9" * _LONG,
    "a few thousand digits": "9" * 5000,
    "as many digits as no float holds": "9" * 400,
    "regions of digits": ",".join(["9" * 5000] * 4),
    "percents of digits": "pct:" + ",".join(["9" * 400] * 4),
    "a percent of digits": "pct:" + "9" * 400,
    "a least size": "!" + "9" * 5000 + "," + "9" * 5000,
    "longest": "longest:" + "9" * 5000,
    "fit": "fit:" + ":".join(["9" * 5000] * 3),
    "points": "1." * _LONG,
    "commas": "," * _LONG,
    "colons": ":" * _LONG,
    "escapes": "%" * _LONG,
    "ampersands": "region=&" * _LONG,
    "a bracket": "[",
    "a bracket that does not close": "[::1",
    "a port that is none": "a:99999999999999999999",
    "other digits": "٣,٣,٣,٣",
    "control characters": "\x00\x01\x1b[2J\u202e\u2028",
    "nothing": "",
    "a blank": " ",
}


class Door(NamedTuple):
    """A way in for a text: how it is sent, and how much of it can be."""

    send: Callable[[httpx.Client, str], httpx.Response]
    most: int = _LONG * 8


def chat(fields: Callable[[str], dict[str, object]]) -> Door:
    """A chat with fields made of the text."""
    plain = {"model": MODEL, "messages": asking(), "max_tokens": 2}
    return Door(lambda client, text: client.post("/v1/chat/completions", json=plain | fields(text)))


def shown(url: Callable[[str, str], str]) -> Door:
    """A chat about a picture at an address that holds the text; the gateway's own address is known."""

    def send(client: httpx.Client, text: str) -> httpx.Response:
        messages = asking(url(str(client.base_url).rstrip("/"), text))
        return client.post("/v1/chat/completions", json={"model": MODEL, "messages": messages, "max_tokens": 2})

    return Door(send)


def file(file_id: str) -> dict[str, object]:
    """A part that shows a file."""
    return {"type": "file", "file": {"file_id": file_id}}


def job(**fields: Callable[[str], object]) -> Door:
    """A job with fields made of the text."""
    plain = {"dataset": NAME, "models": [MODEL], "cells": [{"protocol": "S0", "condition": "V2"}]}
    return Door(
        lambda client, text: client.post("/v1/jobs", json=plain | {name: of(text) for name, of in fields.items()})
    )


def path(before: str, behind: str = "") -> Door:
    """A path that holds the text, percent-encoded."""
    return Door(lambda client, text: client.get(before + quote(text, safe="") + behind), _IN_A_PATH)


DOORS = {
    "a picture's name": shown(lambda _, text: f"gigavqa:{text}"),
    "a name below a data set": shown(lambda _, text: f"gigavqa:{NAME}/{text}"),
    "a region": shown(lambda _, text: f"gigavqa:{IMAGE}?region={quote(text)}x"),
    "a region of four": shown(lambda _, text: f"gigavqa:{IMAGE}?region={quote(text)},1,1,1"),
    "a sizing": shown(lambda _, text: f"gigavqa:{IMAGE}?sizing={quote(text)}x"),
    "a query": shown(lambda _, text: f"gigavqa:{IMAGE}?{text}&x"),
    "a condition": shown(lambda _, text: f"gigavqa:{IMAGE}?condition={quote(text)}x"),
    "an IIIF name": shown(lambda own, text: f"{own}/iiif/{quote(text, '')}/full/max/0/default.jpg"),
    "an IIIF region": shown(lambda own, text: f"{own}/iiif/{CODED}/{quote(text, '')}/max/0/default.jpg"),
    "an IIIF size": shown(lambda own, text: f"{own}/iiif/{CODED}/full/{quote(text, '')},/0/default.jpg"),
    "an IIIF rotation": shown(lambda own, text: f"{own}/iiif/{CODED}/full/max/{quote(text, '')}x/default.jpg"),
    "an address": shown(lambda _, text: f"http://{text}/x.png"),
    "an address of another scheme": shown(lambda _, text: f"{text}://x"),
    "a data URL": shown(lambda _, text: f"data:image/png;base64,{text}"),
    "a file's id": chat(lambda text: {"messages": [{"role": "user", "content": [file(text)]}]}),
    "a chat's model": chat(lambda text: {"model": text + "x"}),
    "a job's data set": job(dataset=lambda text: text + "x"),
    "a job's model": job(models=lambda text: [text + "x"]),
    "a job's plan": job(plan=lambda text: text + "x", cells=lambda _: []),
    "a job's sample": job(samples=lambda text: [text + "x"]),
    "a job's option": job(options=lambda text: {"thumbnail": text + "x"}),
    "a job's cell": job(cells=lambda text: [{"protocol": text + "x", "condition": "V2"}]),
    "a job's seed": job(seed=lambda text: text + "x"),
    "a data set's path": path("/v1/datasets/", "/samples"),
    "a sample's path": path(f"/v1/datasets/{NAME}/samples/x"),
    "a file's path": path("/v1/files/x"),
    "a job's path": path("/v1/jobs/x", "/results"),
    "a cursor": path("/v1/jobs?after=x"),
    "an origin": Door(
        lambda client, text: client.post(
            "/v1/jobs", json={}, headers={"Origin": b"http://" + re.sub(rb"[^!-~]", b"?", text.encode())}
        ),
        _IN_A_PATH,
    ),
}  # fmt: skip


@pytest.mark.slow
def test_an_odd_text_is_refused_soon_at_every_door(gateway: RunningGateway, worker: RunningWorker) -> None:
    """With a status that blames the client, within a bound of time, and without repeating the text whole."""
    wrong = []
    for (door, way), (kind, text) in product(DOORS.items(), ODD.items()):
        began = time.monotonic()
        answer = way.send(gateway.client, text[: way.most])
        took, said = time.monotonic() - began, answer.text
        if not 400 <= answer.status_code < 500 or took > _SECONDS or len(said) > _MOST_SAID:
            wrong.append((door, kind, answer.status_code, round(took, 1), len(said), said[:200]))
    assert wrong == []
    assert worker.renders == 0


def test_an_odd_address_of_a_webhook_is_refused(gateway: RunningGateway) -> None:
    """Before it is kept, since whoever calls it later has nobody to tell."""
    job_id, secret = gateway.submit().json()["id"], "whsec_" + "A" * 32
    kept = []
    for text in ODD.values():
        for url in (f"http://{text}/", f"http://[{text}/", f"http://127.0.0.1:1{text}x/", f"http://x\x01{text}"):
            answer = gateway.client.put(f"/v1/jobs/{job_id}/webhook", json={"url": url[:1990], "secret": secret})
            if answer.status_code != 422:
                kept.append((url[:80], answer.status_code, answer.text[:300]))
    assert kept == []
