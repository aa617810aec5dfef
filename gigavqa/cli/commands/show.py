"""`gigavqa show`: what the samples of an image are, and how they could be shown."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gigavqa.cli.arguments import JsonOption
from gigavqa.cli.console import err, out, print_json
from gigavqa.cli.errors import ArgumentError
from gigavqa.cli.lookup import image_path
from gigavqa.cli.tables import TableColumn, print_table
from gigavqa.runtime.home import Home
from gigavqa.runtime.plurals import count_noun
from gigavqa.tiling.digest import store_digests
from gigavqa.tiling.displays.display import parse_display
from gigavqa.tiling.image_part import WHOLE, ImagePart

if TYPE_CHECKING:
    from gigavqa.tiling.displays.tones import SampledPixels

_BARS = "▁▂▃▄▅▆▇█"
_BINS = 24


def show(
    image: Annotated[str, typer.Argument(metavar="IMAGE", help="An image file, or its name in the data root.")],
    display: Annotated[
        list[str] | None,
        typer.Option("--show", metavar="DISPLAY", help="Show it so, in place of what is proposed (repeatable)."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Draw the displays side by side.")
    ] = None,
    side: Annotated[int, typer.Option(min=64, max=4096, help="Longest side of each in pixels.")] = 640,
    json: JsonOption = False,
) -> None:
    """Print what an image's samples are, band by band, and lines that declare how they could be shown.

    And what else its file says: microns per pixel, scenes and planes, associated images.

    No file says which of its bands are red, green and blue, or which values are black and white: only you know. Pick a
    line, and put it into `dataset.toml`, or hand it to `ask`, `view` or `dataset import` with --show.

    \b
    gigavqa show scene.tif -o displays.png
    gigavqa show scene.tif --show "bands=4,3,2 stretch=percentile:2:98" --show "bands=8,4,3 stretch=sigma:2" -o two.png
    gigavqa show head.tif --show window=40:80 -o brain.png
    gigavqa show slide.mrxs --show associated=label -o label.png
    """
    from gigavqa.tiling.displays.proposals import propose_displays  # noqa: PLC0415 - completion need not wait for it
    from gigavqa.tiling.file_facts import cached_samples  # noqa: PLC0415
    from gigavqa.tiling.ground.places import describe_ground, ground_record  # noqa: PLC0415
    from gigavqa.tiling.headers import read_header  # noqa: PLC0415
    from gigavqa.tiling.image_facts import describe_facts, image_facts  # noqa: PLC0415

    store_digests(Home.from_environment().digests)
    path = image_path(image)
    part = _part_of(display[0]) if display else WHOLE
    facts = image_facts(path, part)
    pixels = cached_samples(path, part)
    lines = display or propose_displays(pixels.native, pixels)
    if output:
        _draw(path, lines, side, output)
    bands = [_describe(pixels, band) for band in range(pixels.native.channels)]
    header = read_header(path, lines[0]) if lines else read_header(path)
    if json:
        native = {"bits": pixels.native.bits, "type": pixels.native.dtype.name, "nodata": pixels.native.nodata}
        native |= ground_record(header.geotags, header.size)
        print_json({"image": str(path), **native, "facts": facts, "bands": bands, "displays": lines})
        return
    told = [f"{path.name}: {fact}" for fact in (*describe_facts(facts), _describe_bands(pixels))]
    ground = describe_ground(header.geotags, header.size)
    _print(told + ([ground] if ground else []), bands, lines)
    if not output:
        err.print("-o FILE draws them side by side", markup=False)


def _draw(path: Path, lines: Sequence[str], side: int, output: Path) -> None:
    from gigavqa.tiling.display_sheet import draw_side_by_side  # noqa: PLC0415 - completion need not wait for it

    try:
        draw_side_by_side(path, lines, side).save(output)
    except (OSError, ValueError) as error:
        raise ArgumentError(f"--output {output}: {error}") from error


def _describe_bands(pixels: "SampledPixels") -> str:
    native = pixels.native
    nodata = "" if native.nodata is None else f"; nodata is {native.nodata:g}"
    return f"{count_noun(native.channels, 'band')} of {native.bits} bits ({native.dtype.name}){nodata}"


def _print(facts: Iterable[str], bands: Iterable[dict[str, Any]], displays: Iterable[str]) -> None:
    for fact in facts:
        out.print(fact, markup=False)
    columns = (TableColumn("band"), *(TableColumn(name, right=True) for name in _FIGURES), TableColumn("histogram"))
    print_table(columns, [_row(one) for one in bands], more="`--json` has them")
    for line in displays:
        out.print(f'show = "{line}"', markup=False)


def _part_of(display: str) -> ImagePart:
    try:
        return parse_display(display).part
    except ValueError as error:
        raise ArgumentError(f"--show: {error}") from error


_FIGURES = ("least", "2 %", "median", "98 %", "most")


def _describe(pixels: "SampledPixels", band: int) -> dict[str, Any]:
    from gigavqa.tiling.displays.histograms import band_histogram  # noqa: PLC0415 - completion need not wait for it

    found = band_histogram(pixels, band, (band,), nodata=pixels.native.nodata, bins=_BINS)
    figures = found.least, found.low, found.median, found.high, found.most
    told = {"band": found.band, "is_alpha": found.is_alpha, "values": found.num_values}
    return {**told, "histogram": list(found.counts), **dict(zip(_FIGURES, figures, strict=True))}


def _row(band: dict[str, Any]) -> list[str]:
    name = f"{band['band']} (alpha)" if band["is_alpha"] else str(band["band"])
    figures = ["" if band[figure] is None else f"{band[figure]:g}" for figure in _FIGURES]
    top = max(band["histogram"], default=0) or 1
    return [name, *figures, "".join(_BARS[count * (len(_BARS) - 1) // top] for count in band["histogram"])]
