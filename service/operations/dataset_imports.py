"""New data sets: records and pictures that somebody sends, read as `gigavqa dataset import` reads them."""

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field
from starlette.datastructures import FormData, UploadFile

from gigavqa.evaluation.errors import DatasetInvalidError, Problem
from gigavqa.evaluation.records import RECORD_SUFFIXES
from gigavqa.runtime.parent_death import die_with_parent
from gigavqa.service.errors import (
    BodyTooLargeError,
    DataRootUnwritableError,
    DatasetExistsError,
    ForeignOriginError,
    ImportInvalidError,
    ProblemFinding,
)
from gigavqa.service.http import examples
from gigavqa.service.http.auth import CurrentCaller
from gigavqa.service.http.openapi import example, problem_responses
from gigavqa.service.http.parameters import component
from gigavqa.service.operations.datasets import Datasets
from gigavqa.service.operations.import_process import (
    ImportOutcome,
    ImportWish,
    ShownSample,
    images_folder,
    outcome_file,
    records_folder,
    wish_file,
)
from gigavqa.tiling.errors import TilingError
from gigavqa.tiling.roots import ImageRoot, check_image_name

router = APIRouter(prefix="/v1", tags=["datasets"])
PATH = "/v1/datasets"
_MOST_FILES, _MOST_FIELDS = 2000, 4000
_IMPORT_SECONDS = 300.0
_MOST_TOLD = 100
_COPIED_AT_ONCE = 1 << 20
_STAGED = ".import-"
"""What folders in the data root begin with that last as long as an import; no data set is called so."""


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

    def __init__(self, data: Path, datasets: Datasets, most_bytes: int) -> None:
        self._root = ImageRoot(data)
        self._datasets = datasets
        self._most_bytes = most_bytes
        self._turn = asyncio.Semaphore(1)

    async def run(self, sent: FormData, *, is_check: bool) -> DatasetImport:
        """Make the data set, or see what it would be.

        Raises ImportInvalidError, BodyTooLargeError, DatasetExistsError, DataRootUnwritableError, DatasetInvalidError.
        """
        name = _text(sent, "name")
        target = await asyncio.to_thread(self._datasets.vacant, name)
        async with self._turn:
            with _staging(target.parent) as folder:
                place = folder / name if is_check else target
                wish = _wish(sent, place)
                await asyncio.to_thread(self._stage, folder, sent, wish)
                outcome = await _import_apart(folder, wish)
        return _describe(name, outcome, made=not is_check)

    def _stage(self, folder: Path, sent: FormData, wish: ImportWish) -> None:
        """Put what was sent, and what is named of other data sets, where the import looks for it."""
        records = _file(sent, "records")
        if (records.size or 0) > self._most_bytes:
            raise BodyTooLargeError(
                f"the records have {records.size} bytes; at most {self._most_bytes} are read here, and "
                "`gigavqa dataset import` has no such bound"
            )
        _write(records, records_folder(folder) / wish.records)
        images_folder(folder).mkdir()
        for image in sent.getlist("image"):
            if isinstance(image, UploadFile):
                _write(image, images_folder(folder) / _image_name(image.filename or "", "image"))
        for picture in sent.getlist("picture"):
            _link(self._locate(str(picture)), images_folder(folder) / str(picture))

    def _locate(self, picture: str) -> Path:
        try:
            return self._root.locate(_image_name(picture, "picture"))
        except TilingError as error:
            raise _invalid("picture", str(error)) from error


CurrentImporter = Annotated[DatasetImporter, component(DatasetImporter)]

_FIELDS: dict[str, dict[str, Any]] = {
    "name": {"type": "string", "description": "of the data set; no other may be called so"},
    "title": {"type": "string", "description": "what people read instead of the name"},
    "records": {"type": "string", "format": "binary", "description": "CSV, TSV, JSON, JSONL or Parquet, by its name"},
    "image": {
        "type": "array",
        "items": {"type": "string", "format": "binary"},
        "description": "pictures, by the names that records call them by",
    },
    "picture": {
        "type": "array",
        "items": {"type": "string"},
        "description": "pictures of other data sets, by their names below the data root, as records call them, too",
    },
    "benchmark": {"type": "string", "description": "which reads the records; found out if omitted"},
    "map": {
        "type": "array",
        "items": {"type": "string"},
        "description": "COLUMN=FIELD: as which field of the benchmark a column is read",
    },
    "decimal": {"type": "string", "enum": [".", ","], "description": "the decimal sign of numbers"},
    "leave_out_bad": {"type": "boolean", "description": "take the good records beside bad ones"},
    "check": {"type": "boolean", "description": "see what it would be, and make nothing"},
}
_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {"type": "object", "required": ["name", "records"], "properties": _FIELDS},
            }
        },
    }
}


@router.post(
    "/datasets",
    status_code=201,
    summary="Make a data set",
    openapi_extra=_BODY,
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
        if unknown := sorted(set(sent) - set(_FIELDS)):
            raise _invalid(unknown[0], f"there is no field '{unknown[0][:100]}'; there are {', '.join(_FIELDS)}")
        is_check = _switch(sent, "check")
        found = await importer.run(sent, is_check=is_check)
    if is_check:
        response.status_code = 200
    else:
        response.headers["Location"] = f"{PATH}/{found.name}"
    return found


# --- what was sent ---------------------------------------------------------------------------------------------------


def _invalid(field: str, detail: str) -> ImportInvalidError:
    return ImportInvalidError(detail, [ProblemFinding(detail=detail, pointer=f"#/{field}")])


def _text(sent: FormData, field: str) -> str:
    given = sent.get(field, "")
    if not isinstance(given, str):
        raise _invalid(field, f"'{field}' is a text, and no file")
    return given


def _switch(sent: FormData, field: str) -> bool:
    given = _text(sent, field) or "false"
    if given not in ("true", "false"):
        raise _invalid(field, f"'{field}' is true or false, not '{given[:100]}'")
    return given == "true"


def _file(sent: FormData, field: str) -> UploadFile:
    given = sent.get(field)
    if not isinstance(given, UploadFile):
        raise _invalid(field, f"'{field}' is missing: a file of records")
    return given


def _wish(sent: FormData, target: Path) -> ImportWish:
    records = Path(_file(sent, "records").filename or "").name
    if Path(records).suffix not in RECORD_SUFFIXES:
        raise _invalid(
            "records", f"'{records[:200]}' is no file of records; there are {', '.join(sorted(RECORD_SUFFIXES))}"
        )
    decimal = _text(sent, "decimal")
    if decimal not in ("", ".", ","):
        raise _invalid("decimal", f"'decimal' is . or a comma, not '{decimal[:100]}'")
    pairs = [str(pair).partition("=") for pair in sent.getlist("map")]
    if wrong := [column for column, is_told, field in pairs if not (column and is_told and field)]:
        raise _invalid("map", f"'map' says which field a column is, such as foto=image, not '{wrong[0][:100]}'")
    return ImportWish(
        records=records,
        target=target,
        benchmark=_text(sent, "benchmark") or None,
        columns={column: field for column, _, field in pairs},
        decimal=decimal or None,
        leave_out_bad=_switch(sent, "leave_out_bad"),
        title=_text(sent, "title"),
    )


def _image_name(name: str, field: str) -> str:
    try:
        return check_image_name(name)
    except TilingError as error:
        raise _invalid(field, str(error)) from error


# --- the folder of an import -----------------------------------------------------------------------------------------


@contextmanager
def _staging(root: Path) -> Iterator[Path]:
    """A folder in the data root, so that pictures need not be copied into the data set."""
    try:
        folder = Path(tempfile.mkdtemp(prefix=_STAGED, dir=root))
    except OSError as error:
        raise DataRootUnwritableError(
            f"the gateway cannot write into its data root ({error.strerror}); `gigavqa dataset import` makes a data "
            "set on a machine that can"
        ) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _write(sent: UploadFile, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        shutil.copyfileobj(sent.file, file, _COPIED_AT_ONCE)


def _link(source: Path, path: Path) -> None:
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, path)
    except OSError:  # a file system without links
        shutil.copyfile(source, path)


async def _import_apart(folder: Path, wish: ImportWish) -> ImportOutcome:
    wish_file(folder).write_text(wish.model_dump_json(), encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "gigavqa.service.operations.import_process", str(folder), preexec_fn=die_with_parent
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
