"""An installation of real processes and the real Prometheus that watches it by the files of deploy/prometheus."""

import re
import subprocess
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx

from gigavqa.launcher.preflight import free_port
from tests.flow.installation import Installation, Program
from tests.flow.jobs import MODEL
from tests.flow.pictures import draw_dataset
from tests.waiting import wait_until
from tests.watching.exporter import Exporter, serving
from tests.watching.programs import DEPLOY, program

WINDOW_SECONDS = 20
"""The shortest window: a rate needs several scrapes."""

_SCRAPE_SECONDS = 3
"""Longer than the gateway waits for a server that is away: a scrape may take no longer than this."""

_SINK_SECONDS = 90
"""What fills no part waits for a minute, though all is well."""

_SETTINGS = {"GIGAVQA_TRIM_SECONDS": "1", "GIGAVQA_LOG_FORMAT": "json"}


def in_seconds(rules: str, minute: float) -> str:
    """The rules with minutes of `minute` seconds: windows, `for`, and ages that are compared; 60 changes nothing."""
    if minute == 60:
        return rules
    scaled = re.sub(r"\bfor: (\d+)m", lambda m: f"for: {max(1, round(int(m[1]) * minute))}s", rules)
    scaled = re.sub(r"\[(\d+)m\]", lambda m: f"[{max(WINDOW_SECONDS, round(int(m[1]) * minute))}s]", scaled)
    return re.sub(r"(\w+_seconds(?::max)?(?:\{[^}]*\})?\)?) > (\d+)", lambda m: _age(m[1], int(m[2]), minute), scaled)


def _age(of: str, seconds: int, minute: float) -> str:
    least = _SINK_SECONDS if "unsunk" in of and seconds > 300 else 3
    return f"{of} > {max(least, round(seconds * minute / 60))}"


class Watched:
    """Two workers that take their time, and Prometheus, which reads of GPUs; its minutes have `minute` seconds."""

    def __init__(self, folder: Path, *, minute: float, settings: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.minute = minute
        self.installation = Installation(folder / "home", {**_SETTINGS, **(settings or {})})
        self.workers: list[subprocess.Popen[bytes]] = []
        self._port = free_port("127.0.0.1")
        self._prometheus: subprocess.Popen[bytes] | None = None
        self._open = ExitStack()
        self.exporter: Exporter

    @property
    def url(self) -> str:
        """Address of the gateway."""
        return self.installation.url

    def start(self) -> None:
        """Start everything, and wait until the gateway knows the workers."""
        draw_dataset(self.folder / "home" / "data" / "plazas", images=2, questions=40)
        self.installation.start_server()
        self.gateway = self.installation.start_gateway()
        self.workers = [self.start_worker(MODEL) for _ in range(2)]
        self.exporter = self._open.enter_context(serving())
        self._write_rules()
        command = [program("prometheus"), f"--config.file={self.folder / 'prometheus.yml'}"]
        command += [f"--storage.tsdb.path={self.folder / 'tsdb'}", f"--web.listen-address=127.0.0.1:{self._port}"]
        with (self.folder / "prometheus.log").open("wb") as log:
            self._prometheus = subprocess.Popen(command, stdout=log, stderr=log)
        wait_until(lambda: len(httpx.get(f"{self.url}/v1/workers", timeout=10).json()["data"]) == 2, timeout=90)

    def start_worker(self, model: str, *arguments: str, within: tuple[str, ...] = ()) -> Program:
        """Start a worker with short leases."""
        named = ("--model", model, "--engine", "simulated", "--lease", "2", "--grace", "1")
        return self.installation.start_worker(*named, *arguments, within=within)

    def stop(self) -> None:
        """End everything."""
        if self._prometheus is not None:
            self._prometheus.terminate()
            self._prometheus.wait(timeout=30)
        self._open.close()
        self.installation.stop()

    def ask(self, query: str) -> list[dict[str, Any]]:
        """What Prometheus answers; nothing while it starts."""
        try:
            answer = httpx.get(f"http://127.0.0.1:{self._port}/api/v1/query", params={"query": query}, timeout=10)
        except httpx.TransportError:
            return []
        if answer.status_code == httpx.codes.SERVICE_UNAVAILABLE:
            return []
        assert answer.status_code == httpx.codes.OK, (query, answer.text)
        found: list[dict[str, Any]] = answer.json()["data"]["result"]
        return found

    def fires(self, alert: str, labels: str = "") -> bool:
        """Whether an alert fires, of series with such labels: `model="m"`."""
        return bool(self.ask(f'ALERTS{{alertname="{alert}",alertstate="firing",{labels}}}'))

    def firing(self) -> set[str]:
        """Names of the alerts that fire."""
        return {found["metric"]["alertname"] for found in self.ask('ALERTS{alertstate="firing"}')}

    def until_fired(self, alert: str, labels: str = "", timeout: float = 120) -> None:
        """Wait until an alert fires."""
        wait_until(lambda: self.fires(alert, labels), timeout=timeout, what=alert)

    def _write_rules(self) -> None:
        for name in ("prometheus.yml", "recording.yml", "alerts.yml"):
            text = (DEPLOY / "prometheus" / name).read_text(encoding="utf-8")
            text = text.replace("127.0.0.1:8470", f"127.0.0.1:{self.installation.port}")
            text = text.replace("127.0.0.1:9400", f"127.0.0.1:{self.exporter.port}")
            text = re.sub(r"^  # (- job_name: dcgm|  static_configs: )", r"  \1", text, flags=re.MULTILINE)
            text = re.sub(r"(evaluation_interval|refresh_interval): \d+s", r"\1: 1s", text)
            text = re.sub(r"scrape_interval: \d+s", f"scrape_interval: {_SCRAPE_SECONDS}s", text)
            (self.folder / name).write_text(in_seconds(text, self.minute), encoding="utf-8")
