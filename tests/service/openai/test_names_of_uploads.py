"""What clients write is never the name of an upload: whoever learns one sees nothing by it, not even whether it is."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from urllib.parse import quote, unquote

import httpx
import openai
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as bounds
from hypothesis import strategies as st

from gigavqa.service.settings import GatewaySettings
from tests.service.gateways import MODEL, RunningGateway
from tests.service.openai.pictures import asking, data_url, png
from tests.service.openai.test_batches import end_of, lines, read, start_batch
from tests.service.openai.workers import folder_of_uploads, working
from tests.service.tenants import Tenant
from tests.waiting import wait_until


class Leak:
    """A picture of Ada's that Bob knows every name of, and who he is."""

    def __init__(self, gateway: RunningGateway, uploads: GatewaySettings) -> None:
        self.gateway = gateway
        self.ada, self.bob = (Tenant(gateway, owner, requests_a_minute=None) for owner in ("ada", "bob"))
        sent = self.ada.post("/v1/files", data={"purpose": "vision"}, files={"file": ("a.png", png(1))})
        self.file = sent.json()["id"]
        assert self.shows(self.ada, {"type": "file", "file": {"file_id": self.file}}).status_code == 200
        assert self.shows(self.ada, picture(data_url(png(2)))).status_code == 200
        (kept,) = folder_of_uploads(uploads)
        self.digest = f"sha256/{kept.parent.name}/{kept.name}"

    def shows(self, tenant: Tenant, part: dict[str, object]) -> httpx.Response:
        """Ask about one picture."""
        messages = [{"role": "user", "content": [part, {"type": "text", "text": "What is it?"}]}]
        return tenant.post("/v1/chat/completions", json={"model": MODEL, "messages": messages, "max_tokens": 2})


def picture(url: str) -> dict[str, object]:
    """A part that shows what is at an address."""
    return {"type": "image_url", "image_url": {"url": url}}


@pytest.fixture
def leak(locked: RunningGateway, settings: GatewaySettings) -> Iterator[Leak]:
    """A gateway that asks for keys, a worker, and what has leaked."""
    gateway = locked
    with ExitStack() as stack:
        stack.enter_context(working(settings))
        operator = stack.enter_context(Tenant(gateway, "root", "operate"))
        wait_until(lambda: operator.get("/v1/workers").json()["data"], what="the worker")
        found = Leak(gateway, settings)
        for tenant in (found.ada, found.bob):
            stack.callback(tenant.close)
        yield found


def twice(text: str) -> str:
    """Percent-encoded, and that once more."""
    return quote(quote(text, safe=""), safe="")


@st.composite
def spelt(draw: st.DrawFn) -> Callable[[str], str]:
    """A way to spell a name: prefixes, case, and any number of its characters percent-encoded, once or twice."""
    before = draw(st.sampled_from(["", "./", "/", "//", " ", "%20", "town/../", "%2e/"]))
    cased = draw(st.sampled_from([str, str.upper, str.title]))
    coded = draw(
        st.sampled_from([str, lambda name: quote(name, safe=""), twice, lambda name: name.replace(":", "%3A")])
    )
    return lambda name: before + coded(cased("upload:") + name)


@bounds(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(way=spelt(), by_address=st.booleans())
def test_no_spelling_of_an_uploads_name_shows_it(leak: Leak, way: Callable[[str], str], by_address: bool) -> None:
    """To another owner or its own, by the scheme or by an IIIF address; what exists is refused as what does not."""
    told = set()
    for name in (f"files/{leak.file}", "files/file-" + "0" * 24, leak.digest, "sha256/00/" + "0" * 64):
        spelling = way(name)
        coded = quote(spelling, safe="%")
        address = f"{leak.gateway.url}/iiif/{coded}/full/max/0/default.jpg"
        for tenant in (leak.bob, leak.ada):
            answer = leak.shows(tenant, picture(address if by_address else f"gigavqa:{spelling}"))
            assert answer.status_code == 400, answer.text
            message = answer.json()["error"]["message"]
            plain = unquote(unquote(message)).casefold()
            told.add(plain.replace(name.casefold(), "NAME"))
    assert len(told) == 1, told


def test_a_batch_is_no_way_around_it(leak: Leak) -> None:
    """Its lines are read as chats are."""
    body = {"messages": asking(f"gigavqa:upload:files/{leak.file}", f"gigavqa:upload:{leak.digest}")}
    key = leak.bob.headers["authorization"].removeprefix("Bearer ")
    with openai.OpenAI(base_url=f"{leak.gateway.url}/v1", api_key=key, max_retries=0) as client:
        ended = end_of(client, start_batch(client, lines(body)))
        assert (ended.request_counts.completed, ended.request_counts.failed) == (0, 1)
        (refused,) = read(client, ended.error_file_id).values()
    assert "upload" in refused["response"]["body"]["error"]["message"]
