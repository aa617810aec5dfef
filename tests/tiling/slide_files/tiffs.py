"""Write slides that are TIFF in a vendor's dialect, lossless, with tifffile."""

from pathlib import Path
from typing import Any

import numpy as np
import tifffile
from numpy.typing import NDArray
from PIL import Image

TILE = 128
_PLAIN: dict[str, Any] = {"tile": (TILE, TILE), "photometric": "rgb", "compression": "zlib", "metadata": None}
_SCN = """<?xml version="1.0"?>
<scn xmlns="http://www.leica-microsystems.com/scn/2010/10/01"><collection name="c" uuid="u" sizeX="{x}" sizeY="{y}">
<barcode>c2xpZGU=</barcode>
{images}
</collection></scn>"""
_SCN_IMAGE = """<image name="{name}"><creationDate>2026-01-01T00:00:00</creationDate><device model="M" version="1"/>
<pixels sizeX="{w}" sizeY="{h}">{dimensions}</pixels>
<view sizeX="{vx}" sizeY="{vy}" offsetX="{ox}" offsetY="{oy}"/>
<scanSettings><objectiveSettings><objective>20</objective></objectiveSettings><illuminationSettings>
<numericalAperture>0.4</numericalAperture><illuminationSource>brightfield</illuminationSource>
</illuminationSettings></scanSettings></image>"""


def reduced(picture: NDArray[np.uint8], factor: int) -> NDArray[np.uint8]:
    """Return means of squares of pixels."""
    return np.asarray(Image.fromarray(picture).reduce(factor))


def write_scn(path: Path, pictures: list[NDArray[np.uint8]], gap: int = 64) -> Path:
    """Write scenes of one size side by side on a slide, `gap` pixels apart and from its edges; a pixel is 0.5 microns.

    A macro image shows the whole slide at a sixteenth.
    """
    height, width = pictures[0].shape[:2]
    across = (width + gap) * len(pictures) + gap
    down = height + 2 * gap
    pages: list[NDArray[np.uint8]] = [np.full((down // 16, across // 16, 3), 200, np.uint8)]
    images = [_scn_image("macro", (across // 16, down // 16), [(0, pages[0])], (across, down), (0, 0))]
    for number, picture in enumerate(pictures):
        levels = []
        for factor in (1, 4):
            levels.append((len(pages), reduced(picture, factor)))
            pages.append(levels[-1][1])
        offset = (gap + number * (width + gap), gap)
        images.append(_scn_image(f"scene {number}", (width, height), levels, (width, height), offset))
    xml = _SCN.format(x=across * 500, y=down * 500, images="".join(images))
    with tifffile.TiffWriter(path, bigtiff=True) as writer:
        for number, page in enumerate(pages):
            writer.write(
                page,
                description=xml if number == 0 else None,
                resolution=(20000, 20000),
                resolutionunit="CENTIMETER",
                **_PLAIN,
            )
    return path


def _scn_image(
    name: str,
    size: tuple[int, int],
    levels: list[tuple[int, NDArray[np.uint8]]],
    view: tuple[int, int],
    offset: tuple[int, int],
) -> str:
    dimensions = "".join(
        f'<dimension sizeX="{level.shape[1]}" sizeY="{level.shape[0]}" r="{at}" ifd="{ifd}"/>'
        for at, (ifd, level) in enumerate(levels)
    )
    (w, h), (vx, vy), (ox, oy) = size, view, offset
    return _SCN_IMAGE.format(
        name=name, w=w, h=h, dimensions=dimensions, vx=vx * 500, vy=vy * 500, ox=ox * 500, oy=oy * 500
    )


def write_trestle(path: Path, picture: NDArray[np.uint8], overlap: int = 32) -> Path:
    """Write a picture whose tiles overlap; its sides are n * (TILE - overlap) + overlap, a pixel is 0.5 microns."""
    step = TILE - overlap
    rows, columns = (picture.shape[0] - overlap) // step, (picture.shape[1] - overlap) // step
    apart = np.concatenate(
        [
            np.concatenate(
                [picture[y * step : y * step + TILE, x * step : x * step + TILE] for x in range(columns)], axis=1
            )
            for y in range(rows)
        ]
    )
    description = f"Objective Power=20;Background Color=FAFAFA;OverlapsXY={overlap} {overlap}"
    tifffile.imwrite(
        path, apart, description=description, software="MedScan 1.0", resolution=(0.5, 0.5), resolutionunit=1, **_PLAIN
    )
    return path


def write_bif(path: Path, picture: NDArray[np.uint8]) -> Path:
    """Write one area of tiles without overlaps, in two levels, with a macro image; a pixel is 0.25 microns."""
    rows, columns = picture.shape[0] // TILE, picture.shape[1] // TILE
    joint = '<TileJointInfo Confidence="100" Direction="{}" Tile1="{}" Tile2="{}" OverlapX="0" OverlapY="0"/>'

    def number(row: int, column: int) -> int:
        from_below = rows - 1 - row
        return from_below * columns + (columns - 1 - column if from_below % 2 else column) + 1

    joints = [joint.format("RIGHT", number(r, c), number(r, c + 1)) for r in range(rows) for c in range(columns - 1)]
    joints += [joint.format("UP", number(r, c), number(r - 1, c)) for r in range(1, rows) for c in range(columns)]
    encoding = (
        f'<EncodeInfo Ver="2"><SlideStitchInfo><ImageInfo AOIScanned="1" AOIIndex="0" NumRows="{rows}" '
        f'NumCols="{columns}" Width="{TILE}" Height="{TILE}" Pos-X="0" Pos-Y="0">{"".join(joints)}</ImageInfo>'
        '</SlideStitchInfo><AoiOrigin><AOI0 OriginX="0" OriginY="0"/></AoiOrigin></EncodeInfo>'
    )
    scan = '<iScan Magnification="40" ScanRes="0.25" Z-layers="1"/>'
    with tifffile.TiffWriter(path, bigtiff=True) as writer:
        for page, description, xmp in (
            (reduced(picture, 8), "Label Image", scan),
            (picture, "level=0 mag=40 quality=90", encoding),
            (reduced(picture, 2), "level=1 mag=20 quality=90", ""),
        ):
            data = xmp.encode() + b"\0"
            tags = [(700, 7, len(data), data, True)] if xmp else []
            writer.write(page, description=description, extratags=tags, software="ScanOutputManager", **_PLAIN)
    return path


_PHILIPS = """<?xml version="1.0" encoding="UTF-8"?>
<DataObject ObjectType="DPUfsImport"><Attribute Name="PIM_DP_SCANNED_IMAGES"><Array>
<DataObject ObjectType="DPScannedImage"><Attribute Name="PIM_DP_IMAGE_TYPE">WSI</Attribute>
<Attribute Name="DICOM_PIXEL_SPACING">"0.00025" "0.0005"</Attribute>
<Attribute Name="PIIM_PIXEL_DATA_REPRESENTATION_SEQUENCE"><Array>{levels}</Array></Attribute>
</DataObject></Array></Attribute></DataObject>"""
_PHILIPS_LEVEL = """<DataObject ObjectType="PixelDataRepresentation">
<Attribute Name="DICOM_PIXEL_SPACING">"{y:.8f}" "{x:.8f}"</Attribute></DataObject>"""


def write_philips(path: Path, picture: NDArray[np.uint8]) -> Path:
    """Write three levels that are padded to whole tiles, as Philips does; a pixel is 0.5 microns wide, 0.25 high."""
    levels = "".join(_PHILIPS_LEVEL.format(x=0.0005 * 2**n, y=0.00025 * 2**n) for n in range(3))
    with tifffile.TiffWriter(path) as writer:
        for number in range(3):
            page = reduced(picture, 2**number)
            padded = np.full((*(-(-side // TILE) * TILE for side in page.shape[:2]), 3), 255, np.uint8)
            padded[: page.shape[0], : page.shape[1]] = page
            writer.write(
                padded,
                description=_PHILIPS.format(levels=levels) if number == 0 else "level",
                software="Philips DP v1.0",
                subfiletype=int(number > 0),
                subsampling=(1, 1),
                **{**_PLAIN, "compression": "jpeg", "compressionargs": {"level": 95}},
            )
    return path


def write_huron(path: Path, picture: NDArray[np.uint8]) -> Path:
    """Write two levels; a pixel is 0.4 microns."""
    with tifffile.TiffWriter(path) as writer:
        for factor in (1, 4):
            writer.write(
                reduced(picture, factor),
                description="Resolution=0.4\nObjective=20" if factor == 1 else None,
                extratags=[(271, 2, 6, "Huron\0", True)],
                resolution=(25000, 25000), resolutionunit=3,
                **_PLAIN,
            )  # fmt: skip
    return path


def write_argos(path: Path, planes: list[NDArray[np.uint8]]) -> Path:
    """Write focal planes of two levels each, then a thumbnail and a macro image; a pixel is 0.5 microns."""
    xml = f"<Argos.Scan.Metadata><MinZ>0</MinZ><MaxZ>{len(planes) - 1}</MaxZ></Argos.Scan.Metadata>\0"
    with tifffile.TiffWriter(path) as writer:
        for picture in planes:
            for factor in (1, 4):
                writer.write(
                    reduced(picture, factor),
                    extratags=[(65000, 2, len(xml), xml, True)],
                    resolution=(20000 / factor, 20000 / factor),
                    resolutionunit="CENTIMETER",
                    **_PLAIN,
                )
        for factor in (16, 8):
            writer.write(reduced(planes[0], factor), photometric="rgb", compression="zlib", metadata=None)
    return path
