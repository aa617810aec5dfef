"""An answer that a server streams: told while it comes, and folded into what a whole one would have been."""

import json
from typing import Any

from catalogue.entry import CatalogueEntry
from jobs.models import Grow
from workers.engines.remote.answers import read_logprobs, thought_marks
from workers.engines.remote.refusals import AgainLaterError

ASKED = {"stream": True, "stream_options": {"include_usage": True}}
"""What a body says that asks for a stream."""

_LONGEST_LINE = 2**20


class Streamed:
    """Takes the bytes of server-sent events; `grow` is told the text as `read_answer` will read it of `found`."""

    def __init__(self, entry: CatalogueEntry, grow: Grow) -> None:
        self._opening, self._closing = thought_marks(entry)
        self._grow = grow
        self._line = b""
        self._told = 0
        self._thought = self._content = ""
        self._logprobs: list[Any] = []
        self._reason: str | None = None
        self._error: Any = None
        self._around: dict[str, Any] = {}

    def take(self, piece: bytes) -> None:
        """Take what has come. Raises AgainLaterError for what is no stream of chunks."""
        *lines, self._line = (self._line + piece).split(b"\n")
        if len(self._line) > _LONGEST_LINE:
            raise AgainLaterError("a line of a stream has no end", may_be_ours=True)
        for line in lines:
            if line.startswith(b"data:"):
                self._take_chunk(line.removeprefix(b"data:").strip())

    @property
    def found(self) -> Any:
        """The whole completion. Raises AgainLaterError for one that was cut off."""
        if self._error:
            return self._error
        if self._reason is None:
            raise AgainLaterError("an answer was cut off", may_be_ours=True)
        message = {"content": self._content, "reasoning": self._thought}
        told = {"content": self._logprobs} if self._logprobs else None
        return {**self._around, "choices": [{"message": message, "finish_reason": self._reason, "logprobs": told}]}

    def _take_chunk(self, data: bytes) -> None:
        if data == b"[DONE]":
            return
        try:
            chunk = json.loads(data)
        except ValueError:
            raise AgainLaterError("a chunk of a stream is no JSON", may_be_ours=True) from None
        if not isinstance(chunk, dict) or chunk.get("error"):
            self._error = chunk
            return
        self._around |= {name: chunk[name] for name in ("model", "system_fingerprint", "usage") if chunk.get(name)}
        for choice in chunk.get("choices") or ():
            self._take_choice(choice)

    def _take_choice(self, choice: dict[str, Any]) -> None:
        delta = choice.get("delta") or {}
        self._reason = choice.get("finish_reason") or self._reason
        told = (choice.get("logprobs") or {}).get("content") or []
        self._logprobs += told
        if thought := delta.get("reasoning") or delta.get("reasoning_content"):
            self._tell(thought if self._thought else self._opening + thought, [])
            self._thought += thought
        if content := delta.get("content") or delta.get("refusal"):
            self._tell(content if self._content or not self._thought else self._closing + content, told)
            self._content += content

    def _tell(self, text: str, logprobs: list[Any]) -> None:
        self._grow(self._told, text, read_logprobs({"content": logprobs}) if logprobs else None)
        self._told += len(text)
