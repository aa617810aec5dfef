"""Makes the dashboards beside it: `python deploy/grafana/dashboards.py` writes six files for Grafana to import.

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


class PanelQuery(NamedTuple):
    """A query, and what its series are called; `{{label}}` stands for a label."""

    query: str
    legend: str = ""


class DashboardPanel(NamedTuple):
    """A question of the operator's, and the lines that answer it; `stat` shows the last value alone."""

    title: str
    lines: Sequence[PanelQuery]
    unit: str = "short"
    stat: bool = False
    why: str = ""


class Dashboard(NamedTuple):
    """A dashboard; `variables` are chosen above it, by name and query."""

    title: str
    panels: Sequence[DashboardPanel]
    variables: Mapping[str, str] = {}


_BYTES, _SECONDS, _SHARE, _RATE = "bytes", "s", "percentunit", "ops"
_MODEL = {"model": "label_values(gigavqa_queue_bundles, model)"}
_JOB = {"job_id": "label_values(gigavqa_running_job_requests, job_id)"}
_GPU = "{{Hostname}} GPU {{gpu}}"  # labels of NVIDIA's dcgm-exporter
_WINDOW = "[$__rate_interval]"
_OF_MODEL = '{model=~"$model"}'
_PACE = f'max by (job_id) (deriv(gigavqa_running_job_requests{{job_id=~"$job_id",state="done"}}{_WINDOW}))'


def _quantile(share: float, name: str, by: str, where: str = "") -> str:
    return f"histogram_quantile({share}, sum by (le, {by}) (rate({name}_bucket{where}{_WINDOW})))"


def _none(label: str) -> str:
    """Return a line at 0 for what nobody counted yet: Grafana calls one that lacks the label by the label's name."""
    return f'label_replace(vector(0), "{label}", "none", "", "")'


DASHBOARDS = {
    "fleet": Dashboard(
        "gigavqa: fleet",
        [
            DashboardPanel("Gateways up", [PanelQuery('sum(up{job="gigavqa-gateway"})')], stat=True),
            DashboardPanel("State store takes writes", [PanelQuery("min(gigavqa_server_takes_writes)")], stat=True),
            DashboardPanel("Workers", [PanelQuery("sum(gigavqa:workers:max)")], stat=True),
            DashboardPanel("Jobs in progress", [PanelQuery('max(gigavqa_jobs{status="in_progress"})')], stat=True),
            DashboardPanel(
                "Oldest bundle",
                [PanelQuery('max(gigavqa:queue_oldest_seconds:max{state="waiting"})')],
                _SECONDS,
                stat=True,
            ),
            DashboardPanel(
                "Alerts that fire",
                [PanelQuery('count(ALERTS{alertname=~"Gigavqa.*",alertstate="firing"}) or vector(0)')],
                stat=True,
            ),
            DashboardPanel("Responses", [PanelQuery("gigavqa:responses:rate5m", "{{model}} {{outcome}}")], _RATE),
            DashboardPanel("Tokens", [PanelQuery("gigavqa:tokens:rate5m", "{{model}} {{kind}}")], _RATE),
            DashboardPanel("Bundles in the queue", [PanelQuery("gigavqa:queue_bundles:max", "{{model}} {{state}}")]),
            DashboardPanel(
                "Oldest bundle by model",
                [PanelQuery("gigavqa:queue_oldest_seconds:max", "{{model}} {{state}}")],
                _SECONDS,
            ),
            DashboardPanel(
                "What engines do",
                [PanelQuery("gigavqa:engine_state:ratio_rate5m", "{{model}} {{state}}")],
                _SHARE,
                why="pixels: they play nothing, and claimed requests wait for their rasters",
            ),
            DashboardPanel(
                "Workers by model and state",
                [PanelQuery("max by (model, state) (gigavqa_workers)", "{{model}} {{state}}")],
            ),
            DashboardPanel(
                "Leases that ran out",
                [PanelQuery(f"max by (model) (increase(gigavqa_lease_reclaims_total{_WINDOW}))", "{{model}}")],
                why="bundles whose worker died, or was cut off",
            ),
            DashboardPanel(
                "Share of requests that fail", [PanelQuery("gigavqa:failed:ratio_rate5m", "{{model}}")], _SHARE
            ),
            DashboardPanel(
                "Paid to engines elsewhere",
                [PanelQuery("max by (model) (gigavqa_dollars_total)", "{{model}}")],
                "currencyUSD",
            ),
            DashboardPanel(
                "Jobs that ended, by how long they took",
                [
                    PanelQuery(_quantile(0.5, "gigavqa_job_seconds", "kind"), "{{kind}}, median"),
                    PanelQuery(_quantile(0.95, "gigavqa_job_seconds", "kind"), "{{kind}}, 95 %"),
                ],
                _SECONDS,
            ),
        ],
    ),
    "gpus": Dashboard(
        "gigavqa: GPUs",
        [
            DashboardPanel("GPUs", [PanelQuery("count(DCGM_FI_DEV_GPU_UTIL)")], stat=True),
            DashboardPanel("Busy", [PanelQuery("avg(DCGM_FI_DEV_GPU_UTIL) / 100")], _SHARE, stat=True),
            DashboardPanel(
                "GPUs with an XID",
                [PanelQuery("count(DCGM_FI_DEV_XID_ERRORS > 0) or vector(0)")],
                stat=True,
                why="the driver's number of an error, kept until the exporter starts again",
            ),
            DashboardPanel(
                "GPU busy",
                [PanelQuery("DCGM_FI_DEV_GPU_UTIL / 100", _GPU)],
                _SHARE,
                why="a kernel ran: compare with what engines do, which is what they believe",
            ),
            DashboardPanel(
                "What engines do",
                [PanelQuery("gigavqa:engine_state:ratio_rate5m", "{{model}} {{state}}")],
                _SHARE,
                why="pixels: they play nothing, and claimed requests wait for their rasters",
            ),
            DashboardPanel(
                "Memory of GPUs",
                [PanelQuery("DCGM_FI_DEV_FB_USED / (DCGM_FI_DEV_FB_USED + DCGM_FI_DEV_FB_FREE)", _GPU)],
                _SHARE,
            ),
            DashboardPanel("Power", [PanelQuery("DCGM_FI_DEV_POWER_USAGE", _GPU)], "watt"),
            DashboardPanel("Last XID", [PanelQuery("DCGM_FI_DEV_XID_ERRORS", _GPU)], why="0: none yet"),
            DashboardPanel(
                "Memory that cannot be repaired",
                [PanelQuery("DCGM_FI_DEV_ROW_REMAP_FAILURE", _GPU)],
                why="1: a row of it failed, and no spare one could be put in its place",
            ),
        ],
    ),
    "job": Dashboard(
        "gigavqa: one job",
        [
            DashboardPanel(
                "Done", [PanelQuery('max(gigavqa_running_job_requests{job_id=~"$job_id",state="done"})')], stat=True
            ),
            DashboardPanel(
                "Left", [PanelQuery('max(gigavqa_running_job_requests{job_id=~"$job_id",state="left"})')], stat=True
            ),
            DashboardPanel(
                "Will take",
                [
                    PanelQuery(
                        f'max(gigavqa_running_job_requests{{job_id=~"$job_id",state="left"}}) / (sum({_PACE}) > 0)'
                    )
                ],
                _SECONDS,
                stat=True,
                why="at the pace of now",
            ),
            DashboardPanel(
                "Requests",
                [
                    PanelQuery(
                        'max by (job_id, state) (gigavqa_running_job_requests{job_id=~"$job_id"})',
                        "{{job_id}} {{state}}",
                    )
                ],
                why="the twenty newest jobs in progress; of others the gateway tells: /v1/jobs/{job_id}",
            ),
            DashboardPanel(
                "Pace",
                [
                    PanelQuery(
                        _PACE,
                        "{{job_id}}",
                    )
                ],
                _RATE,
            ),
            DashboardPanel("Jobs by status", [PanelQuery("max by (status) (gigavqa_jobs)", "{{status}}")]),
        ],
        _JOB,
    ),
    "model": Dashboard(
        "gigavqa: one model",
        [
            DashboardPanel("Workers", [PanelQuery('sum(gigavqa:workers:max{model=~"$model"})')], stat=True),
            DashboardPanel(
                "Bundles that wait",
                [PanelQuery('sum(gigavqa:queue_bundles:max{model=~"$model",state="waiting"})')],
                stat=True,
            ),
            DashboardPanel(
                "Prompt tokens found in the prefix cache",
                [PanelQuery('avg(gigavqa:cache_prefix:ratio_rate5m{model=~"$model"})')],
                _SHARE,
                stat=True,
            ),
            DashboardPanel(
                "Responses", [PanelQuery('gigavqa:responses:rate5m{model=~"$model"}', "{{model}} {{outcome}}")], _RATE
            ),
            DashboardPanel(
                "Tokens", [PanelQuery('gigavqa:tokens:rate5m{model=~"$model"}', "{{model}} {{kind}}")], _RATE
            ),
            DashboardPanel(
                "What engines do",
                [PanelQuery('gigavqa:engine_state:ratio_rate5m{model=~"$model"}', "{{model}} {{state}}")],
                _SHARE,
            ),
            DashboardPanel(
                "Requests in each stage",
                [
                    PanelQuery(
                        f"sum by (model, stage) (rate(gigavqa_worker_request_seconds_total{_OF_MODEL}{_WINDOW}))",
                        "{{model}} {{stage}}",
                    )
                ],
                why="on the average: waiting for pixels, for a place in the engine, and in it",
            ),
            DashboardPanel(
                "Prefix cache", [PanelQuery('gigavqa:cache_prefix:ratio_rate5m{model=~"$model"}', "{{model}}")], _SHARE
            ),
            DashboardPanel(
                "Tokens of a response",
                [
                    PanelQuery(
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
    "pixels": Dashboard(
        "gigavqa: pixels",
        [
            DashboardPanel(
                "Rasters not rendered anew", [PanelQuery("gigavqa:cache_raster:ratio_rate5m")], _SHARE, stat=True
            ),
            DashboardPanel(
                "Rasters not encoded anew", [PanelQuery("gigavqa:cache_encoder:ratio_rate5m")], _SHARE, stat=True
            ),
            DashboardPanel(
                "Engines wait for pixels",
                [PanelQuery('max(gigavqa:engine_state:ratio_rate5m{state="pixels"})')],
                _SHARE,
                stat=True,
            ),
            DashboardPanel(
                "Seconds of a pass, 95 %, by format and level",
                [
                    PanelQuery(
                        _quantile(0.95, "gigavqa_worker_pass_seconds", "format, level"), "{{format}} level {{level}}"
                    )
                ],
                _SECONDS,
            ),
            DashboardPanel(
                "Threads that render",
                [
                    PanelQuery(
                        f"sum by (format, level) (rate(gigavqa_worker_pass_seconds_sum{_WINDOW}))",
                        "{{format}} level {{level}}",
                    )
                ],
                why="seconds of passes a second",
            ),
            DashboardPanel(
                "Rasters",
                [
                    PanelQuery(f"sum(rate(gigavqa_worker_shown_rasters_total{_WINDOW}))", "shown"),
                    PanelQuery(f"sum(rate(gigavqa_worker_renders_total{_WINDOW}))", "rendered"),
                    PanelQuery(f"sum(rate(gigavqa_worker_raster_hits_total{_WINDOW}))", "found in memory"),
                    PanelQuery(f"sum(rate(gigavqa_worker_found_rasters_total{_WINDOW}))", "found on the disk"),
                    PanelQuery(f"sum(rate(gigavqa_worker_encoder_runs_total{_WINDOW}))", "encoded"),
                ],
                _RATE,
            ),
            DashboardPanel(
                "Requests wait for their rasters, 95 %",
                [PanelQuery(_quantile(0.95, "gigavqa_worker_rendering_seconds", "worker"), "{{worker}}")],
                _SECONDS,
            ),
            DashboardPanel(
                "Disk of workers that is free", [PanelQuery("gigavqa_worker_disk_free_bytes", "{{worker}}")], _BYTES
            ),
            DashboardPanel("Memory of workers", [PanelQuery("gigavqa_worker_rss_bytes", "{{worker}}")], _BYTES),
        ],
    ),
    "server": Dashboard(
        "gigavqa: server and gateway",
        [
            DashboardPanel("State store answers", [PanelQuery("min(gigavqa_server_up)")], stat=True),
            DashboardPanel("It takes writes", [PanelQuery("min(gigavqa_server_takes_writes)")], stat=True),
            DashboardPanel("Its memory", [PanelQuery("gigavqa:server_memory:ratio")], _SHARE, stat=True),
            DashboardPanel(
                "Memory of the state store",
                [
                    PanelQuery("max(gigavqa_server_memory_used_bytes)", "used"),
                    PanelQuery("max(gigavqa_server_memory_limit_bytes)", "limit"),
                ],
                _BYTES,
            ),
            DashboardPanel(
                "Responses in no Parquet part yet",
                [PanelQuery("max(gigavqa_unsunk_responses)", "responses")],
            ),
            DashboardPanel(
                "Age of the oldest of them", [PanelQuery("max(gigavqa_unsunk_oldest_seconds)", "seconds")], _SECONDS
            ),
            DashboardPanel(
                "Requests in the queue",
                [
                    PanelQuery("max(gigavqa_queue_requests)", "requests"),
                    PanelQuery("max(gigavqa_queue_limit_requests)", "limit"),
                ],
            ),
            DashboardPanel(
                "Disks: free", [PanelQuery("min by (place) (gigavqa_disk_free_bytes)", "{{place}}")], _BYTES
            ),
            DashboardPanel(
                "HTTP requests",
                [
                    PanelQuery(
                        f"sum by (route, status) (rate(gigavqa_http_requests_total{_WINDOW}))", "{{route}} {{status}}"
                    )
                ],
                _RATE,
            ),
            DashboardPanel(
                "Seconds to the first byte, 95 %",
                [PanelQuery(_quantile(0.95, "gigavqa_http_first_byte_seconds", "route"), "{{route}}")],
                _SECONDS,
            ),
            DashboardPanel(
                "Open streams", [PanelQuery(f"sum by (kind) (gigavqa_open_streams) or {_none('kind')}", "{{kind}}")]
            ),
            DashboardPanel(
                "Failures in the background",
                [
                    PanelQuery(
                        f"sum by (loop) (increase(gigavqa_background_failures_total{_WINDOW})) or {_none('loop')}",
                        "{{loop}}",
                    ),
                    PanelQuery(f"sum(increase(gigavqa_sink_failures_total{_WINDOW}))", "sink, put off"),
                    PanelQuery(f"sum(increase(gigavqa_audit_failures_total{_WINDOW}))", "audit"),
                ],
            ),
            DashboardPanel(
                "Memory of gateways",
                [PanelQuery('process_resident_memory_bytes{job="gigavqa-gateway"}', "{{instance}}")],
                _BYTES,
            ),
        ],
    ),
}
"""Dashboards by the name of their file."""


def text_of(name: str) -> str:
    """Return the file of one dashboard."""
    board = DASHBOARDS[name]
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


def _panel(panel: DashboardPanel) -> "stat.Panel | timeseries.Panel":
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
    for name in DASHBOARDS:
        (HERE / f"{name}.json").write_text(text_of(name), encoding="utf-8")


if __name__ == "__main__":
    main()
