"""The work behind a report in a few lines, and how much of it was saved, for every writer alike."""

from collections.abc import Iterator

from gigavqa.evaluation.reply_costs import WorkTotals
from gigavqa.reports.report import JobFacts, Report

_SHORTEST = 0.0005
"""Seconds of what is told."""


def work_lines(report: Report) -> Iterator[tuple[str, str]]:
    """Yield what was done, each with a heading; nothing of what nobody recorded."""
    work = report.work
    if work.requests:
        again = sum(cell.duplicates for cell in report.cells)
        told = "; of copies each that was recorded at another time counts, in tables of results one" if again else ""
        yield "Requests", f"{work.requests:,}{_span(work)}{told}"
    if work.prompt_tokens:
        cached = f"{100 * work.cached_tokens / work.prompt_tokens:.0f} %"
        yield "Tokens read", f"{work.prompt_tokens:,}, of which {work.cached_tokens:,} ({cached}) from the prefix cache"
        yield "Tokens written", f"{work.completion_tokens:,}"
    if work.dollars:
        yield "Cost", f"{work.dollars:,.2f} US dollars, by the prices of the catalogue"
    if work.views:
        saved = work.views - work.rasters
        told = f": {saved:,} rendering{'s' if saved > 1 else ''} saved" if saved else ""
        yield "Pictures", f"{work.views:,} shown, {work.rasters:,} different{told}"
    if seconds := _phases(work):
        yield "Time of a request", f"{seconds}: medians; requests run side by side"
    if work.slowest_image:
        yield "Slowest picture", f"{work.slowest_image}, rendered after {_seconds(work.slowest_seconds)}"


def job_line(job: JobFacts) -> str:
    """Return what a job asked for, and when, in a sentence."""
    asked = f"plan {job.plan}" if job.plan else f"cells {', '.join(job.cells)}"
    if job.judges:
        asked = f"judges {', '.join(job.judges)}"
    facts = [asked, "all samples" if job.samples is None else f"{job.samples:,} named samples", f"seed {job.seed}"]
    if job.closing:
        facts.append(f"closing {job.closing}")
    if job.rounds:
        facts.append(f"at most {job.rounds} rounds")
    if job.repeats > 1:
        facts.append(f"{job.repeats} repeats")
    facts += [f"{name} {value}" for settings in (job.options, job.sampling) for name, value in settings.items()]
    ended = f", finished {job.finished_at:%Y-%m-%d %H:%M:%S} UTC" if job.finished_at else ""
    return f"{job.status}, created {job.created_at:%Y-%m-%d %H:%M:%S} UTC{ended}; {', '.join(facts)}"


def _span(work: WorkTotals) -> str:
    if work.first_at is None or work.last_at is None:
        return ""
    seconds = (work.last_at - work.first_at).total_seconds()
    return f", recorded within {_seconds(seconds)}" if seconds else ""


def _phases(work: WorkTotals) -> str:
    if work.medians is None:
        return ""
    phases = {
        "waiting": work.medians.queued,
        "for pictures": work.medians.rendering,
        "reading the prompt": work.medians.prefill,
        "writing the answer": work.medians.decode,
    }
    return ", ".join(f"{_seconds(seconds)} {name}" for name, seconds in phases.items() if seconds >= _SHORTEST)


def _seconds(seconds: float) -> str:
    """Seconds as people say them."""
    if seconds < 1:
        return f"{seconds:.2g} s"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
