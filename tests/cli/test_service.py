"""A whole service under `gigavqa up`, on the simulated engine, driven by the command line alone."""

import json
from pathlib import Path

import httpx
import pytest

from tests.cli.conftest import Service
from tests.cli.installation import MODEL

SAMPLES, CELLS = 4, 2


@pytest.fixture(scope="module")
def job(service: Service) -> str:
    """A finished job of table 1 over the data set `tiny`."""
    arguments = ("submit", "-d", "tiny", "-m", MODEL, "--plan", "table1", "--watch", "--json")
    finished = service.installation.json(*arguments)
    assert finished["status"] == "completed"
    return str(finished["id"])


def test_watch_prints_plain_lines_away_from_a_terminal(service: Service) -> None:
    """A log file gets whole lines: the last one says that everything is done."""
    run = service.installation.run("submit", "-d", "tiny", "-m", MODEL, "--cell", "S0:V1", "--watch")
    assert run.returncode == 0, run.stderr
    assert f"completed: {SAMPLES} of {SAMPLES} requests done, 0 failed" in run.stderr.splitlines()[-1]
    assert run.stdout.startswith("job_")


def test_watching_a_finished_job_ends_at_once(service: Service, job: str) -> None:
    """The job is printed as the gateway has it."""
    assert service.installation.json("watch", job, "--json")["request_counts"]["completed"] == SAMPLES * CELLS


def test_results_are_one_response_a_line(service: Service, job: str) -> None:
    """Every request of the job is there once."""
    lines = [json.loads(line) for line in service.installation.ok("results", job).splitlines()]
    assert len({line["request_id"] for line in lines}) == len(lines) == SAMPLES * CELLS


def test_results_are_filtered_and_taken_up_behind_a_cursor(service: Service, job: str) -> None:
    """Two pages of one condition hold what one holds."""
    installation = service.installation
    everything = installation.ok("results", job, "-c", "V2").splitlines()
    first = installation.ok("results", job, "-c", "V2", "--limit", "3").splitlines()
    rest = installation.ok("results", job, "-c", "V2", "--after", json.loads(first[-1])["cursor"]).splitlines()
    assert first + rest == everything
    assert {json.loads(line)["condition"] for line in everything} == {"V2"}


def test_results_go_into_a_file(service: Service, job: str, tmp_path: Path) -> None:
    """The count is said on standard error, so that standard output stays clean."""
    run = service.installation.run("results", job, "-o", str(tmp_path / "responses.ndjson"))
    assert run.stdout == ""
    assert f"{SAMPLES * CELLS} responses" in run.stderr


def test_the_report_comes_in_every_format(service: Service, job: str) -> None:
    """JSON parses, CSV and Markdown name the model, and the table says that the engine was simulated."""
    installation = service.installation
    assert installation.json("report", job, "--format", "json")
    assert MODEL in installation.ok("report", job, "--format", "csv")
    assert MODEL in installation.ok("report", job, "--format", "md")
    assert MODEL in installation.ok("report", job)
    assert installation.json("report", job, "latest", "--format", "json")["cells"]


def test_scoring_the_recorded_responses_gives_the_gateways_report(service: Service, job: str, tmp_path: Path) -> None:
    """Offline and online are one computation."""
    installation, file = service.installation, tmp_path / "responses.ndjson"
    installation.ok("results", job, "-o", str(file))
    offline = installation.json("score", str(installation.home / "data" / "tiny"), str(file), "--format", "json")
    online = installation.json("report", job, "--format", "json")
    assert offline["table1"] == online["table1"]
    # The gateway knows the order of the plan, which the file of responses does not tell.
    assert offline["cells"] == sorted(online["cells"], key=lambda cell: cell["condition"])


def test_one_idempotency_key_makes_one_job(service: Service) -> None:
    """The second submission returns the first job."""
    arguments = ("submit", "-d", "tiny", "-m", MODEL, "--sample", "cctv-0001", "--idempotency-key", "nightly")
    assert service.installation.ok(*arguments) == service.installation.ok(*arguments)


def test_decoding_is_overridden_by_name(service: Service) -> None:
    """--set reaches every response's sampling."""
    installation = service.installation
    arguments = ("-d", "tiny", "-m", MODEL, "--set", "temperature=0", "--set", "max_tokens=5", "--watch")
    job_id = installation.ok("submit", *arguments).strip()
    sampled = [json.loads(line)["sampling"] for line in installation.ok("results", job_id).splitlines()]
    assert {(sampling["temperature"], sampling["max_tokens"]) for sampling in sampled} == {(0.0, 5)}


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("submit", "-d", "nowhere", "-m", MODEL), "nowhere"),
        (("submit", "-d", "tiny", "-m", "no-such-model"), "no-such-model"),
        (("submit", "-d", "tiny", "-m", MODEL, "--sample", "cctv-9999"), "cctv-9999"),
        (("submit", "-d", "tiny", "-m", MODEL, "--set", "temperature=9"), "temperature"),
        (("watch", "job_unknown"), "job_unknown"),
    ],
)
def test_what_the_gateway_refuses_ends_with_status_4(service: Service, arguments: tuple[str, ...], named: str) -> None:
    """The problem document becomes lines that name what is wrong."""
    run = service.installation.run(*arguments)
    assert run.returncode == 4, run.stderr
    assert named in run.stderr
    assert "Traceback" not in run.stderr


def test_jobs_lists_the_newest_first(service: Service, job: str) -> None:
    """`latest` means the first of them."""
    installation = service.installation
    newest = installation.ok("submit", "-d", "tiny", "-m", MODEL, "--sample", "cctv-0002", "--watch").strip()
    ids = [item["id"] for item in installation.json("jobs", "--json")]
    assert ids.index(newest) < ids.index(job)
    assert installation.json("watch", "--json")["id"] == newest


def test_the_pages_are_where_up_says(service: Service) -> None:
    """The address of the line of readiness answers, the API's page included."""
    assert httpx.get(f"{service.ready['url']}/docs").is_success
    assert httpx.get(f"{service.ready['url']}/readyz").json()["workers"] == {MODEL: {"ready": 1}}


def test_a_taken_port_is_said_clearly(service: Service) -> None:
    """A second `up` on the same port ends with a line that names the way out."""
    port = service.ready["url"].rpartition(":")[2]
    run = service.installation.run("up", "--engine", "simulated", "-m", MODEL, "--port", port)
    assert run.returncode == 1
    assert "--port 0" in run.stderr
