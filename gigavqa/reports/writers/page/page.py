"""A report as one HTML file that needs nothing else: tables, figures, and every sample with what the model saw.

Texts of models and records pass through the template's escaping, or through JSON into text nodes that the page's
script makes; the page's own policy forbids every script but its own, and every connection.
"""

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from gigavqa.evaluation.outcomes import SampleOutcome
from gigavqa.reports.report import Report
from gigavqa.reports.writers.cost_lines import job_line, work_lines
from gigavqa.reports.writers.drawings import inline_svg, list_drawings
from gigavqa.reports.writers.numbers import format_percent
from gigavqa.reports.writers.page.samples import (
    DETAILED_SAMPLES,
    OUTCOMES,
    PreviewSource,
    collect_outcomes,
    describe_samples,
    load_previews,
)
from gigavqa.reports.writers.page.tables import layout_table, summarize_rows, titles_of_models

_PAGE = Path(__file__).parent
SCRIPTS = ("data.js", "head.js", "filters.js", "matrix.js", "rounds.js", "sample.js", "page.js")
"""The page's script, in the order in which its parts need each other."""


def render_html(
    report: Report,
    outcomes: Iterable[SampleOutcome] = (),
    preview: PreviewSource = lambda key: None,
    most: int = DETAILED_SAMPLES,
    viewer: str | None = None,
    *,
    titles: Mapping[str, str] | None = None,
) -> str:
    """Write a report as a page; `preview` returns the JPEG of a raster's key, or None.

    `viewer` is the address of the evidence viewer, to which every sample then links; `titles` say what models are
    called that no table has a row of.

    At most `most` samples are shown in detail, and a bounded number of responses; long texts are shortened in their
    middle, and pictures stand in the file once each, up to a limit of bytes. The page says what it leaves out.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - an extra's package

    found = collect_outcomes(outcomes, most)
    script = page_script()
    drawn = {figure.table for figure in report.figures if figure.replaces_table}
    tables = [table for table in report.tables if table.rows]
    environment = Environment(
        loader=FileSystemLoader(_PAGE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("page.html.j2").render(
        report=report,
        warnings=[caveat.text for caveat in report.caveats if caveat.scope != "cell"],
        warnings_on_cells=[caveat.text for caveat in report.caveats if caveat.scope == "cell"],
        tiles=summarize_rows(report),
        tables=[layout_table(table) for table in tables if not table.detail and table.name not in drawn],
        details=[layout_table(table) for table in tables if table.detail or table.name in drawn],
        figures=[(drawing, inline_svg(drawing)) for drawing in list_drawings(report)],
        samples=len(found),
        responses=sum(origin.responses for origin in report.provenance),
        responses_shown=sum(map(len, found.values())),
        models=len({cell.model for cell in report.cells}),
        data=_json(
            describe_samples(found, [cell.key for cell in report.cells], {**titles_of_models(report), **(titles or {})})
            | {"viewer": viewer and viewer.rstrip("/")}
        ),
        pictures=_json(_encode_previews(load_previews(found, preview))),
        style=(_PAGE / "page.css").read_text(encoding="utf-8"),
        script=script,
        script_hash=script_digest(),
        outcome_names=OUTCOMES,
        work=list(work_lines(report)),
        job_line=job_line,
        percent=format_percent,
    )


@cache
def page_script() -> str:
    """Return the script of every report's page."""
    return "".join((_PAGE / name).read_text(encoding="utf-8") for name in SCRIPTS)


@cache
def script_digest() -> str:
    """Return the SHA-256 of the script, as a policy names it."""
    return base64.b64encode(hashlib.sha256(page_script().encode()).digest()).decode()


def _encode_previews(found: dict[str, bytes]) -> dict[str, str]:
    return {key: f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode()}" for key, jpeg in found.items()}


def _json(value: Any) -> str:
    """Write JSON that can stand in a script element: nothing in it may end that."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
