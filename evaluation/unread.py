"""What no reader took of the records of a file: counted, and told, so that nothing of them vanishes unsaid."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator

from catalogue.names import did_you_mean
from evaluation.errors import Problem
from evaluation.samples import Sample

_MOST_NAMED = 40


class Unread:
    """Notes by file in how many of its records a field stood that is only kept, or that was passed over."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        self._passed_over: dict[str, Counter[str]] = defaultdict(Counter)

    def keep(self, file: str, line: int, sample: Sample) -> None:
        """Note what a sample of this record keeps without a meaning."""
        for name in sample.extra:
            self._kept[file][name].add(line)

    def pass_over(self, file: str, counts: Counter[str]) -> None:
        """Note what a benchmark's reader says that it left where it was."""
        self._passed_over[file].update(counts)

    def told(self, known: Collection[str]) -> Iterator[Problem]:
        """One sentence a file; `known` are the names that the benchmark reads, one of which may have been meant."""
        for file in sorted({*self._kept, *self._passed_over}):
            counts = {name: len(lines) for name, lines in self._kept[file].items()}
            counts |= {name: number for name, number in self._passed_over[file].items() if number}
            if counts:
                named = [_named(name, number, known) for name, number in sorted(counts.items())]
                more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
                yield Problem(file, None, None, f"not read: {', '.join(named[:_MOST_NAMED])}{more}")


def _named(name: str, number: int, known: Collection[str]) -> str:
    close = did_you_mean(name, known) if name.isidentifier() else ""  # and not a part of a field that is read
    return f"{name} ({number} record{'s' if number != 1 else ''}{close})"
