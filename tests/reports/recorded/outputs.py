"""What the product says of a case, as data, and how that is stored."""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import JobSpec
from gigavqa.contract.schema_versions import read_response
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.outcomes import SampleOutcome
from gigavqa.reports.report import Report, build_report
from gigavqa.reports.score import load_judged_dataset, outcomes_of_files, score_files
from gigavqa.reports.writers.exports import render_csv, render_json
from gigavqa.reports.writers.verdict_columns import VerdictFileLayout
from gigavqa.reports.writers.verdict_files import verdict_chunks
from tests.reports.recorded.cases import Case

FOLDER = Path(__file__).parent / "outputs"
Outputs = dict[str, Any]
"""A report as JSON and as the lines of its CSV, and the verdicts in rows: one a response, and one a judged part."""
_ALIASES = ("job", "sample")
"""Columns of verdicts that say what another says; what a benchmark keeps of a reply, its report says, too."""
_UNRECORDED = ("versions", "revisions")
"""What of a report changes with the versions of readers alone."""


def outputs_of(case: Case, folder: Path) -> Outputs:
    """Draw a case into an empty folder, score its files, and return all that is said of it."""
    made, data = case.make(), folder / "data"
    files, judges = made.write(folder, case.files), made.write_judges(folder)
    dataset = load_judged_dataset(data, judges)
    report = _report_of_jobs(case, dataset, files) if case.specs else score_files(data, *files, judges=judges)
    outcomes = [*outcomes_of_files(dataset, *files, catalogue=load_catalogue())]
    layouts = {name: VerdictFileLayout.of(dataset, parts=name == "parts") for name in ("verdicts", "parts")}
    rows = {
        name: b"".join(verdict_chunks(map(layout.whole_row, outcomes), "jsonl", layout))
        for name, layout in layouts.items()
    }
    told = {name: value for name, value in json.loads(render_json(report)).items() if name not in _UNRECORDED}
    return {
        "report": told,
        "csv": render_csv(report).splitlines(),
        **{name: [_without(folder, line) for line in found.splitlines()] for name, found in rows.items()},
    }


def _lines(outcomes: Iterable[SampleOutcome], layout: VerdictFileLayout) -> bytes:
    return b"".join(verdict_chunks(map(layout.whole_row, outcomes), "jsonl", layout))


def _without(folder: Path, line: bytes) -> Any:
    """Read a row; lines of somebody's own are named by their file, here without its folder."""
    row = json.loads(line.replace(f"{folder}/".encode(), b""))
    return {name: value for name, value in row.items() if name not in _ALIASES and not name.startswith("detail_")}


def _report_of_jobs(case: Case, dataset: Dataset, files: list[Path]) -> Report:
    """Report as the service does, which knows what its jobs asked for."""
    specs = [JobSpec.model_validate(spec) for spec in case.specs]
    lines = [line for file in files for line in file.read_bytes().splitlines()]
    responses = (read_response(line, extra="ignore") for line in lines)
    return build_report(dataset, responses, load_catalogue(), *specs)


def path_of(name: str) -> Path:
    """Return where the outputs of a case are stored."""
    return FOLDER / f"{name}.json.gz"


def store(name: str, outputs: Outputs) -> int:
    """Store what is said of a case, to the last digit, and return the number of bytes."""
    text = json.dumps(outputs, ensure_ascii=False, separators=(",", ":"))
    return path_of(name).write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def load(name: str) -> Outputs:
    """Return what was said of a case when it was recorded."""
    outputs: Outputs = json.loads(gzip.decompress(path_of(name).read_bytes()))
    return outputs
