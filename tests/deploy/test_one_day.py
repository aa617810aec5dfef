"""One day of an operator: the blocks of docs/operating.md, "One day", run on an installation of real processes.

systemd's part is played here: `systemctl` ends and starts the processes that its units would.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from gigavqa.launcher.preflight import free_port
from tests.deploy.manifests import ROOT
from tests.flow.pictures import draw_dataset
from tests.waiting import wait_until
from tests.watching.faults import mount_disk

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PAGE = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
MODEL, ADDED = "qwen3-vl-8b", "glm-4.5v"


def block(title: str) -> list[str]:
    """The commands of a section."""
    section = PAGE.partition(f"\n### {title}\n")[2]
    (first, *_) = re.findall(r"(?:^    .*\n)+", section, re.MULTILINE)
    return [line.strip() for line in first.splitlines()]


class Machine:
    """An installation whose gateway asks for keys, with what systemd would run."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home, self.port = folder, folder / "home", free_port("127.0.0.1")
        self.url = f"http://127.0.0.1:{self.port}"
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        programs = folder / "bin"
        programs.mkdir()
        for name, words in (("python", ""), ("gigavqa", "-P -m gigavqa")):
            (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
            (programs / name).chmod(0o755)
        clean = {name: value for name, value in os.environ.items() if not name.startswith("GIGAVQA_")}
        self.job_id = ""
        self.environ = clean | {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "GIGAVQA_HOME": str(self.home),
            "GIGAVQA_URL": self.url,
            "BACKUPS": str(folder),
            "OTHER": str(folder / "other"),
        }

    def run(self, *lines: str, **variables: str) -> str:
        """Run lines as the operator types them; `systemctl` starts and ends what is named."""
        said = ""
        pending: list[str] = []
        for line in (*lines, "systemctl"):
            if not line.startswith("systemctl"):
                pending.append(line)
                continue
            script, pending = "\n".join(pending), []
            command = ["bash", "-euo", "pipefail", "-c", script]
            environ = self.environ | variables
            done = subprocess.run(command, env=environ, cwd=self.folder, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
            said += done.stdout
            for unit in line.split()[2:]:
                (self.start if line.split()[1] == "start" else self.end)(unit)
        return said

    def start(self, unit: str, **variables: str) -> None:
        """Start what a unit starts, and wait until it is ready."""
        room, _, model = unit.removeprefix("gigavqa-").partition("@")
        command = ["python", "-P", "-m", "gigavqa.service", "--port", str(self.port), "--require-keys"]
        if room == "worker":
            command = ["python", "-P", "-m", "gigavqa.workers", "--model", model]
            command += ["--engine", "simulated", "--speed", "0", "--metrics-port", "0"]
        with (self.folder / f"{room}.log").open("ab") as log:
            started = subprocess.Popen(command, env=self.environ | variables, stderr=log, cwd=self.folder)
        self.processes[unit] = started
        wait_until(lambda: self.is_ready(model), timeout=90, what=unit)

    def end(self, unit: str) -> None:
        """End it as systemd does; it ends well."""
        process = self.processes.pop(unit)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) in {0, -signal.SIGTERM}, unit

    def is_ready(self, model: str) -> bool:
        """Whether the gateway answers, and has a worker of the model where one is named."""
        try:
            readiness = self.ask("/readyz")
        except httpx.TransportError:
            return False
        return readiness.is_success and (not model or "ready" in readiness.json()["workers"].get(model, {}))

    def ask(self, path: str, key: str | None = None) -> httpx.Response:
        """Ask the gateway, with the operator's key unless another is named."""
        key = key or self.environ["GIGAVQA_API_KEY"]
        return httpx.get(f"{self.url}{path}", headers={"Authorization": f"Bearer {key}"}, timeout=60)

    def play(self, model: str) -> list[str]:
        """Play a job, all of which is answered; returns its lines of results."""
        body = {"dataset": "plazas", "models": [model], "cells": [{"protocol": "S0", "condition": "V2"}]}
        headers = {"Authorization": f"Bearer {self.environ['GIGAVQA_API_KEY']}"}
        made = httpx.post(f"{self.url}/v1/jobs", json=body, headers=headers, timeout=60).raise_for_status()
        self.job_id = made.json()["id"]
        wait_until(lambda: self.ask(f"/v1/jobs/{self.job_id}").json()["status"] == "completed", timeout=90)
        lines = self.lines()
        assert len(lines) == 8 and all('"failure":null' in line for line in lines)
        return lines

    def lines(self) -> list[str]:
        """Results of the job that was played last."""
        return self.ask(f"/v1/jobs/{self.job_id}/results").text.splitlines()


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """An installation with a gateway and a worker, and a key for its operator."""
    machine = Machine(tmp_path_factory.mktemp("day"))
    draw_dataset(machine.home / "data" / "plazas", images=2, questions=4)
    made = machine.run("gigavqa admin keys create --name first --owner ops --role operate")
    machine.environ["GIGAVQA_API_KEY"] = made.split()[0]
    try:
        machine.start("gigavqa-gateway")
        machine.start(f"gigavqa-worker@{MODEL}")
        yield machine
    finally:
        for process in machine.processes.values():
            process.kill()
            process.wait()
        (ending,) = re.findall(r"^    (python -c .*shutdown.*)$", PAGE, re.MULTILINE)
        machine.run(ending)
        assert not _serves(machine.home)


def _serves(home: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as asked:
        return asked.connect_ex(str(home / "server" / "server.sock")) == 0


def test_an_upgrade_loses_nothing_and_reads_what_was(machine: Machine) -> None:
    """Backup, drain, new processes; the responses of before are the very lines, and the next job is played."""
    before = machine.play(MODEL)
    said = machine.run(*block("Upgrade what runs"))
    assert machine.job_id in said
    assert machine.lines() == before
    machine.play(MODEL)


def test_a_restore_on_another_machine_is_whole(machine: Machine) -> None:
    """As `fsck` finds it there: the block ends with its status."""
    assert "restored: 2 jobs, 16 responses" in machine.run(*block("Restore on another machine"))


def test_a_key_is_replaced_without_a_gap(machine: Machine) -> None:
    """The new one opens what the old one did, and the old one nothing more."""
    old = machine.run("gigavqa admin keys create --name laptop --owner ada --role submit").split()[0]
    machine.run(*block("Replace a key"), OLD=old)
    new = (machine.folder / "new.key").read_text().strip()
    assert machine.ask("/v1/jobs", new).status_code == 200
    assert machine.ask("/v1/jobs", old).status_code == 401


def test_a_full_disk_of_a_worker_stops_nothing_and_is_freed(machine: Machine) -> None:
    """Its jobs are answered meanwhile."""
    disk = machine.folder / "disk"
    if not mount_disk(disk, 32 * 2**20):
        pytest.skip("no disk may be mounted here")
    unit = f"gigavqa-worker@{MODEL}"
    here = {"GIGAVQA_HOME": str(disk), "GIGAVQA_DATA": str(machine.home / "data")}
    here |= {"REDIS_URL": f"unix://{machine.home}/server/server.sock", "RESULTS_URI": str(machine.home / "results")}
    try:
        machine.end(unit)
        (disk / "rasters").mkdir()
        machine.start(unit, **here)
        with (disk / "rasters" / "kept").open("wb") as filler:
            os.posix_fallocate(filler.fileno(), 0, shutil.disk_usage(disk).free)
        machine.play(MODEL)
        machine.run(*block("Free a worker's disk"), **here)
        assert shutil.disk_usage(disk).free > 16 * 2**20
        machine.end(unit)
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


def test_a_model_is_added_while_others_are_served(machine: Machine) -> None:
    """Nothing is restarted, and a job for it is played."""
    gateway = machine.processes["gigavqa-gateway"].pid
    said = machine.run(*block("Add a model"))
    assert ADDED in said
    machine.play(ADDED)
    assert machine.processes["gigavqa-gateway"].pid == gateway
