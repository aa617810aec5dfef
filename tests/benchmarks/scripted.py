"""Jobs whose answers are scripted: asked of a real gateway, played by a real worker on the simulated engine."""

import json
import re
from collections.abc import Callable, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple

from gigavqa.contract.requests import Sampling
from gigavqa.contract.responses import OnTokens, TurnResponse
from gigavqa.reports.report import Report
from gigavqa.runtime.embedded_store import running_store
from gigavqa.workers.engines.engine import Message
from gigavqa.workers.engines.simulation.engine import SimulatedEngine
from tests.service.gateways import running, settings_of
from tests.service.openai.workers import ENTRY, working
from tests.waiting import wait_until


class Asked(NamedTuple):
    """One turn of a request, counted from 0."""

    sample: str
    protocol: str
    turn: int


Script = Callable[[Asked], str]


class ScriptedEngine(SimulatedEngine):
    """The simulated engine with other words in its mouth."""

    def __init__(self, script: Script) -> None:
        super().__init__(ENTRY, speed=0)
        self._says = script

    async def generate(
        self,
        chat: Sequence[Message],
        sampling: Sampling,
        request_id: str,
        priority: int = 0,
        grow: OnTokens | None = None,
    ) -> TurnResponse:
        """Take as long as it takes, and say what the script says to this turn."""
        turn = await super().generate(chat, sampling, request_id, priority, grow)
        _, request, number = request_id.split("/")
        sample, cell, _, _ = request.rsplit(":", 3)
        said = self._says(Asked(sample, cell.partition("-")[0], int(number)))
        return turn.model_copy(update={"text": said})


class Played(NamedTuple):
    """What a gateway says of a job that is over; `renders` are those of its worker."""

    job: dict[str, Any]
    report: Report
    page: str
    renders: int

    @property
    def shown(self) -> dict[str, Any]:
        """The samples on the page, by id."""
        data = re.search(r'<script type="application/json" id="data">(.*?)</script>', self.page, re.DOTALL)
        assert data is not None
        return {sample["id"]: sample for sample in json.loads(data[1])["samples"]}


def play(home: Path, dataset: str, plan: str, script: Script) -> Played:
    """Ask a plan of a data set below `home`/data, and return what became of it once every request is answered."""
    with running_store(home / "server") as url:
        settings = settings_of(home, url)
        with running(settings) as gateway, working(settings, lambda: ScriptedEngine(script)) as worker:
            reply = gateway.submit(dataset=dataset, plan=plan)
            assert reply.status_code == HTTPStatus.CREATED, reply.text
            name = reply.json()["id"]
            wait_until(lambda: gateway.job(name)["status"] == "completed", timeout=240, what="the job's completion")
            path = f"/v1/jobs/{name}/report"
            report = Report.model_validate(gateway.client.get(path).json())
            page = gateway.client.get(path, params={"format": "html"}).text
            return Played(gateway.job(name), report, page, worker.renders)
