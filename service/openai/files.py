"""Files: uploaded, listed, read, deleted; pictures that many chats show, and the requests and answers of batches."""

import asyncio
import time
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import FileResponse
from pydantic import BaseModel, Field
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
from gigavqa.service.openai import examples
from gigavqa.service.openai.file_store import Files, FileStore
from gigavqa.service.openai.lists import ListItem, ObjectList
from gigavqa.store.files import Purpose, StoredFile

router = APIRouter(prefix="/v1/files", tags=["openai"])
_PURPOSES = ("assistants", "batch", "evals", "user_data", "vision")
_LEAST_SECONDS, _MOST_SECONDS = 3600, 2_592_000
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
    displays: tuple[str, ...] = Field(
        default=(),
        description="of a picture that is not shown as it is, proposals for `show` of its address; only of one file",
    )


class FileList(ObjectList[FileObject]):
    """Files, some at a time."""


class FileDeletion(BaseModel):
    """The confirmation that a file was deleted."""

    id: str
    object: Literal["file"] = "file"
    deleted: Literal[True] = True


def file_object(file: StoredFile, displays: Sequence[str] = ()) -> FileObject:
    """Describe a file."""
    return FileObject.model_validate({**file.model_dump(exclude={"owner"}), "displays": tuple(displays)})


async def _picture_object(files: FileStore, file: StoredFile) -> FileObject:
    """Describe a file, with proposals where it is a picture that is not shown as it is."""
    is_picture = file.purpose == "vision"
    return file_object(file, await asyncio.to_thread(files.displays, file.id) if is_picture else ())


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
    return await _picture_object(files, kept)


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
    return await _picture_object(files, await files.get(file_id, caller.sees))


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
