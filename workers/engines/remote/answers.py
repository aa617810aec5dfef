"""An answer as it comes, whole or in pieces: what is told of it while it grows is what is recorded of it."""

from collections.abc import Mapping
from typing import Any, Literal

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.families.family import THINK_MARKS
from gigavqa.contract.responses import FINISH_REASONS, OnTokens, Timings, TokenLogprob, TurnResponse, Usage
from gigavqa.workers.engines.remote.error_replies import (
    ErrorReply,
    MalformedReplyError,
    RetryLaterError,
    error_for_reply,
)
from gigavqa.workers.engines.remote.redaction import redact, redact_line, redactable_length
from gigavqa.workers.engines.remote.replies import ReplyTokenCounts, read_chunk, read_json, read_token_counts

_REASONS: Mapping[str, str] = {
    **{name: name for name in FINISH_REASONS},
    **dict.fromkeys(("end_turn", "eos", "eos_token", "stop_sequence"), "stop"),
    **dict.fromkeys(("max_tokens", "model_length", "model_context_window_exceeded"), "length"),
    **dict.fromkeys(
        (
            *("safety", "image_safety", "recitation", "image_recitation", "blocklist", "prohibited_content", "spii"),
            *("refusal", "sensitive", "content_filtered", "guardrail_intervened"),
        ),
        "content_filter",
    ),
}
"""What servers say of how an answer ended, in small letters, as what a response may say."""
_ABORTED = {"abort", "aborted", "cancelled"}


class RemoteAnswer:
    """One answer to a chat that showed `num_rasters`; `grow` is told its text, for whoever reads it as it comes.

    A text of more than `most_characters` is none.
    """

    def __init__(
        self,
        entry: CatalogueEntry,
        key: str | None,
        *,
        num_rasters: int = 0,
        most_characters: int = 2**23,
        wants_logprobs: bool = False,
        grow: OnTokens | None = None,
    ) -> None:
        self._entry = entry
        self._key = key
        self._num_rasters = num_rasters
        self._most = most_characters
        self._wants_logprobs = wants_logprobs
        self._grow = grow
        self._text = self._unsettled = ""
        self._untold: tuple[TokenLogprob, ...] = ()
        self._logprobs: tuple[TokenLogprob, ...] = ()
        self._thinks = self._is_message = self._says = self._refuses = self._calls = False
        self._reason: str | None = None
        self._error: ErrorReply | None = None
        self._counts: ReplyTokenCounts | None = None
        self._names: tuple[str, ...] = ()

    @property
    def has_ended(self) -> bool:
        """Whether the server told why it ended, or that it failed: what else may come is what it took."""
        return self._reason is not None or self._error is not None

    def take_whole(self, content: bytes) -> None:
        """Take a whole completion. Raises MalformedReplyError."""
        self._take(read_json(content), "message")
        self._settle()

    def take_chunk(self, data: str, *, is_error: bool) -> None:
        """Take one chunk of a stream, or what a stream says is an error. Raises MalformedReplyError."""
        found = read_json(data)
        if is_error:
            found = {"error": found.get("error") or found if isinstance(found, dict) else str(found)}
        self._take(found, "delta")

    def turn(self) -> TurnResponse:
        """Return the whole answer. Raises RetryLaterError and EngineError where there is none."""
        if self._error and (status := self._error.status):
            raise error_for_reply(status, {}, self._error, self._entry.max_model_len)
        if self._error:
            raise MalformedReplyError(f"there is no answer: {self._error.message}")
        reason = self._finish_reason()
        if not (self._is_message or reason == "content_filter"):  # where all is withheld, some have none
            raise MalformedReplyError("an answer has no message")
        if reason == "stop" and not self._says:
            raise MalformedReplyError("an answer has no text, not even an empty one")
        return TurnResponse(
            text=self._text,
            finish_reason=reason,
            usage=self.usage or Usage(),
            timings=Timings(),
            logprobs=self._logprobs or None,
            served_as=" ".join(self._names) or None,
        )

    @property
    def usage(self) -> Usage | None:
        """The usage that the server counted; None where it counted nothing."""
        counts, prices = self._counts, self._entry.remote.prices
        if counts is None or (counts.prompt is None and counts.completion is None):
            return None
        prompt, completion = counts.prompt or 0, counts.completion or 0
        cached = min(prompt, counts.cached or 0)
        return Usage(
            prompt_tokens=prompt,
            completion_tokens=completion,
            cached_tokens=cached,
            visual_tokens=(counts.image,) if counts.image and self._num_rasters == 1 else (),  # of all pictures
            reasoning_tokens=counts.reasoning,
            dollars=prices.of(prompt, cached, completion) if prices else None,
        )

    def _finish_reason(self) -> str:
        """Why it ended, of the reasons for which answers end. Raises RetryLaterError for any other."""
        told = self._reason
        if told is None:  # by the model, by a limit or by a filter: nothing is to be guessed
            raise RetryLaterError("the answer does not say why it ended: whether it is whole, nobody can tell", "ended")
        name = told.lower()
        if name in _ABORTED:
            raise RetryLaterError("the server aborted the request")
        if self._calls and not self._text:
            raise RetryLaterError("the model called a tool in place of an answer, and has none", "ended")
        if name not in _REASONS:
            raise RetryLaterError(
                f"the answer ended as '{redact_line(told, self._key)}', and not as answers end", "ended"
            )
        return "content_filter" if self._refuses else _REASONS[name]

    def _take(self, found: Any, name: Literal["message", "delta"]) -> None:
        self._counts = read_token_counts(found) or self._counts
        piece = read_chunk(found, name, self._key, wants_logprobs=self._wants_logprobs)
        self._names = piece.names or self._names
        if self._error or self._reason:
            return  # what comes behind its end is none of it
        self._error = piece.error
        self._is_message |= piece.is_message
        self._says |= piece.says or name == "delta"  # a stream may bring nothing of an empty text
        self._calls |= piece.calls
        self._logprobs += piece.logprobs
        self._untold += piece.logprobs
        self._write(piece.thought, thinks=True)
        self._write(piece.text, thinks=False)
        if piece.refusal and not self._refuses:
            self._write("\n" if self._text or self._unsettled else "", thinks=False)
        self._write(piece.refusal, thinks=False)
        self._refuses |= bool(piece.refusal)
        self._reason = piece.reason
        if self._reason:
            self._settle()

    def _write(self, text: str, *, thinks: bool) -> None:
        """Go on with the text or with a thought, which stands within the family's marks."""
        if not text:
            return
        if len(self._text) + len(self._unsettled) + len(text) > self._most:
            raise MalformedReplyError(
                f"an answer is longer than {self._most} characters, and than what was asked for can be"
            )
        if thinks != self._thinks:
            self._mark()
        self._unsettled += text
        end = redactable_length(self._unsettled, self._key)
        self._tell(redact(self._unsettled[:end], self._key))
        self._unsettled = self._unsettled[end:]

    def _settle(self) -> None:
        """Tell all that is left."""
        if self._thinks:
            self._mark()
        rest, self._unsettled = self._unsettled, ""
        self._tell(redact(rest, self._key))

    def _mark(self) -> None:
        self._tell(redact(self._unsettled, self._key))
        self._unsettled = ""
        self._thinks = not self._thinks
        opening, closing = thought_marks(self._entry)
        self._tell(opening if self._thinks else closing)

    def _tell(self, text: str) -> None:
        if self._grow and (text or self._untold):
            self._grow(len(self._text), text, self._untold or None)
            self._untold = ()
        self._text += text


def thought_marks(entry: CatalogueEntry) -> tuple[str, str]:
    """Return what stands before a thought and behind it, in the family's own texts."""
    family: Any = entry.known_family
    return (family.marks.thought if family else None) or THINK_MARKS
