"""Looks through all that an installation keeps, as it is at one moment, and goes on whatever it finds."""

from collections.abc import Iterator, Sequence

from gigavqa.backup.answer_checks import AnswerChecks
from gigavqa.backup.file_checks import PartChecks, check_uploads
from gigavqa.backup.findings import CheckFinding
from gigavqa.backup.image_checks import ImageChecks
from gigavqa.backup.job_checks import check_job, check_lists
from gigavqa.backup.queue_checks import check_queue
from gigavqa.backup.snapshots import open_client, serve_frozen_copy
from gigavqa.backup.state_reader import StateReader
from gigavqa.runtime.home import Home
from gigavqa.store.connection import connect
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.parquet_parts import PartStore
from gigavqa.store.redis_keys import KEYS


def check(url: str, home: Home, *, pictures: bool = False) -> Iterator[CheckFinding]:
    """Find what is wrong with the installation whose state store is at `url`, which may run; nothing is changed.

    With `pictures`, also which of them were replaced since they were asked about. Raises SnapshotRefusedError,
    StateStoreUnavailableError, and OSError where a store does not answer.
    """
    live, looks, answers = open_client(url), ImageChecks(home.data, home.uploads), AnswerChecks()

    def hear(job_id: str, text: str | bytes) -> None:
        answers.hear(job_id, text)
        if pictures:
            looks.hear(job_id, text)

    with serve_frozen_copy(url) as held:
        reader = StateReader(open_client(held))
        inventory = reader.list_keys()
        parts = PartChecks(reader, live, PartStore(home.results_uri), hear)
        for job_id in sorted(inventory.jobs):
            recordings = list(reader.recordings(job_id))
            yield from check_job(reader, inventory, job_id, recordings, hear)
            yield from parts.of_job(job_id, recordings)
            yield from answers.of_job(job_id, is_retried=not reader.redis.hexists(KEYS.job(job_id), "hidden"))
        yield from check_lists(reader, inventory)
        yield from check_queue(reader, inventory)
        yield from parts.of_no_job(inventory)
        yield from check_uploads(reader, inventory, live, home.uploads)
        if pictures:
            yield from looks.check()


async def repair(url: str, findings: Sequence[CheckFinding]) -> list[CheckFinding]:
    """Put right what can be put right while others use the state store; returns what was."""
    redis = connect(url)
    try:
        mended = [finding for finding in findings if finding.mend]
        for finding in mended:
            await finding.mend(redis)  # type: ignore[misc]  # they have one
        return mended
    finally:
        await redis.aclose()


async def remove(url: str, home: Home, findings: Sequence[CheckFinding]) -> None:
    """Remove what is left over, for good."""
    redis = connect(url)
    try:
        for finding in findings:
            if finding.remove:
                await finding.remove(redis)
        await JobRegistry(redis, home.results_uri).finish_deletions()
    finally:
        await redis.aclose()
