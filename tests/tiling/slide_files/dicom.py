"""Write whole-slide images as DICOM, an instance for each level, with pydicom."""

import io
from itertools import product
from pathlib import Path
from typing import Literal

import imagecodecs
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageCms
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.encaps import encapsulate
from pydicom.sequence import Sequence
from pydicom.uid import JPEG2000, ExplicitVRLittleEndian, JPEG2000Lossless, JPEGBaseline8Bit, generate_uid

Codec = Literal["none", "jpeg", "jpeg2000", "jpeg2000-lossy"]

_WHOLE_SLIDE = "1.2.840.10008.5.1.4.1.1.77.1.6"
_SYNTAXES = {
    "none": ExplicitVRLittleEndian,
    "jpeg": JPEGBaseline8Bit,
    "jpeg2000": JPEG2000Lossless,
    "jpeg2000-lossy": JPEG2000,
}
_COLOURS = {"none": "RGB", "jpeg": "YBR_FULL_422", "jpeg2000": "RGB", "jpeg2000-lossy": "RGB"}
_TILE = 128


def write_dicom_slide(
    folder: Path,
    picture: NDArray[np.uint8],
    *,
    codec: Codec = "none",
    missing: frozenset[tuple[int, int]] | None = None,
    num_levels: int = 2,
    microns: float = 0.25,
    name: str = "",
    profile: bytes = b"",
) -> list[Path]:
    """Write a picture in levels of a quarter of the sides each, and a label; return their files, the largest first.

    With `missing` tiles (column, row) of level 0 it is TILED_SPARSE, else TILED_FULL.
    """
    folder.mkdir(parents=True, exist_ok=True)
    series = generate_uid(entropy_srcs=[str(folder), name])
    files = []
    for number in range(num_levels):
        level = np.asarray(Image.fromarray(picture).reduce(4**number))
        lacking = missing if number == 0 else frozenset() if missing is not None else None
        made = _instance(level, series, codec, microns * 4**number, lacking, "VOLUME", picture.shape)
        if profile:
            made.OpticalPathSequence[0].ICCProfile = profile
        files.append(_save(made, folder / f"{name}{number}.dcm"))
    label = _instance(np.asarray(Image.fromarray(picture).reduce(16)), series, "none", 4, None, "LABEL", picture.shape)
    _save(label, folder / f"{name}label.dcm")
    return files


def _save(instance: Dataset, path: Path) -> Path:
    instance.save_as(path, enforce_file_format=True)
    return path


def _instance(  # noqa: PLR0917
    pixels: NDArray[np.uint8],
    series: str,
    codec: Codec,
    microns: float,
    missing: frozenset[tuple[int, int]] | None,
    kind: str,
    full: tuple[int, ...],
) -> Dataset:
    height, width = pixels.shape[:2]
    tall, wide = (_TILE, _TILE) if kind == "VOLUME" else (height, width)
    columns, rows = -(-width // wide), -(-height // tall)
    shown = [at for at in product(range(rows), range(columns)) if (at[1], at[0]) not in (missing or ())]
    made = Dataset()
    made.file_meta = FileMetaDataset()
    made.file_meta.TransferSyntaxUID = _SYNTAXES[codec]
    made.file_meta.MediaStorageSOPClassUID = made.SOPClassUID = _WHOLE_SLIDE
    made.file_meta.MediaStorageSOPInstanceUID = made.SOPInstanceUID = generate_uid()
    made.SeriesInstanceUID, made.StudyInstanceUID = series, generate_uid(entropy_srcs=[series])
    made.FrameOfReferenceUID = made.StudyInstanceUID
    made.Modality, made.Manufacturer = "SM", "Tests"
    made.ImageType = ["ORIGINAL", "PRIMARY", kind, "NONE" if microns <= 0.25 or kind != "VOLUME" else "RESAMPLED"]
    made.Rows, made.Columns = tall, wide
    made.TotalPixelMatrixRows, made.TotalPixelMatrixColumns = height, width
    made.ImagedVolumeWidth, made.ImagedVolumeHeight = full[1] * 0.00025, full[0] * 0.00025
    made.NumberOfFrames, made.TotalPixelMatrixFocalPlanes = len(shown), 1
    made.SamplesPerPixel, made.PlanarConfiguration = 3, 0
    made.PhotometricInterpretation = _COLOURS[codec]
    made.BitsAllocated = made.BitsStored = 8
    made.HighBit, made.PixelRepresentation = 7, 0
    made.DimensionOrganizationType = "TILED_FULL" if missing is None else "TILED_SPARSE"
    made.OpticalPathSequence = Sequence([_optics()])
    made.SharedFunctionalGroupsSequence = Sequence([_spacing(microns)])
    if missing is not None:
        made.PerFrameFunctionalGroupsSequence = Sequence(
            [_position(row * tall, column * wide) for row, column in shown]
        )
    frames = [_tile(pixels, row * tall, column * wide, (tall, wide)) for row, column in shown]
    if codec == "none":
        made.PixelData = b"".join(frame.tobytes() for frame in frames)
        made["PixelData"].VR = "OB"
    else:
        made.PixelData = encapsulate([_encode(frame, codec) for frame in frames])
    return made


def _tile(pixels: NDArray[np.uint8], top: int, left: int, sides: tuple[int, int]) -> NDArray[np.uint8]:
    tile = np.full((*sides, 3), 255, np.uint8)
    part = pixels[top : top + sides[0], left : left + sides[1]]
    tile[: part.shape[0], : part.shape[1]] = part
    return tile


def _encode(tile: NDArray[np.uint8], codec: Codec) -> bytes:
    if codec == "jpeg":
        with io.BytesIO() as data:
            Image.fromarray(tile).save(data, "JPEG", quality=95, subsampling="4:2:2")
            return data.getvalue()
    how = {"reversible": True} if codec == "jpeg2000" else {"level": 60, "reversible": False}
    return bytes(imagecodecs.jpeg2k_encode(tile, codecformat="j2k", mct=False, **how))


def _optics() -> Dataset:
    path = Dataset()
    path.OpticalPathIdentifier = "1"
    path.ICCProfile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    path.ObjectiveLensPower = 40
    return path


def _spacing(microns: float) -> Dataset:
    measures, shared = Dataset(), Dataset()
    measures.PixelSpacing, measures.SliceThickness = [microns / 1000, microns / 1000], 0.001
    shared.PixelMeasuresSequence = Sequence([measures])
    return shared


def _position(top: int, left: int) -> Dataset:
    place, frame = Dataset(), Dataset()
    place.ColumnPositionInTotalImagePixelMatrix = left + 1
    place.RowPositionInTotalImagePixelMatrix = top + 1
    place.XOffsetInSlideCoordinateSystem = place.YOffsetInSlideCoordinateSystem = 0.0
    place.ZOffsetInSlideCoordinateSystem = 0.0
    frame.PlanePositionSlideSequence = Sequence([place])
    return frame
