"""The base of capabilities beyond the interface: a class that its class line names, and that the core asks for."""

from typing import Any, Self

from typing_extensions import TypeVar

from gigavqa.evaluation.samples import Sample

OfferSampleT = TypeVar("OfferSampleT", bound=Sample, default=Any)
"""The samples of a benchmark that offers something; the core does not know them."""


class Capability:
    """Something that a benchmark may offer: `found_in` finds it, and the core does something else without."""

    @classmethod
    def found_in(cls, benchmark: object) -> Self | None:
        """Return the benchmark as one that offers this; None where it does not."""
        return benchmark if isinstance(benchmark, cls) else None


class DefaultCapability(Capability):
    """One whose every member has a default, which holds of the benchmarks that do not offer it."""

    @classmethod
    def of(cls, benchmark: object) -> Self:
        """Return the benchmark as one that offers this, else the defaults."""
        return benchmark if isinstance(benchmark, cls) else cls()
