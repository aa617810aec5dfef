"""Judges a reply by the letter that the core reads, and keeps how large the optotype stood in what was shown."""

from collections.abc import Iterable
from typing import NamedTuple

from gigavqa.answers.boxes import BoxFrame
from gigavqa.contract.responses import RasterRecord
from gigavqa.evaluation.defaults import option_judge
from gigavqa.evaluation.replies import Reply
from gigavqa.evaluation.verdicts import Verdict
from gigavqa.tiling.geometry import Region, resolve_region
from gigavqa_acuity.samples import AcuitySample, Optotype

JUDGE_VERSION = "acuity/1"


class AcuityDetails(NamedTuple):
    """The details of a reply: pixels per optotype, 0 where none was shown, and the option that was meant."""

    pixels: float = 0.0
    meant: str = ""


class AcuityJudge:
    """One question, made ready to judge any number of replies to it."""

    def __init__(self, sign: AcuitySample) -> None:
        self._sign, self._judge = sign, option_judge(sign)

    def __call__(self, reply: Reply, frame: BoxFrame) -> Verdict[AcuityDetails]:
        """Judge a reply; one without a text outgrew its context before its answer, or was filtered."""
        verdict, options = self._judge(reply, frame), self._sign.options or {}
        pixels = pixels_per_optotype(self._sign.optotype, reply.rasters)
        details = AcuityDetails(round(pixels, 3), options[verdict.value] if verdict.value else "")
        return verdict._replace(details=details, tags=(("pixels", f"{pixels:.1f}"),))


def pixels_per_optotype(optotype: Optotype, rasters: Iterable[RasterRecord]) -> float:
    """Diameter of an optotype in pixels of the raster that shows it largest; 0 where none shows all of it."""
    return max((optotype.diameter * scale_of(one) for one in rasters if optotype.lies_in(_region(one))), default=0.0)


def scale_of(raster: RasterRecord) -> float:
    """Pixels of a raster that tell something, per pixel of level 0: enlarging adds nothing, so 1 at most."""
    size = _region(raster).size
    sizes = (raster.raster_size, raster.view.downsampled(size))
    return min(1.0, *(min(one.width / size.width, one.height / size.height) for one in sizes))


def width_shown(reply: Reply) -> float | None:
    """Pixels that tell something in the width of the full image's raster; None where the reply was shown none.

    Source: the records of V1 and V2, whose one raster shows the full image.
    """
    if reply.condition not in ("V1", "V2") or not reply.rasters:
        return None
    raster = reply.rasters[0]
    return round(_region(raster).width * scale_of(raster), 3)


def _region(raster: RasterRecord) -> Region:
    return resolve_region(raster.region, raster.source_size)
