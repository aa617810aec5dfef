"""The lines of a batch's input: each read into requests, refused by itself, or the fault of the whole batch."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from fastapi.exceptions import RequestValidationError
from pydantic_core import from_json

from gigavqa.catalogue.errors import ModelUnknownError
from gigavqa.contract.requests import InferenceRequest
from gigavqa.service.errors import REQUEST_INVALID, BodyTooLargeError, FileMissingError, ServiceError, problem_kind
from gigavqa.service.http.openai_errors import openai_error, openai_status
from gigavqa.service.http.problems import findings_of, validation_findings
from gigavqa.service.openai.batch_output import REFUSED, REQUESTS, answer_line
from gigavqa.service.openai.chat_bodies import ChatJson, DataUrlExtractor
from gigavqa.service.openai.file_store import FileStore
from gigavqa.service.openai.request_builder import RequestBuilder, parse_chat_request
from gigavqa.service.openai.uploads import Uploads
from gigavqa.store.batches import BatchFault, StoredBatch

ENDPOINT = "/v1/chat/completions"
"""What the lines of a batch call."""

MOST_LINES = 50_000
_MOST_FAULTS = 100
_MOST_NAME = 512
_PIECE_BYTES = 1 << 20
_BLOCK_BYTES = 1 << 18


class BatchLine(NamedTuple):
    """A request of a batch: its line, from 1, its name, and the body with pictures taken out."""

    number: int
    custom_id: str
    body: ChatJson


class _LineFaultError(Exception):
    """A line is no request, so the batch fails as a whole."""

    def __init__(self, code: str, message: str, line: int | None = None, param: str | None = None) -> None:
        super().__init__(message)
        self.fault = BatchFault(code=code, message=message, line=line, param=param)


class BatchFaultsError(Exception):
    """Lines are no requests, so the batch fails as a whole."""

    def __init__(self, faults: Sequence[BatchFault]) -> None:
        super().__init__()
        self.faults = faults


class BatchCancelledError(Exception):
    """Nobody wants the lines any more."""


class _LineRefusedError(Exception):
    """A request cannot be had as it is asked; the others are played. `line` is its line in the file of errors."""

    def __init__(self, line: bytes) -> None:
        super().__init__()
        self.line = line


class RequestOffset(NamedTuple):
    """The place of a request in the file, and the key that bundles it."""

    model: str
    image: str
    offset: int


class BatchInputIndex:
    """The index of a batch's lines."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.index: list[RequestOffset] = []
        self.refused = 0
        self.model: str | None = None

    @property
    def counts(self) -> Mapping[str, int]:
        """Counts of the lines, before any is played."""
        return {"total": len(self.names), "failed": self.refused}

    def take(self, requests: Sequence[InferenceRequest], offset: int, line: BatchLine) -> None:
        """Note where the requests of a line will stand."""
        self.model = self.model or requests[0].model
        for request in requests:
            image = request.views[0].image if request.views else ""
            self.index.append(RequestOffset(request.model, image, offset))
            offset += len(request.model_dump_json().encode()) + 1


class BatchReader:
    """Reads the input of batches. In a batch's folder it leaves its requests, and the lines that are refused."""

    def __init__(
        self, files: FileStore, uploads: Uploads, request_builder: RequestBuilder, max_json_bytes: int
    ) -> None:
        self._files = files
        self._uploads = uploads
        self._request_builder = request_builder
        self._max_json_bytes = max_json_bytes

    async def read(
        self, batch: StoredBatch, folder: Path, is_cancelled: Callable[[], Awaitable[bool]]
    ) -> BatchInputIndex:
        """Make requests of the lines, and keep them in a file; whether it is cancelled meanwhile is asked now and then.

        Raises BatchFaultsError and BatchCancelledError.
        """
        try:
            source = self._files.path((await self._files.get(batch.input_file_id, batch.owner)).id)
        except FileMissingError as error:
            raise _file_fault("invalid_file", str(error)) from error
        await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        read = BatchInputIndex()
        faults: list[BatchFault] = []
        with (folder / REQUESTS).open("wb") as made, (folder / REFUSED).open("wb") as refused:
            async for number, text in _numbered_lines(source, is_cancelled):
                await asyncio.sleep(0)
                try:
                    line = await self._line(number, text, read.names)
                    requests = await self._requests(batch, line)
                    read.take(requests, made.tell(), line)
                    made.write(b"".join(request.model_dump_json().encode() + b"\n" for request in requests))
                except _LineFaultError as error:
                    faults.append(error.fault)
                    if len(faults) >= _MOST_FAULTS:
                        break
                except _LineRefusedError as error:
                    read.refused += 1
                    refused.write(error.line + b"\n")
        if faults:
            raise BatchFaultsError(faults)
        if not read.names:
            raise _file_fault("empty_file", "the input file has no line")
        return read

    async def _line(self, number: int, text: bytes, names: set[str]) -> BatchLine:
        """Read one line; raises _LineFaultError."""
        reader = DataUrlExtractor(self._uploads, self._max_json_bytes)
        try:
            for start in range(0, len(text), _PIECE_BYTES):
                reader.feed(text[start : start + _PIECE_BYTES])
            given = from_json(reader.close())
        except (ValueError, ServiceError) as error:
            code = "line_too_long" if isinstance(error, BodyTooLargeError) else "invalid_json_line"
            raise _LineFaultError(code, f"line {number}: {error}", number) from error
        finally:
            reader.drop()
        if not isinstance(given, dict) or not isinstance(given.get("body"), dict):
            raise _LineFaultError("invalid_json_line", f"line {number} is no object with a body", number)
        name = given.get("custom_id")
        if not isinstance(name, str) or not 0 < len(name) <= _MOST_NAME:
            raise _LineFaultError("missing_required_parameter", f"line {number} needs a custom_id", number, "custom_id")
        if name in names:
            raise _LineFaultError(
                "duplicate_custom_id", f"line {number}: custom_id '{name}' is taken", number, "custom_id"
            )
        if given.get("method", "POST") != "POST" or given.get("url") != ENDPOINT:
            raise _LineFaultError("invalid_url", f"line {number}: only POST {ENDPOINT} is played", number, "url")
        names.add(name)
        if len(names) > MOST_LINES:
            raise _LineFaultError("too_many_tasks", f"at most {MOST_LINES} lines are played", number)
        return BatchLine(number, name, ChatJson(given["body"], reader.pictures))

    async def _requests(self, batch: StoredBatch, line: BatchLine) -> list[InferenceRequest]:
        """Return a line's requests; raises _LineFaultError for a model that there is not, and _LineRefusedError."""
        try:
            asked = parse_chat_request(line.body.body)
            entry = await self._request_builder.entry(asked.model)
            seed = int.from_bytes(hashlib.blake2b(f"{batch.id}:{line.number}".encode(), digest_size=7).digest(), "big")
            requests = await self._request_builder.requests(
                asked, entry, line.body, line.custom_id, owner=batch.owner, seed=seed
            )
        except ModelUnknownError as error:
            raise _LineFaultError(
                "model_not_found", f"line {line.number}: {error}", line.number, "body.model"
            ) from error
        except RequestValidationError as error:
            told = openai_error(REQUEST_INVALID, "the body is not that of a chat", validation_findings(error))
            raise _LineRefusedError(answer_line(batch.id, line.custom_id, 400, told)) from error
        except ServiceError as error:
            kind = problem_kind(error)
            told = openai_error(kind, str(error), findings_of(error))
            raise _LineRefusedError(answer_line(batch.id, line.custom_id, openai_status(kind), told)) from error
        return [
            request.model_copy(
                update={
                    "request_id": f"{line.number}-{request.repeat}",
                    "details": {**request.details, "answers": len(requests)},
                }
            )
            for request in requests
        ]


async def _numbered_lines(path: Path, is_cancelled: Callable[[], Awaitable[bool]]) -> AsyncIterator[tuple[int, bytes]]:
    """Yield the lines of a file that say anything, from 1; a block of lines is read at a time."""
    with path.open("rb") as file:
        before = 0
        while block := await asyncio.to_thread(_next_lines, file, before):
            before, lines = block
            if await is_cancelled():
                raise BatchCancelledError
            for line in lines:
                yield line


def _next_lines(file: BinaryIO, before: int) -> tuple[int, list[tuple[int, bytes]]] | None:
    """Return the number of the block's last line, and its lines that say anything; None at the end of the file."""
    lines = file.readlines(_BLOCK_BYTES)
    told = [(number, line) for number, line in enumerate(lines, before + 1) if line.strip()]
    return (before + len(lines), told) if lines else None


def _file_fault(code: str, message: str) -> BatchFaultsError:
    return BatchFaultsError([BatchFault(code=code, message=message, param="input_file_id")])
