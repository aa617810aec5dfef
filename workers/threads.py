"""Calls that may take minutes, in threads that nobody has to wait for."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future


def in_daemon_thread(call: Callable[[], None]) -> "asyncio.Future[None]":
    """Run `call` in a thread of its own; a worker that ends meanwhile does not wait for it, as an executor would."""
    future: Future[None] = Future()
    future.set_running_or_notify_cancel()  # cancelling the awaiter cannot stop the thread

    def run() -> None:
        try:
            call()
        except BaseException as error:  # noqa: BLE001 - handed to whoever awaits
            future.set_exception(error)
        else:
            future.set_result(None)

    threading.Thread(target=run, name=getattr(call, "__name__", "call"), daemon=True).start()
    return asyncio.wrap_future(future)
