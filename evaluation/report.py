"""A report over recorded responses: Tables 1 and 2, and everything needed to trust or doubt their numbers."""

from collections.abc import Iterable, Mapping

from catalogue.entry import CatalogueEntry
from evaluation.datasets import Dataset
from evaluation.metrics.accuracy import Strata
from evaluation.rendering.delimited import render_csv
from evaluation.rendering.markdown import render_markdown
from evaluation.replies import Reply, reply_of
from evaluation.reporting.caveats import collect_warnings
from evaluation.reporting.cells import score_cells
from evaluation.reporting.expected import Expected
from evaluation.reporting.models import Report
from evaluation.reporting.provenance import describe_provenance
from evaluation.reporting.tables import build_table1, build_table2
from evaluation.tally import Tally
from evaluation.ultravr.answers import PARSER_VERSION
from jobs.models import JobSpec, Response

__all__ = ["Report", "build_report", "render_csv", "render_json", "render_markdown", "report_on_replies"]


def build_report(
    dataset: Dataset,
    responses: Iterable[Response],
    catalogue: Mapping[str, CatalogueEntry],
    spec: JobSpec | None = None,
) -> Report:
    """Judge responses as they stream past, and fill the tables.

    With the job's `spec`, responses that are still missing are counted for every cell it asked for; without, only
    for cells of which a response exists, once a sample. The order of responses changes nothing.
    """
    return report_on_replies(dataset, (reply_of(response) for response in responses), catalogue, spec)


def report_on_replies(
    dataset: Dataset,
    replies: Iterable[Reply],
    catalogue: Mapping[str, CatalogueEntry],
    spec: JobSpec | None = None,
) -> Report:
    """Fill the tables from replies, wherever they were read from."""
    tally = Tally(dataset, replies)
    expected = Expected.of(tally, spec)
    strata = Strata.of(dataset.samples)
    cells = score_cells(tally, expected, strata)
    return Report(
        dataset=dataset.name,
        dataset_digest=dataset.digest,
        samples=len(dataset.samples),
        awaiting_expert=tuple(sample.id for sample in dataset.samples if not sample.scored),
        parser_version=PARSER_VERSION,
        table1=build_table1(tally, expected, strata, catalogue),
        table2=build_table2(tally, expected, strata, catalogue),
        cells=cells,
        warnings=collect_warnings(tally, cells, catalogue),
        provenance=describe_provenance(tally),
    )


def render_json(report: Report) -> str:
    """Write a report as JSON; rates are fractions, 0.5 is 50 %."""
    return report.model_dump_json(indent=2)
