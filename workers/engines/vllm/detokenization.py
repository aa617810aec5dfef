"""The text of an answer from its tokens, as they come: whole characters only, and nothing behind a stop."""

from collections.abc import Callable, Sequence

Decode = Callable[[Sequence[int]], str]
_UNFINISHED = "�"


class IncrementalDetokenizer:
    """Decodes tokens as they come. `text` is what is written for good; `stopped_by` the stop that ended it.

    A few tokens before the new ones are decoded with them, since what a token says can depend on those. What may still
    become a stop, or is a part of a character only, is held back until `finish`.
    """

    def __init__(self, decode: Decode, stops: Sequence[str] = ()) -> None:
        self._decode = decode
        self._stops = stops
        self._tokens: list[int] = []
        self._context = self._read = 0
        self._held = ""
        self.text = ""
        self.stopped_by: str | None = None

    def add(self, tokens: Sequence[int]) -> str:
        """Take further tokens; returns the text that is new for good."""
        self._tokens += tokens
        before = self._decode(self._tokens[self._context : self._read])
        now = self._decode(self._tokens[self._context :])
        if len(now) <= len(before) or now.endswith(_UNFINISHED):
            return ""
        self._context, self._read = self._read, len(self._tokens)
        return self._write(now[len(before) :])

    def finish(self, whole: str) -> str:
        """Take the whole text as the tokens give it together; returns what was not told of it."""
        if self.stopped_by is not None:
            return ""
        told = self.text + self._held
        rest = self._held + whole[len(told) :] if whole.startswith(told) else self._held
        self._held = ""
        return self._write(rest, last=True)

    def _write(self, new: str, *, last: bool = False) -> str:
        waiting = self._held + new
        at, stop = min(
            ((at, stop) for stop in self._stops if (at := waiting.find(stop)) >= 0), default=(len(waiting), None)
        )
        self.stopped_by = stop
        kept = 0 if last or stop is not None else _stop_prefix_length(waiting, self._stops)
        written, self._held = waiting[: at - kept], waiting[at - kept :] if kept else ""
        self.text += written
        return written


def _stop_prefix_length(text: str, stops: Sequence[str]) -> int:
    """Return how many of the last characters may be the beginning of a stop."""
    longest = min(len(text), max((len(stop) for stop in stops), default=1) - 1)
    ends = (length for length in range(longest, 0, -1) if any(stop.startswith(text[-length:]) for stop in stops))
    return next(ends, 0)
