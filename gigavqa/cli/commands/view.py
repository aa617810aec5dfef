"""`gigavqa view`: the very rasters that a model will see of an image."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from PIL import Image

from gigavqa.cli.arguments import DatasetOption, DisplayOption, JsonOption, ModelOption
from gigavqa.cli.completion import complete_samples
from gigavqa.cli.console import err, print_json
from gigavqa.cli.errors import ArgumentError
from gigavqa.cli.lookup import dataset_folder, image_path, model_entry
from gigavqa.cli.tables import TableColumn, print_table
from gigavqa.runtime.home import Home
from gigavqa.tiling.digest import store_digests
from gigavqa.tiling.masks import canonical_mask

if TYPE_CHECKING:
    from gigavqa.tiling.rendering import Raster

_EVIDENCE = "Local evidence (V3, V4)"


def _mask(text: str) -> str:
    try:
        return canonical_mask(text)
    except ValueError as error:
        raise ArgumentError(f"--{error}") from error


def view(
    model: ModelOption,
    image: Annotated[
        str, typer.Argument(metavar="IMAGE", help="An image file, or its name in the data root.", show_default=False)
    ] = "",
    condition: Annotated[
        Literal["V1", "V2", "V3", "V4", "V5", "V6"],
        typer.Option("--condition", "-c", case_sensitive=False, help="What is shown."),
    ] = "V2",
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="A picture; several rasters are numbered: out-1.png, out-2.png."
        ),
    ] = Path("view.png"),
    thumbnail: Annotated[int, typer.Option(min=1, help="Longest side of V1 in pixels.")] = 1024,
    dataset: DatasetOption = "",
    sample: Annotated[
        str,
        typer.Option(
            "--sample",
            "-s",
            metavar="SAMPLE",
            help="A sample of the data set; shown exactly as a job shows it.",
            autocompletion=complete_samples,
            show_default=False,
        ),
    ] = "",
    region: Annotated[
        list[str] | None,
        typer.Option(
            metavar="X,Y,W,H",
            help="Region in pixels, or pct:, um: (microns), lonlat:, projected:, epsg:, tissue (repeatable).",
            rich_help_panel=_EVIDENCE,
        ),
    ] = None,
    place: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROW,COL", help="Place in the grid, from 1 at the top left (repeatable).", rich_help_panel=_EVIDENCE
        ),
    ] = None,
    cell: Annotated[list[str] | None, typer.Option(metavar="ROW,COL", hidden=True)] = None,  # `place`, before
    grid: Annotated[
        str, typer.Option(metavar="ROWSxCOLS", help="The grid that divides the image.", rich_help_panel=_EVIDENCE)
    ] = "2x2",
    mpp: Annotated[
        float | None, typer.Option(min=0.001, help="Microns that a pixel of V2 to V4 is to have on the specimen.")
    ] = None,
    display: DisplayOption = "",
    mask: Annotated[
        str,
        typer.Option(
            metavar="MASK",
            callback=_mask,
            help="What hides every view at the same size: black, mean or blur:RADIUS; @REGION behind it hides that "
            "alone.",
            show_default=False,
        ),
    ] = "",
    json: JsonOption = False,
) -> None:
    """Write what a model will see of an image: every raster of the view, after the model's own preprocessing.

    \b
    gigavqa view slide.svs --model qwen3-vl-8b -o full.png
    gigavqa view plaza.jpg -m qwen3-vl-8b -c V1 --thumbnail 1024 -o thumb.png
    gigavqa view plaza.jpg -m qwen3-vl-8b -c V4 --place 1,1 --place 2,2
    gigavqa view slide.svs -m qwen3-vl-8b -c V3 --region um:2000,1500,512,512 --mpp 0.5 -o patch.png
    gigavqa view scene.tif -m qwen3-vl-8b --show "bands=4,3,2 stretch=percentile:2:98"
    gigavqa view plaza.jpg -m qwen3-vl-8b --mask black -o hidden.png
    gigavqa view -d demo -s ad-breakfast-box-choice -m demo-qwen3-vl -c V4 -o seen.png
    """
    # A fifth of a second, which completion need not wait for.
    from gigavqa.cli.conditions import EvidenceArguments, views_of_image, views_of_sample  # noqa: PLC0415

    entry = model_entry(model)
    store_digests(Home.from_environment().digests)
    _require_writable(output)
    if sample or dataset:
        if display:
            raise ArgumentError("a sample is shown as its data set declares; --show goes with an IMAGE")
        if image or not (sample and dataset):
            raise ArgumentError("a sample is shown with --dataset NAME and --sample ID, and no IMAGE")
        declared = views_of_sample(dataset_folder(dataset), sample, condition, entry, thumbnail)
    elif image:
        evidence = EvidenceArguments(tuple(region or ()), (*(place or ()), *(cell or ())), grid)
        declared = views_of_image(image_path(image), condition, evidence, thumbnail, display)
        if mpp and condition == "V1":
            raise ArgumentError("V1 is sized by --thumbnail; --mpp goes with V2, V3 or V4")
        if mpp:
            declared = [(path, view.model_copy(update={"sizing": f"mpp:{mpp:g}"})) for path, view in declared]
    else:
        raise ArgumentError("name an IMAGE, or --dataset NAME and --sample ID")
    if mask:
        declared = [(path, view.model_copy(update={"mask": mask})) for path, view in declared]
    _write(declared, entry.visual_budget, output, json)


def _write(declared: list[tuple[Path, Any]], budget: Any, output: Path, json: bool) -> None:
    from gigavqa.tiling.file_facts import cached_identity, cached_remarks  # noqa: PLC0415 - the extra `pixels`
    from gigavqa.tiling.ground.places import describe_ground  # noqa: PLC0415
    from gigavqa.tiling.rendering import render  # noqa: PLC0415

    pyramids = Home.from_environment().pyramids
    written = []
    for number, (path, declared_view) in enumerate(declared, start=1):
        raster = render(path, declared_view, budget, pyramids=pyramids)
        target = output if len(declared) == 1 else output.with_stem(f"{output.stem}-{number}")
        _save(raster, target)
        written.append(_describe(raster, target))
    shown = {path: cached_identity(path, None, view.show, view.region) for path, view in declared}
    for path, found in shown.items():
        ground = describe_ground(found.header.geotags, found.header.size)
        for remark in (*cached_remarks(path, found.tone), *filter(None, [ground])):
            err.print(f"{path.name}: {remark}", markup=False)
    if json:
        print_json(written)
    else:
        _print(written)


def _require_writable(output: Path) -> None:
    """Say before anything is rendered that it could not be written."""
    if not output.absolute().parent.is_dir():
        raise ArgumentError(f"--output {output}: there is no folder {output.parent}")
    if output.suffix.lower() not in Image.registered_extensions():
        raise ArgumentError(f"--output {output} is no picture file: call it {output.with_suffix('.png').name}")


def _save(raster: "Raster", target: Path) -> None:
    Image.fromarray(raster.pixels).save(target)


def _describe(raster: "Raster", target: Path) -> dict[str, Any]:
    height, width = raster.pixels.shape[:2]
    return {
        "file": str(target),
        "raster": [width, height],
        "visual_tokens": raster.visual_tokens,
        "region": str(raster.region),
        "sizing": raster.view.sizing,
        "source": list(raster.source_size),
        **({"microns_per_pixel": list(microns)} if (microns := raster.source_size.microns_per_pixel) else {}),
        "format": raster.source_format,
        "level": raster.level,
        "downsample": raster.downsample,
        "digest": raster.digest,
        **({"tone": raster.tone} if raster.tone else {}),
        **({"mask": raster.view.mask} if raster.view.mask else {}),
    }


def _print(written: list[dict[str, Any]]) -> None:
    columns = (
        TableColumn("file"),
        TableColumn("raster"),
        TableColumn("visual tokens", right=True),
        TableColumn("region (level-0 pixels)", leaves=1),
        TableColumn("read from level", leaves=2),
    )
    print_table(columns, [_row(item) for item in written], more="`--json` has them")


def _row(item: dict[str, Any]) -> list[str]:
    width, height = item["raster"]
    level = f"{item['level']} (1/{item['downsample']:g})"
    return [item["file"], f"{width} x {height}", f"{item['visual_tokens']:,}", item["region"], level]
