"""A whole service under `gigavqa up`, on the simulated engine, driven by the command line alone."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import duckdb
import httpx
import pytest
import redis
from PIL import Image

from gigavqa.store.redis_keys import KEYS
from tests.cli.conftest import Service
from tests.cli.installation import MODEL, hear_ctrl_c, sample, write_dataset
from tests.cli.test_completion import offered
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

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
    assert f"completed {SAMPLES} of {SAMPLES} requests answered" in run.stderr
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


def test_chats_are_written_for_people(service: Service, job: str) -> None:
    """Sample, model and cell, and below them what was answered."""
    told = service.installation.ok("results", job, "--chat", "-c", "V2", "--limit", "1").splitlines()
    sample_id, asked = told[0].split("  ")
    assert sample_id and asked == f"{MODEL} S0 V2"
    assert told[1] == "  turn 1:"
    assert told[2].startswith("    ")


def test_rounds_that_no_protocol_has_are_refused(service: Service) -> None:
    """With the protocols that the job names."""
    run = service.installation.run("submit", "-d", "tiny", "-m", MODEL, "--rounds", "6")
    assert run.returncode == 2
    assert "the job names 6 rounds, and protocol S0 has no rounds" in " ".join(run.stderr.split())


def test_results_go_into_a_file(service: Service, job: str, tmp_path: Path) -> None:
    """The count is said on standard error, so that standard output stays clean."""
    run = service.installation.run("results", job, "-o", str(tmp_path / "responses.ndjson"))
    assert run.stdout == ""
    assert f"{SAMPLES * CELLS} responses" in run.stderr


def test_responses_that_cannot_be_read_are_counted_apart(service: Service, tmp_path: Path) -> None:
    """The others are written, and the status is 1."""
    installation = service.installation
    job_id = installation.ok("submit", "-d", "tiny", "-m", MODEL, "--cell", "S0:V0", "--watch").strip()
    written = installation.ok("results", job_id).splitlines()
    with redis.Redis.from_url(service.ready["redis_url"]) as server:
        assert server.hdel(KEYS.texts(job_id), json.loads(written[0])["request_id"]) == 1
    run = installation.run("results", job_id, "-o", str(tmp_path / "responses.ndjson"))
    assert run.returncode == 1
    assert f"{SAMPLES - 1} responses written" in run.stderr
    assert "1 responses are recorded and cannot be read now" in run.stderr


def test_the_report_comes_in_every_format(service: Service, job: str) -> None:
    """JSON parses, CSV and Markdown name the model, and the table says that the engine was simulated."""
    installation = service.installation
    assert installation.json("report", job, "--format", "json")
    assert MODEL in installation.ok("report", job, "--format", "csv")
    assert MODEL in installation.ok("report", job, "--format", "md")
    assert MODEL in installation.ok("report", job)
    assert installation.json("report", job, "latest", "--format", "json")["cells"]
    again = installation.ok("submit", "-d", "tiny", "-m", MODEL, "--cell", "S0:V0", "--watch").strip()
    apart = installation.json("report", job, again, "--by-job", "--format", "json")["cells"]
    assert {cell["model"] for cell in apart} == {f"{MODEL}@{one}" for one in (job, again)}


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_verdicts_are_files_in_every_form(service: Service, job: str, tmp_path: Path, suffix: str) -> None:
    """One row a response, the same as to standard output in that form; scoring the responses offline says the same."""
    installation, online, offline = service.installation, tmp_path / f"on.{suffix}", tmp_path / f"off.{suffix}"
    run = installation.run("verdicts", job, "--texts", "-o", str(online))
    assert (run.returncode, run.stdout) == (0, ""), run.stderr
    assert f"verdicts written to {online}" in run.stderr
    command = installation.command("verdicts", job, "--texts", "--format", suffix)
    redirected = subprocess.run(command, env=installation.environment, capture_output=True, check=True).stdout
    assert redirected == online.read_bytes()
    assert duckdb.sql(f"SELECT count(*), count(score) FROM '{online}'").fetchall() == [(SAMPLES * CELLS,) * 2]

    responses = tmp_path / "responses.ndjson"
    installation.ok("results", job, "-o", str(responses))
    installation.ok("score", "tiny", str(responses), "--texts", "--verdicts", str(offline))
    assert offline.read_bytes() == online.read_bytes()


def test_jobs_are_offered_newest_first(service: Service) -> None:
    """Those that the gateway has, and `latest`."""
    arguments = ("submit", "-d", "tiny", "-m", MODEL, "--sample", "cctv-0001")
    first, second = (service.installation.ok(*arguments).strip() for _ in range(2))
    assert offered(service.installation, "gigavqa", "watch", "job_")[:2] == [second, first]
    assert offered(service.installation, "gigavqa", "report", "la") == ["latest"]
    assert offered(service.installation, "gigavqa", "logs", "g") == ["gateway"]
    protocols = offered(service.installation, "gigavqa", "results", first, "--protocol", "S")
    assert protocols == [f"S{number}" for number in range(6)]


def test_parquet_is_not_for_a_terminal(service: Service, job: str) -> None:
    """It is refused with what to do instead; a redirected one is not."""
    command = " ".join(service.installation.command("verdicts", job, "--format", "parquet"))
    run = subprocess.run(
        ["script", "-qec", command, "/dev/null"],
        env=service.installation.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2
    assert "name a file with -o, or redirect the output" in run.stdout


def test_verdicts_that_cannot_be_had_leave_no_file(service: Service, job: str, tmp_path: Path) -> None:
    """A job that there is not, and a name that says no form."""
    refused = service.installation.run("verdicts", "job_0", "-o", str(tmp_path / "verdicts.csv"))
    assert (refused.returncode, "job_0" in refused.stderr) == (2, True)
    refused = service.installation.run("verdicts", job, "-o", str(tmp_path / "verdicts.txt"))
    assert (refused.returncode, ".parquet" in refused.stderr) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_scoring_the_recorded_responses_gives_the_gateways_report(service: Service, job: str, tmp_path: Path) -> None:
    """Offline and online are one computation."""
    installation, file = service.installation, tmp_path / "responses.ndjson"
    installation.ok("results", job, "-o", str(file))
    offline = installation.json("score", str(installation.home / "data" / "tiny"), str(file), "--format", "json")
    online = installation.json("report", job, "--format", "json")
    (table1,) = (table for table in online["tables"] if table["name"] == "table1")
    assert table1 in offline["tables"]
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
        (("submit", "-d", "tiny", "-m", MODEL, "--set", "temperature=9"), "temperature must"),
        (("watch", "job_unknown"), "job_unknown"),
    ],
)
def test_what_the_gateway_finds_wrong_ends_with_status_2(
    service: Service, arguments: tuple[str, ...], named: str
) -> None:
    """Wrong arguments are wrong arguments, whoever finds them; the line says it once."""
    run = service.installation.run(*arguments)
    assert run.returncode == 2, run.stderr
    assert run.stderr.count(named) == 1
    assert "Traceback" not in run.stderr


def test_what_is_not_possible_now_ends_with_status_4(service: Service, job: str) -> None:
    """The arguments are good, and the job is in no state for it."""
    run = service.installation.run("retry", job)
    assert run.returncode == 4
    assert "no failed request" in run.stderr
    assert "no reply that is empty" in service.installation.run("retry", job, "--empty").stderr


def test_a_job_id_that_is_close_is_offered(service: Service, job: str) -> None:
    """Also in `latest`-less commands: the error names the job that was meant."""
    run = service.installation.run("watch", job[:-1])
    assert run.returncode == 2
    assert f"did you mean '{job}'" in run.stderr


def test_a_plan_and_a_model_that_are_close_are_offered(service: Service) -> None:
    """Of the plans and the catalogue that the gateway has."""
    run = service.installation.run("submit", "-d", "tiny", "-m", MODEL, "--plan", "tabel1")
    assert "did you mean 'table1'" in run.stderr
    run = service.installation.run("submit", "-d", "tiny", "-m", "demo-qwen")
    assert f"did you mean '{MODEL}'" in run.stderr


def test_one_warning_is_one_line_with_a_count(service: Service) -> None:
    """max_tokens beyond the context bounds the answers of eight requests, and the line says by how many tokens."""
    run = service.installation.run("submit", "-d", "tiny", "-m", MODEL, "--set", "max_tokens=100000")
    assert run.returncode == 0
    assert run.stderr.startswith(f"warning: {MODEL}: 8 prompts leave less of the context than max_tokens 100000")
    assert run.stderr.count("\n") == 1


def test_a_job_that_nobody_serves_says_so_at_once(service: Service) -> None:
    """At submission and while it is watched, with the command that starts a worker; Ctrl-C leaves the job alone."""
    installation, model = service.installation, "qwen3-vl-8b"
    run = installation.run("submit", "-d", "tiny", "-m", model)
    assert f"no worker serves {model}" in run.stderr and f"gigavqa up --model {model}" in run.stderr
    job_id = run.stdout.strip()
    log = installation.home / "watch.log"
    with log.open("w") as file:
        watcher = subprocess.Popen(
            installation.command("watch", job_id),
            env=installation.environment,
            stdout=file,
            stderr=file,
            preexec_fn=hear_ctrl_c,  # noqa: PLW1509 - no thread runs yet
        )
        wait_until(lambda: "no worker serves" in log.read_text(), what="the reason")
        wait_until(lambda: "in_progress" in log.read_text(), what="the job's state")
        watcher.send_signal(signal.SIGINT)
        assert watcher.wait(30) == 130
    assert f"job {job_id} goes on" in log.read_text()
    assert log.read_text().count("no worker serves") == 1
    assert installation.json("cancel", job_id, "--json")["status"] == "cancelled"
    run = installation.run("watch", job_id)
    assert run.returncode == 5
    assert f"gigavqa retry {job_id}" in run.stderr
    assert installation.json("retry", job_id, "--json")["status"] == "in_progress"
    installation.ok("cancel", job_id)


def test_the_summary_tells_what_the_job_took_and_what_comes_next(service: Service) -> None:
    """Four samples show one picture: three renderings are saved, and most of each prompt is known already."""
    run = service.installation.run("submit", "-d", "tiny", "-m", MODEL, "--cell", "S0:V2", "--repeats", "2", "--watch")
    assert run.returncode == 0
    said = run.stderr.splitlines()
    assert any(line.startswith("pictures  8 shown, 1 different: 7 renderings saved") for line in said)
    assert any(line.startswith("tokens ") and "% from the prefix cache" in line for line in said)
    assert any("tiny/images/plaza.png" in line for line in said)
    assert said[-1] == f"next      gigavqa report {run.stdout.strip()}"


def test_failures_are_told_by_type_with_what_helps(service: Service) -> None:
    """A truncated JPEG fails however often it is asked for: the picture is to be mended first."""
    installation = service.installation
    folder = write_dataset(installation.home / "data" / "cut", [sample(0, "images/cut.jpg")])
    with Image.open(folder / "images" / "plaza.png") as picture:
        picture.save(folder / "images" / "cut.jpg")
    whole = (folder / "images" / "cut.jpg").read_bytes()
    (folder / "images" / "cut.jpg").write_bytes(whole[: len(whole) // 2])
    run = installation.run("submit", "-d", "cut", "-m", MODEL, "--cell", "S0:V2", "--watch")
    assert run.returncode == 5
    assert "1 of 1 requests failed: 1 ImageUnreadableError" in run.stderr
    assert "asks again" not in run.stderr and "gigavqa dataset check cut --pixels" in run.stderr


def test_metadata_stays_with_the_job(service: Service) -> None:
    """Pairs of the command line are the job's metadata."""
    job_id = service.installation.ok("submit", "-d", "tiny", "-m", MODEL, "--metadata", "owner=me", "--watch").strip()
    assert service.installation.json("watch", job_id, "--json")["spec"]["metadata"] == {"owner": "me"}


def test_a_job_is_deleted_when_it_is_confirmed(service: Service) -> None:
    """Without anybody to ask and without --yes nothing is deleted."""
    installation = service.installation
    job_id = installation.ok("submit", "-d", "tiny", "-m", MODEL, "--cell", "S0:V0", "--watch").strip()
    refused = subprocess.run(
        installation.command("delete", job_id),
        env=installation.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 2 and "--yes" in refused.stderr
    assert installation.json("delete", job_id, "--yes", "--json") == {"id": job_id, "deleted": True}
    assert installation.run("watch", job_id).returncode == 2


def test_workers_are_listed_with_what_they_hold(service: Service) -> None:
    """The one worker is ready, with its model in the engine, and soon holds nothing of what others asked before."""

    def is_idle() -> bool:
        (worker,) = service.installation.json("workers", "--json")
        return (worker["state"], worker["loaded"], worker["running"]) == ("ready", MODEL, 0)

    wait_until(is_idle, what="a ready worker without requests")
    assert MODEL in service.installation.ok("workers")


def test_logs_of_earlier_processes_are_left_out_and_named(service: Service) -> None:
    """Whoever looks for a fault of what runs is not shown what ran before; by its name it is."""
    installation = service.installation
    earlier = installation.home / "logs" / "worker-earlier.log"
    earlier.write_text("a fault of last week\n")
    try:
        run = installation.run("logs")
        assert "last week" not in run.stdout
        assert f"worker-{MODEL} " in run.stdout
        assert "worker-earlier; `gigavqa logs worker-earlier`" in run.stderr
        assert installation.ok("logs", "earlier") == "a fault of last week\n"
    finally:
        earlier.unlink()


def test_logs_are_read_by_name_and_followed(service: Service) -> None:
    """A line that the gateway writes after the start of `logs -f` is shown."""
    installation = service.installation
    assert f"ready for {MODEL}" in installation.ok("logs", MODEL, "-n", "1000")
    run = installation.run("logs", "gatewy")
    assert run.returncode == 2 and "did you mean 'gateway'" in run.stderr
    log = installation.home / "followed.log"
    with log.open("w") as file:
        command = installation.command("logs", "gateway", "-f", "-n", "0")
        follower = subprocess.Popen(
            command,
            env=installation.environment,
            stdout=file,
            stderr=file,
            preexec_fn=hear_ctrl_c,  # noqa: PLW1509 - no thread runs yet
        )

        def is_followed() -> bool:
            httpx.get(f"{service.ready['url']}/v1/jobs/job_followed")
            return "job_followed" in log.read_text()

        wait_until(is_followed, what="the gateway's new line")
        follower.send_signal(signal.SIGINT)
        assert follower.wait(30) == 0


def test_the_pages_example_of_the_api_runs_as_it_is_pasted(service: Service) -> None:
    """Every command of docs/api.md's way of a job, in one shell, with this gateway and data set in place of its own."""
    text = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
    script = text.partition("```sh\n")[2].partition("```")[0]
    script = script.replace("http://127.0.0.1:8470", service.ready["url"]).replace('"demo"', '"tiny"')
    run = subprocess.run(["bash", "-euc", script], capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    assert '"status":"completed"' in run.stdout.replace(" ", "")
    assert "text only (V0)" in run.stdout


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
    assert run.returncode == 4
    assert "--port 0" in run.stderr


@pytest.mark.parametrize(
    ("example", "argument", "shown"),
    [("client.py", "tiny", "V2"), ("openai_chat.py", "tiny/images/plaza.png", "")],
)
def test_the_examples_run(service: Service, example: str, argument: str, shown: str) -> None:
    """As `examples/README.md` starts them."""
    command = [sys.executable, str(Path(__file__).parents[2] / "examples" / example), argument, MODEL]
    environ = {**service.installation.environment, "GIGAVQA_URL": service.ready["url"]}
    run = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=120, check=False)

    assert run.returncode == 0, run.stderr
    assert run.stdout.strip()
    assert shown in run.stdout
