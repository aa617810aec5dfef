"""Two tenants with OpenAI's own client: files, batches and the pictures of chats are each one's own."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import openai
import pytest
from redis import Redis

from gigavqa.service.settings import GatewaySettings
from gigavqa.store.api_keys import Role
from gigavqa.store.redis_keys import KEYS
from tests.service.gateways import MODEL, RunningGateway
from tests.service.openai.pictures import png
from tests.service.openai.test_batches import end_of, lines, read, start_batch
from tests.service.openai.workers import working
from tests.service.tenants import make_key
from tests.waiting import wait_until

CANARY = "canary-7f3e"


class Shared(NamedTuple):
    """A gateway that asks for keys, and makes a client of an owner's with a key of its own."""

    gateway: RunningGateway
    client: Callable[..., openai.OpenAI]


@pytest.fixture
def shared(locked: RunningGateway, settings: GatewaySettings) -> Iterator[Shared]:
    """With a worker on the simulated engine."""
    gateway = locked
    with ExitStack() as stack:
        stack.enter_context(working(settings))

        def client(owner: str, role: Role = "submit", **limits: Any) -> openai.OpenAI:
            key, _ = make_key(gateway.redis_url, owner, role, **limits)
            made = openai.OpenAI(base_url=f"{gateway.url}/v1", api_key=key, max_retries=0, timeout=30)
            return stack.enter_context(made)

        operator = client("root", "operate")
        wait_until(lambda: operator.get("/workers", cast_to=object)["data"], what="the worker")
        yield Shared(gateway, client)


def ask(client: openai.OpenAI, *parts: dict[str, Any], **changes: Any) -> str:
    """Ask about these parts; returns the answer."""
    content: Any = [{"type": "text", "text": "How many?"}, *parts]
    answer = client.chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": content}], max_tokens=4, **changes
    )
    assert answer.choices[0].message.content is not None
    return answer.choices[0].message.content


def test_a_wrong_key_is_an_authentication_error(shared: Shared) -> None:
    """Of the class and with the code that OpenAI's clients know, and a message that says what to do."""
    for key in ("none", "gvq_zzzzzzzz_" + "A" * 43):
        with openai.OpenAI(base_url=f"{shared.gateway.url}/v1", api_key=key, max_retries=0) as client:
            for call in (client.models.list, client.files.list, lambda client=client: ask(client)):
                with pytest.raises(openai.AuthenticationError) as raised:
                    call()
                assert raised.value.code == "invalid_api_key"
                assert "key" in raised.value.message
    with pytest.raises(openai.PermissionDeniedError):
        ask(shared.client("ada", "read"))


@pytest.mark.slow
def test_files_batches_and_pictures_are_their_owners(shared: Shared) -> None:
    """Another's are not found, nor in any list; operators find them, and what a batch wrote is its owner's, too."""
    ada, bob, operator = shared.client("ada"), shared.client("bob"), shared.client("root", "operate")
    picture = ada.files.create(file=(f"{CANARY}.png", png(1)), purpose="vision").id
    shown: dict[str, Any] = {"type": "file", "file": {"file_id": picture}}
    assert ask(ada, shown)
    batch_id = start_batch(ada, lines({"messages": [{"role": "user", "content": [shown]}], "max_tokens": 4}))
    ended = end_of(ada, batch_id)
    assert (ended.status, len(read(ada, ended.output_file_id))) == ("completed", 1)
    files = [picture, ended.input_file_id, ended.output_file_id]
    tried: list[Callable[[openai.OpenAI], object]] = [
        *(lambda client, file=file: client.files.retrieve(file) for file in files),
        *(lambda client, file=file: client.files.content(file) for file in files),
        lambda client: client.batches.retrieve(batch_id),
    ]
    changing: list[Callable[[openai.OpenAI], object]] = [
        lambda client: client.files.delete(picture),
        lambda client: client.batches.cancel(batch_id),
        lambda client: start_from(client, ended.input_file_id),
    ]
    for call in (*tried, *changing):
        with pytest.raises(openai.NotFoundError) as raised:
            call(bob)
        assert CANARY not in str(raised.value.body)
    with pytest.raises(openai.BadRequestError, match=f"there is no file {picture}"):
        ask(bob, shown)
    for listed in (
        bob.files.list(),
        bob.files.list(after=picture),
        bob.batches.list(),
        bob.batches.list(after=batch_id),
    ):
        assert listed.data == []
    for call in tried:
        call(ada)
        call(operator)
    assert {file.id for file in operator.files.list()} == set(files) == {file.id for file in ada.files.list()}
    assert [batch.id for batch in operator.batches.list()] == [batch_id] == [batch.id for batch in ada.batches.list()]
    assert operator.files.delete(picture).deleted
    assert {file.id for file in ada.files.list()} == set(files) - {picture}


def start_from(client: openai.OpenAI, file_id: str) -> object:
    """Start a batch of a file that is there."""
    return client.batches.create(input_file_id=file_id, endpoint="/v1/chat/completions", completion_window="24h")


def test_files_at_once_fill_an_owners_room_exactly(shared: Shared, settings: GatewaySettings) -> None:
    """What was refused leaves no bytes behind; deleting makes room, and another owner's room is another."""
    content, room = b"x" * 1000, 3500
    ada, bob = shared.client("ada", upload_bytes=room), shared.client("bob", upload_bytes=room)

    def upload(_: int) -> bool:
        try:
            ada.files.create(file=("x", content), purpose="user_data")
        except openai.RateLimitError as error:
            assert error.code == "quota_exceeded"
            return False
        return True

    with ThreadPoolExecutor(10) as pool:
        assert sum(pool.map(upload, range(10))) == 3
    assert bob.files.create(file=("x", content), purpose="user_data").bytes == 1000
    assert len(list(Path(settings.uploads, "files").iterdir())) == 4
    ada.files.delete(ada.files.list().data[0].id)
    assert [upload(0), upload(1)] == [True, False]


def once_free(start: Callable[[], str]) -> str:
    """Start a batch as soon as the one before it is no longer counted, a moment after it has ended."""
    started: list[str] = []

    def is_started() -> bool:
        try:
            started.append(start())
        except openai.RateLimitError:
            return False
        return True

    wait_until(is_started, what="room for a batch")
    return started[0]


def test_chats_and_batches_are_counted_for_their_owner(shared: Shared) -> None:
    """In the queue with all that is his; a chat that never fits says so, and nothing is left counted in the end."""
    ada = shared.client("ada", queued_requests=2, waiting_jobs=1)
    assert ask(ada, n=2)
    with pytest.raises(openai.BadRequestError, match="3 answers; ada may have 2"):
        ask(ada, n=3)
    message = {"messages": [{"role": "user", "content": "How many?"}], "max_tokens": 4}
    assert end_of(ada, start_batch(ada, lines(message, message))).status == "completed"
    failed = end_of(ada, once_free(lambda: start_batch(ada, lines(*[message] * 3))))
    assert (failed.status, failed.errors.data[0].code) == ("failed", "too_many_requests")
    with Redis.from_url(shared.gateway.redis_url) as redis:
        wait_until(lambda: not redis.exists(KEYS.queued()), what="the end of all that is counted")
        assert redis.get(KEYS.outstanding()) == b"0"


@pytest.mark.slow
def test_no_tenant_waits_for_batches_of_another(shared: Shared) -> None:
    """However many lines one has to be read; a batch that is cancelled meanwhile ends at once."""
    busy, other = shared.client("busy"), shared.client("other")
    line = lines({"messages": [{"role": "user", "content": "How many?"}]})
    many = b"".join(line.replace(b'"q0"', b'"q%d"' % number) for number in range(40_000))
    long = start_batch(busy, b"\n" * 2_000_000 + many)
    assert end_of(other, start_batch(other, line)).status == "completed"
    assert busy.batches.retrieve(long).status == "validating"
    busy.batches.cancel(long)
    assert end_of(busy, long).status == "cancelled"


def test_a_file_is_deleted_once(shared: Shared) -> None:
    """Whoever comes second is told that it is gone."""
    client = shared.client("a")
    file = client.files.create(file=("a.png", png(1)), purpose="vision").id

    def deleted(_: int) -> bool:
        try:
            return client.files.delete(file).deleted
        except openai.NotFoundError:
            return False

    with ThreadPoolExecutor(12) as pool:
        assert sum(pool.map(deleted, range(24))) == 1
