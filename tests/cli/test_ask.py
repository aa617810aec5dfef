"""`gigavqa ask`: from a folder and a file to answers, a page and verdicts, through real jobs of real processes."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pyarrow.parquet as pq
import pytest

from tests.benchmarks.questions.files import FORMS, draw_pictures
from tests.cli.conftest import Service, start_service, stop_service
from tests.cli.installation import MODEL, Installation, hear_ctrl_c
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

FOUR = ("plain.csv", "vlmevalkit.tsv", "hugging-face.parquet", "whole.json")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service on the simulated engine, without any data set."""
    home = tmp_path_factory.mktemp("asked") / "home"
    home.mkdir()
    running = start_service(Installation(home))
    yield running
    stop_service(running)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of pictures, and every form of questions about them beside it."""
    for name, write in FORMS.items():
        write(tmp_path / name)
    return draw_pictures(tmp_path / "pictures")


def _lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("name", FOUR)
def test_each_form_goes_through_a_real_job(service: Service, folder: Path, name: str) -> None:
    """A gateway that serves the model is used; page and verdicts lie in the folder, in the same order and number."""
    out = folder.parent / "out"
    run = service.installation.run(
        "ask", str(folder), str(folder.parent / name), "-m", MODEL, "-c", "V0", "-c", "V2", "-o", str(out)
    )
    assert run.returncode == 0, run.stderr
    assert "starting" not in run.stderr
    verdicts = _lines(out / "verdicts.jsonl")
    questions = 4 if name.endswith(".tsv") else 3
    assert len({line["request_id"] for line in verdicts}) == 2 * questions
    assert f"{2 * questions} of {2 * questions}  " in run.stderr
    assert f"{questions} questions ({questions} choice)" in run.stderr
    assert {line["outcome"] for line in verdicts} <= {"right", "wrong"}
    with (out / "verdicts.csv").open(newline="") as file:
        assert [row["request_id"] for row in csv.DictReader(file)] == [line["request_id"] for line in verdicts]
    assert pq.read_table(out / "verdicts.parquet").num_rows == 2 * questions
    assert "<html" in (out / "report.html").read_text()
    assert "above chance" in run.stdout and str(out / "report.html") in run.stdout
    assert re.search(rf"^open      {service.ready['url']}/jobs/job_\w+ in a browser$", run.stdout, re.MULTILINE)


def test_how_it_is_asked_is_chosen_as_for_any_job(service: Service, folder: Path) -> None:
    """Decoding, options, repeats and seed; with --json all that came of it is one document."""
    chosen = ("--set", "max_tokens=8", "--option", "thumbnail=100", "--repeats", "2", "--seed", "3", "--json")
    told = service.installation.json("ask", str(folder), str(folder.parent / "plain.csv"), "-m", MODEL, *chosen)
    spec = told["job"]["spec"]
    assert (spec["sampling"], spec["options"]) == ({"max_tokens": 8}, {"thumbnail": 100})
    assert (spec["repeats"], spec["seed"]) == (2, 3)
    assert told["job"]["request_counts"]["completed"] == 2 * told["report"]["samples"]
    assert all(Path(path).is_file() for path in (told["page"], *told["verdicts"]))


def test_a_closing_turn_stands_below_each_answer(service: Service, folder: Path) -> None:
    """In the lines, in the verdicts and as a table; the job is another than the one without."""
    questions, out = str(folder.parent / "plain.csv"), folder.parent / "closed"
    service.installation.ok("ask", str(folder), questions, "-m", MODEL)
    run = service.installation.run("ask", str(folder), questions, "-m", MODEL, "--closing", "choice", "-o", str(out))
    assert run.returncode == 0, run.stderr
    assert "asked before" not in run.stderr
    verdicts = _lines(out / "verdicts.jsonl")
    assert {line["closing"] for line in verdicts} <= {"A", "B", "C", "none"}
    assert run.stderr.count("  closing: ") == len(verdicts) == 3
    assert "Read and closed" in run.stdout
    refused = service.installation.run("ask", str(folder), questions, "-m", MODEL, "--closing", "number")
    assert refused.returncode and "closing: number fits none" in refused.stderr


def test_what_nobody_reads_is_told_before_it_is_asked(service: Service, folder: Path) -> None:
    """A column by a name that nobody knows, which may have held options."""
    rows = folder.parent / "more.csv"
    lines = (folder.parent / "plain.csv").read_text().splitlines()
    rows.write_text("".join(f"{line},{'ways out' if not at else 'two'}\n" for at, line in enumerate(lines)))
    run = service.installation.run("ask", str(folder), str(rows), "-m", MODEL)
    assert (run.returncode, "note: more.csv: not read: ways out (3 records)" in run.stderr) == (0, True)


def test_the_data_set_is_known_to_every_other_command(service: Service, folder: Path) -> None:
    """Named after the file; `dataset list`, `check` and `show` and the report of the job know it."""
    installation = service.installation
    installation.ok("ask", str(folder), str(folder.parent / "plain.csv"), "-m", MODEL)
    name = next(one["name"] for one in installation.json("dataset", "list", "--json") if "plain-" in one["name"])
    assert "no problem found" in installation.ok("dataset", "check", name, "--pixels")
    assert [one["question_type"] for one in installation.json("dataset", "show", name, "--json")] == ["choice"] * 3
    assert "by category" in installation.ok("report", "latest", "--format", "md")


def test_asking_again_asks_nothing_twice(service: Service, folder: Path) -> None:
    """The same command shows the same job; --again makes another, over the same data set."""
    installation, command = service.installation, ("ask", str(folder), str(folder.parent / "letters.csv"), "-m", MODEL)
    installation.ok(*command)
    first = installation.json("jobs", "--json")
    again = installation.run(*command)
    assert again.returncode == 0 and "asked before" in again.stderr
    assert [job["id"] for job in installation.json("jobs", "--json")] == [job["id"] for job in first]
    installation.ok(*command, "--again")
    anew = installation.json("jobs", "--json")
    assert len(anew) == len(first) + 1 and anew[0]["spec"]["dataset"] == first[0]["spec"]["dataset"]


def test_another_content_is_another_data_set(service: Service, folder: Path) -> None:
    """Of the file or of a picture: no answer is shown for what was not asked."""
    installation, source = service.installation, folder.parent / "lines.jsonl"
    for _ in range(2):
        installation.ok("ask", str(folder), str(source), "-m", MODEL, "--limit", "1")
        (folder / "red.jpg").write_bytes((folder / "blue.jpg").read_bytes())
    names = {job["spec"]["dataset"] for job in installation.json("jobs", "--json")}
    assert len([name for name in names if name.startswith("lines-")]) == 2


def test_many_answers_are_counted_instead_of_listed(service: Service, tmp_path: Path) -> None:
    """A line at every twentieth of them, which counts the outcomes."""
    rows = "".join(f"q{at},red.jpg,Which?,x,y,A\n" for at in range(60))
    (tmp_path / "many.csv").write_text(f"id,image,question,A,B,answer\n{rows}")
    run = service.installation.run("ask", str(draw_pictures(tmp_path / "p")), str(tmp_path / "many.csv"), "-m", MODEL)
    assert run.returncode == 0, run.stderr
    told = [line for line in run.stderr.splitlines() if " of 60  " in line]
    assert len(told) == 20 and told[-1].startswith("60 of 60  ") and "q7" not in "".join(told)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("{folder}", "{folder}/../bad.csv", "-m", MODEL), "bad.csv:2: bad-1: answer: 'E' is none of the options A, B"),
        (("{folder}", "{folder}/../plain.csv", "-m", MODEL, "--map", "x=image"), "there is no column 'x'"),
        (
            ("{folder}", "{folder}/../plain.csv", "-m", MODEL, "-c", "V7"),
            "--condition 'V7' is none of V0, V0F, V1, V2, V3, V4",
        ),
        (("{folder}", "{folder}/../plain.csv", "-m", MODEL, "--protocol", "own"), "a prompt.toml beside the questions"),
        (("{folder}", "-m", MODEL), "no file of questions is named"),
        (("{folder}", "{folder}/red.jpg", "-m", MODEL), "is no file of questions; there are .csv"),
        (("{folder}", "{folder}/../plain.csv", "-m", "demo-qwen3"), f"did you mean '{MODEL}'"),
        (("{folder}", "{folder}/../plain.csv", "-m", MODEL, "-c", "V3"), "has no evidence, which V3 and V4 show"),
    ],
)
def test_what_cannot_be_asked_ends_with_status_2(
    service: Service, folder: Path, arguments: tuple[str, ...], told: str
) -> None:
    """In a sentence with its remedy, and before any service is started."""
    (folder.parent / "bad.csv").write_text("image,question,A,B,answer\nred.jpg,Which?,x,y,E\n")
    run = service.installation.run("ask", *(word.format(folder=folder) for word in arguments))
    assert run.returncode == 2, run.stderr
    assert told in run.stderr and "Traceback" not in run.stderr and "starting" not in run.stderr


def test_bad_rows_are_left_out_and_named(service: Service, folder: Path) -> None:
    """The others are asked."""
    (folder.parent / "bad.csv").write_text("image,question,A,B,answer\nred.jpg,Which?,x,y,E\nred.jpg,Which?,x,y,A\n")
    run = service.installation.run("ask", str(folder), str(folder.parent / "bad.csv"), "-m", MODEL, "--leave-out-bad")
    assert run.returncode == 0, run.stderr
    assert "left out: bad.csv:2: bad-1: answer: 'E'" in run.stderr and "1 of 1  " in run.stderr


def test_a_prompt_beside_the_questions_is_asked_by(service: Service, folder: Path) -> None:
    """As the protocol `own`, whose texts the command `prompt` shows."""
    (folder.parent / "prompt.toml").write_text('version = "mine/1"\nprompt = "{question} {form}"\n')
    installation = service.installation
    installation.ok("ask", str(folder), str(folder.parent / "pandas.parquet"), "-m", MODEL)
    lines = [json.loads(line) for line in installation.ok("results", "latest").splitlines()]
    assert {(line["protocol"], line["prompt_version"]) for line in lines} == {("own", "own mine/1+questions-shown/1")}


def test_ctrl_c_leaves_the_job_and_the_same_command_comes_back(service: Service, folder: Path) -> None:
    """While the worker stands still nothing is answered; afterwards the same command shows what was asked before."""
    installation, log = service.installation, folder.parent / "ask.log"
    command = ("ask", str(folder), str(folder.parent / "plain.csv"), "-m", MODEL, "-c", "V1")
    (worker,) = service.ready["worker_pids"]
    os.kill(worker, signal.SIGSTOP)
    try:
        with log.open("w") as file:
            asking = subprocess.Popen(
                installation.command(*command),
                env=installation.environment,
                stdout=file,
                stderr=file,
                preexec_fn=hear_ctrl_c,  # noqa: PLW1509 - no thread runs yet
            )
            wait_until(lambda: "3 requests" in log.read_text(), timeout=60, what="the job")
            asking.send_signal(signal.SIGINT)
            assert asking.wait(120) == 130
    finally:
        os.kill(worker, signal.SIGCONT)
    assert "goes on; the same command within a day comes back to it" in log.read_text()
    before = installation.json("jobs", "--json")
    run = installation.run(*command)
    assert run.returncode == 0 and "3 of 3  " in run.stderr, run.stderr
    assert len(installation.json("jobs", "--json")) == len(before)


@pytest.mark.engine
@pytest.mark.timeout(300)
def test_without_a_service_one_runs_for_the_command_alone(tmp_path: Path) -> None:
    """The real engine, started, asked and ended; nothing of it lives on."""
    FORMS["plain.csv"](tmp_path / "plain.csv")
    installation = Installation(tmp_path / "home")
    (tmp_path / "home").mkdir()
    command = ("ask", str(draw_pictures(tmp_path / "pictures")), str(tmp_path / "plain.csv"), "-m", MODEL)
    run = installation.run(*command, "-o", str(tmp_path / "out"), timeout=280)
    assert run.returncode == 0, run.stderr
    assert "starting demo-qwen3-vl" in run.stderr and "3 of 3  " in run.stderr
    assert "its weights are random" in (tmp_path / "out" / "report.html").read_text()
    assert {line["failure"] for line in _lines(tmp_path / "out" / "verdicts.jsonl")} == {None}
    homes = [one.info["environ"].get("GIGAVQA_HOME") for one in psutil.process_iter(["environ"]) if one.info["environ"]]
    assert str(installation.home) not in homes


def test_a_scene_of_16_bits_is_asked_about_a_place_in_one_command(service: Service, tmp_path: Path) -> None:
    """As docs/earth.md has it, of the folder that the example draws."""
    script = Path(__file__).parents[2] / "examples" / "earth.py"
    subprocess.run([sys.executable, str(script), str(tmp_path / "fields")], check=True)
    run = service.installation.run(
        "ask", str(tmp_path / "fields"), str(tmp_path / "fields" / "questions.jsonl"), "-m", MODEL, "-c", "V3",
        "--show", "bands=3,2,1 stretch=range:0:3000", "-o", str(tmp_path / "out"),
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    (line,) = _lines(tmp_path / "out" / "verdicts.jsonl")
    assert (line["sample_id"], line["failure"]) == ("lake", None)
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "region 162,1353,279,229 (lonlat:13.56,52.2,13.6,52.22) of 2,048 × 2,048" in page
    assert "EPSG:32633 (WGS 84 / UTM zone 33N); ground sampling distance 10 m; north is" in page
