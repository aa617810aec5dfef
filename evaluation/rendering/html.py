"""A report as one HTML file that needs nothing else: tables, figures, and every sample with what the model saw.

Texts of models and records pass through the template's escaping and reach no other place; the page's own policy
forbids every script but its own, and every connection.
"""

import base64
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from benchmarks.ultravr.taxonomy import CATEGORIES, DOMAINS
from evaluation.rendering.figures import drawings, inline_svg
from evaluation.rendering.page_samples import DETAILED_SAMPLES, OUTCOMES, Preview, pictures, show_samples
from evaluation.rendering.page_tables import gap, rate, tables
from evaluation.reporting.models import Report, SampleOutcome

_PAGE = Path(__file__).parent / "page"


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
        warnings_on_models=[warning for warning in report.warnings if not _is_on_cell(warning)],
        warnings_on_cells=[warning for warning in report.warnings if _is_on_cell(warning)],
        tables=tables(report),
        figures=[(drawing, inline_svg(drawing)) for drawing in drawings(report.figure2)],
        samples=samples,
        responses=sum(origin.responses for origin in report.provenance),
        responses_shown=sum(len(shown.responses) for shown in samples),
        pictures=_data_uris(pictures(samples, preview)),
        style=(_PAGE / "page.css").read_text(encoding="utf-8"),
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        filters=_filters(report),
        outcome_names=OUTCOMES,
        rate=rate,
        gap=gap,
    )


def _is_on_cell(warning: str) -> bool:
    """Whether a warning names model, protocol and condition, and not the model alone."""
    return len(warning.partition(":")[0].split()) == 3


def _data_uris(found: dict[str, bytes]) -> str:
    encoded = {key: f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode()}" for key, jpeg in found.items()}
    return json.dumps(encoded).replace("<", "\\u003c")  # nothing in it may end the script element


def _filters(report: Report) -> dict[str, list[str]]:
    return {
        "domain": list(DOMAINS),
        "category": list(dict.fromkeys(name for domain in DOMAINS for name in CATEGORIES[domain])),
        "operation": ["GND", "PER", "QUA", "INT", "INF"],
        "model": list(dict.fromkeys(cell.model for cell in report.cells)),
        "protocol": sorted({cell.protocol for cell in report.cells}),
        "condition": sorted({cell.condition for cell in report.cells}),
    }
