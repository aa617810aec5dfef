"""A benchmark of somebody else's, installed beside the service, goes the whole way of one: twenty lines are enough.

`guest/` is its package. It is built into a wheel and installed into a folder of its own, which all processes find.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from PIL import Image

from gigavqa.reports.report import Report
from tests.flow.installation import Installation
from tests.flow.jobs import MODEL, job, responses
from tests.reports.tables import caveats_of, estimates_of, table_of, value_of
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

PACKAGE = Path(__file__).parents[2] / "examples" / "riddles"
DOCUMENT = Path(__file__).parents[2] / "docs" / "benchmarks.md"
LEVELS = ("easy", "easy", "hard", "hard")


def install(folder: Path) -> Path:
    """Build the guest's wheel and install it into a folder; returns the folder."""
    uv = [sys.executable, "-m", "uv", "--offline", "--no-cache", "--quiet"]
    subprocess.run([*uv, "build", "--wheel", "--out-dir", str(folder / "wheel"), str(PACKAGE)], check=True)
    (wheel,) = (folder / "wheel").glob("*.whl")
    target = ["--python", sys.executable, "--target", str(folder / "site")]
    subprocess.run([*uv, "pip", "install", "--no-deps", *target, str(wheel)], check=True)
    return folder / "site"


def riddle(number: int) -> dict[str, object]:
    """One record: the sample's own fields, its image by `image`, and a key that nobody knows."""
    return {
        "id": f"riddle-{number}",
        "image": f"images/{number % 2}.png",
        "question": f"Which corner is marked in picture {number}?",
        "options": dict(zip("ABCD", ["upper left", "upper right", "lower left", "lower right"], strict=True)),
        "answer": "ABCD"[number],
        "level": LEVELS[number],
        "author": "K.",
    }


def write_riddles(folder: Path) -> None:
    """A data set of four riddles about two pictures."""
    (folder / "images").mkdir(parents=True)
    (folder / "samples").mkdir()
    (folder / "dataset.toml").write_text(f'name = "{folder.name}"\nbenchmark = "riddles"\n')
    for number in range(2):
        Image.effect_noise((640, 480), 40 + 40 * number).convert("RGB").save(folder / "images" / f"{number}.png")
    lines = "".join(json.dumps(riddle(number)) + "\n" for number in range(len(LEVELS)))
    (folder / "samples" / "riddles.jsonl").write_text(lines)


@dataclass(frozen=True)
class Played:
    """A job of riddles that was played by a worker, and the installation that holds it."""

    url: str
    id: str
    home: Path
    environ: Mapping[str, str]

    def report(self, form: str) -> str:
        """The job's report in a form."""
        reply = httpx.get(f"{self.url}/v1/jobs/{self.id}/report", params={"format": form}, timeout=60)
        assert reply.status_code == httpx.codes.OK, reply.text
        return reply.text

    def gigavqa(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run the command line in this installation."""
        command = [sys.executable, "-m", "gigavqa", *arguments]
        environ = {**os.environ, "GIGAVQA_HOME": str(self.home), "GIGAVQA_URL": self.url, **self.environ}
        return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """Four riddles, asked twice by the guest's only plan, over REST, of a simulated engine."""
    home = tmp_path_factory.mktemp("home")
    write_riddles(home / "data" / "corners")
    path = os.pathsep.join([str(install(home)), os.environ.get("PYTHONPATH", ""), str(PACKAGE.parents[1])])
    installation = Installation(home, {"PYTHONPATH": path})
    try:
        installation.start_server()
        installation.start_gateway()
        installation.start_worker("--model", MODEL, "--engine", "simulated", "--speed", "1000")
        spec = {"dataset": "corners", "models": [MODEL], "plan": "riddles", "repeats": 2}
        reply = httpx.post(f"{installation.url}/v1/jobs", json=spec, timeout=60)
        assert reply.status_code == httpx.codes.CREATED, reply.text
        job_id = reply.json()["id"]
        wait_until(
            lambda: job(installation.url, job_id)["status"] == "completed", timeout=60, what="the job's completion"
        )
        yield Played(installation.url, job_id, home, installation.environ)
    finally:
        installation.stop()


def test_every_riddle_is_asked_in_every_cell_of_its_plan(played: Played) -> None:
    """Four riddles, two conditions and two repeats; the picture is shown under V2 alone."""
    found = responses(played.url, played.id)
    asked = [(one["sample_id"], one["protocol"], one["condition"], one["repeat"]) for one in found]
    assert sorted(asked) == sorted(
        (f"riddle-{number}", "ask", condition, repeat)
        for number in range(4)
        for condition in ("V2", "V0")
        for repeat in range(2)
    )
    assert {(one["condition"], len(one["rasters"])) for one in found} == {("V2", 1), ("V0", 0)}
    assert {one["prompt_version"] for one in found} == {"riddles/1"}


def test_its_report_has_accuracies_by_cell_and_by_group(played: Played) -> None:
    """They are those of the raw responses: the share of riddles that were answered by their own letter."""
    report = Report.model_validate_json(played.report("json"))
    right: dict[tuple[str, str], list[bool]] = {}
    for one in responses(played.url, played.id):
        number = int(one["sample_id"][-1])
        said = re.fullmatch(r"The answer is ([A-D])\.", one["turns"][-1]["text"])
        is_right = said is not None and said[1] == "ABCD"[number]
        for level in ("", LEVELS[number]):
            right.setdefault((one["condition"], level), []).append(is_right)
    for (condition, level), outcomes in right.items():
        keys = {"model": MODEL} | ({"level": level} if level else {})
        found = value_of(report, "accuracy_groups" if level else "accuracy", f"ask {condition}", **keys)
        assert (found.value, found.count) == (sum(outcomes) / len(outcomes), len(outcomes) / 2)
        assert None not in (found.low, found.high)
    assert (report.benchmark, report.title, report.samples) == ("riddles", "Riddles", 4)
    assert len(table_of(report, "accuracy_groups").rows) == 2
    assert any("simulated engine" in told for told in caveats_of(report))


def test_its_tables_stand_in_every_form(played: Played) -> None:
    """Markdown, CSV and the page hold the same numbers, and every sample that was asked."""
    report = Report.model_validate_json(played.report("json"))
    found = [one.value for one in estimates_of(report, "accuracy").values() if one.value is not None]
    markdown, table, page = played.report("md"), played.report("csv"), played.report("html")
    assert "# Riddles report: corners" in markdown
    for value in (f"{100 * one:.1f}" for one in found):
        assert f"| {value} [" in markdown
        assert f">{value}<" in page
    assert f"accuracy_groups,{MODEL},ask,V2,hard,accuracy," in table
    assert page.count('"question":') == 4


def test_the_command_line_knows_it(played: Played) -> None:
    """It is checked, shown and scored as any benchmark is; lines that name no protocol were asked by its first."""
    checked = json.loads(played.gigavqa("dataset", "check", "corners", "--json").stdout)
    assert (checked["ok"], checked["samples"]) == (True, {"easy": 2, "hard": 2})
    assert json.loads(played.gigavqa("dataset", "show", "corners", "riddle-3", "--json").stdout)["author"] == "K."
    assert "Which corner is marked in picture 3?" in played.gigavqa("dataset", "show", "corners", "riddle-3").stdout
    own = played.home / "own.jsonl"
    own.write_text("".join(json.dumps({"sample_id": f"riddle-{at}", "text": "A"}) + "\n" for at in range(4)))
    scored = played.gigavqa("score", "corners", str(own), "--format", "json")
    assert value_of(Report.model_validate_json(scored.stdout), "accuracy", "ask V2").value == 0.25


def test_what_is_no_riddle_is_named(played: Played) -> None:
    """By file, line and field, as of any benchmark's records; with status 2."""
    folder = played.home / "data" / "bad"
    write_riddles(folder)
    (folder / "samples" / "riddles.jsonl").write_text(json.dumps(riddle(0) | {"question": ""}) + "\n")
    run = played.gigavqa("dataset", "check", "bad")
    assert (run.returncode, "samples/riddles.jsonl:1: riddle-0: question: " in run.stderr) == (2, True)


def test_records_are_imported_for_it(played: Played, tmp_path: Path) -> None:
    """Of a file of records, the benchmark is found that reads them."""
    (tmp_path / "pictures").mkdir()
    for number in range(2):
        Image.new("RGB", (64, 64)).save(tmp_path / "pictures" / f"{number}.png")
    records = [riddle(number) | {"image": f"{number % 2}.png"} for number in range(4)]
    (tmp_path / "records.json").write_text(json.dumps(records))
    source, pictures = str(tmp_path / "records.json"), str(tmp_path / "pictures")
    run = played.gigavqa("dataset", "import", source, "more", "--images", pictures)
    assert run.returncode == 0, run.stderr
    made = played.home / "data" / "more"
    assert 'benchmark = "riddles"' in (made / "dataset.toml").read_text()
    shown = json.loads(played.gigavqa("dataset", "show", "more", "--json").stdout)
    assert [(one["id"], one["images"], one["author"]) for one in shown] == [
        (f"riddle-{number}", [f"images/{number % 2}.png"], "K.") for number in range(4)
    ]


def test_a_plan_that_it_does_not_have_is_refused(played: Played) -> None:
    """The problem names its own plans."""
    spec = {"dataset": "corners", "models": [MODEL], "plan": "riddle"}
    reply = httpx.post(f"{played.url}/v1/jobs", json=spec, timeout=60)
    assert reply.status_code == httpx.codes.UNPROCESSABLE_ENTITY
    assert "did you mean 'riddles'?" in reply.json()["detail"]


def test_the_document_shows_the_guest_as_it_is() -> None:
    """Code and project file, character by character."""
    blocks = re.findall(r"^```\w+\n(.*?)^```$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for file in (PACKAGE / "riddles" / "__init__.py", PACKAGE / "pyproject.toml"):
        assert file.read_text(encoding="utf-8") in blocks
