"""Clients that read results: one that reads gets all of them, and those that read nothing hold next to nothing."""

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gigavqa.service.results.readers import ResultReaders
from gigavqa.service.settings import GatewaySettings
from gigavqa.store.results import PAGE
from tests.service.datasets import record, write_dataset
from tests.service.gateways import RunningGateway
from tests.service.workers import play
from tests.waiting import wait_until

RESPONSE = 100_000
"""Bytes of each response's text."""
SOCKETS = 30


@contextmanager
def not_reading(gateway: RunningGateway, path: str) -> Iterator[None]:
    """Ask for results on a connection with room for little, and read nothing of the answer."""
    host, port = gateway.url.removeprefix("http://").split(":")
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect((host, int(port)))
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        yield


@pytest.mark.slow
def test_sockets_that_read_nothing_hold_little_and_keep_nobody_from_reading(
    start: Callable[..., RunningGateway], settings: GatewaySettings
) -> None:
    """Two responses each at most, when all together hold as much as they may; it is let go of as soon as they are."""
    write_dataset(settings.data, [record(number) for number in range(100)])
    gateway = start()
    readers = gateway.app.state.parts[ResultReaders] = ResultReaders(most_bytes=1 << 20)
    job_id = gateway.submit().json()["id"]
    play(gateway.redis_url, lambda request: f"{request.id} " + "x" * RESPONSE)
    path, most = f"/v1/jobs/{job_id}/results", 0
    held = [not_reading(gateway, path) for _ in range(SOCKETS)]
    for each in held:
        each.__enter__()
    wait_until(lambda: readers.is_full, what="sockets that hold all that they may")
    for _ in range(3):
        found = [json.loads(line)["request_id"] for line in gateway.client.get(path).content.splitlines()]
        assert len(found) == len(set(found)) == 100
        assert gateway.client.get("/readyz").status_code == 200
        most = max(most, readers.unread)
    assert most <= (1 << 20) + SOCKETS * 2 * (RESPONSE + 2000)
    for each in held:
        each.__exit__(None, None, None)
    wait_until(lambda: readers.unread == 0, what="the room of those that left")


@given(sizes=st.lists(st.integers(0, 500_000), max_size=8), most=st.integers(0, 2_000_000))
def test_a_page_comes_whole_in_pieces_and_the_next_is_as_long_as_pages_may_be(sizes: list[int], most: int) -> None:
    """Whatever responses are long: pieces join to the page, rows lie within bounds, and nothing stays counted."""
    readers = ResultReaders(most)
    with readers.reader() as reader:
        for size in sizes:
            rows = reader.rows
            page = bytes(size)
            pieces = reader.pieces(page, rows)
            first = next(pieces, b"")
            assert readers.unread == size
            assert reader.rows == 1 or not readers.is_full
            assert first + b"".join(pieces) == page
            assert 1 <= reader.rows <= min(PAGE, 2 * max(rows, reader.rows))
            assert readers.unread == 0
