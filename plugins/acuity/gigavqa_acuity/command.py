"""`gigavqa acuity`: an eye chart for a model as it is served."""

from typing import Annotated, Any

import typer

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.cli.arguments import GatewayPortOption, JsonOption, ModelOption, ResubmitOption, UrlOption
from gigavqa.cli.console import err, out, print_json
from gigavqa.cli.errors import ArgumentError
from gigavqa.cli.following import follow, require_success
from gigavqa.cli.launch import service_for
from gigavqa.cli.lookup import model_entry
from gigavqa.cli.reporting import print_report, print_report_table, read_report, save_report
from gigavqa.client.connection import DEFAULT_URL
from gigavqa.contract.jobs import Job, JobSpec
from gigavqa.evaluation.metrics.estimates import Estimate
from gigavqa.evaluation.tables import Value
from gigavqa.reports.report import Report
from gigavqa.runtime.home import Home
from gigavqa.tiling.geometry import Size
from gigavqa_acuity.chart.dataset import DRAWN
from gigavqa_acuity.chart.pictures import SIDE

_LARGEST_THUMBNAIL = 1024
_RESOLUTION_GAP = 3
"""How many times as long V2's raster is as V1's, so that a gap can be seen."""
_GAP = "gap_"

Thumbnail = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="PIXELS",
        help="Longest side of V1's picture; if omitted a third of V2's raster, at most 1024.",
    ),
]
Whole = Annotated[bool, typer.Option("--report", help="Print the whole report, not its main tables alone.")]


def acuity(
    model: ModelOption = DRAWN.model,
    thumbnail: Thumbnail = None,
    again: ResubmitOption = False,
    report: Whole = False,
    json: JsonOption = False,
    port: GatewayPortOption = 0,
    url: UrlOption = DEFAULT_URL,
) -> None:
    """Ask a model an eye chart, and say what it can see: pixels that a sign needs, and what is wrong with its pictures.

    The chart is drawn on first use: gigapixel pictures with one ring each, whose size, colour, gap and place are known.
    A gateway that serves the model is used; without one, a service runs as long as this command. Broken preprocessing,
    a wrong visual budget or a quantization that blinds a model shows as a moved threshold. On a cluster the chart
    has to lie in the data root before: `gigavqa dataset demo --benchmark acuity` draws it.

    \b
    gigavqa acuity
    gigavqa acuity -m qwen3-vl-8b
    gigavqa acuity -m qwen3-vl-8b --json | jq .conditions.V3.accuracy
    """
    home, entry = Home.from_environment(), model_entry(model)
    spec = JobSpec(
        dataset=DRAWN.name,
        models=(entry.id,),
        plan=DRAWN.plan,
        sampling=dict(DRAWN.sampling),
        options={"thumbnail": thumbnail or thumbnail_for(entry)},
    )

    def draw() -> None:
        DRAWN.build(home.data / DRAWN.name, progress=lambda line: err.print(f"chart     {line}"))

    with service_for(spec, [model], home, url, port, draw) as (gateway, _):
        job = gateway.submit_once(spec, again=again)
        err.print(f"job       {job.id}: {job.request_counts.total} requests to {entry.id}")
        job = follow(gateway, job)
        require_success(job)
        folder = save_report(gateway, job, home)
    found = read_report(folder)
    if json:
        print_json(chart_numbers(found, job))
        return
    if report:
        print_report(found)
    else:
        for name in ("accuracy", "thresholds", "symptoms"):
            print_report_table(found, name)
    out.print(f"{entry.id}: {_describe_chart(found)}")
    out.print(f"page      {folder / 'report.html'}")


def thumbnail_for(entry: CatalogueEntry) -> int:
    """Longest side of V1's picture of the chart: a third of V2's raster, rounded, and what is usual at most.

    Raises ArgumentError for a model that takes no picture.
    """
    if not entry.takes_pictures:
        raise ArgumentError(f"{entry.id} takes texts alone, so that it reads no chart")
    return min(_LARGEST_THUMBNAIL, max(entry.visual_budget.plan(Size(SIDE, SIDE)).raster) // _RESOLUTION_GAP)


def chart_numbers(report: Report, job: Job) -> dict[str, Any]:
    """Return the chart's numbers for scripts.

    Rates as fractions, thresholds in raster pixels, null where there is none.
    """
    (accuracy,) = _rows(report, "accuracy")
    chance = accuracy.pop("chance")["value"]
    return {
        "model": job.spec.models[0],
        "job": job.id,
        "says": _describe_chart(report),
        "conditions": {
            cell.condition: {"accuracy": cell.accuracy.value, **_interval(cell.accuracy), "chance": chance}
            for cell in report.cells
        },
        "gaps": {name.removeprefix(_GAP): value for name, value in accuracy.items() if name.startswith(_GAP)},
        "thresholds": _rows(report, "thresholds"),
        "symptoms": _rows(report, "symptoms"),
    }


def _describe_chart(report: Report) -> str:
    return " ".join(str(row["line"]) for row in _rows(report, "summary"))


def _rows(report: Report, name: str) -> list[dict[str, Any]]:
    """Return the rows of a table: what machines know each by, and its values by their metrics."""
    table = report.table(name)
    rows = ((row, zip(table.columns, row.values, strict=True)) for row in table.rows) if table else ()
    return [row.keys | {column.keys["metric"]: _plain(value) for column, value in pairs} for row, pairs in rows]


def _plain(value: Value) -> Any:
    return {"value": value.value, **_interval(value)} if isinstance(value, Estimate) else value


def _interval(estimate: Estimate) -> dict[str, Any]:
    return {"low": estimate.low, "high": estimate.high, "n": estimate.count}
