"""The page of files that are scored offline."""

from collections.abc import Mapping
from pathlib import Path

from catalogue.entry import CatalogueEntry
from evaluation.datasets import load_loose
from evaluation.details import reply_outcomes
from evaluation.rendering.html import render_html
from evaluation.rendering.page_samples import choose_samples
from evaluation.report import Report
from evaluation.score import read_replies


def page_of_files(report: Report, samples: Path, *responses: Path, catalogue: Mapping[str, CatalogueEntry]) -> str:
    """Write the page of a report that `score_files` made of the same files; without pictures, which files lack."""
    dataset = load_loose(samples)
    shown = choose_samples(dataset.samples)
    replies = (reply for reply in read_replies(responses, []) if reply.sample_id in shown)
    return render_html(report, reply_outcomes(dataset, replies, catalogue))
