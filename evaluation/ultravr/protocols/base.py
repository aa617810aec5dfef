"""What every protocol has in common: a sample and what is shown of it go in, the turns of a chat come out."""

from typing import Protocol as StructuralType

from evaluation.ultravr.conditions import Showing
from evaluation.ultravr.samples import Sample
from jobs.models import Turn


class Protocol(StructuralType):
    """One way of asking a sample (section 4.3)."""

    @property
    def version(self) -> str:
        """Version of the prompt texts that the turns are made of."""
        ...

    def turns(self, sample: Sample, showing: Showing) -> tuple[Turn, ...]:
        """Write the turns of the chat; the showing's views come before the first of them."""
        ...
