"""Versions of reading and judging: a benchmark whose rules have changed, or will."""

from collections.abc import Mapping

from gigavqa.evaluation.capabilities.capability import DefaultCapability


class ReaderVersions(DefaultCapability):
    """Says by which version it reads and judges, and what each version changed."""

    versions: Mapping[str, str] = {}
    """Versions of what reads and judges replies, by what it reads; a report states them."""
    version_notes: Mapping[str, str] = {}
    """What each of those versions, oldest first, changed; a report tells it where an older one read a job before."""
