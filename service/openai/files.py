"""Files: uploaded, listed, read, deleted; pictures that many chats show, and the requests and answers of batches."""

import asyncio
import hashlib
import re
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import IO, Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import FileResponse
from pydantic import BaseModel
from starlette.datastructures import UploadFile

from gigavqa.contract.errors import QuotaExceededError
from gigavqa.runtime.errors import StateStoreUnavailableError
from gigavqa.service.errors import (
    BodyTooLargeError,
    FileInvalidError,
    FileMissingError,
    ForeignOriginError,
    ProblemFinding,
)
from gigavqa.service.http.auth import CurrentCaller
from gigavqa.service.http.forms import sent_name
from gigavqa.service.http.openapi import example, openai_error_responses
from gigavqa.service.http.parameters import component
from gigavqa.service.openai import examples
from gigavqa.service.openai.lists import ListItem, ObjectList
from gigavqa.store.files import FileRegistry, Purpose, StoredFile, new_file_id
from gigavqa.tiling.errors import ImageTooLargeError, PixelTypeError, TilingError
from gigavqa.tiling.headers import read_stored_header
from gigavqa.tiling.roots import DIGESTS_FOLDER, UPLOAD_PREFIX

router = APIRouter(prefix="/v1/files", tags=["openai"])
_FILE_ID = re.compile(r"file-[A-Za-z0-9_-]{1,64}")
_PURPOSES = ("assistants", "batch", "evals", "user_data", "vision")
_LEAST_SECONDS, _MOST_SECONDS = 3600, 2_592_000
_MOST_NAME = 255
_MOST_FIELDS = 16


class FileObject(ListItem):
    """A file, as OpenAI tells it."""

    object: Literal["file"] = "file"
    bytes: int
    created_at: int
    filename: str
    purpose: Purpose
    status: Literal["processed"] = "processed"
    expires_at: int | None = None


class FileList(ObjectList[FileObject]):
    """Files, some at a time."""


class FileDeletion(BaseModel):
    """The confirmation that a file was deleted."""

    id: str
    object: Literal["file"] = "file"
    deleted: Literal[True] = True


class FileStore:
    """The files of the installation: bytes in a folder, and what is known of them on the server.

    `most_bytes` bounds what one owner may keep, and `most_files` how many.
    """

    def __init__(self, folder: Path, registry: FileRegistry, *, most_bytes: int, most_files: int = 10_000) -> None:
        self._folder = folder / "files"
        self._digests = folder / DIGESTS_FOLDER
        self._registry = registry
        self._most_bytes = most_bytes
        self._most_files = most_files

    async def add(
        self,
        source: IO[bytes] | Path,
        *,
        filename: str,
        purpose: Purpose,
        owner: str,
        expires_at: int | None = None,
        file_id: str | None = None,
        most_bytes: int | None = None,
    ) -> StoredFile:
        """Keep a file; its bytes are there before it is shown. With the `file_id` of before, it is the same one.

        Raises FileInvalidError where the owner has too many, or one for `vision` is no picture, QuotaExceededError
        where they have more than `most_bytes` together, and OSError.
        """
        number, held = await self._registry.totals(owner)
        if number >= self._most_files or held > self._most_bytes:
            raise FileInvalidError(
                f"there are {number} files of {held} bytes; at most {self._most_files} of {self._most_bytes} bytes are "
                "kept. Delete some"
            )
        file_id = file_id or new_file_id()
        size = await asyncio.to_thread(self._write, file_id, source)
        if purpose == "vision":
            await asyncio.to_thread(self._require_picture, file_id, filename)
        now = int(time.time())
        file = StoredFile(
            id=file_id,
            bytes=size,
            created_at=now,
            filename=filename[:_MOST_NAME],
            purpose=purpose,
            expires_at=expires_at,
            owner=owner,
        )
        try:
            await self._registry.add(file, most_bytes)
        except QuotaExceededError:
            await asyncio.to_thread(self._remove, file_id)
            raise
        return file

    async def get(self, file_id: str, owner: str) -> StoredFile:
        """Return a file; raises FileMissingError."""
        # Any other text could name another file of the folder.
        found = await self._registry.get(file_id, owner) if is_file_id(file_id) else None
        if found is None:
            raise _file_missing(file_id)
        return found

    async def picture(self, file_id: str, owner: str) -> str:
        """Return the name that views know a file by. Raises FileMissingError."""
        return f"{UPLOAD_PREFIX}files/{(await self.get(file_id, owner)).id}"

    async def delete(self, file_id: str, owner: str) -> None:
        """Forget a file, and then remove its bytes. Raises FileMissingError and OSError."""
        await self.get(file_id, owner)
        if not await self._registry.remove(file_id):
            raise _file_missing(file_id)
        await asyncio.to_thread(self._remove, file_id)

    async def remove_expired(self) -> None:
        """Remove the files whose time is over; to be run periodically."""
        for file in await self._registry.expired():
            await self._registry.remove(file.id)
            await asyncio.to_thread(self._remove, file.id)

    async def list(
        self, owner: str, *, after: str | None, limit: int, purpose: str | None, newest_first: bool
    ) -> tuple[Sequence[StoredFile], bool]:
        """Files of an owner's after one of them, and whether there are more."""
        return await self._registry.list(owner, after=after, limit=limit, purpose=purpose, newest_first=newest_first)

    def path(self, file_id: str) -> Path:
        """Return where the bytes of a file lie."""
        return self._folder / file_id

    def _write(self, file_id: str, source: IO[bytes] | Path) -> int:
        """Write a file, and the SHA-256 of its bytes beside, by which it is the same picture as one in a body."""
        path, beside, digest = self.path(file_id), self._digests / file_id, hashlib.sha256()
        for folder in (path.parent, beside.parent):
            folder.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        with source.open("rb") if isinstance(source, Path) else nullcontext(source) as sent, partial.open("wb") as file:
            while block := sent.read(1 << 20):
                digest.update(block)
                file.write(block)
        beside.unlink(missing_ok=True)
        partial.replace(path)
        beside.write_text(digest.hexdigest())
        return path.stat().st_size

    def _require_picture(self, file_id: str, filename: str) -> None:
        path = self.path(file_id)
        try:
            read_stored_header(path, is_declared=True)
        except TilingError as error:
            self._remove(file_id)
            told = str(error).replace(str(path), filename[:_MOST_NAME])
            if not isinstance(error, PixelTypeError | ImageTooLargeError):  # which say what helps
                told = f"{told}; models are shown JPEG, PNG, WebP, JPEG 2000 and TIFF files"
            raise FileInvalidError(told, [ProblemFinding(detail=told, pointer="#/file")]) from error

    def _remove(self, file_id: str) -> None:
        self.path(file_id).unlink(missing_ok=True)
        (self._digests / file_id).unlink(missing_ok=True)


Files = Annotated[FileStore, component(FileStore)]
"""What a route declares to get the files."""


def is_file_id(text: str) -> bool:
    """Return whether a text is an id as files have them; pictures of the data root have a folder in their names."""
    return bool(_FILE_ID.fullmatch(text))


def file_object(file: StoredFile) -> FileObject:
    """Describe a file."""
    return FileObject.model_validate(file.model_dump(exclude={"owner"}))


_UPLOAD_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file", "purpose"],
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "purpose": {"type": "string", "enum": list(_PURPOSES)},
                        "expires_after[anchor]": {"type": "string", "enum": ["created_at"]},
                        "expires_after[seconds]": {
                            "type": "integer",
                            "minimum": _LEAST_SECONDS,
                            "maximum": _MOST_SECONDS,
                        },
                    },
                }
            }
        },
    }
}


def _file_missing(file_id: str) -> FileMissingError:
    return FileMissingError(f"there is no file {file_id[:100]}")


@router.post(
    "",
    summary="Upload a file",
    openapi_extra=_UPLOAD_BODY,
    responses={
        200: example(examples.FILE),
        **openai_error_responses(
            FileInvalidError,
            BodyTooLargeError,
            ForeignOriginError,
            QuotaExceededError,
            StateStoreUnavailableError,
            body=True,
        ),
    },
)
async def create_file(files: Files, caller: CurrentCaller, request: Request) -> FileObject:
    """Keep a picture for chats, or the requests of a batch."""
    async with request.form(max_files=1, max_fields=_MOST_FIELDS) as form:
        sent, purpose = form.get("file"), form.get("purpose")
        if not isinstance(sent, UploadFile):
            raise FileInvalidError("there is no file", [ProblemFinding(detail="is missing", pointer="#/file")])
        if purpose not in _PURPOSES:
            detail = f"purpose '{purpose}' is none of {', '.join(_PURPOSES)}"
            raise FileInvalidError(detail, [ProblemFinding(detail=detail, pointer="#/purpose")])
        _require_anchor(form.get("expires_after[anchor]"))
        seconds = _parse_expiry(form.get("expires_after[seconds]"))
        kept = await files.add(
            sent.file,
            filename=sent_name(sent) or "upload",
            purpose=purpose,  # type: ignore[arg-type]  # one of those, as was seen
            owner=caller.owner or "",
            expires_at=None if seconds is None else int(time.time()) + seconds,
            most_bytes=caller.upload_bytes,
        )
    return file_object(kept)


@router.get(
    "",
    summary="List files",
    responses={
        200: example(examples.FILES),
        **openai_error_responses(StateStoreUnavailableError),
    },
)
async def list_files(
    *,
    files: Files,
    caller: CurrentCaller,
    after: Annotated[str | None, Query(description="id of the last file that is known")] = None,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 10_000,
    order: Annotated[Literal["asc", "desc"], Query(description="by time of creation")] = "desc",
    purpose: Annotated[str | None, Query()] = None,
) -> FileList:
    """List the files, newest first."""
    found, more = await files.list(caller.sees, after=after, limit=limit, purpose=purpose, newest_first=order == "desc")
    data = [file_object(file) for file in found]
    return FileList.of(data, more=more)


@router.get(
    "/{file_id}",
    summary="Get a file",
    responses={
        200: example(examples.FILE),
        **openai_error_responses(FileMissingError, StateStoreUnavailableError),
    },
)
async def get_file(files: Files, caller: CurrentCaller, file_id: str) -> FileObject:
    """Return one file."""
    return file_object(await files.get(file_id, caller.sees))


@router.delete(
    "/{file_id}",
    summary="Delete a file",
    responses={
        200: example(examples.FILE_DELETION),
        **openai_error_responses(FileMissingError, ForeignOriginError, StateStoreUnavailableError),
    },
)
async def delete_file(files: Files, caller: CurrentCaller, file_id: str) -> FileDeletion:
    """Delete a file; chats that wait with it as their picture fail."""
    await files.delete(file_id, caller.sees)
    return FileDeletion(id=file_id)


@router.get(
    "/{file_id}/content",
    summary="Read a file",
    response_class=FileResponse,
    responses={
        200: example("", "application/octet-stream", "The bytes, as they were sent"),
        **openai_error_responses(FileMissingError, StateStoreUnavailableError),
    },
)
async def read_file(files: Files, caller: CurrentCaller, file_id: str) -> FileResponse:
    """Send the bytes of a file."""
    file = await files.get(file_id, caller.sees)
    path = files.path(file.id)
    if not await asyncio.to_thread(path.is_file):
        raise FileMissingError(f"the bytes of file {file_id} are gone")
    # Never what a browser would show: it may be anybody's.
    return FileResponse(path, media_type="application/octet-stream", filename=file.filename)


def _require_anchor(given: Any) -> None:
    if given not in (None, "created_at"):
        detail = "expires_after[anchor] is created_at: files are forgotten so long after they came"
        raise FileInvalidError(detail, [ProblemFinding(detail=detail, parameter="expires_after[anchor]")])


def _parse_expiry(given: Any) -> int | None:
    if given is None:
        return None
    if not str(given).isdecimal() or not _LEAST_SECONDS <= int(str(given)[:12]) <= _MOST_SECONDS:
        detail = f"expires_after[seconds] is a number from {_LEAST_SECONDS} to {_MOST_SECONDS}"
        raise FileInvalidError(detail, [ProblemFinding(detail=detail, parameter="expires_after[seconds]")])
    return int(str(given))
