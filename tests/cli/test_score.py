"""Scoring from files alone."""

import json
from pathlib import Path
from typing import Any

from gigavqa.cli.reporting import write_figures
from gigavqa.reports.report import Report
from gigavqa.store.previews import PreviewStore
from tests.cli.installation import Installation
from tests.evaluation.responses import response
from tests.reports.pages import KEY, jpeg, raster, report_of, responses
from tests.reports.tables import value_of


def write_responses(folder: Path, letters: str) -> Path:
    """One answer for each of the samples cctv-0000, cctv-0001 ..."""
    path = folder / "responses.ndjson"
    lines = [{"sample_id": f"cctv-{at:04d}", "text": f"Final answer: {letter}"} for at, letter in enumerate(letters)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def number(report: dict[str, Any], table: str, column: str) -> tuple[float | None, int]:
    """Value and count of one column of a table with one row."""
    estimate = value_of(Report.model_validate(report), table, column)
    return estimate.value, estimate.count


def test_score_counts_correct_answers(installation: Installation) -> None:
    """The answers are A, B, C, D: three right ones of four are 0.75."""
    responses = write_responses(installation.home, "ABCA")
    report = installation.json("score", str(installation.home / "data" / "tiny"), str(responses), "--format", "json")
    assert number(report, "table1", "macro") == (0.75, 4)


def test_score_prints_a_table_and_writes_one(installation: Installation) -> None:
    """The table at the terminal and the file hold the same number."""
    tiny, responses = str(installation.home / "data" / "tiny"), write_responses(installation.home, "ABCA")
    printed = installation.ok("score", tiny, str(responses))
    assert "75.0" in printed
    assert "unreadable (V2)" in printed
    target = installation.home / "report.txt"
    installation.ok("score", tiny, str(responses), "-o", str(target))
    assert "75.0" in target.read_text()


def test_a_line_that_is_no_response_is_named(installation: Installation) -> None:
    """File and line of every bad line; nothing is scored."""
    responses = write_responses(installation.home, "ABCA")
    with responses.open("a") as file:
        file.write('{"sample_id": "cctv-0000"}\n')
    run = installation.run("score", str(installation.home / "data" / "tiny"), str(responses))
    assert run.returncode == 2
    assert "responses.ndjson:5" in run.stderr


def test_score_writes_a_page(installation: Installation) -> None:
    """The page holds every sample with its raw answer."""
    responses, target = write_responses(installation.home, "ABCA"), installation.home / "report.html"
    tiny = str(installation.home / "data" / "tiny")
    installation.ok("score", tiny, str(responses), "--format", "html", "-o", str(target))
    assert target.read_text(encoding="utf-8").count('"question":') == 4


def test_figures_need_steps(installation: Installation) -> None:
    """Without any step there is nothing to draw, and the command says so."""
    tiny, folder = str(installation.home / "data" / "tiny"), installation.home / "figures"
    responses = write_responses(installation.home, "ABCA")
    refused = installation.run("score", tiny, str(responses), "--figures", str(folder))
    assert refused.returncode == 1
    assert "the report has no figure: its benchmark draws none of these responses" in refused.stderr


def test_files_are_scored_together_with_steps(installation: Installation) -> None:
    """Two files, one of S4: Table 3 has a row, and the terminal shows it."""
    first = write_responses(installation.home, "ABCA")
    second = installation.home / "steps.ndjson"
    turns = [{"text": "2", "step_id": "S1"}, {"text": "Final answer: A"}]
    second.write_text(json.dumps({"sample_id": "cctv-0000", "protocol": "S4", "turns": turns}) + "\n")
    arguments = ("score", str(installation.home / "data" / "tiny"), str(first), str(second))
    report = installation.json(*arguments, "--format", "json")
    assert [number(report, "table3", protocol)[0] for protocol in ("S0", "S4")] == [0.75, 1.0]
    assert "Table 3" in installation.ok(*arguments)


def test_a_data_set_is_found_by_its_name(installation: Installation) -> None:
    """As `view`, `prompt` and `dataset check` find it; a name that nothing has is said so."""
    responses = str(write_responses(installation.home, "ABCA"))

    assert number(installation.json("score", "tiny", responses, "--format", "json"), "table1", "macro") == (0.75, 4)
    refused = installation.run("score", "tinny", responses)
    assert refused.returncode != 0
    assert "tinny" in refused.stderr


def test_a_file_without_a_response_is_an_error(installation: Installation) -> None:
    """One sentence that names the file, and status 2, as all wrong input."""
    empty = installation.home / "empty.ndjson"
    empty.write_text("\n")

    refused = installation.run("score", "tiny", str(empty))

    assert refused.returncode == 2
    assert "empty.ndjson: holds no response" in refused.stderr


def test_a_page_without_pictures_says_why(installation: Installation) -> None:
    """Lines of one's own name no rasters; with the service's lines and its results, the page has their previews."""
    target = installation.home / "report.html"
    own = str(write_responses(installation.home, "ABCA"))
    run = installation.run("score", "tiny", own, "--format", "html", "-o", str(target))
    assert "shows no pictures" in run.stderr

    answered = response("cctv-0000", "Final answer: A", rasters=(raster(),))
    recorded = installation.home / "recorded.ndjson"
    recorded.write_text(answered.model_dump_json() + "\n")
    PreviewStore(str(installation.home / "elsewhere")).write(KEY, jpeg())
    arguments = ("score", "tiny", str(recorded), "--format", "html", "-o", str(target))
    run = installation.run(*arguments, "--previews", str(installation.home / "elsewhere"))
    assert (run.returncode, "shows no pictures" in run.stderr) == (0, False)
    assert target.read_text().count("data:image/jpeg") == 1


def test_each_figure_is_written_with_its_numbers(tmp_path: Path) -> None:
    """As a drawing to read, one to paste, and the table that it draws."""
    report = report_of(responses())
    write_figures(report, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        f"{name}.{form}" for name in ("figure2a", "figure2b", "figure2c") for form in ("svg", "png", "json")
    }
    assert json.loads((tmp_path / "figure2a.json").read_text())["name"] == "figure2a"
