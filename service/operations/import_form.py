"""The form that a new data set is sent as: its fields, and where the import looks for what they hold."""

import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from starlette.datastructures import FormData, UploadFile

from gigavqa.evaluation.records import RECORD_SUFFIXES
from gigavqa.service.errors import BodyTooLargeError, ImportInvalidError, ProblemFinding
from gigavqa.service.http.forms import sent_name
from gigavqa.service.operations.import_process import ImportWish, images_folder, records_folder
from gigavqa.tiling.displays.display import canonical_display
from gigavqa.tiling.errors import TilingError, quote_text
from gigavqa.tiling.roots import ImageRoot, check_image_name

_COPIED_AT_ONCE = 1 << 20
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
    "show": {"type": "string", "description": "how samples of other than 8 bits, or of many bands, become colours"},
    "leave_out_bad": {"type": "boolean", "description": "take the good records beside bad ones"},
    "check": {"type": "boolean", "description": "see what it would be, and make nothing"},
}
BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {"type": "object", "required": ["name", "records"], "properties": _FIELDS},
            }
        },
    }
}
"""How the form is described."""


class ImportForm:
    """What somebody has sent to make a data set of; every part of it may raise ImportInvalidError."""

    def __init__(self, sent: FormData) -> None:
        if unknown := sorted(set(sent) - set(_FIELDS)):
            raise _field_error(unknown[0], f"there is no field '{unknown[0][:100]}'; there are {', '.join(_FIELDS)}")
        self._sent = sent

    @property
    def name(self) -> str:
        """The name of the data set, as it was written."""
        return self._text("name")

    @property
    def is_check(self) -> bool:
        """Whether nothing is to be made."""
        return self._switch("check")

    def wish(self, target: Path) -> ImportWish:
        """Return how the import is to read it."""
        records = Path(sent_name(self._records())).name
        if Path(records).suffix.lower() not in RECORD_SUFFIXES:
            known = ", ".join(sorted(RECORD_SUFFIXES))
            raise _field_error("records", f"'{records[:200]}' is no file of records; there are {known}")
        decimal = self._text("decimal")
        if decimal not in ("", ".", ","):
            raise _field_error("decimal", f"'decimal' is . or a comma, not '{decimal[:100]}'")
        pairs = [str(pair).partition("=") for pair in self._sent.getlist("map")]
        if wrong := [column for column, is_told, field in pairs if not (column and is_told and field)]:
            raise _field_error("map", f"'map' says which field a column is, such as foto=image, not '{wrong[0][:100]}'")
        return ImportWish(
            records=records,
            target=target,
            benchmark=self._text("benchmark") or None,
            columns={column: field for column, _, field in pairs},
            decimal=decimal or None,
            leave_out_bad=self._switch("leave_out_bad"),
            title=self._text("title"),
            show=self._display(),
        )

    def stage(self, folder: Path, wish: ImportWish, root: ImageRoot, most_bytes: int) -> None:
        """Put what was sent, and what is named below the data root, where the import looks for it; blocks.

        Raises BodyTooLargeError for records of more than `most_bytes`, and OSError.
        """
        records = self._records()
        if (records.size or 0) > most_bytes:
            raise BodyTooLargeError(
                f"the records have {records.size} bytes; at most {most_bytes} are read here, and "
                "`gigavqa dataset import` has no such bound"
            )
        records_folder(folder).mkdir()
        _write(records, records_folder(folder) / wish.records)
        images_folder(folder).mkdir()
        for image in self._sent.getlist("image"):
            if not isinstance(image, UploadFile):
                raise _field_error("image", "'image' is a file; 'picture' names one of the data root")
            _place(_image_name(sent_name(image), "image"), images_folder(folder), partial(_write, image))
        for picture in dict.fromkeys(map(str, self._sent.getlist("picture"))):
            _place(picture, images_folder(folder), partial(_link, _located(root, picture)))

    def _text(self, field: str) -> str:
        given = self._sent.get(field, "")
        if not isinstance(given, str):
            raise _field_error(field, f"'{field}' is a text, and no file")
        return given

    def _display(self) -> str:
        try:
            return canonical_display(self._text("show"))
        except ValueError as error:
            raise _field_error("show", str(error)) from error

    def _switch(self, field: str) -> bool:
        given = self._text(field) or "false"
        if given not in ("true", "false"):
            raise _field_error(field, f"'{field}' is true or false, not '{given[:100]}'")
        return given == "true"

    def _records(self) -> UploadFile:
        given = self._sent.get("records")
        if not isinstance(given, UploadFile):
            raise _field_error("records", "'records' is missing: a file of records")
        return given


def _field_error(field: str, detail: str) -> ImportInvalidError:
    return ImportInvalidError(detail, [ProblemFinding(detail=detail, pointer=f"#/{field}")])


def _image_name(name: str, field: str) -> str:
    try:
        return check_image_name(name)
    except TilingError as error:
        raise _field_error(field, str(error)) from error


def _located(root: ImageRoot, picture: str) -> Path:
    try:
        return root.locate(_image_name(picture, "picture"))
    except TilingError as error:
        raise _field_error("picture", str(error)) from error


def _place(name: str, folder: Path, put: Callable[[Path], None]) -> None:
    """Put a picture below the folder, under a name that no other picture has and none is a folder of."""
    path = folder / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        put(path)
    except (FileExistsError, NotADirectoryError) as error:
        told = f"two pictures are called '{quote_text(name)}', or one as the folder of another; rows could mean either"
        raise _field_error("image", told) from error


def _write(sent: UploadFile, path: Path) -> None:
    with path.open("xb") as file:
        shutil.copyfileobj(sent.file, file, _COPIED_AT_ONCE)


def _link(source: Path, path: Path) -> None:
    try:
        os.link(source, path)
    except OSError:  # a file system without links, or a name that is taken
        with source.open("rb") as found, path.open("xb") as file:
            shutil.copyfileobj(found, file, _COPIED_AT_ONCE)
