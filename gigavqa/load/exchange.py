"""What came of one request."""

from dataclasses import dataclass, field


@dataclass
class Exchange:
    """One request and its answer; moments in seconds on one clock, `first` and `last` those of chunks with text.

    `tokens_in` and `tokens_out` are the service's own counts, None where it sends none; `fault` is the kind of what
    went wrong, empty where nothing did, and `told` what the service or the connection said of it.
    """

    started: float
    ended: float = 0.0
    first: float | None = None
    last: float = 0.0
    chunks: int = 0
    gaps: list[float] = field(default_factory=list)
    tokens_in: int | None = None
    tokens_out: int | None = None
    fault: str = ""
    told: str = ""

    def take_text(self, moment: float) -> None:
        """Note that a piece of the answer's text has come."""
        if self.first is None:
            self.first = moment
        else:
            self.gaps.append(moment - self.last)
        self.last = moment
        self.chunks += 1

    @property
    def generated(self) -> int:
        """Return the tokens of the answer: as the service counts them, else one a chunk."""
        return self.chunks if self.tokens_out is None else self.tokens_out

    @property
    def first_token(self) -> float | None:
        """Return the seconds to the first text."""
        return None if self.first is None else self.first - self.started

    @property
    def whole(self) -> float:
        """Return the seconds to the last text."""
        return self.last - self.started

    @property
    def per_token(self) -> float | None:
        """Return the mean seconds of each token behind the first; None where there is none."""
        if self.first is None or self.generated < 2:
            return None
        return (self.last - self.first) / (self.generated - 1)
