"""Samples in little memory: a data set may have a million of them, and a model object takes five times its text."""

import pickle
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar, overload

from gigavqa.evaluation.samples import Sample

PackedT = TypeVar("PackedT", bound=Sample)
SourceT = TypeVar("SourceT")
_OBJECT_BYTES = 48
"""Of a bytes object beside its content, and of the reference to it."""


class _SequenceOver(Sequence[PackedT], Generic[PackedT, SourceT]):
    """A sequence of samples, each of which is made of what stands at its place in another one."""

    def __init__(self, source: Sequence[SourceT], make: Callable[[SourceT], PackedT]) -> None:
        self._source = source
        self._make = make

    @overload
    def __getitem__(self, at: int) -> PackedT: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[PackedT]: ...

    def __getitem__(self, at: int | slice) -> PackedT | Sequence[PackedT]:
        return [*map(self._make, self._source[at])] if isinstance(at, slice) else self._make(self._source[at])

    def __iter__(self) -> Iterator[PackedT]:
        return map(self._make, self._source)

    def __len__(self) -> int:
        return len(self._source)


class PackedSamples(_SequenceOver[PackedT, bytes]):
    """Samples that are kept packed: whoever looks at one gets it made anew, equal to the one that was added.

    One of plain fields takes its text and some 150 bytes, which the garbage collector need not look through.
    """

    def __init__(self, samples: Iterable[PackedT] = ()) -> None:
        self._packed: list[bytes] = []
        super().__init__(self._packed, self._unpack)
        self._shapes: dict[tuple[type[PackedT], tuple[str, ...], frozenset[str]], int] = {}
        self._shape_of: list[tuple[type[PackedT], tuple[str, ...], frozenset[str]]] = []
        self.num_bytes = 0
        """Bytes of memory that they take."""
        for sample in samples:
            self.append(sample)

    def append(self, sample: PackedT) -> None:
        """Add a sample behind all others."""
        state = sample.__getstate__()
        own, fields_set = state.pop("__dict__"), state.pop("__pydantic_fields_set__")
        shape = (type(sample), tuple(own), frozenset(fields_set))
        number = self._shapes.setdefault(shape, len(self._shape_of))
        if number == len(self._shape_of):
            self._shape_of.append(shape)
        rest = state if any(state.values()) else None
        packed = pickle.dumps((number, rest, *own.values()), pickle.HIGHEST_PROTOCOL)
        self._packed.append(packed)
        self.num_bytes += len(packed) + _OBJECT_BYTES

    def says(self, field: str) -> bool:
        """Return whether any sample was made with a value of a field, without a look at each."""
        return any(field in told for _, _, told in self._shapes)

    def drain(self) -> Iterator[PackedT]:
        """Yield all samples in their order, each of which is then gone."""
        self._packed.reverse()
        while self._packed:
            packed = self._packed.pop()
            self.num_bytes -= len(packed) + _OBJECT_BYTES
            yield self._unpack(packed)

    def _unpack(self, packed: bytes) -> PackedT:
        number, rest, *values = pickle.loads(packed)
        kind, names, fields_set = self._shape_of[number]
        sample: PackedT = kind.__new__(kind)
        own = dict(zip(names, values, strict=True))
        sample.__setstate__({**(rest or {}), "__dict__": own, "__pydantic_fields_set__": set(fields_set)})
        return sample

    def __eq__(self, other: object) -> bool:
        """Compare with any sequence of samples."""
        if not isinstance(other, Sequence) or len(other) != len(self):
            return False
        return all(one == another for one, another in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # samples can be added


class ChosenSamples(_SequenceOver[PackedT, int]):
    """Some of a sequence's samples, by their positions in it."""

    def __init__(self, samples: Sequence[PackedT], positions: Sequence[int]) -> None:
        super().__init__(positions, samples.__getitem__)


class SamplePlaces(Mapping[str, tuple[str, int]]):
    """The file and line of each sample, by its id."""

    def __init__(self) -> None:
        self._positions: dict[str, int] = {}
        self._files: dict[str, int] = {}
        self._names: list[str] = []
        self._file, self._line = array("l"), array("q")

    def add(self, sample_id: str, file: str, line: int) -> None:
        """Note where a sample stands that has no place yet."""
        self._positions[sample_id] = len(self._line)
        number = self._files.setdefault(file, len(self._names))
        if number == len(self._names):
            self._names.append(file)
        self._file.append(number)
        self._line.append(line)

    def describe(self, sample: str) -> str:
        """Return a sample's file and line as messages tell them."""
        return ":".join(map(str, self[sample]))

    def __getitem__(self, sample_id: str) -> tuple[str, int]:
        at = self._positions[sample_id]
        return self._names[self._file[at]], self._line[at]

    def __contains__(self, sample_id: object) -> bool:
        return sample_id in self._positions

    def __iter__(self) -> Iterator[str]:
        return iter(self._positions)

    def __len__(self) -> int:
        return len(self._positions)
