"""One pass over the rows of a file, from which several views of it are made.

A file without levels of its own is decoded from its first row to the last one of a view, however small the view. So
views of it that are wanted at once are made of one pass: each band of rows goes to everyone whose region it touches,
halved on its way for those who read a coarser level, and a raster is handed out when its last row has passed.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from gigavqa.tiling.decode_threads import decode_pool
from gigavqa.tiling.displays.tone import Tone
from gigavqa.tiling.errors import ImageUnreadableError
from gigavqa.tiling.geometry import Region
from gigavqa.tiling.levels import ReadPlan, halve, rechunk_bands
from gigavqa.tiling.recipes import Recipe
from gigavqa.tiling.sources import Source, open_source
from gigavqa.tiling.sources.base import Pixels
from gigavqa.tiling.streaming_resize import StreamingResize

_BAND_ROWS = 128


class RecipePixels(NamedTuple):
    """The pixels of a recipe, and the level that they were made from."""

    recipe: Recipe
    level: int
    downsample: float
    pixels: Pixels


class RecipeLevel(NamedTuple):
    """A recipe, and the level that it will be made from."""

    recipe: Recipe
    level: int


@dataclass(frozen=True)
class RenderPass:
    """Recipes of one image that are made together of level `decoded` of the decoder of `path`.

    `digest` is that of the content that this file must have meanwhile; None of a file that never changes.
    """

    path: Path
    digest: str | None
    reading: ReadPlan
    decoded: int
    drafts: tuple[RecipeLevel, ...]
    tone: Tone | None = None

    @property
    def recipes(self) -> tuple[Recipe, ...]:
        """The rasters to make."""
        return tuple(draft.recipe for draft in self.drafts)

    def run(self, deliver: Callable[[RecipePixels], None], is_wanted: Callable[[], bool] = lambda: True) -> float:
        """Decode the file once, and hand out each raster as soon as it is complete; helpers resize meanwhile.

        Returns the share of the image that was decoded. Ends early when `is_wanted` says no. Raises TilingError
        subclasses for what is damaged, ImageChangedError where the file does not keep its content: what was handed out
        by then is right, and the rest is not made.
        """
        with open_source(self.path, self.digest, self.tone) as source, source.unchanging():
            painting = _PassRun(self, source)
            try:
                for band in painting.bands():
                    painting.hand_out(deliver)
                    if not is_wanted():
                        break
                    painting.begin(band)
            finally:
                painting.hand_out(deliver)  # what is complete stands, whatever is wrong below it
            return painting.share

    def alone(self, keys: Collection[str]) -> "list[RenderPass]":
        """Return a pass for each of the recipes with these keys."""
        return [replace(self, drafts=(draft,)) for draft in self.drafts if draft.recipe.key in keys]


class _PassRun:
    """The state of one pass while it runs."""

    def __init__(self, plan: RenderPass, source: Source) -> None:
        if source.size != plan.recipes[0].source_size:
            raise ImageUnreadableError(f"{plan.path}: the image has another size than its header said")
        self._source, self._decoded = source, plan.decoded
        self._levels = plan.reading.levels
        whole_edges = None if plan.reading.is_flat else source.decoder
        self._open = [
            (draft, StreamingResize(draft.recipe, self._levels[draft.level], source.orientation, whole_edges))
            for draft in plan.drafts
        ]
        size = source.decoder.levels[plan.decoded].size
        self._block = 2 ** (max(draft.level for draft in plan.drafts) - plan.decoded)
        regions = [
            _region_before_halving(painter.region_l, draft.level - plan.decoded) for draft, painter in self._open
        ]
        self._region = _enclosing_region(regions, self._block, Region(0, 0, *size))
        self._top = self._region.y
        self._at_work: Future[list[Future[None]]] | None = None

    @property
    def share(self) -> float:
        """The part of the image that was decoded so far."""
        size = self._source.decoder.levels[self._decoded].size
        if self._source.decoder.is_sequential:
            return self._top / size.height
        return (self._top - self._region.y) * self._region.width / size.area

    def bands(self) -> Iterator[Pixels]:
        """Bands of the decoded level; all but the last can be halved as often as anybody needs."""
        return rechunk_bands(self._source.decoder.bands(self._decoded, self._region), max(_BAND_ROWS, self._block))

    def begin(self, band: Pixels) -> None:
        """Let helpers halve a band, and give it to everyone whose region it touches."""
        self._at_work = decode_pool().submit(self._spread, band, self._region.x, self._top)
        self._top += band.shape[0]

    def _spread(self, band: Pixels, left: int, top: int) -> list[Future[None]]:
        taken = []
        level = self._decoded
        while touched := [(draft.level, painter) for draft, painter in self._open if draft.level >= level]:
            for number, painter in touched:
                if number == level and painter.needs(top, band.shape[0]):
                    taken.append(decode_pool().submit(painter.take, band, left, top))
            if all(number == level for number, _ in touched):
                break
            band, left, top, level = halve(band), left // 2, top // 2, level + 1
        return taken

    def hand_out(self, deliver: Callable[[RecipePixels], None]) -> None:
        """Wait for the helpers, and hand out what they completed."""
        if self._at_work:
            taken, self._at_work = self._at_work.result(), None
            wait(taken)
            for work in taken:
                work.result()
        for draft, painter in self._open:
            if painter.is_done:
                self._source.require_unchanged()
                deliver(RecipePixels(draft.recipe, draft.level, self._levels[draft.level].downsample, painter.pixels()))
        self._open = [(draft, painter) for draft, painter in self._open if not painter.is_done]


def plan_passes(
    path: Path, digest: str | None, reading: ReadPlan, tone: Tone | None, recipes: Sequence[Recipe]
) -> list[RenderPass]:
    """Return the passes that make these recipes of the file at `path`; those that are over sooner come first.

    `digest` is that of the content that it must have; None of a file that never changes. All recipes have one tone, and
    `tone` is what the file itself is shown in: None of a pyramid, which has it already.

    Of a flat image one, or one for each scale of its decoder that is needed, so that a view's pixels do not depend on
    its company; else one for each view.
    """
    drafts = tuple(RecipeLevel(each, reading.level_for(each.region.size, each.stages[0])) for each in recipes)
    if not reading.is_flat:
        return [RenderPass(path, digest, reading, draft.level, (draft,), tone) for draft in drafts]
    groups: dict[int, list[RecipeLevel]] = {}
    for draft in drafts:
        groups.setdefault(min(reading.num_decoded - 1, draft.level), []).append(draft)
    passes = [
        RenderPass(path, digest, reading, decoded, tuple(groups[decoded]), tone)
        for decoded in sorted(groups, reverse=True)
    ]
    return passes if reading.is_sequential else [part for each in passes for part in _split_pass(each)]


def _split_pass(together: RenderPass) -> list[RenderPass]:
    """Return a pass over tiles or strips as it is, or view by view where that reads less."""
    regions = [draft.recipe.region for draft in together.drafts]
    span = _enclosing_region(regions, 1, Region(0, 0, *together.recipes[0].source_size))
    if span.size.area <= sum(region.size.area for region in regions):
        return [together]
    return together.alone({recipe.key for recipe in together.recipes})


def _region_before_halving(region: Region, halvings: int) -> Region:
    """Return a region of a level in pixels of one that was halved so often less."""
    return Region(*(side << halvings for side in region))


def _enclosing_region(regions: Sequence[Region], block: int, whole: Region) -> Region:
    """Return the smallest region of whole blocks around all of these, as far as there are pixels."""
    left, top = (min(corner) // block * block for corner in ([r.x for r in regions], [r.y for r in regions]))
    right = min(whole.width, -(-max(r.x + r.width for r in regions) // block) * block)
    bottom = min(whole.height, -(-max(r.y + r.height for r in regions) // block) * block)
    return Region(left, top, right - left, bottom - top)
