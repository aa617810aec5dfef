"""Whether a chat saw and found what its question rests on, where that is annotated."""

from collections.abc import Sequence

from gigavqa.answers.matching import BoxCorners
from gigavqa.benchmarks.vistahop.samples import VistaHopSample
from gigavqa.contract.responses import RasterRecord
from gigavqa.contract.tool_loops import ToolCall
from gigavqa.tiling.geometry import resolve_region

_SHARE_OF_ANCHOR = 0.5
_LEAST_SIDE = 24
"""Raster pixels of an anchor's shorter side by which it counts as seen."""
NOT_ANNOTATED = -1


def sees_anchor(sample: VistaHopSample, rasters: Sequence[RasterRecord]) -> int:
    """Return whether a crop of the picture covers half of an anchor and shows it large enough.

    -1 where none has a box.
    """
    boxes = [anchor.box for anchor in sample.all_anchors if anchor.box]
    if not boxes:
        return NOT_ANNOTATED
    crops = [one for one in rasters if one.turn > 0 and one.view.region != "full"]
    return int(any(_covers_anchor(crop, box) for crop in crops for box in boxes))


def _covers_anchor(crop: RasterRecord, anchor: BoxCorners) -> bool:
    width, height = crop.source_size
    region = resolve_region(crop.region, crop.source_size)
    left, top, right, bottom = anchor[0] * width, anchor[1] * height, anchor[2] * width, anchor[3] * height
    across = max(0.0, min(right, region.x + region.width) - max(left, region.x))
    down = max(0.0, min(bottom, region.y + region.height) - max(top, region.y))
    if across * down < _SHARE_OF_ANCHOR * (right - left) * (bottom - top):
        return False
    scales = crop.raster_size.width / region.width, crop.raster_size.height / region.height
    return min((right - left) * scales[0], (bottom - top) * scales[1]) >= _LEAST_SIDE


def documents_found(sample: VistaHopSample, calls: Sequence[ToolCall]) -> tuple[int, int]:
    """Return how many of the chain's documents were among the results, and how many there are."""
    wanted = {name for hop in sample.all_hops for name in hop.documents}
    return len(wanted & _found_documents(calls)), len(wanted)


def has_drifted(sample: VistaHopSample, calls: Sequence[ToolCall]) -> int:
    """Return whether some hop has documents of which none was ever found; -1 where no hop has any."""
    hops = [set(hop.documents) for hop in sample.all_hops if hop.documents]
    return int(any(not hop & _found_documents(calls) for hop in hops)) if hops else NOT_ANNOTATED


def _found_documents(calls: Sequence[ToolCall]) -> set[str]:
    return {name for call in calls for name in call.documents}
