"""Signs of known sizes, and responses to them whose rasters a plain budget plans: no pixel is needed."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from gigavqa.catalogue.families.qwen import QwenBudget
from gigavqa.contract.requests import Condition
from gigavqa.contract.responses import RasterRecord, Response
from gigavqa.evaluation.benchmark import CONDITIONS, Scene
from gigavqa.evaluation.datasets import Dataset
from gigavqa.reports.report import Report, build_report
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.views import View, plan_view
from gigavqa_acuity.asking import DIRECT, ask, write_question
from gigavqa_acuity.benchmark import Acuity
from gigavqa_acuity.judging import pixels_per_optotype
from gigavqa_acuity.samples import AcuitySample, Optotype
from gigavqa_acuity.taxonomy import ATTRIBUTES, COLOURS, DIRECTIONS, LETTERS, PLACES, SCENES
from tests.evaluation.responses import MODEL, response

SIDE = 32768
THUMBNAIL = 64
BUDGET = QwenBudget(factor=32, min_pixels=64**2, max_pixels=192**2)
Reader = Callable[[AcuitySample, Condition, float], str]
"""Says which letter is answered to a sign that a condition shows at so many pixels."""


def letter_of(sign: AcuitySample, meant: str) -> str:
    """The letter under which a sign offers an option."""
    return next(letter for letter, text in (sign.options or {}).items() if text == meant)


def signs_of(optotypes: Iterable[Optotype], evidence: Callable[[Optotype], str]) -> Iterator[AcuitySample]:
    """Both questions about the one ring of each picture; letters, scenes and places alternate."""
    for number, ring in enumerate(optotypes):
        for attribute, words in zip(ATTRIBUTES, (COLOURS, DIRECTIONS), strict=True):
            # Every letter is as often right as the others in any sixteen pictures, of either question.
            shift = number // 16 + (number // 4 if attribute == "colour" else number)
            options = {letter: words[(at + shift) % 4] for at, letter in enumerate(LETTERS)}
            true = getattr(ring, attribute)
            yield AcuitySample(
                id=f"p{number:03}-{attribute}",
                images=(f"images/p{number:03}.tif",),
                question=write_question(attribute),
                options=options,
                answer=next(letter for letter, text in options.items() if text == true),
                attribute=attribute,
                scene=SCENES[number % 4],
                place=PLACES[number // 4 % 4],
                optotype=ring,
                evidence=evidence(ring),
            )


def rings(diameters: Sequence[float], x: float = 64, y: float = 64) -> Iterator[Optotype]:
    """Rings of these diameters; sixteen on end have all colours and directions, whatever the order of sizes."""
    for number, diameter in enumerate(diameters):
        colour, direction = COLOURS[number % 4], DIRECTIONS[number // 4 % 4]
        yield Optotype(x=x, y=y, diameter=diameter, colour=colour, direction=direction)


def around(ring: Optotype) -> str:
    """Evidence of a ring: a square of twice its diameter, and of 32 pixels at least."""
    side = max(32, int(2 * ring.diameter))
    return f"{int(ring.x)},{int(ring.y)},{side},{side}"


def chart(signs: Iterable[AcuitySample]) -> Dataset:
    """A data set of signs."""
    return Dataset("chart", Acuity(), "Chart", "", tuple(signs), "digest")


def views_of(sign: AcuitySample, condition: Condition, side: int = SIDE) -> tuple[tuple[View, ...], str]:
    """What a condition shows of a sign, and the prompt behind it."""
    scene = Scene(sign.images, lambda _: Size(side, side), "0", THUMBNAIL)
    chat = ask(sign, condition, scene)
    return chat.views, chat.turns[0].text


def record_of(view: View, side: int = SIDE) -> RasterRecord:
    """Where a raster comes from, as a worker would record it."""
    planned = plan_view(Size(side, side), view, BUDGET)
    return RasterRecord(
        view=view,
        source_size=Size(side, side),
        source_format="tiff",
        region=str(planned.region),
        level=0,
        downsample=1.0,
        raster_size=planned.plan.raster,
        visual_tokens=planned.plan.visual_tokens,
        digest="digest",
        key="key",
    )


def answered(
    sign: AcuitySample, condition: Condition, text: str | None, rasters: Sequence[RasterRecord] = ()
) -> Response:
    """The response of a model to a sign."""
    name = f"{sign.id}:{DIRECT}-{condition}:{MODEL}:0"
    return response(sign.id, text, condition, protocol=DIRECT, request_id=name, rasters=tuple(rasters))


def report_of(signs: Sequence[AcuitySample], reader: Reader, conditions: Sequence[Condition] = CONDITIONS) -> Report:
    """The report of a reader to whom every sign is shown under every condition."""
    return build_report(chart(signs), [*_responses(signs, reader, conditions)], {})


def _responses(signs: Sequence[AcuitySample], reader: Reader, conditions: Sequence[Condition]) -> Iterator[Response]:
    for condition in conditions:
        for sign in signs:
            rasters = [record_of(view) for view in views_of(sign, condition)[0]]
            pixels = pixels_per_optotype(sign.optotype, rasters)
            yield answered(sign, condition, reader(sign, condition, pixels), rasters)
