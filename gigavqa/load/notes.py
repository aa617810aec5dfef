"""What a reader of the figures must know, in sentences: what was left out, how tokens were counted, what limited it."""

from collections.abc import Iterator

from gigavqa.load.run import MOST_OPEN, Run
from gigavqa.runtime.plurals import count_noun

TESTED_USERS = 200
"""Users with whom one process was tried: docs/load.md says how."""

_BUSY_SECONDS = 0.02
_MUCH_WAITING = 0.05


def notes(run: Run) -> list[str]:
    """Return the sentences about a measurement that has ended."""
    return [*_about_requests(run), *_about_tokens(run), *_about_this_process(run)]


def _about_requests(run: Run) -> Iterator[str]:
    load, failed = run.load, f", of which {run.warmup_failed} failed" if run.warmup_failed else ""
    warm = f" and {count_noun(load.warmup, 'request')} of warm-up{failed}" if load.warmup else ", and nothing else"
    yield f"left out: the request before all others{warm}"
    if run.stop.is_set():
        yield f"interrupted: {count_noun(run.left_out, 'open request')} left out"
    if run.is_exhausted:
        yield f"ended early: all {run.prompts.most} chats with different regions were sent; `--repeat-pictures` goes on"


def _about_tokens(run: Run) -> Iterator[str]:
    tally = run.tally
    if not tally.counted_by_chunks:
        return
    why = (
        "the service refuses `stream_options.include_usage`"
        if run.service.usage_refused
        else "the service sent no counts with them, though it was asked for `stream_options.include_usage`"
    )
    of = "all answers" if tally.counted_by_chunks == tally.completed else f"{tally.counted_by_chunks} answers"
    yield f"tokens of {of} are counted by chunks, one each: {why}. A chunk may hold several tokens"


def _about_this_process(run: Run) -> Iterator[str]:
    paused, late = run.pausing.percentile(99) or 0.0, run.sending_late.percentile(99) or 0.0
    if max(paused, late) > _BUSY_SECONDS:
        yield (
            f"this process was too busy: 1 of 100 moments came {1000 * max(paused, late):.0f} ms late or more, and "
            "times hold that. Start it on cores of its own, with fewer users, or several at once"
        )
    if (run.load.users or 0) > TESTED_USERS or run.most_open > TESTED_USERS:
        yield f"one process was tried with {TESTED_USERS} open requests at most, and this had more"
    if run.tally.faults.get("not sent"):
        yield f"arrivals were not sent while {MOST_OPEN} requests were open: the service is slower than the rate"
    users = run.load.users or 0
    if users and run.waiting > _MUCH_WAITING * users * run.tally.seconds:
        share = 100 * run.waiting / (users * run.tally.seconds or 1.0)
        yield (
            f"users waited {share:.0f} % of the time for pictures to be cut: this machine was the limit. Pyramids "
            "of flat pictures (`gigavqa ingest`) and `--repeat-pictures` make that less"
        )
