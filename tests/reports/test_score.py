"""Files are scored as jobs are: the same numbers from the service's own lines, and from anybody's."""

import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.responses import Failure
from gigavqa.evaluation.datasets import load_dataset
from gigavqa.evaluation.errors import ResponsesInvalidError
from gigavqa.evaluation.metrics.estimates import Estimate
from gigavqa.reports.report import Report, build_report
from gigavqa.reports.score import score_files
from gigavqa.store.parquet_parts import PartStore
from tests.benchmarks.ultravr.good_records import GOOD
from tests.benchmarks.ultravr.responders import all_but, answer
from tests.evaluation.folders import write_dataset
from tests.evaluation.responses import MODEL, response
from tests.reports.pages import raster
from tests.reports.tables import caveats_of, table_of, value_of


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    """The folder of a data set with an RS sample (B) and an AD sample (3, 7)."""
    return write_dataset(tmp_path / "tiny", GOOD["rs-logic"], GOOD["ad-coordinate"])


def scored(samples: Path, *lines: dict[str, Any] | str) -> Report:
    """Score lines written to a file."""
    file = samples.parent / "responses.ndjson"
    file.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return score_files(samples, file)


def macros(report: Report) -> dict[str, Estimate]:
    """The macro accuracies of Table 1 by model."""
    models = [row.keys["model"] for row in table_of(report, "table1").rows if not row.summary]
    return {model: value_of(report, "table1", "macro", model=model) for model in models}


def test_lines_as_the_service_streams_them_are_scored(samples: Path) -> None:
    """A response a line, with the cursor that the stream adds."""
    lines = [
        {"cursor": "1-0", **response("rs-logic", "Final answer: B").model_dump(mode="json")},
        {"cursor": "2-0", **response("ad-coordinate", None).model_dump(mode="json")},
    ]

    report = scored(samples, *lines)

    assert list(macros(report)) == [MODEL]
    assert (macros(report)[MODEL].value, macros(report)[MODEL].count) == (1.0, 1)
    assert report.provenance[0].version == "0.32.0"
    assert {part.reason for part in report.cells[0].excluded} == {"failed: EngineDiedError"}


@pytest.mark.parametrize("key", ["text", "response"])
def test_lines_of_ones_own_need_an_id_and_a_text(samples: Path, key: str) -> None:
    """They are taken as S0 under V2 of a model without a name."""
    report = scored(samples, {"sample_id": "rs-logic", key: "B"}, {"sample_id": "ad-coordinate", key: "(1, 1)"})

    assert {model: macro.value for model, macro in macros(report).items()} == {"unnamed": 0.5}


def test_lines_of_ones_own_may_say_more(samples: Path) -> None:
    """Model, protocol and condition."""
    line = {
        "sample_id": "rs-logic",
        "text": "not sure",
        "model": "mine",
        "protocol": "S0",
        "condition": "V0",
        "note": 1,
    }

    (score,) = scored(samples, line).cells

    assert (score.model, score.condition, score.abstention.value) == ("mine", "V0", 1.0)


@pytest.mark.parametrize(("name", "told"), [("s0", "; did you mean 'S0'?"), ("", ""), ("direct", "")])
def test_a_protocol_that_the_benchmark_has_not_is_named_with_those_that_it_has(
    samples: Path, name: str, told: str
) -> None:
    """By file and line; no table would show it."""
    with pytest.raises(ResponsesInvalidError) as caught:
        scored(samples, {"sample_id": "rs-logic", "text": "B", "protocol": name})
    (problem,) = caught.value.problems
    assert (problem.line, problem.message) == (1, f"protocol: '{name}' is none of S0, S1, S2, S3, S4, S5{told}")


def test_a_recorded_response_under_an_unknown_protocol_is_refused_too(samples: Path) -> None:
    """In the service's own form, of another benchmark's job."""
    with pytest.raises(ResponsesInvalidError, match="protocol: 'direct' is none of S0, S1"):
        scored(samples, json.loads(response("rs-logic", "B", protocol="direct").model_dump_json()))


def test_several_lines_for_one_sample_are_repeats(samples: Path) -> None:
    """Right, right, wrong is two thirds."""
    report = scored(samples, *({"sample_id": "rs-logic", "text": letter} for letter in "BBA"))

    assert value_of(report, "table1", "rs").value == pytest.approx(2 / 3)


def test_every_bad_line_is_named_by_file_and_line(samples: Path) -> None:
    """No JSON, no text, no id, and a condition that does not exist; good lines and empty ones between them."""
    good = {"sample_id": "rs-logic", "text": "B"}
    bad = [{"sample_id": "rs-logic"}, {"text": "B"}, {**good, "condition": "V9"}]

    with pytest.raises(ResponsesInvalidError) as caught:
        scored(samples, good, "{oops", "", *bad)

    assert [(problem.file, problem.line) for problem in caught.value.problems] == [
        ("responses.ndjson", line) for line in (2, 4, 5, 6)
    ]
    assert "has neither text, response, turns nor failure" in caught.value.problems[1].message


def test_a_folder_of_responses_is_scored_as_one(samples: Path) -> None:
    """All its files of lines, by name."""
    folder = samples.parent / "responses"
    folder.mkdir()
    for number, name in enumerate(("rs-logic", "ad-coordinate")):
        (folder / f"{number}.jsonl").write_text(json.dumps({"sample_id": name, "text": "Final answer: B"}))

    assert score_files(samples, folder).cells[0].answered == 2


def test_samples_may_be_a_single_file(samples: Path) -> None:
    """Records alone, without a data set's folder."""
    file = samples.parent / "mine.json"
    file.write_text(json.dumps([GOOD["rs-logic"]]))
    responses = samples.parent / "r.jsonl"
    responses.write_text(json.dumps({"sample_id": "rs-logic", "text": "B"}))

    assert value_of(score_files(file, responses), "table1", "macro").value == 1.0


def test_files_give_the_same_numbers_as_responses(samples: Path) -> None:
    """All protocols, repeats, failures and pictures, in two files: the whole report is the same, warnings included."""
    dataset, catalogue = load_dataset(samples), load_catalogue()
    responses = [
        answer(sample, protocol, knows=all_but("QUA"), final=repeat == 0, repeat=repeat)
        for sample in dataset.samples
        for protocol in ("S0", "S1", "S2", "S3", "S4", "S5")
        for repeat in range(2)
    ]
    responses.append(response("rs-logic", None, "V1"))
    failure = Failure(type="ChatOverflowError", message="full", by_model=True)
    responses.append(response("rs-logic", None, "V2", protocol="S4", failure=failure, request_id="full"))
    crowd = (raster(), raster().model_copy(update={"digest": "another"}))
    responses.append(response("rs-logic", "B", "V4", model="deepseek-vl2", rasters=crowd * 2))
    files = [samples.parent / f"{name}.ndjson" for name in ("first", "second")]
    for file, part in zip(files, (responses[:7], responses[7:]), strict=True):
        file.write_text("".join(line.model_dump_json() + "\n" for line in part))

    report = score_files(samples, *files)

    assert report == build_report(dataset, responses, catalogue)
    assert any("prompts had over" in warning for warning in caveats_of(report))


def test_repeats_of_ones_own_lines_have_a_spread(samples: Path) -> None:
    """Lines without a number are counted: right, then wrong, is 1 and 0, with a deviation of 0.7071."""
    (cell,) = scored(samples, *({"sample_id": "rs-logic", "text": letter} for letter in "BA")).cells

    assert cell.repeats is not None
    assert (cell.repeats.values, cell.repeats.deviation) == ((1.0, 0.0), pytest.approx(0.7071, abs=1e-4))


def test_a_chat_without_its_final_turn_is_no_answer(samples: Path) -> None:
    """It is left out, and the reason says so."""
    line = {"sample_id": "rs-logic", "protocol": "S4", "turns": [{"text": "2", "step_id": "S2"}]}

    (cell,) = scored(samples, line).cells

    assert ("failed: FinalTurnMissing", 1) in {(part.reason, part.count) for part in cell.excluded}


def test_parquet_parts_of_results_are_scored(samples: Path) -> None:
    """A job's folder, or the folder of all jobs, gives what the lines give."""
    responses = [response("rs-logic", "Final answer: B"), response("ad-coordinate", "(1, 1)")]
    results = samples.parent / "results"
    for number, recorded in enumerate(responses):
        PartStore(str(results)).write(f"job-{number}", "00000001", [("1-0", recorded.model_dump_json().encode())])

    assert score_files(samples, results) == build_report(load_dataset(samples), responses, load_catalogue())
    assert score_files(samples, results / "job=job-0").cells[0].answered == 1


def test_parquet_columns_of_ones_own_are_scored(samples: Path) -> None:
    """Columns named as keys of lines are."""
    file = samples.parent / "mine.parquet"
    pyarrow.parquet.write_table(
        pyarrow.table({"sample_id": ["rs-logic", "ad-coordinate"], "text": ["B", "(1, 1)"], "model": ["mine", None]}),
        file,
    )

    found = macros(score_files(samples, file))
    assert {model: macro.value for model, macro in found.items()} == {"mine": 1.0, "unnamed": 0.0}


def test_what_is_no_parquet_is_said_so(samples: Path) -> None:
    """By its name."""
    file = samples.parent / "bad.parquet"
    file.write_bytes(b"PAR1 not really")

    with pytest.raises(ResponsesInvalidError, match=r"bad\.parquet: is no Parquet file"):
        score_files(samples, file)


def test_reading_stops_at_the_tenth_bad_line(samples: Path) -> None:
    """And says how many good ones stood before it."""
    good = {"sample_id": "rs-logic", "text": "B"}

    with pytest.raises(ResponsesInvalidError) as caught:
        scored(samples, good, good, *["{oops"] * 1000)

    assert [problem.line for problem in caught.value.problems] == [*range(3, 13), None]
    assert "stopped at the tenth" in caught.value.problems[-1].message
    assert "behind 2 that are" in caught.value.problems[-1].message


def test_nothing_to_score_is_an_error(samples: Path) -> None:
    """An empty file is no report of zeros."""
    with pytest.raises(ResponsesInvalidError, match="holds no response"):
        scored(samples)


def test_lines_of_one_s_own_are_not_said_to_be_sampled_as_the_defaults(samples: Path) -> None:
    """What nobody recorded stays unknown: sampling, engine, examples."""
    report = scored(samples, {"sample_id": "rs-logic", "text": "B", "protocol": "S3", "sampling": {"temperature": 0}})

    (origin,) = report.provenance
    assert (origin.engine, origin.sampling) == (None, {"temperature": 0.0})
    assert not any("told no example" in warning for warning in caveats_of(report))


@pytest.mark.parametrize(
    "line", ["[1, 2]", '"text"', "null", '{"sample_id": 5, "text": "B"}', '{"sample_id": "a", "text": 7}']
)
def test_json_that_is_no_response_is_named(samples: Path, line: str) -> None:
    """Whatever it is."""
    with pytest.raises(ResponsesInvalidError) as caught:
        scored(samples, line)

    assert caught.value.problems[0].line == 1
