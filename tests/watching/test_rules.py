"""Prometheus' own unit tests of the rules: an hour that is well wakes nobody, and each fault fires its alert alone."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.watching.programs import DEPLOY, program

RULES = DEPLOY / "prometheus"
RUNBOOK = DEPLOY.parent / "docs" / "watching.md"
BUSY = 'gigavqa_worker_engine_seconds_total{instance="w",worker="w-1",model="m",state="busy"}'
PIXELS = 'gigavqa_worker_engine_seconds_total{instance="w",worker="w-1",model="m",state="pixels"}'
COMPLETED = 'gigavqa_responses_recorded_total{instance="g",model="m",outcome="completed"}'
FAILED = 'gigavqa_responses_recorded_total{instance="g",model="m",outcome="failed"}'
EMPTY = 'gigavqa_worker_empty_answers_total{instance="w",worker="w-1",model="m"}'
XID = 'DCGM_FI_DEV_XID_ERRORS{Hostname="n",gpu="0"}'
REMAP = 'DCGM_FI_DEV_ROW_REMAP_FAILURE{Hostname="n",gpu="0"}'
WELL = {
    'up{job="gigavqa-gateway",instance="g"}': "1x60",
    'up{job="gigavqa-worker",instance="w",worker="w-1"}': "1x60",
    'gigavqa_server_up{instance="g"}': "1x60",
    'gigavqa_server_takes_writes{instance="g"}': "1x60",
    'gigavqa_server_memory_used_bytes{instance="g"}': "40x60",
    'gigavqa_server_memory_limit_bytes{instance="g"}': "100x60",
    'gigavqa_server_risk{instance="g",risk="append-only"}': "0x60",
    'gigavqa_lease_reclaims_total{instance="g",model="m"}': "3x60",
    'gigavqa_queue_bundles{instance="g",model="m",state="waiting"}': "500x60",
    'gigavqa_queue_oldest_seconds{instance="g",model="m",state="waiting"}': "0+60x60",
    'gigavqa_workers{instance="g",model="m",state="ready"}': "2x60",
    COMPLETED: "0+600x60",
    FAILED: "0+6x60",
    EMPTY: "0+6x60",
    'gigavqa_queue_requests{instance="g"}': "32000x60",
    'gigavqa_queue_limit_requests{instance="g"}': "200000x60",
    'gigavqa_sink_failures_total{instance="g"}': "0x60",
    'gigavqa_unsunk_oldest_seconds{instance="g"}': "60x60",
    BUSY: "0+57x60",
    PIXELS: "0+3x60",
    'gigavqa_worker_engine_restarts_total{instance="w",worker="w-1"}': "1x60",
    'gigavqa_disk_free_bytes{instance="g",place="results"}': "800-0.1x60",
    'gigavqa_disk_bytes{instance="g",place="results"}': "1000x60",
    'gigavqa_worker_disk_free_bytes{instance="w",worker="w-1"}': "90000000000x60",
    'gigavqa_background_failures_total{instance="g",loop="sink"}': "1x60",
    'gigavqa_audit_failures_total{instance="g"}': "0x60",
    XID: "0x20 13x20 45x20",
    'DCGM_FI_DEV_XID_ERRORS{Hostname="n",gpu="1"}': "9223372036854775794x60",
    REMAP: "0x60",
}
"""Series of an hour of a loaded fleet, minute by minute, in Prometheus' notation: a queue of hours, and no fault
but an application's on a GPU, and a GPU that cannot say."""

FAULTS = {
    "GigavqaGatewayDown": {'up{job="gigavqa-gateway",instance="g"}': "1x30 0x30"},
    "GigavqaServerAway": {
        'gigavqa_server_up{instance="g"}': "1x30 0x30",
        'gigavqa_server_takes_writes{instance="g"}': "1x30 0x30",
    },
    "GigavqaServerFull": {'gigavqa_server_takes_writes{instance="g"}': "1x30 0x30"},
    "GigavqaServerMemoryHigh": {'gigavqa_server_memory_used_bytes{instance="g"}': "40x30 90x30"},
    "GigavqaServerUnsafe": {'gigavqa_server_risk{instance="g",risk="append-only"}': "0x30 1x30"},
    "GigavqaWorkerGone": {'gigavqa_lease_reclaims_total{instance="g",model="m"}': "3x55 5x5"},
    "GigavqaWorkerUnreachable": {'up{job="gigavqa-worker",instance="w",worker="w-1"}': "1x30 0x30"},
    "GigavqaNoWorker": {'gigavqa_workers{instance="g",model="m",state="ready"}': "2x30 _x30"},
    "GigavqaQueueStuck": {COMPLETED: "0+600x30 18000x30", FAILED: "0+6x30 180x30"},
    "GigavqaQueueFull": {'gigavqa_queue_requests{instance="g"}': "32000x20 199000x40"},
    "GigavqaSinkFailing": {
        'gigavqa_sink_failures_total{instance="g"}': "0x30 0+30x30",
        'gigavqa_unsunk_oldest_seconds{instance="g"}': "60x30 60+60x30",
    },
    "GigavqaGpuIdleWithWork": {BUSY: "0+57x30 1710+6x30", PIXELS: "0+3x30 90+54x30"},
    "GigavqaEngineRestarts": {'gigavqa_worker_engine_restarts_total{instance="w",worker="w-1"}': "1x40 1+1x20"},
    "GigavqaRequestsFail": {FAILED: "0+6x30 180+200x30"},
    "GigavqaEmptyAnswers": {EMPTY: "0+6x30 180+200x30"},
    "GigavqaDiskFull": {'gigavqa_disk_free_bytes{instance="g",place="results"}': "800x30 40x30"},
    "GigavqaWorkerDiskFull": {'gigavqa_worker_disk_free_bytes{instance="w",worker="w-1"}': "90000000000x30 1000x30"},
    "GigavqaBackgroundFailing": {'gigavqa_background_failures_total{instance="g",loop="sink"}': "1x40 1+1x20"},
    "GigavqaAuditFailing": {'gigavqa_audit_failures_total{instance="g"}': "0x50 0+1x10"},
    "GigavqaGpuXid": {XID: "0x30 79x30"},
    "GigavqaGpuUnrepairable": {REMAP: "0x30 1x30"},
}
"""By alert: which series are otherwise in an hour that has its fault."""


def test_every_alert_is_fired_by_its_fault_and_by_nothing_else(tmp_path: Path) -> None:
    """promtool plays one hour that is well, and one for each alert."""
    hours = [_hour("well", {}), *(_hour(alert, fault) for alert, fault in FAULTS.items())]
    rules = [str(RULES / name) for name in ("recording.yml", "alerts.yml")]
    (tmp_path / "hours.yml").write_text(json.dumps({"rule_files": rules, "evaluation_interval": "1m", "tests": hours}))
    command = [program("promtool"), "test", "rules", str(tmp_path / "hours.yml")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_the_configuration_is_sound() -> None:
    """promtool reads it with the rules that it names."""
    command = [program("promtool"), "check", "config", str(RULES / "prometheus.yml")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_every_alert_has_a_fault_and_a_line_of_the_runbook() -> None:
    """And the runbook has no alert that there is not."""
    alerts = [rule for group in _alerts()["groups"] for rule in group["rules"]]
    headings = re.findall(r"^### (Gigavqa\w+)$", RUNBOOK.read_text(encoding="utf-8"), re.MULTILINE)
    assert [rule["alert"] for rule in alerts] == list(FAULTS) == headings
    for rule in alerts:
        assert rule["annotations"]["runbook"] == f"docs/watching.md#{rule['alert'].lower()}"
        assert rule["labels"]["severity"] in {"page", "ticket"}


def _hour(name: str, fault: dict[str, str]) -> dict[str, Any]:
    assert fault.keys() <= WELL.keys()
    fired = [] if name == "well" else [{"labels": f'{{alertname="{name}"}}', "value": 1}]
    return {
        "name": name,
        "interval": "1m",
        "input_series": [{"series": series, "values": values} for series, values in (WELL | fault).items()],
        "promql_expr_test": [
            {"expr": 'count by (alertname) (ALERTS{alertstate="firing"})', "eval_time": "59m", "exp_samples": fired}
        ],
    }


def _alerts() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((RULES / "alerts.yml").read_text(encoding="utf-8"))
    return read
