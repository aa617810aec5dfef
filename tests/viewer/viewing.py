"""A viewer as a process of its own, which has imported before it begins, and the pictures that it shows."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import httpx
from prometheus_client.parser import text_string_to_metric_families

from gigavqa.launcher.preflight import free_port
from tests.waiting import wait_until
from tests.warm import WarmProgram, warm_process


@dataclass(frozen=True)
class Viewing:
    """A viewer that runs; `home` is its installation."""

    url: str
    home: Path
    http: httpx.Client
    process: WarmProgram

    def address(self, name: str, wish: str = "") -> str:
        """The address of a picture, or of what is wished of it."""
        return f"{self.url}/iiif/3/{quote(name, safe='')}{wish and f'/{wish}'}"

    def get(self, name: str, wish: str = "", **headers: str) -> httpx.Response:
        """Ask for a picture, or for what is wished of it."""
        return self.http.get(self.address(name, wish), headers=headers)

    def count(self, metric: str) -> float:
        """The number that a metric without labels has now."""
        families = text_string_to_metric_families(self.http.get(f"{self.url}/metrics").text)
        name = f"gigavqa_viewer_{metric}"
        return next(one.value for family in families for one in family.samples if one.name in {name, f"{name}_total"})


@contextmanager
def viewing(home: Path, *arguments: str) -> Iterator[Viewing]:
    """Run a viewer over the data root of `home`; it ends with the block."""
    port = free_port("127.0.0.1")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIGAVQA_")}
    options = ["--home", str(home), "--port", str(port), *arguments]
    with (home / "viewer.log").open("ab") as log:
        process = warm_process().start("gigavqa.viewer", options, clean, 2, log.fileno())
    url = f"http://127.0.0.1:{port}"
    try:
        with httpx.Client(timeout=60) as http:
            wait_until(lambda: _answers(http, url, process), timeout=60, what="the viewer")
            yield Viewing(url, home, http, process)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)


def _answers(http: httpx.Client, url: str, process: WarmProgram) -> bool:
    assert process.poll() is None, "the viewer ended; its log stands in its home"
    try:
        return http.get(f"{url}/healthz").is_success
    except httpx.TransportError:
        return False
