"""Settings of the viewer."""

from typing import Annotated, ClassVar
from urllib.parse import urlsplit

from pydantic import ByteSize, Field, PositiveFloat, PositiveInt
from pydantic_settings import SettingsConfigDict

from gigavqa.runtime.home import Address
from gigavqa.runtime.hosts import is_local_name
from gigavqa.runtime.settings import FieldSpelling
from gigavqa.store.listen_settings import HttpServerSettings
from gigavqa.tiling.decode_threads import usable_cores
from gigavqa.tiling.levels import LARGE_PIXELS
from gigavqa.tiling.roots import ImageRoot

_MIB = 2**20


class ViewerSettings(HttpServerSettings):
    """One viewer of gigavqa: pictures by IIIF's Image API, and the page that shows evidence in them."""

    model_config = SettingsConfigDict(env_prefix="GIGAVQA_VIEWER_")
    program: ClassVar[str] = "python -m gigavqa.viewer"
    table: ClassVar[str] = "viewer"
    everybody_may: ClassVar[str] = "see every picture of the data root"

    port: int = Field(default=8471, ge=0, le=65535, description="its port; 0 takes any free one")
    allow_origin: Annotated[str, FieldSpelling(metavar="ORIGIN")] = Field(
        default="*",
        description="whose pages may read pictures by script: `*` is what IIIF asks, an origin, or `none` for nobody",
    )
    session_seconds: PositiveFloat = Field(
        default=8 * 3600.0, description="how long a browser that presented a key is let in without it"
    )
    url: Annotated[Address | None, FieldSpelling(metavar="URL", default="as each request says")] = Field(
        default=None, description="address that browsers reach the viewer by, where a proxy changes it"
    )
    renders: Annotated[PositiveInt, FieldSpelling(default="the cores that it may use")] = Field(
        default=usable_cores(), description="pictures that are made at a time, which bounds memory"
    )
    waiting: PositiveInt = Field(default=256, description="requests that may wait for one; more are a 503")
    tile_bytes: ByteSize = Field(default=ByteSize(256 * _MIB), description="answers that are kept in memory")
    held_bytes: ByteSize = Field(
        default=ByteSize(512 * _MIB),
        description="answers that slow clients have not taken yet; more are a 503",
    )
    overview_bytes: ByteSize = Field(
        default=ByteSize(256 * _MIB),
        ge=3 * LARGE_PIXELS,
        description="decoded pictures that are kept of flat files without a pyramid",
    )
    max_pixels: PositiveInt = Field(default=4096 * 4096, description="most pixels of one answer")
    jpeg_quality: int = Field(default=85, ge=1, le=100, description="of JPEG and WebP")
    patience_seconds: PositiveFloat = Field(
        default=10.0,
        description="how long a request waits for a pyramid that is being made; then it is told to come again",
    )

    @property
    def public_names(self) -> tuple[str, ...]:
        """Those of its address, too."""
        said = urlsplit(self.url or "").hostname
        return (*super().public_names, *([said] if said and not is_local_name(said) else []))

    @property
    def root(self) -> ImageRoot:
        """The folder of pictures, out of which no name leads."""
        return ImageRoot(self.data)
