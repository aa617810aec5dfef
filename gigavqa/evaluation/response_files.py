"""Reads recorded responses from files: the service's own lines and Parquet parts, and anybody's lines or columns.

There is one contract, `Response`, in the forms that `gigavqa.contract.schema_versions` reads. What a line of one's
own does not say is filled in first, and is told apart afterwards from what was recorded.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gigavqa.contract.flaws import flaw_of
from gigavqa.contract.jobs import JUDGE, LIKELIHOOD
from gigavqa.contract.responses import FINISH_REASONS, Response
from gigavqa.contract.schema_versions import read_response, upgrade_response_fields
from gigavqa.evaluation.errors import Problem, ResponsesInvalidError
from gigavqa.evaluation.records import LINE_SUFFIXES
from gigavqa.evaluation.replies import Reply, reply_of
from gigavqa.evaluation.short_keys import short_key
from gigavqa.runtime.suggestions import did_you_mean
from gigavqa.runtime.validation import describe_faults
from gigavqa.runtime.work_progress import counted

UNNAMED_MODEL = "unnamed"
PARQUET = ".parquet"
MOST_PROBLEMS = 10
_RESPONSE = "response"
"""Column of the service's Parquet parts that holds a whole response as JSON."""

_DEFAULTS: dict[str, Any] = {
    "model": UNNAMED_MODEL,
    "condition": "V2",
    "job_id": "",
    "worker": "",
    "sampling": {},
    "created_at": "1970-01-01T00:00:00Z",
}
_NESTED_DEFAULTS: dict[str, dict[str, Any]] = {
    "turns": {"finish_reason": ""},
    "failure": {"message": ""},
    "engine": {"name": "", "version": ""},
}
_RawLine = bytes | dict[str, Any]


def read_replies(
    paths: Iterable[Path],
    protocol: str,
    translated: Callable[[dict[str, Any]], dict[str, Any] | None] = lambda line: None,
    known: Collection[str] = (),
    unfit: Callable[[Reply], str] = lambda reply: "",
) -> Iterator[Reply]:
    """Yield the replies of files of responses, or of folders of such files, as they are read.

    `protocol` is that of lines of one's own that name none; `translated` gives the fields of a response for a line as
    somebody else's program writes it, and None for any other. Where protocols are `known`, responses name no others.
    `unfit` says why a line of one's own answers nothing that can be asked, '' where it does.

    Raises ResponsesInvalidError at the tenth line that is no response, or at the end where there were fewer, and where
    there is no response at all.
    """
    paths, reader = list(paths), _ResponseReader(protocol, translated, known, unfit)
    for path in paths:
        for file in list_response_files(path):
            yield from counted(reader.read(file), f"replies read of {file.name}")
    reader.finish(paths)


def list_response_files(path: Path) -> list[Path]:
    """Return a file itself.

    Of a folder its files of lines and its Parquet parts, also those of a results folder's jobs.
    """
    if not path.is_dir():
        return [path]
    lines = (found for found in path.iterdir() if found.suffix in LINE_SUFFIXES)
    parts = (found for pattern in ("*", "job=*/*") for found in path.glob(pattern + PARQUET))
    return sorted({*lines, *parts})


class _ResponseReader:
    """Reads files one after the other; counts what was good, and what was not up to a bound."""

    def __init__(
        self,
        protocol: str,
        translated: Callable[[dict[str, Any]], dict[str, Any] | None],
        known: Collection[str],
        unfit: Callable[[Reply], str],
    ) -> None:
        self._translated = translated
        self._known = known
        self._unfit = unfit
        self._unsaid = {**_DEFAULTS, "protocol": protocol}
        self._good = 0
        self._problems: list[Problem] = []
        self._asked: dict[bytes, int] = {}
        self._repeats: dict[bytes, int] = {}

    def read(self, file: Path) -> Iterator[Reply]:
        """Yield the replies of one file."""
        for number, line in _read_lines(file):
            try:
                reply = self._reply(line, file, number)
            except (ValueError, RecursionError) as error:
                self._refuse(Problem(file.name, number, None, _describe_error(error)))
            else:
                self._good += 1
                yield reply

    def finish(self, paths: Iterable[Path]) -> None:
        """Raise what was wrong, or that there was nothing."""
        if not self._problems and not self._good:
            self._problems = [Problem(str(path), None, None, "holds no response") for path in paths]
        if self._problems:
            raise ResponsesInvalidError(self._problems)

    def _refuse(self, problem: Problem) -> None:
        self._problems.append(problem)
        if len(self._problems) == MOST_PROBLEMS:
            told = f"reading stopped at the tenth line that is no response, behind {self._good} that are"
            raise ResponsesInvalidError([*self._problems, Problem(problem.file, None, None, told)])

    def _reply(self, line: _RawLine, file: Path, number: int) -> Reply:
        if isinstance(line, bytes):
            if b'"request_id"' in line:
                try:
                    response = read_response(line, extra="ignore")
                    self._require_known_protocol(response.protocol)
                    return reply_of(response)
                except ValidationError:
                    pass  # somebody's own line may name its request, too
            line = json.loads(line)
        if not isinstance(line, dict):
            raise ValueError("is no JSON object")
        if translated := self._translated(line):
            # Its program writes a sample once a run, so that a second line is a copy, and another file another run.
            line = {"job_id": str(file), **translated}
        # By its path: files of one name in two folders hold different lines.
        return self._own(line, f"{file}:{number}")

    def _own(self, line: dict[str, Any], place: str) -> Reply:
        said = {name: value for name, value in line.items() if value is not None and name != "version"}
        fields = {**self._unsaid, **_fill_defaults(upgrade_response_fields(said), place)}
        response = Response.model_validate(fields, extra="ignore")
        _require_known_ends(response)
        self._require_known_protocol(response.protocol)
        reply = reply_of(response)
        sampled = set(said.get("sampling", ()))
        sampling = tuple(pair for pair in reply.provenance.sampling if pair[0] in sampled)
        if why := self._unfit(reply):
            raise ValueError(why)
        repeat = reply.repeat if "repeat" in said else self._next_repeat(reply, named="request_id" in said)
        return reply._replace(
            labels=reply.labels.model_copy(update={"repeat": repeat}),
            provenance=reply.provenance._replace(sampling=sampling),
        )

    def _require_known_protocol(self, name: str) -> None:
        if self._known and name not in (*self._known, JUDGE, LIKELIHOOD):
            near = did_you_mean(name, self._known)
            raise ValueError(f"protocol: '{name}' is none of {', '.join(self._known)}{near}")

    def _next_repeat(self, reply: Reply, *, named: bool) -> int:
        """Requests without a number of their repeat are counted by sample and cell, copies of one once.

        One that is not `named` has no copy.
        """
        rounds = "" if reply.max_rounds is None else str(reply.max_rounds)
        cell = reply.job_id, reply.model, reply.protocol, reply.condition, rounds, reply.sample_id
        request = short_key(*cell, reply.labels.request_id) if named else b""
        if request in self._repeats:
            return self._repeats[request]
        asked = short_key(*cell)
        repeat = self._asked[asked] = self._asked.get(asked, -1) + 1
        if named:
            self._repeats[request] = repeat
        return repeat


def _fill_defaults(said: dict[str, Any], place: str) -> dict[str, Any]:
    """Fill in what a line of one's own leaves out. Raises ValueError where it says nothing."""
    text = said.get("text", said.get("response"))
    turns = [_fill_nested(turn, "turns") for turn in _as_list(said.get("turns"))]
    if text is None and not turns and "failure" not in said:
        raise ValueError("has neither text, response, turns nor failure")
    if text is not None and not _ends_with_an_answer(turns):
        turns.append({"text": text, "finish_reason": said.get("finish_reason", "")})
    parts: dict[str, Any] = {name: _fill_nested(said[name], name) for name in ("failure", "engine") if name in said}
    return {"request_id": place, **said, **parts, "turns": turns}


def _require_known_ends(response: Response) -> None:
    """Raise ValueError where an answer ended for a reason of which nobody knows here whether the text is an answer."""
    if unknown := [turn.finish_reason for turn in response.turns if flaw_of(turn) == "broken_off"]:
        known = ", ".join(sorted(FINISH_REASONS))
        raise ValueError(f"finish_reason: '{unknown[0]}' is none of {known}; leave it out where the text is an answer")


def _ends_with_an_answer(turns: list[Any]) -> bool:
    return bool(turns) and isinstance(turns[-1], dict) and turns[-1].get("asks") is None


def _fill_nested(value: Any, name: str) -> Any:
    return {**_NESTED_DEFAULTS[name], **value} if isinstance(value, dict) else value


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _read_lines(file: Path) -> Iterator[tuple[int, _RawLine]]:
    """Yield what stands at each line that is not empty, or in each row of a Parquet file, from 1."""
    if file.suffix == PARQUET:
        yield from _read_rows(file)
        return
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.isspace():
                yield number, line


def _read_rows(file: Path) -> Iterator[tuple[int, _RawLine]]:
    import pyarrow  # noqa: PLC0415 - takes a quarter of a second
    import pyarrow.parquet  # noqa: PLC0415

    try:
        table = pyarrow.parquet.ParquetFile(file, page_checksum_verification=True)
        whole = {_RESPONSE, "request_id"} <= set(table.schema_arrow.names)
        number = 0
        for batch in table.iter_batches(batch_size=500, columns=[_RESPONSE] if whole else None):
            for row in batch.to_pylist():
                number += 1
                yield number, row[_RESPONSE].encode() if whole else row
    except pyarrow.ArrowInvalid as error:
        raise ResponsesInvalidError([Problem(file.name, None, None, f"is no Parquet file: {error}")]) from error
    except OSError as error:
        if "CRC" not in str(error):
            raise
        raise ResponsesInvalidError([Problem(file.name, None, None, f"was changed: {error}")]) from error


def _describe_error(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"is not JSON: {error.msg} at column {error.colno}"
    if not isinstance(error, ValidationError):
        return str(error)
    return describe_faults(error)
