"""Samples for people: a benchmark that tells of a sample what the core does not know."""

from collections.abc import Iterator
from typing import Any, Generic, NamedTuple

from gigavqa.evaluation.capabilities.capability import DefaultCapability, OfferSampleT


class Evidence(NamedTuple):
    """The evidence of a sample, for readers of a reply: in lines, and by the names of images that show it."""

    lines: tuple[str, ...] = ()
    images: tuple[str, ...] = ()


class SampleDisplay(DefaultCapability, Generic[OfferSampleT]):
    """Tells of samples in `gigavqa dataset show`, and beside replies on the page."""

    def describe(self, sample: OfferSampleT) -> Iterator[str]:
        """Tell, line by line, what the core does not know of a sample."""
        return iter(())

    def summary(self, sample: OfferSampleT) -> dict[str, str]:
        """Tell in few words what the core does not know of a sample, under the same names for all."""
        return {}

    def evidence(self, sample: OfferSampleT, shared: Any) -> Evidence:
        """Tell what answers a sample; the page shows it beside every reply.

        `shared` is what `JobOptions.prepare` made of the data set, without any option.
        """
        return Evidence()
