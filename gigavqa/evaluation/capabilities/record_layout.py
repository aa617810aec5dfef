"""Layouts of records: a benchmark whose records are told by their fields, or written otherwise than its samples."""

from collections.abc import Collection, Sequence
from typing import Any, Generic

from gigavqa.evaluation.capabilities.capability import DefaultCapability, OfferSampleT


class RecordLayout(DefaultCapability, Generic[OfferSampleT]):
    """Says by which fields its records are known, what an import may call columns, and how a sample is written."""

    known_by: Collection[str] = ()
    """Names of fields of which its records have one: without, they are for one that reads records of any kind."""
    general: bool = False
    """Whether it reads records of any kind, so that one made for them goes before it."""
    asked_by: Sequence[str] = ()
    """Patterns of names of fields that its samples cannot do without: who leaves such a field unread reads amiss."""
    fields: Sequence[str] = ()
    """What it reads of records, and so what an import may call their columns; any name where there is none."""

    def record(self, sample: OfferSampleT) -> dict[str, Any]:
        """Write a sample as a record that reads as the same sample."""
        fields = sample.model_dump(mode="json", exclude_none=True, exclude={"extra"})
        return {**sample.extra, **fields}


def whole_record(layout: RecordLayout[OfferSampleT], sample: OfferSampleT) -> dict[str, Any]:
    """Write a sample as its layout does, with what the core itself reads of records: how images are shown, and whether
    it is an example.
    """
    own = {"show": list(sample.show) if sample.show else None, "split": sample.split}
    return {**layout.record(sample), **{name: value for name, value in own.items() if value}}
