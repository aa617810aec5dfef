"""A report over recorded responses: Tables 1 to 3, Figure 2, and everything needed to trust or doubt their numbers."""

from collections.abc import Iterable, Mapping

from benchmarks.ultravr.answers import PARSER_VERSION
from benchmarks.ultravr.steps.judge import STEP_PARSER_VERSION
from benchmarks.ultravr.steps.matching import IOU_THRESHOLD
from catalogue.entry import CatalogueEntry
from evaluation.datasets import Dataset
from evaluation.metrics.accuracy import Strata
from evaluation.rendering.delimited import render_csv
from evaluation.rendering.markdown import render_markdown
from evaluation.replies import Reply, reply_of
from evaluation.reporting.caveats import collect_warnings
from evaluation.reporting.cells import score_cells
from evaluation.reporting.expected import Expected
from evaluation.reporting.means import build_means
from evaluation.reporting.models import Report
from evaluation.reporting.provenance import describe_provenance
from evaluation.reporting.steps import build_figure2, build_profiles, collect_steps, count_operations
from evaluation.reporting.tables import Sources, build_table1, build_table2, build_table3
from evaluation.tally import Tally
from jobs.models import JobSpec, Response

__all__ = [
    "Report",
    "build_report",
    "render_csv",
    "render_json",
    "render_markdown",
    "report_on_replies",
]


def build_report(
    dataset: Dataset,
    responses: Iterable[Response],
    catalogue: Mapping[str, CatalogueEntry],
    *specs: JobSpec,
) -> Report:
    """Judge responses as they stream past, and fill the tables.

    With the jobs' `specs`, responses that are still missing are counted for every cell they asked for; without, only
    for cells of which a response exists. The order of responses changes nothing. Raises StepUnknownError where a
    sample whose steps were asked has one that belongs to no schema.
    """
    return report_on_replies(dataset, (reply_of(response) for response in responses), catalogue, *specs)


def report_on_replies(
    dataset: Dataset,
    replies: Iterable[Reply],
    catalogue: Mapping[str, CatalogueEntry],
    *specs: JobSpec,
) -> Report:
    """Fill the tables from replies, wherever they were read from."""
    tally = Tally(dataset, replies, catalogue)
    expected, strata = Expected.of(tally, specs), Strata.of(dataset.samples)
    sources = Sources(tally, expected, strata, catalogue)
    table1, table2, table3 = build_table1(sources), build_table2(sources), build_table3(sources)
    cells, steps = score_cells(tally, expected, strata), collect_steps(sources)
    profiles = build_profiles(sources, steps)
    return Report(
        dataset=dataset.name,
        dataset_digest=dataset.digest,
        samples=len(dataset.samples),
        awaiting_expert=tuple(sample.id for sample in dataset.samples if not sample.scored),
        parser_version=PARSER_VERSION,
        step_parser_version=STEP_PARSER_VERSION,
        table1=table1,
        table2=table2,
        table3=table3,
        means=build_means(table1, table2, table3),
        figure2=build_figure2(sources, steps),
        steps=profiles,
        operation_counts=count_operations(sources) if profiles else {},
        iou_threshold=IOU_THRESHOLD,
        cells=cells,
        warnings=collect_warnings(tally, cells, profiles, catalogue),
        provenance=describe_provenance(tally),
    )


def render_json(report: Report) -> str:
    """Write a report as JSON; rates are fractions, 0.5 is 50 %."""
    return report.model_dump_json(indent=2)
