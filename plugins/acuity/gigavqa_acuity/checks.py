"""Check signs for what the chart's numbers rest on."""

from collections.abc import Iterator

from gigavqa_acuity.samples import AcuitySample
from gigavqa_acuity.taxonomy import WORDS


def check_sign(sign: AcuitySample) -> Iterator[str]:
    """Say what is doubtful of a sign, one sentence each."""
    if not sign.optotype.lies_in(sign.region):
        yield "evidence does not hold the whole ring, so that V3 does not show what is asked"
    if sign.region.width != sign.region.height:
        yield "evidence is no square, so that a ring is not as wide as high in every raster of it"
    if sorted((sign.options or {}).values()) != sorted(WORDS[sign.attribute]):
        told = ", ".join(WORDS[sign.attribute])
        yield f"options are not {told}, each once, so that confusions cannot be told and chance is not a quarter"
