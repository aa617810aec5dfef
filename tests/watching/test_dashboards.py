"""The dashboards in deploy/grafana are those that their script makes, and ask for nothing that nobody counts."""

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import promql_parser
import pytest
import yaml

from tests.watching import exporter, metrics
from tests.watching.programs import DEPLOY

GRAFANA = DEPLOY / "grafana"
NAMES = ("fleet", "gpus", "job", "model", "pixels", "server")
METRIC = re.compile(r"\bgigavqa_[a-z_]+")
OF_GPUS = re.compile(r"\bDCGM_[A-Z0-9_]+")
LABEL = re.compile(r"\{\{(\w+)\}\}")
CHOICE = re.compile(r"label_values\((\w+), (\w+)\)")
RECORDED = re.compile(r"\bgigavqa:[a-z0-9_:]+")


def load_script() -> ModuleType:
    """The script, which is in no package."""
    spec = importlib.util.spec_from_file_location("dashboards", GRAFANA / "dashboards.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def board_of(name: str) -> dict[str, Any]:
    """A dashboard, as its file has it."""
    board: dict[str, Any] = json.loads((GRAFANA / f"{name}.json").read_text(encoding="utf-8"))
    return board


def queries_of(name: str) -> list[str]:
    """Every query of a dashboard."""
    return [query for query, _ in lines_of(name)]


def lines_of(name: str) -> list[tuple[str, frozenset[str]]]:
    """Every query of a dashboard, and the labels by which its lines are called."""
    targets = [target for panel in board_of(name)["panels"] for target in panel["targets"]]
    return [(one["expr"], frozenset(LABEL.findall(one.get("legendFormat", "")))) for one in targets]


def choices_of(name: str) -> list[tuple[str, str]]:
    """The metric and label of which each variable of a dashboard offers the values."""
    variables = [one["query"] for one in board_of(name)["templating"]["list"] if one["type"] == "query"]
    return [(found[1], found[2]) for query in variables if (found := CHOICE.fullmatch(query))]


def asked(query: str, window: str = "5m") -> str:
    """The query as Grafana asks it, of every model and job."""
    return query.replace("$__rate_interval", window).replace("$model", ".*").replace("$job_id", ".*")


def test_each_file_is_what_the_script_makes() -> None:
    """`python deploy/grafana/dashboards.py` changes nothing."""
    script = load_script()
    assert tuple(sorted(script.DASHBOARDS)) == NAMES == tuple(sorted(path.stem for path in GRAFANA.glob("*.json")))
    for name in NAMES:
        assert (GRAFANA / f"{name}.json").read_text(encoding="utf-8") == script.text_of(name), name


@pytest.mark.parametrize("name", [*NAMES, "rules"])
async def test_every_query_can_be_read_and_asks_for_what_is_counted(name: str) -> None:
    """Of dashboards, and of rules; whatever is recorded has a rule."""
    queries = [rule["expr"] for rule in _rules()] if name == "rules" else queries_of(name)
    counted = {row.split("`")[1] for row in (*metrics.of_the_gateway(), *metrics.of_workers())}
    recorded = {rule["record"] for rule in _rules() if "record" in rule}
    assert queries
    for query in queries:
        promql_parser.parse(asked(query))
        known = {re.sub(r"_(bucket|sum|count)$", "", used) for used in METRIC.findall(query)}
        assert known <= counted, known - counted
        assert set(RECORDED.findall(query)) <= recorded, query
        assert set(OF_GPUS.findall(query)) <= exporter.COUNTERS, query


def _rules() -> list[dict[str, str]]:
    files = (DEPLOY / "prometheus" / name for name in ("recording.yml", "alerts.yml"))
    read = [yaml.safe_load(Path(file).read_text(encoding="utf-8")) for file in files]
    return [rule for one in read for group in one["groups"] for rule in group["rules"]]
