"""A report's page over a few samples with every outcome, steps, pictures, and texts that try to break out."""

import io
from typing import Any

from evaluation.details import sample_outcomes
from evaluation.rendering.html import render_html
from evaluation.reporting.models import Figure2, FirstErrors, StepAccuracies, StepErrors
from PIL import Image

from catalogue.load import load_catalogue
from evaluation.datasets import Dataset
from evaluation.metrics.estimates import Estimate
from evaluation.report import Report, build_report
from jobs.models import RasterRecord, Response
from tests.benchmarks.ultravr.good_records import good_sample
from tests.evaluation.responses import response
from tiling.geometry import Size
from tiling.views import View

CATALOGUE = load_catalogue()
HOSTILE = "<script>document.title='broken'</script><img src=x onerror=alert(1)></pre>\" onmouseover=\"alert(2)"
KEY = "0123456789abcdef0123456789abcdef"
DATASET = Dataset(
    name="tiny <b>set</b>",
    benchmark="ultravr",
    title="Tiny",
    description="",
    samples=(
        good_sample("cctv-comparison", id="c1"),
        good_sample("cctv-comparison", id="c2"),
        good_sample("rs-logic", id="r1"),
        good_sample("ad-coordinate", id="a1"),
        good_sample("wsi-comparison", id="w1", answer=""),
    ),
    digest="0" * 64,
)


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
    """The report of the responses, with a Figure 2 of hostile titles."""
    half = Estimate(value=0.5, count=4, low=0.2, high=0.8)
    named: dict[str, Any] = {"model": "m", "title": "Model <script>x</script> & $y$"}
    operations: dict[str, Any] = dict.fromkeys(("GND", "PER", "QUA", "INT", "INF"), half)
    figure = Figure2(
        a=(StepErrors(**named, mean_error=half, deltas=operations),),
        b=(StepAccuracies(**named, operations=operations),),
        c=(FirstErrors(**named, outcomes={"GND": half, "NoErr": half}, domains={}),),
    )
    return build_report(DATASET, given, CATALOGUE).model_copy(update={"figure2": figure})


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
