"""What every protocol has in common: a sample and what is shown of it go in, the turns of a chat come out."""

from dataclasses import dataclass
from typing import Protocol as StructuralType

from benchmarks.ultravr.conditions import Showing
from benchmarks.ultravr.samples import Sample
from jobs.models import Turn


@dataclass(frozen=True)
class Asking:
    """A sample that is asked, what is shown of it, and the other samples whose trajectories may be told (S3)."""

    sample: Sample
    showing: Showing
    examples: tuple[Sample, ...] = ()


class Protocol(StructuralType):
    """One way of asking a sample (section 4.3)."""

    @property
    def version(self) -> str:
        """Version of the prompt texts that the turns are made of."""
        ...

    @property
    def needs_steps(self) -> bool:
        """Whether the sample's own step questions are asked, so that it must have some."""
        ...

    @property
    def needs_examples(self) -> bool:
        """Whether trajectories of other samples are told."""
        ...

    def turns(self, asking: Asking) -> tuple[Turn, ...]:
        """Write the turns of the chat without what they show; the showing's views come before the first text."""
        ...
