"""`gigavqa jobs` narrows its list down and turns it round, as the gateway's list can."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from gigavqa.runtime.embedded_store import start_store
from gigavqa.service.settings import GatewaySettings
from tests.cli.installation import MODEL, Installation, sample, write_dataset
from tests.service.gateways import running
from tests.service.workers import play


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """A gateway with two data sets: of `tiny` one job is completed and a later one waits, as does one of `other`."""
    home = tmp_path_factory.mktemp("jobs") / "home"
    for name in ("tiny", "other"):
        write_dataset(home / "data" / name, [sample(number, "images/plaza.png") for number in range(2)])
    settings = GatewaySettings.from_environment({"GIGAVQA_HOME": str(home)})
    server = start_store(settings.server)
    try:
        with running(settings) as gateway:
            cell = [{"protocol": "S0", "condition": "V1"}]
            for dataset, models in (("tiny", [MODEL]), ("tiny", [MODEL, "qwen3-vl-8b"]), ("other", [MODEL])):
                notes = {"run": str(len(models)), "for": dataset}
                body = {"dataset": dataset, "models": models, "cells": cell, "metadata": notes}
                assert gateway.client.post("/v1/jobs", json=body).status_code == 201
                if not gateway.client.get("/v1/jobs?status=completed").json()["data"]:
                    play(server.url)
            yield Installation(home, gateway.url)
    finally:
        server.stop()


FIRST, SECOND, THIRD = "tiny/1", "tiny/2", "other/1"


@pytest.mark.parametrize(
    ("arguments", "listed"),
    [
        ((), [THIRD, SECOND, FIRST]),
        (("--order", "oldest", "--limit", "2"), [FIRST, SECOND]),
        (("--status", "completed"), [FIRST]),
        (("--dataset", "tiny", "--status", "in_progress"), [SECOND]),
        (("--model", "qwen3-vl-8b"), [SECOND]),
        (("--metadata", "run=1", "--metadata", "for=other"), [THIRD]),
        (("--created-after", "1h", "-d", "other"), [THIRD]),
        (("--created-before", "1h"), []),
        (("--created-before", "2100-01-01", "--created-after", "2020-01-01T12:00+02:00", "--limit", "1"), [THIRD]),
    ],
)
def test_jobs_are_those_that_fit_all_that_is_said(
    installation: Installation, arguments: tuple[str, ...], listed: list[str]
) -> None:
    """Each filter of the gateway's list, alone and with others."""
    found = installation.json("jobs", "--json", *arguments)
    assert [f"{job['spec']['dataset']}/{len(job['spec']['models'])}" for job in found] == listed


@pytest.mark.parametrize("width", [60, 80, 120])
def test_names_are_whole_at_every_width(installation: Installation, width: int) -> None:
    """Ids of jobs and data sets can be copied; what does not fit is left out, and said."""
    found = installation.json("jobs", "--json", "--model", "qwen3-vl-8b")
    lines = replace(installation, columns=width).ok("jobs", "--model", "qwen3-vl-8b").splitlines()
    assert len(lines) == 2
    assert found[0]["id"] in lines[1] and " tiny " in lines[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--status", "done"), "--status"),
        (("--order", "fastest"), "--order"),
        (("--metadata", "owner"), "--metadata 'owner' is not NAME=VALUE"),
        (("--created-after", "yesterday"), "--created-after 'yesterday' is neither a time such as 90d nor a date"),
    ],
)
def test_what_is_no_filter_is_named(installation: Installation, arguments: tuple[str, ...], said: str) -> None:
    """Status 2; a filter that is silently not applied would list what was not wanted."""
    run = installation.run("jobs", *arguments)
    assert run.returncode == 2
    assert said in run.stderr
