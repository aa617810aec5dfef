"""Parquet parts of responses: one folder a job, one row a response, made to be read with DuckDB as they are."""

import hashlib
import io
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from fsspec.implementations.local import LocalFileSystem
from pydantic_core import from_json

from gigavqa.contract.errors import PartUnreadableError
from gigavqa.contract.responses import Response
from gigavqa.runtime.durable_files import sync
from gigavqa.store.object_stores import open_results, translate_store_errors, write_object

_TEXT, _COUNT, _SECONDS = pa.string(), pa.int64(), pa.float64()
SCHEMA = pa.schema(
    {
        **dict.fromkeys(("job_id", "request_id", "cursor", "sample_id", "model", "protocol", "condition"), _TEXT),
        **dict.fromkeys(("repeat", "attempt", "turns"), _COUNT),
        **dict.fromkeys(("answer", "finish_reason", "failure_type", "failure_message"), _TEXT),
        **dict.fromkeys(("prompt_tokens", "completion_tokens", "cached_tokens", "visual_tokens"), _COUNT),
        **dict.fromkeys(("queued_seconds", "rendering_seconds", "prefill_seconds", "decode_seconds"), _SECONDS),
        **dict.fromkeys(("worker", "engine"), _TEXT),
        "created_at": pa.timestamp("us", tz="UTC"),
        "response": _TEXT,
    }
)
"""Columns of a part. `answer` is the text of the last turn, `response` the whole response as JSON."""

TALLY, VERDICTS = ".tally", ".verdicts"
"""Suffixes of what stands beside a part: the tally of its responses, and their verdicts. Anybody may delete either.

Their names begin with `_`, so that readers of Parquet pass over them; that of a tally did not in earlier versions.
"""
_BESIDE = TALLY, VERDICTS

_JOB, _PART = "job=", ".parquet"


class PartStore:
    """The parts under one folder or fsspec address. All methods block; call them in a thread."""

    def __init__(self, uri: str) -> None:
        self._fs, self._root = open_results(uri)

    def write(self, job_id: str, part: str, rows: Sequence[tuple[str, bytes]]) -> str:
        """Write a part of (cursor, response) rows, whole or not at all; an earlier one of the same name is replaced.

        A response is JSON in the form of now.

        Returns its seal, by which `read` knows it again.
        """
        buffer = io.BytesIO()
        # Checksums of pages are for readers that know no seal.
        pq.write_table(_table(rows), buffer, compression="zstd", write_page_checksum=True)
        self.put(job_id, part, buffer.getvalue())
        return _checksum(buffer.getvalue())

    @translate_store_errors()
    def put(self, job_id: str, part: str, content: bytes) -> None:
        """Write the bytes of a part, whole or not at all; an earlier one of the same name is replaced."""
        path = self._path(job_id, part)
        if isinstance(self._fs, LocalFileSystem):
            _write_durably(Path(path), content)
        else:
            write_object(self._fs, path, content)  # object stores show an object when it is complete

    def jobs(self) -> list[str]:
        """Return the ids of all jobs that have a folder here."""
        return sorted(name.removeprefix(_JOB) for name in self._names(self._root) if name.startswith(_JOB))

    def parts(self, job_id: str) -> list[str]:
        """Return the names of all parts of a job that are here."""
        names = self._names(self._folder(job_id))
        return sorted(name.removesuffix(_PART) for name in names if name.endswith(_PART))

    @translate_store_errors()
    def modified_at(self, job_id: str, part: str) -> float:
        """Return the time at which a part was written, in seconds since the epoch. Raises OSError."""
        at = self._fs.modified(self._path(job_id, part))
        return float(at.timestamp())

    def read(self, job_id: str, part: str, seal: str | None) -> list[str]:
        """Return the JSON of every response of a part, by row; `seal` is what writing it returned, if that is known.

        Raises PartUnreadableError for what reading it again would not mend, OSError for other failures of the store.
        """
        return [text for _, text in self.rows(job_id, part, seal)]

    def rows(self, job_id: str, part: str, seal: str | None) -> list[tuple[str, str]]:
        """Return cursor and JSON of every response of a part. Raises as `read` does."""
        content = self.check(job_id, part, seal)
        try:
            table = pq.read_table(io.BytesIO(content), columns=["cursor", "response"], page_checksum_verification=True)
        except (pa.ArrowException, KeyError, OSError) as error:  # of bytes in memory
            raise PartUnreadableError(f"the Parquet part {part} is damaged") from error
        return list(zip(table["cursor"].to_pylist(), table["response"].to_pylist(), strict=True))

    @translate_store_errors()
    def check(self, job_id: str, part: str, seal: str | None) -> bytes:
        """Return the bytes of a part, which are those that were written. Raises as `read` does."""
        try:
            content: bytes = self._fs.cat_file(self._path(job_id, part))
        except FileNotFoundError as error:
            raise PartUnreadableError(f"the Parquet part {part} is gone") from error
        except (PermissionError, IsADirectoryError) as error:
            raise PartUnreadableError(f"the Parquet part {part} cannot be opened") from error
        if seal and _checksum(content) != seal:
            raise PartUnreadableError(f"the Parquet part {part} is not what was written: {_difference(content, seal)}")
        return content

    def read_beside(self, job_id: str, part: str, suffix: str) -> bytes | None:
        """Return what `write_beside` wrote of a part, or None where it cannot be read: it can be made again."""
        for path in self._beside(job_id, part, suffix):
            with suppress(OSError), translate_store_errors():
                content: bytes = self._fs.cat_file(path)
                return content
        return None

    @translate_store_errors()
    def write_beside(self, job_id: str, part: str, suffix: str, content: bytes) -> None:
        """Write what was made of a part, its TALLY or VERDICTS, beside it; whoever reads it must know it again."""
        path, earlier = self._beside(job_id, part, suffix)
        if isinstance(self._fs, LocalFileSystem):
            unfinished = Path(f"{path}.{secrets.token_hex(4)}")  # several gateways may write it at once
            try:
                unfinished.write_bytes(content)
                unfinished.replace(path)
            except OSError:
                unfinished.unlink(missing_ok=True)
                raise
        else:
            write_object(self._fs, path, content)
        if self._fs.exists(earlier):
            self._fs.rm(earlier)

    @translate_store_errors()
    def remove(self, job_id: str, part: str | None = None) -> None:
        """Remove one part of a job, or all of them; it does not matter whether they exist."""
        paths = [self._folder(job_id)]
        if part:
            beside = (path for suffix in _BESIDE for path in self._beside(job_id, part, suffix))
            paths = [self._path(job_id, part), *beside]
        for path in filter(self._fs.exists, paths):
            self._fs.rm(path, recursive=part is None)

    @translate_store_errors()
    def _names(self, folder: str) -> list[str]:
        self._fs.invalidate_cache()
        try:
            found = self._fs.ls(folder, detail=False)
        except FileNotFoundError:
            return []
        return [path.rstrip("/").rpartition("/")[2] for path in found]

    def _folder(self, job_id: str) -> str:
        return f"{self._root}/{_JOB}{job_id}"

    def _path(self, job_id: str, part: str) -> str:
        return f"{self._folder(job_id)}/{part}{_PART}"

    def _beside(self, job_id: str, part: str, suffix: str) -> tuple[str, str]:
        """Return where what was made of a part is written, and where an earlier version wrote it."""
        folder = self._folder(job_id)
        return f"{folder}/_{part}{suffix}", f"{folder}/{part}{suffix}"


def _checksum(content: bytes) -> str:
    return f"{len(content)} {hashlib.sha256(content).hexdigest()}"


def _difference(content: bytes, seal: str) -> str:
    size = seal.split(maxsplit=1)[0]
    return "its bytes were changed" if int(size) == len(content) else f"it has {len(content)} bytes instead of {size}"


def _write_durably(path: Path, content: bytes) -> None:
    # The hot text is dropped next, so the part must outlive a power failure first.
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    with unfinished.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
    sync(path.parent)


def require_row(cursor: str, text: bytes) -> None:
    """Raise one of Python's errors of values, or of Arrow's, where no part can hold a response."""
    row = _row(cursor, text)
    for name, kind in zip(SCHEMA.names, SCHEMA.types, strict=True):
        pa.scalar(row[name], kind)


def _table(rows: Sequence[tuple[str, bytes]]) -> pa.Table:
    found = [_row(cursor, text) for cursor, text in rows]
    return pa.table({name: [row[name] for row in found] for name in SCHEMA.names}, schema=SCHEMA)


def _row(cursor: str, text: bytes) -> dict[str, Any]:
    # Not by way of a Response: what was checked when it was recorded is only put into columns.
    response = from_json(text)
    last = response["turns"][-1] if response["turns"] else {}
    failure = response["failure"] or {}
    return {
        **{name: response[name] for name in _SAME_NAMES},
        **_token_sums(response["turns"], response["rasters"]),
        "cursor": cursor,
        "turns": len(response["turns"]),
        "answer": last.get("text"),
        "finish_reason": last.get("finish_reason"),
        "failure_type": failure.get("type"),
        "failure_message": failure.get("message"),
        "engine": response["engine"]["name"] if response["engine"] else None,
        "created_at": datetime.fromisoformat(response["created_at"]),
        "response": text.decode(),
    }


_SAME_NAMES = set(SCHEMA.names) & set(Response.model_fields) - {"turns", "engine", "created_at"}


def _token_sums(turns: Sequence[dict[str, Any]], rasters: Sequence[dict[str, Any]]) -> dict[str, float]:
    usages, timings = [turn["usage"] for turn in turns], [turn["timings"] for turn in turns]
    tokens = ("prompt_tokens", "completion_tokens", "cached_tokens")
    return {
        **{name: sum(usage[name] for usage in usages) for name in tokens},
        "visual_tokens": sum(raster["visual_tokens"] for raster in rasters),
        "prefill_seconds": sum(timing["prefill"] for timing in timings),
        "decode_seconds": sum(timing["decode"] for timing in timings),
    }
