"""A report's page over a few samples with every outcome, steps, pictures, and texts that try to break out."""

import io
import json
from collections.abc import Iterable
from typing import Any, Literal

from PIL import Image

from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import Cell, JobSpec
from gigavqa.contract.requests import InferenceRequest, Sampling
from gigavqa.contract.responses import RasterRecord, Response, Timings, TurnResponse, Usage
from gigavqa.evaluation.expansion import expand
from gigavqa.evaluation.metrics.estimates import Estimate
from gigavqa.evaluation.outcomes import sample_outcomes
from gigavqa.evaluation.prompts import PromptRebuilder
from gigavqa.evaluation.tables import Column, ColumnGroup, Figure, Row, Table
from gigavqa.reports.report import Report, build_report
from gigavqa.reports.writers.page.page import render_html
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.views import View
from tests.benchmarks.ultravr.good_records import good_sample
from tests.evaluation.datasets import dataset_of
from tests.evaluation.responses import MODEL, response

CATALOGUE = load_catalogue()
HOSTILE = "<script>document.title='broken'</script><img src=x onerror=alert(1)></pre>\" onmouseover=\"alert(2)"
KEY = "0123456789abcdef0123456789abcdef"
SIZE = Size(10_000, 6000)
QUADRANTS = {"a" * 32: "0,0,5000,3000", "b" * 32: "5000,0,5000,3000"}
"""Rasters of V3 and their regions: what c1's evidence names."""
BOX = (0.3, 0.3, 0.32, 0.32)
"""A box that S2's reply names, where nothing is."""
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
TOKENS = Usage(prompt_tokens=900, cached_tokens=640, completion_tokens=24)
TIMES = Timings(queued=0.5, prefill=1.25, decode=2.0)
FORMS: dict[str, Literal["bars", "differences", "shares"]] = {
    "figure2a": "differences",
    "figure2b": "bars",
    "figure2c": "shares",
}


def raster(key: str = KEY, region: str = "full", show: str = "") -> RasterRecord:
    """Where a raster of the picture of c1 and c2 came from."""
    return RasterRecord(
        view=View(image=DATASET.image_of("images/plaza.jpg"), region=region, show=show),
        source_size=SIZE,
        source_format="jpeg",
        region=f"0,0,{SIZE.width},{SIZE.height}" if region == "full" else region,
        level=0,
        downsample=1.0,
        raster_size=Size(640, 352),
        visual_tokens=220,
        digest="d",
        key=key,
    )


def responses() -> list[Response]:
    """Right, wrong, without an answer, failed, abstained, not scored; and step answers under S2, cut off."""
    steps = json.dumps({"S1": "true", "S2": [BOX], "S3": 7, "final_answer": "B"})
    local = tuple(raster(key, region) for key, region in QUADRANTS.items())
    return [
        response("c1", "<think>Two or three?</think>Final answer: B", rasters=(raster(),), **asked("c1", "V2")),
        response("c2", f"{HOSTILE}\nFinal answer: A", rasters=(raster(),)),
        response("r1", "no idea about letters here"),
        response("a1", None),
        response("w1", "Final answer: C"),
        response("c1", "Not sure.", "V0", prompt_version="s0/0"),
        response("c2", "Final answer: B", "V3", rasters=local),
        response(
            "c1",
            steps,
            request_id="c1:S2",
            protocol="S2",
            rasters=(raster(),),
            turns=(TurnResponse(text=steps, finish_reason="length", usage=TOKENS, timings=TIMES),),
            sampling=Sampling(seed=1, max_tokens=TOKENS.completion_tokens),
        ),
    ]


def asked(sample: str, condition: str, **spec: Any) -> dict[str, Any]:
    """What a job records of how it asked a sample under S0: version and details of its prompt."""
    return {name: getattr(request_of(sample, condition, **spec), name) for name in ("prompt_version", "details")}


def request_of(sample: str, condition: str, protocol: str = "S0", **spec: Any) -> InferenceRequest:
    """The request that a job makes of one sample in one cell."""
    cell = Cell.model_validate({"protocol": protocol, "condition": condition})
    job = JobSpec(dataset=DATASET.name, models=(MODEL,), cells=(cell,), samples=(sample,), **spec)
    ((_, request),) = expand(DATASET, job, CATALOGUE, lambda image: SIZE)
    return request


def several_models(number: int = 4) -> list[Response]:
    """Answers of several models to every sample in four cells, of every outcome, alike on every run."""
    texts = ("Final answer: B", "Final answer: A", "I cannot determine this.", "hm", None)
    cells: list[tuple[str, Literal["V0", "V1", "V2", "V3"]]] = [("S0", "V0"), ("S0", "V1"), ("S0", "V2"), ("S1", "V2")]
    return [
        response(
            sample.id,
            texts[(at * 7 + column * 3 + len(sample.id) + place) % len(texts)],
            condition,
            protocol=protocol,
            model=model,
            request_id=f"{sample.id}:{protocol}-{condition}:{model}",
        )
        for at, model in enumerate(list(CATALOGUE)[:number])
        for column, (protocol, condition) in enumerate(cells)
        for place, sample in enumerate(DATASET.samples)
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
        groups=(ColumnGroup(title="", columns=tuple(Column(key=key, title=key) for key in ("GND", "NoErr"))),),
        rows=(Row(title="Model <script>x</script> & $y$", values=(half, half)),),
    )


def jpeg() -> bytes:
    """A small picture."""
    buffer = io.BytesIO()
    Image.new("RGB", (64, 36), (30, 120, 80)).save(buffer, "JPEG")
    return buffer.getvalue()


def page(
    given: list[Response] | None = None, report: Report | None = None, shown: Iterable[str] = (), **settings: Any
) -> str:
    """The page of the responses above, or of those given, with previews of the same rasters and of those `shown`."""
    chosen = responses() if given is None else given
    pictures = dict.fromkeys((KEY, *QUADRANTS, *shown), jpeg())
    outcomes = sample_outcomes(DATASET, chosen, CATALOGUE, PromptRebuilder(DATASET))
    return render_html(report or report_of(chosen), outcomes, pictures.get, **settings)
