"""From a family's decision about a picture to the raster that is worth rendering: one about which it decides alike."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gigavqa.tiling.errors import BudgetError
from gigavqa.tiling.geometry import Size

_SLACK = 2  # pixels by which a raster's height may miss the picture's aspect ratio
_SCALES = (2, 2.2, 2.4, 2.7, 3)
_WIDTHS = 64  # tried at each scale, one pixel apart: families that count whole patches are choosy: decision 0006


@dataclass(frozen=True)
class PreprocessingDecision:
    """The sizes that a family's preprocessing gives a picture, by its own size alone; sizes in pixels.

    `target` is the size to which it resizes the picture, `canvas` the size after padding, `grid` the columns and rows
    of tiles that it cuts the canvas into, `overview` the size to which it resizes the picture for the view that comes
    beside the tiles (thumbnail, global or source view), if there is one.
    """

    target: Size
    canvas: Size
    grid: tuple[int, int] = (1, 1)
    overview: Size | None = None

    def __post_init__(self) -> None:
        sides = (*self.target, *(self.overview or ()))
        if min(sides) < 1:
            raise BudgetError("the picture is so long that nothing of its breadth would remain at the model's size")


def resolve_raster_size(
    size: Size, decision: PreprocessingDecision, decide: Callable[[Size], PreprocessingDecision]
) -> Size | None:
    """Size of the raster to render for a picture of `size` about which `decide` says `decision`.

    It is the decision's own target where the family decides alike about it, because then the raster passes through
    unchanged. Else it keeps the picture's aspect ratio at twice the target's size or a little more, where resizing once
    more costs what it costs to read a pyramid's level, or is the picture itself if that is no larger.
    None where a picture larger than all these finds no such raster.
    """
    if _agrees(decision.target, decision, decide):
        return decision.target
    candidates = (other for scale in _SCALES for other in _similar_sizes(size, decision.target, scale))
    if found := next((other for other in candidates if _agrees(other, decision, decide)), None):
        return found
    largest = _SCALES[-1] ** 2 * decision.target.area
    return size if size.area <= largest else None


def _agrees(candidate: Size, decision: PreprocessingDecision, decide: Callable[[Size], PreprocessingDecision]) -> bool:
    try:
        return decide(candidate) == decision
    except BudgetError:
        return False


def _similar_sizes(size: Size, target: Size, scale: float) -> Iterator[Size]:
    """Sizes of the picture's aspect ratio, but for rounding, from `scale` times the target; none as large as `size`."""
    ratio = max(scale * target.width / size.width, scale * target.height / size.height)
    first = round(size.width * ratio)
    for width in range(first, min(first + _WIDTHS, size.width)):
        height = round(width * size.height / size.width)
        for slack in sorted(range(-_SLACK, _SLACK + 1), key=abs):
            if 0 < height + slack <= size.height:
                yield Size(width, height + slack)
