"""What `gigavqa` alone says: what is there, and what to do next."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from gigavqa.client.connection import gateway_url, request_headers
from gigavqa.client.errors import GigavqaError
from gigavqa.runtime.home import Home
from gigavqa.runtime.plurals import count_noun, list_some

_PATIENCE_SECONDS = 2.0
_MOST_NAMED = 3
_MOST_STEPS = 5
_FINAL = {"failed", "completed", "cancelled"}
_WIDTH = 10
_HELP = "gigavqa --help; gigavqa COMMAND --help; gigavqa doctor, where something does not work"


@dataclass(frozen=True)
class GatewayState:
    """What a gateway said: which models are ready, and its newest jobs; or why it said nothing, in `refusal`."""

    models: Sequence[str] = ()
    jobs: Sequence[Any] = ()
    refusal: str = ""


@dataclass(frozen=True)
class Situation:
    """What is there: the home folder and its data sets, the report that was written last, and a gateway, if it runs."""

    home: Path
    url: str
    datasets: Sequence[str] = ()
    report: Path | None = None
    gateway: GatewayState | None = None

    @property
    def open_jobs(self) -> list[str]:
        """Ids of the jobs that have not ended, newest first."""
        jobs = self.gateway.jobs if self.gateway else ()
        return [str(job["id"]) for job in jobs if job["status"] not in _FINAL]


def look_around() -> Situation:
    """Find out what is there; takes no longer than a gateway that does not answer."""
    home = Home.from_environment()
    datasets = sorted(path.parent.name for path in home.data.glob("*/dataset.toml"))
    reports = sorted(home.folder.glob("reports/*/report.html"), key=lambda path: path.stat().st_mtime)
    return Situation(home.folder, gateway_url(), datasets, reports[-1] if reports else None, _ask_gateway())


def describe(situation: Situation, columns: int) -> list[str]:
    """Return at most a dozen lines: what is there, what to do next, where help is. Reasons that do not fit are left."""
    steps = list(_steps(situation))[:_MOST_STEPS]
    width = max(len(command) for command, _ in steps)
    lines = [*_facts(situation)]
    for number, (command, why) in enumerate(steps):
        line = f"{'next' if number == 0 else '':{_WIDTH}}{command:{width}}   # {why}"
        lines.append(line if len(line) <= columns else line[: _WIDTH + width].rstrip())
    return [*lines, f"{'help':{_WIDTH}}{_HELP}"]


def _facts(found: Situation) -> Iterator[str]:
    sets = f"{count_noun(len(found.datasets), 'data set')}: {list_some(found.datasets, _MOST_NAMED)}"
    what = sets if found.datasets else "no data set yet" if found.home.is_dir() else "nothing yet"
    yield f"{'home':{_WIDTH}}{found.home}: {what}"
    if found.gateway is None:
        yield f"{'gateway':{_WIDTH}}none at {found.url}"
    elif found.gateway.refusal:
        yield f"{'gateway':{_WIDTH}}{found.url}: {found.gateway.refusal}"
    else:
        serves = list_some(found.gateway.models, _MOST_NAMED) or "no model that is ready"
        ended = len(found.gateway.jobs) - len(found.open_jobs)
        jobs = f"{count_noun(len(found.open_jobs), 'job')} open, {ended} ended" if found.gateway.jobs else "no job yet"
        yield f"{'gateway':{_WIDTH}}{found.url}: {serves}; {jobs}"
    if found.report:
        yield f"{'report':{_WIDTH}}{found.report}, written last: open it in a browser"


def _steps(found: Situation) -> Iterator[tuple[str, str]]:
    if found.gateway is None:
        yield from _steps_without_gateway(found)
        return
    if found.gateway.refusal:
        yield "export GIGAVQA_API_KEY=...", "the key that its operator made with `gigavqa admin keys create`"
        yield "export GIGAVQA_URL=http://...", "where another gateway is"
        return
    for job in found.open_jobs[:2]:
        yield f"gigavqa watch {job}", "follow it until it ends"
    ended = next((job for job in found.gateway.jobs if job["status"] in _FINAL), None)
    if ended:
        yield f"gigavqa report {ended['id']}", f"read what came of {ended['spec']['dataset']}"
        if ended["request_counts"]["failed"]:
            yield f"gigavqa retry {ended['id']}", f"ask its {ended['request_counts']['failed']} failed requests again"
    model = found.gateway.models[0] if found.gateway.models else "MODEL"
    if found.datasets:
        yield f"gigavqa submit -d {found.datasets[0]} -m {model} --watch", "ask a data set"
    yield f"gigavqa ask PICTURES QUESTIONS -m {model}", "your own questions about your own pictures"


def _steps_without_gateway(found: Situation) -> Iterator[tuple[str, str]]:
    if not found.datasets:
        yield "gigavqa demo", "the whole way on a small model, without a GPU, in some minutes"
        yield "gigavqa ask PICTURES QUESTIONS -m MODEL", "your own questions about your own pictures"
        yield "gigavqa models --fits here", "which models this machine holds"
        return
    yield "gigavqa up -m MODEL", "the service, until Ctrl-C; `gigavqa models` lists models"
    yield f"gigavqa submit -d {found.datasets[0]} -m MODEL --watch", "then, in another terminal"
    yield "gigavqa ask PICTURES QUESTIONS -m MODEL", "your own questions about your own pictures"
    if found.report:
        yield "gigavqa viewer", "the pictures behind saved reports"


def _ask_gateway() -> GatewayState | None:
    """Return what the gateway says; None where there is none."""
    try:
        with httpx.Client(base_url=gateway_url(), headers=request_headers(), timeout=_PATIENCE_SECONDS) as client:
            answers = [client.get(path) for path in ("/v1/workers", "/v1/jobs?limit=100")]
            for answer in answers:
                if answer.status_code != httpx.codes.OK:
                    return GatewayState(refusal=_refusal(answer))
            workers, jobs = (list(answer.json()["data"]) for answer in answers)
            ready = (model for worker in workers if worker["state"] == "ready" for model in worker["models"])
            return GatewayState(list(dict.fromkeys(ready)), jobs)
    except (httpx.TransportError, httpx.InvalidURL):
        return None
    except (GigavqaError, ValueError, KeyError, TypeError) as error:
        return GatewayState(refusal=f"no gateway of gigavqa ({type(error).__name__})")


def _refusal(answer: httpx.Response) -> str:
    if answer.status_code in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}:
        return "it asks for a key"
    return f"it answers {answer.status_code}"
