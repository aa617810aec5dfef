"""`python -m gigavqa.service.operations.import_process FOLDER`: makes a data set of what somebody has sent.

A process of its own, since records may grow as they are read, and nobody who asks the gateway is to wait for that: its
memory is bounded, and it can be ended. The folder tells it what is wished, and is told what came of it.
"""

import resource
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from gigavqa.evaluation.errors import DatasetInvalidError, EvaluationError, Problem
from gigavqa.evaluation.import_columns import ImportColumns
from gigavqa.evaluation.importing import ImportSummary, import_dataset
from gigavqa.evaluation.reader_choice import find_reader
from gigavqa.ranges.sources import COMMAND_SECONDS, read_remote_images
from gigavqa.runtime.home import Home
from gigavqa.tiling.file_remarks import file_remarks
from gigavqa.tiling.headers import look_at_remote, read_header

MEMORY_BYTES = 4 << 30
"""Of addresses, most of which an import does not touch."""


class ImportWish(BaseModel):
    """What is wished: records and images in the folder, and how they are read."""

    model_config = ConfigDict(frozen=True)

    records: str
    target: Path
    benchmark: str | None = None
    columns: Mapping[str, str] = {}
    decimal: str | None = None
    leave_out_bad: bool = False
    title: str = ""
    show: str = ""


class ShownSample(BaseModel):
    """One of the first samples, as it was read."""

    id: str
    images: tuple[str, ...]
    question: str
    options: dict[str, str] | None
    truth: str


class ImportOutcome(BaseModel):
    """What came of it: a summary, or the problems, beside which `others` records are good; `refused` in its words."""

    summary: ImportSummary | None = None
    benchmark: str = ""
    shown: tuple[ShownSample, ...] = ()
    problems: tuple[Problem, ...] = ()
    others: int = 0
    refused: str = ""


def wish_file(folder: Path) -> Path:
    """Return where the wish lies."""
    return folder / "wish.json"


def outcome_file(folder: Path) -> Path:
    """Return where the outcome lies, once there is one."""
    return folder / "outcome.json"


def images_folder(folder: Path) -> Path:
    """Return where the images lie."""
    return folder / "images"


def records_folder(folder: Path) -> Path:
    """Return where the records lie."""
    return folder / "records"


def made_folder(folder: Path) -> Path:
    """Return where the data set is made, under its name."""
    return folder / "made"


def _import(folder: Path, wish: ImportWish) -> ImportOutcome:
    source = records_folder(folder) / wish.records
    try:
        reader = find_reader(source, wish.benchmark, ImportColumns(wish.columns))
        summary = import_dataset(
            reader,
            source,
            images_folder(folder),
            wish.target,
            check_image=read_header,
            remarks_on=file_remarks,
            look_ahead=look_at_remote,
            columns=wish.columns,
            decimal=wish.decimal,
            leave_out_bad=wish.leave_out_bad,
            title=wish.title,
            show=wish.show,
        )
    except DatasetInvalidError as error:
        return ImportOutcome(problems=tuple(error.problems), others=error.others)
    except EvaluationError as error:
        return ImportOutcome(refused=str(error))
    except MemoryError:
        told = f"the records take more than {MEMORY_BYTES >> 30} GiB of memory to be read; `gigavqa dataset import` "
        return ImportOutcome(refused=f"{told}at a terminal has no such bound")
    shown = tuple(
        ShownSample(id=one.id, images=one.images, question=one.question, options=one.options, truth=one.truth)
        for one in summary.first
    )
    return ImportOutcome(summary=replace(summary, first=()), benchmark=reader.name, shown=shown)


def main(folder: Path) -> None:
    """Do what the folder's wish says, and write down what came of it."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    read_remote_images(Home.from_environment(), COMMAND_SECONDS)
    outcome = _import(folder, ImportWish.model_validate_json(wish_file(folder).read_bytes()))
    # A message names files by where they lie here for the length of an import.
    told = (
        outcome.model_dump_json().replace(f"{images_folder(folder)}/", "").replace(f" in {images_folder(folder)}", "")
    )
    outcome_file(folder).write_text(told, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
