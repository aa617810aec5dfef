"""A report as one HTML file that needs nothing else: tables, figures, and every sample with what the model saw.

Texts of models and records pass through the template's escaping and reach no other place; the page's own policy
forbids every script but its own, and every connection.
"""

import base64
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from evaluation.metrics.estimates import Estimate
from evaluation.outcomes import SampleOutcome
from evaluation.report import Report
from evaluation.tables import Column, Value
from evaluation.writers.drawings import drawings, inline_svg
from evaluation.writers.numbers import percent, written
from evaluation.writers.page.samples import (
    DETAILED_SAMPLES,
    OUTCOMES,
    Preview,
    SampleShown,
    pictures,
    show_samples,
)

_PAGE = Path(__file__).parent


def render_html(
    report: Report,
    outcomes: Iterable[SampleOutcome] = (),
    preview: Preview = lambda key: None,
    most: int = DETAILED_SAMPLES,
) -> str:
    """Write a report as a page; `preview` returns the JPEG of a raster's key, or None.

    At most `most` samples are shown in detail, and a bounded number of responses; long texts are shortened in their
    middle, and pictures stand in the file once each, up to a limit of bytes. The page says what it leaves out.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - an extra's package

    samples = show_samples(outcomes, most)
    script = (_PAGE / "page.js").read_text(encoding="utf-8")
    environment = Environment(
        loader=FileSystemLoader(_PAGE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("page.html.j2").render(
        report=report,
        warnings=[caveat.text for caveat in report.caveats if caveat.scope != "cell"],
        warnings_on_cells=[caveat.text for caveat in report.caveats if caveat.scope == "cell"],
        tables=[table for table in report.tables if table.rows and not table.detail and table.name != "cells"],
        figures=[(drawing, inline_svg(drawing)) for drawing in drawings(report)],
        samples=samples,
        responses=sum(origin.responses for origin in report.provenance),
        responses_shown=sum(len(shown.responses) for shown in samples),
        pictures=_data_uris(pictures(samples, preview)),
        style=(_PAGE / "page.css").read_text(encoding="utf-8"),
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        filters=_filters(report, samples),
        outcome_names=OUTCOMES,
        written=written,
        note=_note,
        shade=_shade,
        percent=percent,
    )


def _note(value: Value) -> str:
    if not isinstance(value, Estimate):
        return ""
    if value.value is None:
        return "nothing to count"
    if value.low is None or value.high is None:
        return f"n = {value.count}"
    return f"95 % interval {100 * value.low:.1f} to {100 * value.high:.1f}, n = {value.count}"


def _shade(value: Value, column: Column) -> float | None:
    """How strongly a number is shaded, from -1 (bad) to 1; 50 points of a difference are full strength."""
    if not isinstance(value, Estimate) or value.value is None:
        return None
    if column.unit == "difference":
        return max(-1.0, min(1.0, 2 * value.value))
    return -value.value if column.unit == "loss" else value.value


def _data_uris(found: dict[str, bytes]) -> str:
    encoded = {key: f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode()}" for key, jpeg in found.items()}
    return json.dumps(encoded).replace("<", "\\u003c")  # nothing in it may end the script element


def _filters(report: Report, samples: tuple[SampleShown, ...]) -> dict[str, list[str]]:
    levels = dict.fromkeys(level for shown in samples for level in shown.first.groups)
    found = {level: sorted({shown.first.groups.get(level, "") for shown in samples}) for level in levels}
    return {
        **{level: names for level, names in found.items() if len(names) > 1},
        "model": list(dict.fromkeys(cell.model for cell in report.cells)),
        "protocol": sorted({cell.protocol for cell in report.cells}),
        "condition": sorted({cell.condition for cell in report.cells}),
    }
