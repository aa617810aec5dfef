"""Recipes of rasters, decided from the image's header before any pixel is read."""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

from gigavqa.tiling.budgets.base import RasterPlan, VisualBudget
from gigavqa.tiling.digest import digest_of
from gigavqa.tiling.displays.tone import Tone
from gigavqa.tiling.files import OpenFile
from gigavqa.tiling.geometry import Region, Size
from gigavqa.tiling.ground.places import describe_ground
from gigavqa.tiling.headers import Header, header_of
from gigavqa.tiling.image_part import WHOLE
from gigavqa.tiling.masks import Mask, parse_mask
from gigavqa.tiling.opening import open_file
from gigavqa.tiling.views import View, plan_view

_VERSION = 4  # counts changes that give other pixels for the same recipe
KEY_DIGITS = 40
"""Of keys that name a content for sure; those of earlier releases, which did not, had 32."""


@dataclass(frozen=True)
class Recipe:
    """A view of one image at one visual budget; `downsampled` is the region's size after the view's own sizing.

    `ground` tells people where the image lies, and changes no pixel.
    """

    view: View
    source_size: Size
    source_format: str
    digest: str
    region: Region
    downsampled: Size
    plan: RasterPlan
    tone: Tone | None = None
    ground: str = ""

    @property
    def stages(self) -> tuple[Size, ...]:
        """Sizes through which the region goes: the view's own downsampling if it has one, then the raster."""
        own = () if self.downsampled == self.region.size else (self.downsampled,)
        return (*own, self.plan.raster)

    @property
    def mask(self) -> Mask | None:
        """What hides it; None where nothing does."""
        return parse_mask(self.view.mask) if self.view.mask else None

    @property
    def unmasked(self) -> "Recipe":
        """The same view without its mask."""
        return replace(self, view=self.view.model_copy(update={"mask": ""}))

    @property
    def key(self) -> str:
        """Names the raster's pixels: content, region, sizing, raster size, filter, tone, mask; the same everywhere."""
        parts: tuple[object, ...] = (
            _VERSION, self.digest, self.region, self.downsampled, self.plan.raster, self.plan.filter,
        )  # fmt: skip
        parts += (self.tone,) if self.tone else ()
        parts += (f"mask={self.view.mask}",) if self.view.mask else ()
        return hashlib.blake2b(":".join(map(str, parts)).encode(), digest_size=KEY_DIGITS // 2).hexdigest()


@dataclass(frozen=True)
class ImageIdentity:
    """An image's header, the digest of its content, and the tone that its samples are shown in, if not as they are."""

    header: Header
    digest: str
    tone: Tone | None = None


def identify(path: Path) -> ImageIdentity:
    """Read an image's identity. Raises TilingError subclasses."""
    with open_file(path) as file, file.unchanging():
        return identity_of(file)


def identity_of(file: OpenFile, digest: str | None = None, tone: Tone | None = None) -> ImageIdentity:
    """Read the identity of an open file, but for a digest that is known. Raises TilingError subclasses."""
    header = header_of(file, tone.part if tone else WHOLE, is_declared=tone is not None).oriented
    return ImageIdentity(header, digest or digest_of(file), tone)


def plan_raster(identity: ImageIdentity, view: View, budget: VisualBudget, num_images: int) -> Recipe:
    """Decide region and raster of a view, one of `num_images` in its prompt; raises RegionError and BudgetError."""
    header = identity.header
    look = plan_view(header.size, view, budget, num_images)
    ground = describe_ground(header.geotags, header.size)
    return Recipe(view, header.size, header.format, identity.digest, *look, tone=identity.tone, ground=ground)
