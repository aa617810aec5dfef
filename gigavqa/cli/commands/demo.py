"""`gigavqa demo`: the whole way, once, on a small model."""

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from gigavqa.cli.arguments import DRAWING
from gigavqa.cli.client import TerminalClient
from gigavqa.cli.console import err, out
from gigavqa.cli.following import follow, require_success
from gigavqa.cli.launch import LaunchedService, launch_service
from gigavqa.cli.reporting import print_report, read_report, save_report, write_figures
from gigavqa.contract.jobs import Job, JobSpec
from gigavqa.demo.drawn import DrawnDataset, drawn_to_show
from gigavqa.reports.report import Report
from gigavqa.reports.writers.cost_lines import work_lines
from gigavqa.runtime.home import Home

Say = Callable[[str], None]
"""Shows how far a step is."""

_NEXT_LINE = "\n" + 11 * " "


def demo(
    benchmark: Annotated[str | None, DRAWING] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the gateway; 0 takes any free one.")] = 0,
    seed: Annotated[int, typer.Option(help="Seed of the job's draws.")] = 0,
) -> None:
    """Run whole evaluations on this machine: draw data sets, serve a small model, ask, report, end.

    The model has the architecture of Qwen3-VL and about a million weights, so that it needs no download and no GPU. One
    that a plugin has trained for a data set of its own is asked that first: these numbers are true, and show what each
    condition lets it see. To other benchmarks it answers all the same, without meaning: of these the demo prints the
    work, and their tables where the benchmark is named. The first run takes some minutes, later ones about one.

    \b
    gigavqa demo
    gigavqa demo --benchmark all
    """
    home, (model, drawn) = Home.from_environment(), drawn_to_show(benchmark)
    with launch_service([model], home, port) as service:
        folders = []
        for one in drawn:  # the first one's numbers are there before the next one is drawn
            _build_dataset(one, home)
            with TerminalClient(_address(service)) as gateway:
                job = _run_job(gateway, model, one, seed)
                folder = save_report(gateway, job, home)
            folders.append(folder)
            show_report(folder, with_tables=bool(one.model) or benchmark is not None)
            _print_locations(home, one, folder)
        _print_next_commands(home, model, drawn[-1])
    out.print("\neverything is ended; nothing of it runs any more.")
    out.print(f"open       {(folders[0] / 'report.html').as_uri()} in a browser", markup=False)


def _build_dataset(drawn: DrawnDataset, home: Home) -> None:
    with _step(f"data set '{drawn.name}'") as say:
        drawn.build(home.data / drawn.name, progress=say)


def _address(service: LaunchedService) -> str:
    if not service.url:
        with _step("waiting for the model"):
            service.wait_until_ready()
    return service.url


def _run_job(gateway: TerminalClient, model: str, drawn: DrawnDataset, seed: int) -> Job:
    spec = JobSpec(
        dataset=drawn.name,
        models=(model,),
        plan=drawn.plan,
        seed=seed,
        sampling=dict(drawn.sampling),
        options=dict(drawn.options),
    )
    job = gateway.submit(spec)
    err.print(f"job {job.id}: {job.request_counts.total} requests to {model}")
    job = follow(gateway, job)
    require_success(job)
    return job


def show_report(folder: Path, *, with_tables: bool) -> None:
    """Print the report that lies in a folder as JSON, and write its figures beside it, where it has any.

    Without tables, print the work of the service behind it.
    """
    report = read_report(folder)
    if report.figures:
        write_figures(report, folder / "figures")
    out.print()
    if with_tables:
        print_report(report)
    else:
        _print_work(report)


def _print_work(report: Report) -> None:
    out.print(
        f"{report.title}: the work of the service. Scores would say nothing: no demo model learned these questions.",
        markup=False,
    )
    for heading, line in work_lines(report):
        out.print(f"{heading:16} {line}", markup=False)
    out.print(f"{'Tables':16} in the report below, and by: gigavqa demo --benchmark {report.benchmark}", markup=False)


def _print_locations(home: Home, drawn: DrawnDataset, folder: Path) -> None:
    figures = ", and figures/" if (folder / "figures").is_dir() else ""
    out.print(
        f"""
report     {folder}/report.html; also .md, .json, .csv{figures}
responses  {folder}/responses.ndjson (and Parquet below {home.results_uri})
pictures   {home.data / drawn.name / "images"}""",
        markup=False,
    )


def _print_next_commands(home: Home, model: str, drawn: DrawnDataset) -> None:
    out.print(
        f"""logs       {home.logs}
next       {_NEXT_LINE.join(next_commands(os.environ, model, drawn))}""",
        markup=False,
    )


def next_commands(environ: Mapping[str, str], model: str, drawn: DrawnDataset) -> list[str]:
    """Return what to type next, line by line, after a run with these variables.

    The same service again, and a job for it.
    """
    here = Path(sys.executable).with_name("gigavqa")
    found = shutil.which("gigavqa", path=environ.get("PATH"))
    activate = [] if found and Path(found) == here else [f". {shlex.quote(str(here.with_name('activate')))}"]
    home = environ.get("GIGAVQA_HOME")
    return [
        *([f"export GIGAVQA_HOME={shlex.quote(home)}"] if home else []),  # it may have been set for that run alone
        *activate,
        f"gigavqa up --model {model}   # with pages of jobs, reports and data sets, and the viewer",
        f"gigavqa submit --dataset {drawn.name} --model {model} --watch   # in another terminal",
        "gigavqa report",
    ]


@contextmanager
def _step(name: str) -> Iterator[Say]:
    if err.is_terminal:
        with err.status(name) as status:
            yield lambda line: status.update(f"{name}: {line}")
    else:
        yield lambda line: err.print(f"{name}: {line}", markup=False)
    err.print(f"{name}: done")
