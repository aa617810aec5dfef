"""What became of a job, in a few lines: time, tokens, the work that was saved, and what helps where it failed."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from cli.units import say_seconds

if TYPE_CHECKING:
    from jobs.models import Job


def summary(job: "Job") -> Iterator[str]:
    """Lines about a job that has ended; the failures are told by `failure_lines`."""
    counts, usage = job.request_counts, job.usage
    seconds = _seconds(job)
    took = f" in {say_seconds(seconds)}" if seconds is not None else ""
    rate = f", {counts.completed / seconds:.2f}/s" if seconds and counts.completed else ""
    yield f"{job.status!s:<10}{counts.completed} of {counts.total} requests answered{took}{rate}"
    if usage.prompt_tokens:
        cached = f"{100 * usage.cached_tokens / usage.prompt_tokens:.0f} % from the prefix cache"
        yield f"tokens    {usage.prompt_tokens:,} read ({cached}), {usage.completion_tokens:,} written"
    if usage.views:
        saved = f": {usage.views - usage.rasters:,} renderings saved" if usage.views > usage.rasters else ""
        yield f"pictures  {usage.views:,} shown, {usage.rasters:,} different{saved}"
    if usage.slowest_image:
        yield f"slowest   {usage.slowest_image}, rendered after {say_seconds(usage.slowest_seconds)}"


def failure_lines(job: "Job") -> Iterator[str]:
    """What failed, by type, and for each kind what helps; `retry` alone is named only where it can help."""
    kinds = sorted(job.failures.items(), key=lambda kind: -kind[1])
    types = ", ".join(f"{number} {kind}" for kind, number in kinds)
    yield f"{job.request_counts.failed} of {job.request_counts.total} requests failed: {types or 'of unknown type'}"
    yield f"  `gigavqa results {job.id} --status failed` shows what each of them says"
    if job.retryable:
        yield f"  `gigavqa retry {job.id}` asks again; {job.retryable} of them may be answered then"
    if job.retryable < job.request_counts.failed:
        yield from dict.fromkeys(f"  {remedy}" for kind, _ in kinds if (remedy := _remedy(job, kind)))


def _remedy(job: "Job", kind: str) -> str:
    from tiling import errors

    known = getattr(errors, kind, None)
    if isinstance(known, type) and issubclass(known, errors.TilingError):
        return (
            f"asking again does not help as the pictures are: `gigavqa dataset check {job.spec.dataset} --pixels` "
            f"names those that cannot be read; mend or replace them, then `gigavqa retry {job.id}`"
        )
    return _REMEDIES.get(kind, "")


_REMEDIES: Mapping[str, str] = {
    "EngineError": "the engine refuses these prompts, however often it is asked: a larger context or a smaller "
    "max_tokens may help (`gigavqa submit --set max_tokens=...`)",
    "EngineDeadError": "these requests end the engine; `gigavqa logs` shows how",
    "WorkerCrashed": "these requests end their worker; `gigavqa logs` shows how",
}


def _seconds(job: "Job") -> float | None:
    if job.in_progress_at is None or job.finished_at is None:
        return None
    return (job.finished_at - job.in_progress_at).total_seconds()
