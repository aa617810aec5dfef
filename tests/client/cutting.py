"""A proxy in front of a gateway that cuts every connection after a number of bytes."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit


@contextmanager
def cutting_proxy(url: str, *, after: int) -> Iterator[tuple[str, Callable[[], int]]]:
    """Give the proxy's address and what counts its cuts; no connection brings more than `after` bytes of answers."""
    gateway, cuts = urlsplit(url), 0
    loop = asyncio.new_event_loop()
    started, stop = threading.Event(), asyncio.Event()
    address: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal cuts
        from_gateway, to_gateway = await asyncio.open_connection(gateway.hostname, gateway.port)
        asking = asyncio.ensure_future(_pass_on(reader, to_gateway, None))
        was_cut = await _pass_on(from_gateway, writer, after)
        cuts += was_cut
        asking.cancel()
        for one in (writer, to_gateway):
            one.close()

    async def run() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        address.append(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        started.set()
        await stop.wait()
        server.close()

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),), name="cutting proxy")
    thread.start()
    started.wait(60)
    try:
        yield address[0], lambda: cuts
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(60)


async def _pass_on(source: asyncio.StreamReader, target: asyncio.StreamWriter, most: int | None) -> bool:
    """Pass bytes on; True when there were more than `most`."""
    passed = 0
    while chunk := await source.read(1000):
        passed += len(chunk)
        if most is not None and passed > most:
            return True
        target.write(chunk)
        await target.drain()
    return False
