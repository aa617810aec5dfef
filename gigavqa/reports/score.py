"""Scores files offline: samples and responses in, a report out; no service, no engine."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import JUDGE, LIKELIHOOD
from gigavqa.evaluation.capabilities import CellRules, ProgramFiles, explain_unfit, judgement_reader
from gigavqa.evaluation.datasets import Dataset, load_for_scoring
from gigavqa.evaluation.judgements import Panel
from gigavqa.evaluation.outcomes import SampleOutcome, reply_outcomes
from gigavqa.evaluation.prompts import PromptRebuilder
from gigavqa.evaluation.replies import Reply, ReplyRank
from gigavqa.evaluation.response_files import read_replies
from gigavqa.reports.report import Report, report_on_replies
from gigavqa.reports.writers.page.page import render_html
from gigavqa.reports.writers.page.samples import choose_samples, most_samples


def score_files(
    samples: Path | Dataset,
    *responses: Path,
    catalogue: Mapping[str, CatalogueEntry] | None = None,
    judges: Sequence[Path] = (),
) -> Report:
    """Score files of responses, or folders of such files, against a data set, its folder, or a file of records.

    A line is a response as the service streams it, or {"sample_id", "text" or "response"} with model, protocol and
    condition where they are not "unnamed", the benchmark's first protocol and V2; Parquet files hold the service's
    parts, or the same columns.
    Several lines of one's own for one sample are repeats. Models beyond the shipped catalogue are described in
    `catalogue`. `judges` are files of what models said that judge, whose first one gives the scores. Raises
    DatasetInvalidError, JudgesMixedError, and ResponsesInvalidError naming file and line of what is no response.
    """
    dataset = samples if isinstance(samples, Dataset) else load_judged_dataset(samples, judges)
    return report_on_replies(dataset, _replies(dataset, responses), catalogue or load_catalogue())


def load_judged_dataset(samples: Path, judges: Sequence[Path] = ()) -> Dataset:
    """Load a data set for scoring, judged by what files of judges' responses say. Raises as `score_files` does."""
    dataset = load_for_scoring(samples)
    if not judges:
        return dataset
    return dataset.judged_with(Panel.of(_replies(dataset, judges), judgement_reader(dataset.benchmark)))


def _replies(dataset: Dataset, responses: Iterable[Path]) -> Iterator[Reply]:
    protocols = tuple(dataset.benchmark.protocols)
    recorded = ProgramFiles.of(dataset.benchmark).read_result
    return read_replies(responses, protocols[0], recorded, protocols, _describe_unfit(dataset))


def _describe_unfit(dataset: Dataset) -> Callable[[Reply], str]:
    """Say why a reply answers nothing that its sample can be asked; nothing of samples that the data set has not."""
    benchmark, rules = dataset.benchmark, CellRules.of(dataset.benchmark)

    def unfit(reply: Reply) -> str:
        position = dataset.positions.get(reply.sample_id)
        if position is None or reply.protocol in (JUDGE, LIKELIHOOD):
            return ""
        sample = dataset.samples[position]
        why = explain_unfit(rules, sample, reply.protocol, reply.labels.condition, benchmark.protocols)
        return why and f"protocol: {why}"

    return unfit


def page_of_files(
    report: Report,
    samples: Path | Dataset,
    *responses: Path,
    catalogue: Mapping[str, CatalogueEntry],
    preview: Callable[[str], bytes | None] = lambda key: None,
    judges: Sequence[Path] = (),
) -> str:
    """Write the page of a report that `score_files` made of the same files; `preview` finds the picture of a key."""
    dataset = samples if isinstance(samples, Dataset) else load_judged_dataset(samples, judges)
    shown = choose_samples(dataset, most=most_samples(report))
    replies = (reply for reply in _drop_copies(dataset, responses) if reply.sample_id in shown)
    return render_html(report, reply_outcomes(dataset, replies, catalogue, PromptRebuilder(dataset)), preview)


def outcomes_of_files(
    dataset: Dataset, *responses: Path, catalogue: Mapping[str, CatalogueEntry]
) -> Iterator[SampleOutcome]:
    """Yield what became of each response in files, in their order; of copies of one, that which reports count.

    The files are read twice, and of each response is kept which it is. Raises as `score_files` does.
    """
    return reply_outcomes(dataset, _drop_copies(dataset, responses), catalogue)


def _drop_copies(dataset: Dataset, responses: Iterable[Path]) -> Iterator[Reply]:
    """Yield the replies of files in their order, of copies of one that which counts; the files are read twice."""
    first: dict[tuple[str | int | None, ...], tuple[ReplyRank, int]] = {}
    for number, reply in enumerate(_replies(dataset, responses)):
        place = reply.rank, number
        first[_copy_key(reply)] = min(first.get(_copy_key(reply), place), place)
    return (one for at, one in enumerate(_replies(dataset, responses)) if first[_copy_key(one)][1] == at)


def _copy_key(reply: Reply) -> tuple[str | int | None, ...]:
    return reply.model, reply.protocol, reply.condition, reply.max_rounds or 0, *reply.identity
