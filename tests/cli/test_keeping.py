"""What an installation keeps outlives its machine and its release: backup, restore, check, and state of before.

`earlier/` is the home of an installation of release 0.1.0 as it was on 2026-11-22 at 04:58 UTC, when responses had no
version, parts no seal, and jobs stood in no list of their status: a job that ended, with one failure, and is in a part;
one that ended and is not; and one of which a bundle is recorded, a bundle was held by a worker that died, and two wait.
`report.csv` is the report of that time on the first one.
"""

import csv
import io
import json
import os
import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.cli.conftest import start_service, stop_service
from tests.cli.installation import Installation

pytestmark = pytest.mark.slow

EARLIER = Path(__file__).parent / "earlier"
SUNK, FRESH, BEGUN = "job_ddcb40596141ea312e33", "job_3b111002d48b92b0ebd6", "job_0898e2d5e92019336944"
RESPONSES = {SUNK: 8, FRESH: 4, BEGUN: 8}


@pytest.fixture
def earlier(tmp_path: Path) -> Installation:
    """An installation that an earlier release has left."""
    shutil.copytree(EARLIER, tmp_path / "earlier")
    return Installation(tmp_path / "earlier")


def estimates(report: str) -> set[tuple[str, ...]]:
    """The values and counts of a CSV report's first table; intervals were made in another way then."""
    lines = [line for line in csv.DictReader(io.StringIO(report)) if line["table"].startswith("table1")]
    return {tuple(line[name] for name in ("condition", "domain", "metric", "value", "count")) for line in lines}


def responses(installation: Installation, job: str) -> list[dict[str, str]]:
    """Every response of a job, each of which can be read."""
    return [json.loads(line) for line in installation.ok("results", job).splitlines()]


def test_state_of_an_earlier_release_is_backed_up_restored_read_and_played_to_its_end(
    earlier: Installation, tmp_path: Path
) -> None:
    """Nothing of it is damaged; elsewhere, with this release, all responses are there once, and the begun job ends.

    While it plays, it is checked and backed up again, and nothing is restored over it.
    """
    backup = tmp_path / "backup"
    assert earlier.json("fsck", "--json")["findings"] == []
    assert earlier.json("backup", str(backup), "--json")["responses"] == 14
    home = tmp_path / "restored"
    shutil.copytree(EARLIER / "data", home / "data")
    Installation(home).ok("restore", str(backup))
    service = start_service(Installation(home))
    here = service.installation
    try:
        running = here.run("restore", str(backup), "--overwrite")
        assert (running.returncode, "end `gigavqa up` first" in running.stderr) == (4, True)
        here.ok("watch", BEGUN)
        assert {job["id"]: job["status"] for job in here.json("jobs", "--json")} == dict.fromkeys(
            RESPONSES, "completed"
        )
        for job, number in RESPONSES.items():
            times = Counter(each["request_id"] for each in responses(here, job))
            assert (len(times), set(times.values())) == (number, {1})
        report = here.ok("report", SUNK, "--format", "csv")
        assert estimates((EARLIER / "report.csv").read_text()) <= estimates(report)
        assert here.json("fsck", "--json")["findings"] == []
        assert here.json("backup", str(tmp_path / "second"), "--json")["responses"] == sum(RESPONSES.values())
    finally:
        stop_service(service)


def test_what_is_damaged_is_named_and_the_status_tells(earlier: Installation) -> None:
    """0 without damage, 1 with, 2 where it cannot be looked for; JSON has what the lines say."""
    assert "nothing is damaged" in earlier.run("fsck").stderr
    (part,) = earlier.home.rglob("*.parquet")
    part.write_bytes(part.read_bytes()[:-9])
    found = earlier.run("fsck")
    assert found.returncode == 1
    assert f"damage    job {SUNK}: the Parquet part {part.stem} is damaged; 8 responses" in found.stdout
    (told,) = json.loads(earlier.run("fsck", "--json").stdout)["findings"]
    assert (told["kind"], told["subject"], told["repairable"]) == ("part-damaged", f"job {SUNK}", False)
    (earlier.home / "server" / "appendonlydir" / "appendonly.aof.1.base.rdb").write_bytes(b"no snapshot")
    impossible = earlier.run("fsck")
    assert (impossible.returncode, "could not check to the end" in impossible.stderr) == (2, True)


def test_pruning_deletes_leftovers_and_nothing_that_a_job_needs(earlier: Installation) -> None:
    """Parts of a job that there is not go, and rasters that nobody used; where the server lost its state, none do."""
    (part,) = earlier.home.rglob("*.parquet")
    stray = earlier.home / "results" / "job=job_of_nobody" / part.name
    stray.parent.mkdir()
    shutil.copy(part, stray)
    used, unused = (earlier.home / "rasters" / f"{name}.raster" for name in ("used", "unused"))
    used.parent.mkdir()
    for raster in (used, unused):
        raster.write_bytes(b"pixels")
    os.utime(unused, (1, 1))
    told = earlier.json("prune", "--yes", "--json")
    assert ([each["subject"] for each in told["leftovers"]], told["cached"]) == (["job job_of_nobody"], [str(unused)])
    assert (stray.exists(), unused.exists(), used.exists(), part.exists()) == (False, False, True, True)
    shutil.rmtree(earlier.home / "server")
    assert earlier.json("prune", "--yes", "--json")["leftovers"] == []
    assert part.exists()
    assert "knows no job, but there are parts of 1 job" in earlier.run("fsck").stdout
