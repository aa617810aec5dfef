"""Answers as they come: judged, shown as a live table or as lines, and written as a page and as files of verdicts."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.live import Live
from rich.table import Table
from rich.text import Text

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.cli.client import TerminalClient
from gigavqa.cli.console import err
from gigavqa.cli.following import report_obstacles
from gigavqa.contract.jobs import Job
from gigavqa.contract.responses import Response
from gigavqa.contract.schema_versions import read_response
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.metrics.intervals import wilson
from gigavqa.evaluation.outcomes import SampleOutcome, sample_outcomes
from gigavqa.reports.report import Report
from gigavqa.reports.writers.verdict_columns import VerdictFileLayout
from gigavqa.reports.writers.verdict_files import VERDICT_FORMATS, write_verdicts

_MOST_ROWS = 30
"""Answers that have a row or a line each; of more, those of each cell and group are counted."""
_LINES_PER_JOB = 20
_SHORTENED = 48
_ANSWER = 2
"""Which of the words on an outcome is the answer."""
_UNREADABLE = '"unreadable"'
_COLOURS = {"right": "green", "partial": "yellow", "wrong": "red", "failed": "bold red", "unscored": "cyan"}


@dataclass(frozen=True)
class AnswerScorer:
    """Judges the answers of jobs over one data set."""

    dataset: Dataset
    catalogue: Mapping[str, CatalogueEntry]

    def judged(self, lines: Iterable[str]) -> Iterator[SampleOutcome]:
        """Yield what became of each response, given as a line of JSON; those that cannot be read are passed over."""
        return sample_outcomes(self.dataset, _responses(lines), self.catalogue)


def _responses(lines: Iterable[str]) -> Iterator[Response]:
    for line in lines:
        # Looked for as text first: few lines are worth reading twice.
        if _UNREADABLE not in line or "unreadable" not in json.loads(line):
            yield read_response(line, extra="ignore")


def show_answers(gateway: TerminalClient, job: Job, answers: AnswerScorer) -> Job:
    """Show each answer as it comes, or counts where they are many, and return the job as it ended."""
    board = AnswerTable(job.request_counts.total)
    with _live_table(board) as say, report_obstacles(gateway, job.spec.models, say):
        for outcome in answers.judged(gateway.result_lines(job.id, follow=True)):
            line = board.add(outcome)
            if line and not err.is_terminal:
                say(line)
    return gateway.job(job.id)


@contextmanager
def _live_table(board: "AnswerTable") -> Iterator[Callable[[str], None]]:
    """Draw the board four times a second at a terminal; give what says a line above it."""
    if err.is_terminal:
        with Live(get_renderable=board.table, console=err, refresh_per_second=4) as live:
            yield live.console.print
    else:
        yield err.print


class AnswerTable:
    """The answers of a job so far: one row each while they are few, else one row for every cell and category."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._rows: dict[str, SampleOutcome] = {}
        self._counts: dict[tuple[str, str], Counter[str]] = {}
        self._done = 0

    def add(self, outcome: SampleOutcome) -> str:
        """Take an answer; returns the line that tells of it, or of how far the job is, where one is due."""
        self._done += 1
        place = (str(outcome.cell), next(iter(outcome.groups.values()), ""))
        self._counts.setdefault(place, Counter())[outcome.outcome] += 1
        if self._total <= _MOST_ROWS:
            self._rows[outcome.request_id] = outcome
            closing = f"\n  {closed}" if (closed := _closing(outcome)) else ""
            sample, cell, answer, truth, verdict = _outcome_columns(outcome)
            told = (sample, cell, answer, truth and f"true: {truth}", verdict)
            return f"{self._done} of {self._total}  {'  '.join(filter(None, told))}{closing}"
        if self._done * _LINES_PER_JOB // self._total == (self._done - 1) * _LINES_PER_JOB // self._total:
            return ""
        counts = sum(self._counts.values(), Counter())
        return f"{self._done} of {self._total}  {', '.join(f'{count} {name}' for name, count in counts.most_common())}"

    def table(self) -> Table:
        """Return the board as a terminal shows it."""
        title = f"{self._done} of {self._total} answered"
        if self._rows or not self._done:
            table = Table("question", "asked", "answer", "true", "", title=title, box=None, title_justify="left")
            for outcome in self._rows.values():
                *words, verdict = _outcome_columns(outcome)
                words[_ANSWER] = "\n".join(filter(None, (words[_ANSWER], _closing(outcome))))
                table.add_row(*map(Text, words), Text(verdict, style=_COLOURS.get(verdict, "")))
            return table
        table = Table("asked", "category", "answers", "right", title=title, box=None, title_justify="left")
        for (cell, category), counts in sorted(self._counts.items()):
            table.add_row(Text(cell), Text(category), str(counts.total()), _share(counts))
        return table


def _outcome_columns(outcome: SampleOutcome) -> tuple[str, str, str, str, str]:
    answer = outcome.value or outcome.failure or (outcome.text or "").strip() or "-"
    return outcome.sample_id, str(outcome.cell), _short(answer), _short(outcome.truth), outcome.outcome


def _closing(outcome: SampleOutcome) -> str:
    """Return what the closing turn says, or that it says nothing; '' where there was none."""
    if outcome.closing is None:
        return ""
    return f"closing: {_short(outcome.closing) or '-'}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHORTENED else f"{line[: _SHORTENED - 1]}…"


def _share(counts: Counter[str]) -> str:
    """Return the share that is right with its interval, of the answers that are scored."""
    scored = counts.total() - counts["unscored"] - counts["failed"]
    if not scored:
        return "-"
    rate = wilson(counts["right"] / scored, scored)
    return f"{100 * (rate.value or 0):.0f} % [{100 * (rate.low or 0):.0f}, {100 * (rate.high or 0):.0f}]"


@dataclass(frozen=True)
class AnswerFiles:
    """The results of a job, and the files that hold them."""

    report: Report
    page: Path
    verdicts: tuple[Path, ...]


def write_answers(gateway: TerminalClient, job: Job, answers: AnswerScorer, folder: Path) -> AnswerFiles:
    """Write the page, and the verdict on every answer in every form."""
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "report.html"
    page.write_text(gateway.report(job.id, form="html"), encoding="utf-8")
    files = []
    for form in VERDICT_FORMATS:
        files.append(folder / f"verdicts.{form}")
        lines = gateway.result_lines(job.id)
        write_verdicts(answers.judged(lines), files[-1], form, VerdictFileLayout.of(answers.dataset, texts=True))
    return AnswerFiles(Report.model_validate_json(gateway.report(job.id, form="json")), page, tuple(files))
