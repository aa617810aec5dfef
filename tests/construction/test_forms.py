"""Files that annotation tools wrote themselves are read as what was given to those tools."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from gigavqa.construction.annotations import AnnotatedImage
from gigavqa.construction.readers.masks import mask_of_columns, unpack_counts
from tests.construction.scenes import coco, read, write_image, write_json

FORMS = Path(__file__).parent / "forms"
SCENE = {
    "harbour.png": [("ship", 20, 30, 80, 60), ("ship", 200, 100, 264, 148), ("crane", 300.5, 10.25, 360, 90)],
    "quay.png": [("crane", 8, 12, 72, 108)],
}


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the images of the scene."""
    folder = tmp_path_factory.mktemp("images")
    write_image(folder, "harbour.png", (400, 300))
    write_image(folder, "quay.png", (320, 240))
    return folder


def boxes(found: list[AnnotatedImage], digits: int = 2) -> dict[str, list[tuple[Any, ...]]]:
    """Return category and box of each annotation, by image."""
    return {
        image.image: [(one.category, *(round(side, digits) for side in one.box)) for one in image.annotations]
        for image in found
    }


@pytest.mark.parametrize(
    ("form", "file"),
    [
        ("coco", "datumaro-coco_instances/annotations/instances_train.json"),
        ("coco", "supervision-coco.json"),
        ("cvat", "datumaro-cvat/train.xml"),
        ("yolo", "datumaro-yolo"),
        ("yolo", "supervision-yolo"),
        ("labelstudio", "labelstudio.json"),
    ],
)
def test_what_tools_wrote_is_read_as_what_they_were_given(form: str, file: str, images: Path) -> None:
    found, omissions = read(FORMS / file, images)
    got = boxes(found, 1)
    for name, marks in SCENE.items():
        assert len(got[name]) == len(marks)
        for (category, *corners), (was, *expected) in zip(got[name], marks, strict=True):
            assert category == was
            assert corners == pytest.approx(expected, abs=1.0 if form == "yolo" else 0.06), form
    assert not omissions.counts


def test_oriented_boxes_of_datumaro_keep_their_corners_and_one_at_the_edge_is_cut(images: Path) -> None:
    found, omissions = read(FORMS / "datumaro-dota", images)
    harbour, quay = found
    assert harbour.annotations[0].quad == (31.52, 17.01, 83.48, 47.01, 68.48, 72.99, 16.52, 42.99)
    assert harbour.annotations[0].box == (16.52, 17.01, 83.48, 72.99)
    (crane,) = quay.annotations
    assert (crane.box, crane.quad, crane.flags) == ((0, 2.43, 91.71, 117.57), None, frozenset({"truncated"}))
    assert not omissions.counts


def test_masks_have_the_area_and_the_box_of_pycocotools() -> None:
    told = json.loads((FORMS / "pycocotools-masks.json").read_text())
    for one in told["drawn"]:
        if not one["area"]:
            continue
        height, width = one["size"]
        mask = mask_of_columns(unpack_counts(one["counts"]), width, height)
        x, y, w, h = one["bbox"]
        assert (mask.area, mask.box) == (one["area"], (x, y, x + w, y + h))


@pytest.mark.parametrize("code", ["compressed", "runs"])
def test_both_codes_of_a_mask_give_its_box_and_the_outer_outline_of_each_part(code: str, tmp_path: Path) -> None:
    told = json.loads((FORMS / "pycocotools-masks.json").read_text())
    write_image(tmp_path, "a.png", (400, 300))
    source = write_json(tmp_path / "c.json", coco({"segmentation": told[code]}, width=400, height=300))
    ((mark,),) = ([*image.annotations] for image in read(source, tmp_path)[0])
    x, y, w, h = told["bbox"]
    assert mark.box == (x, y, x + w, y + h)
    assert [(min(ring[::2]), min(ring[1::2]), max(ring[::2]), max(ring[1::2])) for ring in mark.rings] == [
        (30, 20, 90, 60), (200, 100, 201, 101), (201, 101, 202, 102), (202, 102, 203, 103), (390, 200, 400, 300),
    ]  # fmt: skip


def test_outlines_of_drawn_masks_cover_their_pixels_and_their_holes() -> None:
    told = json.loads((FORMS / "pycocotools-masks.json").read_text())
    for one in told["drawn"]:
        height, width = one["size"]
        if not one["area"]:
            continue
        mask = mask_of_columns(unpack_counts(one["counts"]), width, height)
        assert mask.pixels is not None
        inside = [
            sum(_is_inside(ring, mask.x + column + 0.5, mask.y + row + 0.5) for ring in mask.rings())
            for row, column in zip(*mask.pixels.nonzero(), strict=True)
        ]
        assert min(inside) == 1


def _is_inside(ring: tuple[float, ...], x: float, y: float) -> bool:
    points = list(zip(ring[::2], ring[1::2], strict=True))
    return (
        sum(
            (a[1] > y) != (b[1] > y) and x < a[0] + (y - a[1]) * (b[0] - a[0]) / (b[1] - a[1])
            for a, b in zip(points, [*points[1:], points[0]], strict=True)
        )
        % 2
        == 1
    )


def one_scene(folder: Path) -> dict[str, Path]:
    """Write one scene in every form, by hand."""
    marks = SCENE["harbour.png"]
    corners = [(c, (x1, y1, x2, y1, x2, y2, x1, y2)) for c, x1, y1, x2, y2 in marks]
    classes = ["ship", "crane"]
    written = {form: folder / form for form in ("dota", "yolo")}
    for path in written.values():
        path.mkdir()
    (written["dota"] / "harbour.txt").write_text(
        "imagesource:GoogleEarth\r\ngsd:0.1\r\n"
        + "".join(f"{' '.join(map(str, quad))} {category} 0\r\n" for category, quad in corners)
    )
    (written["yolo"] / "classes.txt").write_text("ship\ncrane\n")
    (written["yolo"] / "harbour.txt").write_text(
        "".join(
            f"{classes.index(c)} {(x1 + x2) / 800!r} {(y1 + y2) / 600!r} {(x2 - x1) / 400!r} {(y2 - y1) / 300!r}\n"
            for c, x1, y1, x2, y2 in marks
        )
    )
    written["coco"] = write_json(
        folder / "c.json",
        {
            "annotations": [
                {"id": 7, "image_id": 5, "category_id": classes.index(c), "bbox": [x1, y1, x2 - x1, y2 - y1]}
                for c, x1, y1, x2, y2 in marks
            ],
            "categories": [{"id": at, "name": name} for at, name in enumerate(classes)],
            "images": [{"id": 5, "file_name": "somewhere/harbour.png"}],
        },
    )
    written["cvat"] = folder / "c.xml"
    written["cvat"].write_text(
        '<?xml version="1.0"?><annotations><image id="0" name="harbour.png" width="400" height="300">'
        + "".join(f'<box label="{c}" xtl="{x1}" ytl="{y1}" xbr="{x2}" ybr="{y2}"/>' for c, x1, y1, x2, y2 in marks)
        + "</image></annotations>"
    )
    written["labelstudio"] = write_json(
        folder / "l.json",
        [{"id": 1, "data": {"image": "/data/upload/1/0a1b2c3d-harbour.png"}, "annotations": [{"result": [
            {"id": str(at), "type": "rectanglelabels", "original_width": 400, "original_height": 300,
             "value": {"x": x1 / 4, "y": y1 / 3, "width": (x2 - x1) / 4, "height": (y2 - y1) / 3,
                       "rectanglelabels": [c]}} for at, (c, x1, y1, x2, y2) in enumerate(marks)]}]}],
    )  # fmt: skip
    written["qupath"] = write_json(
        folder / "harbour.geojson",
        {"type": "FeatureCollection", "features": [
            {"type": "Feature", "properties": {"objectType": "annotation", "classification": {"name": c}},
             "geometry": {"type": "Polygon", "coordinates": [[*zip(q[::2], q[1::2], strict=True), q[:2]]]}}
            for c, q in corners]},
    )  # fmt: skip
    written["csv"] = folder / "t.csv"
    rows = [
        f"harbour.png;{';'.join(str(side).replace('.', ',') for side in corners)};{category}\r\n"
        for category, *corners in marks
    ]
    header = "\ufeffimage;x1;y1;x2;y2;category\r\n"
    written["csv"].write_text(header + "".join(rows), encoding="utf-8", newline="")
    return written


def testone_scene_reads_the_same_in_every_form(tmp_path: Path, images: Path) -> None:
    for form, source in one_scene(tmp_path).items():
        found, omissions = read(source, images)
        assert boxes(found, 9) == {"harbour.png": SCENE["harbour.png"]}, form
        assert not omissions.counts, [*omissions]
        assert not found[0].incomplete


def test_a_source_is_found_by_what_it_holds_whatever_it_is_called(tmp_path: Path, images: Path) -> None:
    for form, source in one_scene(tmp_path).items():
        if source.is_file() and form != "qupath":
            other = tmp_path / f"{form}.unknown"
            shutil.copy(source, other)
            assert boxes(read(other, images)[0], 9) == {"harbour.png": SCENE["harbour.png"]}, form
