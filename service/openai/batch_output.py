"""The files that a batch leaves: a line for each answer, and one for each request without."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from gigavqa.contract.flaws import fault_of
from gigavqa.contract.responses import Response
from gigavqa.service.errors import ServiceError, problem_kind
from gigavqa.service.http.openai_errors import openai_error, openai_status
from gigavqa.service.http.problems import findings_of
from gigavqa.service.openai.completions import CompletionWriter, failure_error
from gigavqa.store.batches import BatchStatus, BatchUsage

REQUESTS, REFUSED, OUTPUT, ERROR = "requests.jsonl", "refused.jsonl", "output.jsonl", "error.jsonl"
"""Names in the folder of a batch."""


class BatchOutput:
    """The files of answers and of errors, line by line."""

    def __init__(self, folder: Path, ended: BatchStatus) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._batch_id = folder.name
        self._ended = ended
        self._output = (folder / OUTPUT).open("wb")
        self._error = (folder / ERROR).open("wb")
        self._names: set[str] = set()
        self.completed = self.failed = self.left_open = 0
        self.usage = BatchUsage()

    def __enter__(self) -> "BatchOutput":
        return self

    def __exit__(self, *_: object) -> None:
        self._output.close()
        self._error.close()

    def refuse(self, line: bytes) -> None:
        """Take a line that was refused before it was played."""
        self._error.write(line)
        self.failed += 1

    def add(self, responses: Sequence[Response]) -> None:
        """Take what came of a line."""
        first = responses[0]
        self._names.add(first.sample_id)
        key = _digest(self._batch_id, first.sample_id)
        try:
            if failure := next(filter(None, map(fault_of, responses)), None):
                raise failure_error(failure)
            completion = CompletionWriter(key, _created_seconds(first), first.model).whole(dict(enumerate(responses)))
        except ServiceError as error:
            kind = problem_kind(error)
            told = openai_error(kind, str(error), findings_of(error))
            self.refuse(answer_line(self._batch_id, first.sample_id, openai_status(kind), told) + b"\n")
            return
        body = completion.model_dump(mode="json")
        self._output.write(answer_line(self._batch_id, first.sample_id, 200, body) + b"\n")
        self.completed += 1
        usage = completion.usage
        self.usage = BatchUsage(
            input_tokens=self.usage.input_tokens + usage.prompt_tokens,
            output_tokens=self.usage.output_tokens + usage.completion_tokens,
            total_tokens=self.usage.total_tokens + usage.total_tokens,
        )

    def leave_open(self, names: Sequence[str]) -> None:
        """Say of the lines that were not played why."""
        code = "batch_expired" if self._ended == "expired" else "batch_cancelled"
        for name in names:
            if name not in self._names:
                error = {"code": code, "message": f"the batch was {self._ended} before this was answered"}
                line = {"id": _line_id(self._batch_id, name), "custom_id": name, "response": None, "error": error}
                self._error.write(_encode_line(line) + b"\n")
                self.failed += 1
                self.left_open += 1


def read_lines(path: Path) -> list[bytes]:
    """Return the lines of a file, none where there is no file."""
    if not path.is_file():
        return []
    with path.open("rb") as file:
        return list(file)


def read_request_names(path: Path) -> list[str]:
    """Return the names of the requests in a file, each once."""
    names = (from_json(line)["sample_id"] for line in read_lines(path))
    return list(dict.fromkeys(names))


def answer_line(batch_id: str, custom_id: str, status: int, body: Mapping[str, Any]) -> bytes:
    """Return a line that says what a request would have been answered with."""
    request_id = f"req_{_digest(batch_id, custom_id)}"
    response = {"status_code": status, "request_id": request_id, "body": body}
    return _encode_line(
        {"id": _line_id(batch_id, custom_id), "custom_id": custom_id, "response": response, "error": None}
    )


def _line_id(batch_id: str, custom_id: str) -> str:
    return f"batch_req_{_digest(batch_id, custom_id)}"


def _digest(batch_id: str, custom_id: str) -> str:
    return hashlib.blake2b(f"{batch_id}:{custom_id}".encode(), digest_size=12).hexdigest()


def _encode_line(line: Mapping[str, Any]) -> bytes:
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _created_seconds(response: Response) -> int:
    return int(response.created_at.timestamp())
