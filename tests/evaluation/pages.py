"""A report's page over a few samples with every outcome, steps, pictures, and texts that try to break out."""

import io
from typing import Any, Literal

from PIL import Image

from catalogue.load import load_catalogue
from evaluation.metrics.estimates import Estimate
from evaluation.outcomes import sample_outcomes
from evaluation.report import Report, build_report
from evaluation.tables import Column, Figure, Group, Row, Table
from evaluation.writers.page.page import render_html
from jobs.models import RasterRecord, Response
from tests.benchmarks.ultravr.good_records import good_sample
from tests.evaluation.datasets import dataset_of
from tests.evaluation.responses import response
from tiling.geometry import Size
from tiling.views import View

CATALOGUE = load_catalogue()
HOSTILE = "<script>document.title='broken'</script><img src=x onerror=alert(1)></pre>\" onmouseover=\"alert(2)"
KEY = "0123456789abcdef0123456789abcdef"
DATASET = dataset_of(
    [
        good_sample("cctv-comparison", id="c1"),
        good_sample("cctv-comparison", id="c2"),
        good_sample("rs-logic", id="r1"),
        good_sample("ad-coordinate", id="a1"),
        good_sample("wsi-comparison", id="w1", answer=""),
    ],
    name="tiny <b>set</b>",
)
FORMS: dict[str, Literal["bars", "differences", "shares"]] = {
    "figure2a": "differences",
    "figure2b": "bars",
    "figure2c": "shares",
}


def raster(key: str = KEY) -> RasterRecord:
    """Where a raster came from."""
    return RasterRecord(
        view=View(image="tiny/images/plaza.jpg"),
        source_size=Size(13376, 7526),
        source_format="jpeg",
        region="0,0,13376,7526",
        level=0,
        downsample=1.0,
        raster_size=Size(640, 352),
        visual_tokens=220,
        digest="d",
        key=key,
    )


def responses() -> list[Response]:
    """Right, wrong, without an answer, failed, abstained, not scored; and step answers under S2."""
    steps = '{"S1": "true", "S3": 7, "final_answer": "B"}'
    return [
        response("c1", "Final answer: B", rasters=(raster(),)),
        response("c2", f"{HOSTILE}\nFinal answer: A", rasters=(raster(),)),
        response("r1", "no idea about letters here"),
        response("a1", None),
        response("w1", "Final answer: C"),
        response("c1", "Not sure.", "V0"),
        response("c1", steps, request_id="c1:S2", protocol="S2", rasters=(raster(),)),
    ]


def report_of(given: list[Response]) -> Report:
    """The report of the responses, with three figures of hostile titles."""
    report = build_report(DATASET, given, CATALOGUE)
    others = (table for table in report.tables if table.name not in FORMS)
    drawn = (
        Figure(name=name, caption=f"{name}.", form=form, table=name, columns=("GND", "NoErr"))
        for name, form in FORMS.items()
    )
    return report.model_copy(
        update={"tables": (*others, *(hostile_table(name) for name in FORMS)), "figures": tuple(drawn)}
    )


def hostile_table(name: str) -> Table:
    """One row of a model whose title would be markup."""
    half = Estimate(value=0.5, count=4, low=0.2, high=0.8)
    return Table(
        name=name,
        title=name,
        groups=(Group(title="", columns=tuple(Column(key=key, title=key) for key in ("GND", "NoErr"))),),
        rows=(Row(title="Model <script>x</script> & $y$", values=(half, half)),),
    )


def jpeg() -> bytes:
    """A small picture."""
    buffer = io.BytesIO()
    Image.new("RGB", (64, 36), (30, 120, 80)).save(buffer, "JPEG")
    return buffer.getvalue()


def page(given: list[Response] | None = None, **settings: Any) -> str:
    """The page of the responses above, or of those given."""
    chosen = responses() if given is None else given
    pictures = {KEY: jpeg()}
    return render_html(report_of(chosen), sample_outcomes(DATASET, chosen, CATALOGUE), pictures.get, **settings)
