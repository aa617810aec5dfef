"""The place of a sign's ring, and the part of its picture that shows it."""

from gigavqa.evaluation.benchmark import Scene
from gigavqa.evaluation.capabilities import Evidence
from gigavqa.evaluation.errors import EvidenceMissingError
from gigavqa.tiling.errors import RegionError
from gigavqa.tiling.geometry import resolve_region
from gigavqa.tiling.views import View
from gigavqa_acuity.samples import AcuitySample


def ring_view(sign: AcuitySample, scene: Scene) -> View:
    """The part of the picture that V3 shows, natively. Raises EvidenceMissingError where the picture does not have it.

    Nothing is cropped silently: a smaller part would show the ring at other pixels than its sample says.
    """
    (image,) = scene.images
    try:
        return View(image=image, region=str(resolve_region(sign.evidence, scene.size_of(image))))
    except RegionError as error:
        raise EvidenceMissingError(f"sample '{sign.id}': evidence: {error}") from error


def tell_evidence(sign: AcuitySample) -> Evidence:
    """Tell where the ring stands, how large it is, and which part of the picture shows it."""
    one = sign.optotype
    return Evidence((f"{describe_ring(sign)} at {one.x:g},{one.y:g}", f"shown by {sign.evidence}"))


def describe_ring(sign: AcuitySample) -> str:
    """Return a ring in words."""
    one = sign.optotype
    return f"{one.colour} ring of {one.diameter:g} px, gap {one.direction}"
