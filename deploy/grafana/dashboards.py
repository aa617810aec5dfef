"""Makes the dashboards beside it: `python deploy/grafana/dashboards.py` writes five files for Grafana to import.

Queries take `max` over gateways of what all of them read from one server, and the recording rules of deploy/prometheus.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from grafana_foundation_sdk.builders import common, dashboard, prometheus, stat, timeseries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.common import LegendPlacement
from grafana_foundation_sdk.models.dashboard import DataSourceRef, VariableHide, VariableRefresh

HERE = Path(__file__).parent
_SOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")
_WIDTH, _HEIGHT = 12, 8
_STAT_WIDTH, _STAT_HEIGHT = 4, 4


class Line(NamedTuple):
    """A query, and what its series are called; `{{label}}` stands for a label."""

    query: str
    legend: str = ""


class Panel(NamedTuple):
    """A question of the operator's, and the lines that answer it; `stat` shows the last value alone."""

    title: str
    lines: Sequence[Line]
    unit: str = "short"
    stat: bool = False
    why: str = ""


class Board(NamedTuple):
    """A dashboard; `variables` are chosen above it, by name and query."""

    title: str
    panels: Sequence[Panel]
    variables: Mapping[str, str] = {}


_BYTES, _SECONDS, _SHARE, _RATE = "bytes", "s", "percentunit", "ops"
_MODEL = {"model": "label_values(gigavqa_queue_bundles, model)"}
_JOB = {"job_id": "label_values(gigavqa_running_job_requests, job_id)"}
_WINDOW = "[$__rate_interval]"
_OF_MODEL = '{model=~"$model"}'
_PACE = f'max by (job_id) (deriv(gigavqa_running_job_requests{{job_id=~"$job_id",state="done"}}{_WINDOW}))'


def _quantile(share: float, name: str, by: str, where: str = "") -> str:
    return f"histogram_quantile({share}, sum by (le, {by}) (rate({name}_bucket{where}{_WINDOW})))"


BOARDS = {
    "fleet": Board(
        "gigavqa: fleet",
        [
            Panel("Gateways up", [Line('sum(up{job="gigavqa-gateway"})')], stat=True),
            Panel("State server takes writes", [Line("min(gigavqa_server_takes_writes)")], stat=True),
            Panel("Workers", [Line("sum(gigavqa:workers:max)")], stat=True),
            Panel("Jobs in progress", [Line('max(gigavqa_jobs{status="in_progress"})')], stat=True),
            Panel(
                "Oldest bundle", [Line('max(gigavqa:queue_oldest_seconds:max{state="waiting"})')], _SECONDS, stat=True
            ),
            Panel(
                "Alerts that fire",
                [Line('count(ALERTS{alertname=~"Gigavqa.*",alertstate="firing"}) or vector(0)')],
                stat=True,
            ),
            Panel("Responses", [Line("gigavqa:responses:rate5m", "{{model}} {{outcome}}")], _RATE),
            Panel("Tokens", [Line("gigavqa:tokens:rate5m", "{{model}} {{kind}}")], _RATE),
            Panel("Bundles in the queue", [Line("gigavqa:queue_bundles:max", "{{model}} {{state}}")]),
            Panel(
                "Oldest bundle by model", [Line("gigavqa:queue_oldest_seconds:max", "{{model}} {{state}}")], _SECONDS
            ),
            Panel(
                "What engines do",
                [Line("gigavqa:engine_state:ratio_rate5m", "{{model}} {{state}}")],
                _SHARE,
                why="pixels: they play nothing, and claimed requests wait for their rasters",
            ),
            Panel(
                "Workers by model and state", [Line("max by (model, state) (gigavqa_workers)", "{{model}} {{state}}")]
            ),
            Panel(
                "Leases that ran out",
                [Line(f"max by (model) (increase(gigavqa_lease_reclaims_total{_WINDOW}))", "{{model}}")],
                why="bundles whose worker died, or was cut off",
            ),
            Panel("Share of requests that fail", [Line("gigavqa:failed:ratio_rate5m", "{{model}}")], _SHARE),
            Panel(
                "Paid to engines elsewhere",
                [Line("max by (model) (gigavqa_dollars_total)", "{{model}}")],
                "currencyUSD",
            ),
            Panel(
                "Jobs that ended, by how long they took",
                [
                    Line(_quantile(0.5, "gigavqa_job_seconds", "kind"), "{{kind}}, median"),
                    Line(_quantile(0.95, "gigavqa_job_seconds", "kind"), "{{kind}}, 95 %"),
                ],
                _SECONDS,
            ),
        ],
    ),
    "job": Board(
        "gigavqa: one job",
        [
            Panel("Done", [Line('max(gigavqa_running_job_requests{job_id=~"$job_id",state="done"})')], stat=True),
            Panel("Left", [Line('max(gigavqa_running_job_requests{job_id=~"$job_id",state="left"})')], stat=True),
            Panel(
                "Will take",
                [Line(f'max(gigavqa_running_job_requests{{job_id=~"$job_id",state="left"}}) / (sum({_PACE}) > 0)')],
                _SECONDS,
                stat=True,
                why="at the pace of now",
            ),
            Panel(
                "Requests",
                [
                    Line(
                        'max by (job_id, state) (gigavqa_running_job_requests{job_id=~"$job_id"})',
                        "{{job_id}} {{state}}",
                    )
                ],
                why="the twenty newest jobs in progress; of others the gateway tells: /v1/jobs/{job_id}",
            ),
            Panel(
                "Pace",
                [
                    Line(
                        _PACE,
                        "{{job_id}}",
                    )
                ],
                _RATE,
            ),
            Panel("Jobs by status", [Line("max by (status) (gigavqa_jobs)", "{{status}}")]),
        ],
        _JOB,
    ),
    "model": Board(
        "gigavqa: one model",
        [
            Panel("Workers", [Line('sum(gigavqa:workers:max{model=~"$model"})')], stat=True),
            Panel(
                "Bundles that wait",
                [Line('sum(gigavqa:queue_bundles:max{model=~"$model",state="waiting"})')],
                stat=True,
            ),
            Panel(
                "Prompt tokens found in the prefix cache",
                [Line('avg(gigavqa:cache_prefix:ratio_rate5m{model=~"$model"})')],
                _SHARE,
                stat=True,
            ),
            Panel("Responses", [Line('gigavqa:responses:rate5m{model=~"$model"}', "{{model}} {{outcome}}")], _RATE),
            Panel("Tokens", [Line('gigavqa:tokens:rate5m{model=~"$model"}', "{{model}} {{kind}}")], _RATE),
            Panel(
                "What engines do",
                [Line('gigavqa:engine_state:ratio_rate5m{model=~"$model"}', "{{model}} {{state}}")],
                _SHARE,
            ),
            Panel(
                "Requests in each stage",
                [
                    Line(
                        f"sum by (model, stage) (rate(gigavqa_worker_request_seconds_total{_OF_MODEL}{_WINDOW}))",
                        "{{model}} {{stage}}",
                    )
                ],
                why="on the average: waiting for pixels, for a place in the engine, and in it",
            ),
            Panel("Prefix cache", [Line('gigavqa:cache_prefix:ratio_rate5m{model=~"$model"}', "{{model}}")], _SHARE),
            Panel(
                "Tokens of a response",
                [
                    Line(
                        f"max by (model, kind) (rate(gigavqa_tokens_total{_OF_MODEL}{_WINDOW}))"
                        " / on (model) group_left () sum by (model) (max by (model, outcome) "
                        f"(rate(gigavqa_responses_recorded_total{_OF_MODEL}{_WINDOW})) > 0)",
                        "{{model}} {{kind}}",
                    )
                ],
            ),
        ],
        _MODEL,
    ),
    "pixels": Board(
        "gigavqa: pixels",
        [
            Panel("Rasters not rendered anew", [Line("gigavqa:cache_raster:ratio_rate5m")], _SHARE, stat=True),
            Panel("Rasters not encoded anew", [Line("gigavqa:cache_encoder:ratio_rate5m")], _SHARE, stat=True),
            Panel(
                "Engines wait for pixels",
                [Line('max(gigavqa:engine_state:ratio_rate5m{state="pixels"})')],
                _SHARE,
                stat=True,
            ),
            Panel(
                "Seconds of a pass, 95 %, by format and level",
                [Line(_quantile(0.95, "gigavqa_worker_pass_seconds", "format, level"), "{{format}} level {{level}}")],
                _SECONDS,
            ),
            Panel(
                "Threads that render",
                [
                    Line(
                        f"sum by (format, level) (rate(gigavqa_worker_pass_seconds_sum{_WINDOW}))",
                        "{{format}} level {{level}}",
                    )
                ],
                why="seconds of passes a second",
            ),
            Panel(
                "Rasters",
                [
                    Line(f"sum(rate(gigavqa_worker_shown_rasters_total{_WINDOW}))", "shown"),
                    Line(f"sum(rate(gigavqa_worker_renders_total{_WINDOW}))", "rendered"),
                    Line(f"sum(rate(gigavqa_worker_raster_hits_total{_WINDOW}))", "found in memory"),
                    Line(f"sum(rate(gigavqa_worker_found_rasters_total{_WINDOW}))", "found on the disk"),
                    Line(f"sum(rate(gigavqa_worker_encoder_runs_total{_WINDOW}))", "encoded"),
                ],
                _RATE,
            ),
            Panel(
                "Requests wait for their rasters, 95 %",
                [Line(_quantile(0.95, "gigavqa_worker_rendering_seconds", "worker"), "{{worker}}")],
                _SECONDS,
            ),
            Panel("Disk of workers that is free", [Line("gigavqa_worker_disk_free_bytes", "{{worker}}")], _BYTES),
            Panel("Memory of workers", [Line("gigavqa_worker_rss_bytes", "{{worker}}")], _BYTES),
        ],
    ),
    "server": Board(
        "gigavqa: server and gateway",
        [
            Panel("State server answers", [Line("min(gigavqa_server_up)")], stat=True),
            Panel("It takes writes", [Line("min(gigavqa_server_takes_writes)")], stat=True),
            Panel("Its memory", [Line("gigavqa:server_memory:ratio")], _SHARE, stat=True),
            Panel(
                "Memory of the state server",
                [
                    Line("max(gigavqa_server_memory_used_bytes)", "used"),
                    Line("max(gigavqa_server_memory_limit_bytes)", "limit"),
                ],
                _BYTES,
            ),
            Panel(
                "Responses in no Parquet part yet",
                [Line("max(gigavqa_unsunk_responses)", "responses")],
            ),
            Panel("Age of the oldest of them", [Line("max(gigavqa_unsunk_oldest_seconds)", "seconds")], _SECONDS),
            Panel(
                "Requests in the queue",
                [Line("max(gigavqa_queue_requests)", "requests"), Line("max(gigavqa_queue_limit_requests)", "limit")],
            ),
            Panel("Disks: free", [Line("min by (place) (gigavqa_disk_free_bytes)", "{{place}}")], _BYTES),
            Panel(
                "HTTP requests",
                [Line(f"sum by (route, status) (rate(gigavqa_http_requests_total{_WINDOW}))", "{{route}} {{status}}")],
                _RATE,
            ),
            Panel(
                "Seconds to the first byte, 95 %",
                [Line(_quantile(0.95, "gigavqa_http_first_byte_seconds", "route"), "{{route}}")],
                _SECONDS,
            ),
            Panel("Open streams", [Line("sum by (kind) (gigavqa_open_streams) or vector(0)", "{{kind}}")]),
            Panel(
                "Failures in the background",
                [
                    Line(
                        f"sum by (loop) (increase(gigavqa_background_failures_total{_WINDOW})) or vector(0)", "{{loop}}"
                    ),
                    Line(f"sum(increase(gigavqa_sink_failures_total{_WINDOW}))", "sink, put off"),
                    Line(f"sum(increase(gigavqa_audit_failures_total{_WINDOW}))", "audit"),
                ],
            ),
            Panel(
                "Memory of gateways",
                [Line('process_resident_memory_bytes{job="gigavqa-gateway"}', "{{instance}}")],
                _BYTES,
            ),
        ],
    ),
}
"""Dashboards by the name of their file."""


def text_of(name: str) -> str:
    """The file of one dashboard."""
    board = BOARDS[name]
    made = (
        dashboard.Dashboard(board.title).uid(f"gigavqa-{name}").tags(["gigavqa"]).refresh("30s").time("now-3h", "now")
    )
    made.with_variable(dashboard.DatasourceVariable("datasource").type("prometheus").label("Prometheus"))
    for variable, query in board.variables.items():
        made.with_variable(
            dashboard.QueryVariable(variable)
            .query(query)
            .datasource(_SOURCE)
            .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
            .multi(True)
            .include_all(True)
            .all_value(".*")
            .hide(VariableHide.DONT_HIDE)
        )
    for panel in board.panels:
        made.with_panel(_panel(panel))
    return json.dumps(made.build(), cls=JSONEncoder, indent=1, sort_keys=True) + "\n"


def _panel(panel: Panel) -> "stat.Panel | timeseries.Panel":
    if panel.stat:
        made: stat.Panel | timeseries.Panel = stat.Panel().height(_STAT_HEIGHT).span(_STAT_WIDTH)
        made = made.reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]))
    else:
        made = timeseries.Panel().height(_HEIGHT).span(_WIDTH).fill_opacity(10)
        made = made.legend(common.VizLegendOptions().placement(LegendPlacement.BOTTOM).show_legend(True))
    made = made.title(panel.title).unit(panel.unit).datasource(_SOURCE)
    if panel.why:
        made = made.description(panel.why)
    for number, line in enumerate(panel.lines):
        made = made.with_target(
            prometheus.Dataquery().expr(line.query).legend_format(line.legend).ref_id(chr(ord("A") + number))
        )
    return made


def main() -> None:
    """Write all files."""
    for name in BOARDS:
        (HERE / f"{name}.json").write_text(text_of(name), encoding="utf-8")


if __name__ == "__main__":
    main()
