"""New data sets: records and pictures that somebody sends, read as `gigavqa dataset import` reads them."""

import asyncio
import errno
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from gigavqa.evaluation.errors import DatasetInvalidError, Problem
from gigavqa.ranges.sources import remote_environment
from gigavqa.runtime.home import Home
from gigavqa.runtime.parent_death import die_with_parent
from gigavqa.service.errors import (
    BodyTooLargeError,
    DataRootUnwritableError,
    DatasetExistsError,
    ForeignOriginError,
    ImportInvalidError,
)
from gigavqa.service.http import examples
from gigavqa.service.http.auth import CurrentCaller
from gigavqa.service.http.openapi import example, problem_responses
from gigavqa.service.http.parameters import component
from gigavqa.service.operations.datasets import Datasets
from gigavqa.service.operations.hidden_folders import hidden_folder, sweep_hidden_folders, writing
from gigavqa.service.operations.import_form import BODY, ImportForm
from gigavqa.service.operations.import_process import (
    ImportOutcome,
    ImportWish,
    ShownSample,
    made_folder,
    outcome_file,
    wish_file,
)
from gigavqa.tiling.roots import ImageRoot

router = APIRouter(prefix="/v1", tags=["datasets"])
PATH = "/v1/datasets"
_COMMAND = "gigavqa dataset import"
_MOST_FILES, _MOST_FIELDS = 2000, 4000
_IMPORT_SECONDS = 300.0
_MOST_TOLD = 100
_TAKEN = (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR)


class DatasetImport(BaseModel):
    """What was read, or would be: the first samples, and what there is to know of the others."""

    name: str
    made: bool = Field(description="whether the data set is there now; else this was a check")
    benchmark: str
    num_samples: int
    num_images: int
    kinds: dict[str, int] = Field(description="samples by the kind of answer that they ask for")
    samples: list[ShownSample] = Field(description="the first ones")
    left_out: list[str] = Field(description="records that are bad, at most 100 of them")
    notes: list[str] = Field(description="how files were read, and what of them nothing reads")
    warnings: list[str] = Field(description="what samples lack that some table needs, at most 100")


class DatasetImporter:
    """Makes data sets of what people send, one at a time."""

    def __init__(self, home: Home, datasets: Datasets, most_bytes: int) -> None:
        self._root = ImageRoot(home.data)
        self._environment = remote_environment(home)
        self._datasets = datasets
        self._most_bytes = most_bytes
        self._turn = asyncio.Semaphore(1)

    async def run(self, form: ImportForm) -> DatasetImport:
        """Make the data set, or see what it would be.

        Raises ImportInvalidError, BodyTooLargeError, DatasetExistsError, DataRootUnwritableError, DatasetInvalidError.
        """
        name, is_check = form.name, form.is_check
        target = await asyncio.to_thread(self._datasets.vacant, name)
        async with self._turn:
            await asyncio.to_thread(self.sweep)
            with ExitStack() as stack:
                with writing(_COMMAND):
                    folder = stack.enter_context(hidden_folder(target.parent))
                wish = form.wish(made_folder(folder) / name)
                with writing(_COMMAND):
                    await asyncio.to_thread(form.stage, folder, wish, self._root, self._most_bytes)
                found = _describe(name, await _import_apart(folder, wish, self._environment), made=not is_check)
                if not is_check:
                    with writing(_COMMAND):
                        _move(wish.target, self._datasets.vacant(name))
        return found

    def sweep(self) -> None:
        """Remove what imports have left whose gateway was killed; blocks."""
        sweep_hidden_folders(self._root.folder)


CurrentImporter = Annotated[DatasetImporter, component(DatasetImporter)]


@router.post(
    "/datasets",
    status_code=201,
    summary="Make a data set",
    openapi_extra=BODY,
    responses={
        200: {"model": DatasetImport, **example(examples.DATASET_CHECK, description="What it would be, of a check")},
        201: example(examples.DATASET_IMPORT, description="The data set is there"),
        **problem_responses(
            ImportInvalidError,
            DatasetInvalidError,
            DatasetExistsError,
            DataRootUnwritableError,
            BodyTooLargeError,
            ForeignOriginError,
            body=True,
        ),
    },
)
async def create_dataset(
    importer: CurrentImporter, caller: CurrentCaller, request: Request, response: Response
) -> DatasetImport:
    """Make a data set of records and pictures, or check what it would be. Everybody sees it: a key needs `operate`."""
    caller.require("operate")
    async with request.form(max_files=_MOST_FILES, max_fields=_MOST_FIELDS) as sent:
        found = await importer.run(ImportForm(sent))
    if found.made:
        response.headers["Location"] = f"{PATH}/{found.name}"
    else:
        response.status_code = 200
    return found


def _move(made: Path, target: Path) -> None:
    """Move a data set to its place: from here on it is there, and before it is not. Raises DatasetExistsError."""
    try:
        made.rename(target)
    except OSError as error:
        if error.errno in _TAKEN:  # made meanwhile, by another process
            raise DatasetExistsError(f"the data root has '{target.name}' already: choose another name") from error
        raise


async def _import_apart(folder: Path, wish: ImportWish, environment: Mapping[str, str]) -> ImportOutcome:
    wish_file(folder).write_text(wish.model_dump_json(), encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gigavqa.service.operations.import_process", str(folder)),
        env={**os.environ, **environment},
        preexec_fn=die_with_parent,
    )
    try:
        async with asyncio.timeout(_IMPORT_SECONDS):
            await process.wait()
    except TimeoutError:
        return ImportOutcome(refused=f"the import took longer than {_IMPORT_SECONDS:g} s; `gigavqa dataset import` may")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if not outcome_file(folder).is_file():
        raise RuntimeError(f"the import ended with status {process.returncode}")
    return ImportOutcome.model_validate_json(outcome_file(folder).read_bytes())


def _describe(name: str, outcome: ImportOutcome, *, made: bool) -> DatasetImport:
    if outcome.refused:
        raise ImportInvalidError(outcome.refused)
    if outcome.summary is None:
        raise DatasetInvalidError(outcome.problems, outcome.others)
    summary = outcome.summary
    return DatasetImport(
        name=name,
        made=made,
        benchmark=outcome.benchmark,
        num_samples=summary.samples,
        num_images=summary.images,
        kinds=dict(summary.kinds),
        samples=list(outcome.shown),
        left_out=_lines(summary.left_out),
        notes=_lines(summary.notes),
        warnings=_lines(summary.warnings),
    )


def _lines(problems: Sequence[Problem]) -> list[str]:
    return [str(problem) for problem in problems[:_MOST_TOLD]]
