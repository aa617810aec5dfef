"""What is bad in an annotation file is left out and told, what is unsure is refused, and the rest is read."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from gigavqa.construction.annotations import AnnotatedImage, Omissions
from gigavqa.construction.errors import AnnotationFileError
from gigavqa.construction.images import FolderImages
from gigavqa.construction.readers.reader import ReaderOptions
from gigavqa.construction.readers.registry import find_reader
from tests.construction.scenes import coco, read, write_image, write_json

BOX = [10, 20, 30, 40]


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """Return a folder with one image, a.png of 200 x 100 pixels."""
    return write_image(tmp_path / "images").parent


def boxes_of(found: list[AnnotatedImage]) -> list[tuple[float, ...]]:
    return [tuple(one.box) for image in found for one in image.annotations]


@pytest.mark.parametrize(
    ("annotation", "reason", "told"),
    [
        ({"bbox": [1, 2, 3]}, "malformed", "bbox: has 3 numbers, and must have 4"),
        ({"bbox": [1, 2, float("nan"), 3]}, "malformed", "bbox: is null"),
        ({"bbox": [1, 2, True, 3]}, "malformed", "bbox: is a truth value"),
        ({"bbox": [1, 2, -5, 3]}, "inverted", "ends before it begins"),
        ({"bbox": [1, 2, 0, 3]}, "empty", "has no area"),
        ({"bbox": [190, 2, 12, 3]}, "outside", "200 x 100 pixels"),
        ({"bbox": [-74.01, -40.71, 0.5, 0.5]}, "outside", "are these degrees"),
        ({"bbox": BOX, "category_id": 9}, "no-category", "9 is no id of `categories`"),
        ({"bbox": BOX, "image_id": 9}, "no-image", "is no id of `images`"),
        ({"bbox": BOX, "segmentation": [[1, 2, 3, 4]]}, "malformed", "three points or more"),
        ({"bbox": BOX, "segmentation": [[90, 20, 99, 20, 99, 30]]}, "disagrees", "does not hold its own outline"),
        ({"bbox": BOX, "attributes": {"rotation": 30}}, "rotation", "around which point"),
        ({"segmentation": {"size": [100, 200], "counts": [5, 5]}}, "malformed", "do not add up"),
        ({"segmentation": {"size": [200, 100], "counts": [5, 5]}}, "size-differs", "height and width"),
    ],
)
def test_a_bad_object_is_left_out_with_a_sentence_and_its_neighbour_is_read(
    annotation: dict[str, Any], reason: str, told: str, images: Path, tmp_path: Path
) -> None:
    source = write_json(tmp_path / "c.json", coco(annotation, {"bbox": BOX}))
    found, omissions = read(source, images)
    assert boxes_of(found) == [(10, 20, 40, 60)]
    assert omissions.counts == {reason: 1}
    ((_, sentence),) = omissions
    assert sentence.startswith("c.json: annotation 1: ")
    assert told in sentence


def test_an_image_that_lost_an_object_is_incomplete_in_its_category(images: Path, tmp_path: Path) -> None:
    lost = write_json(tmp_path / "c.json", coco({"bbox": BOX}, {"bbox": [190, 2, 12, 3]}))
    twice = write_json(tmp_path / "d.json", coco({"bbox": BOX}, {"bbox": BOX}))
    assert read(lost, images)[0][0].incomplete == {"ship"}
    found, omissions = read(twice, images)
    assert (len(found[0].annotations), omissions.counts, found[0].incomplete) == (1, {"duplicate": 1}, frozenset())


def test_less_than_a_pixel_beyond_the_image_is_clipped(images: Path, tmp_path: Path) -> None:
    source = write_json(tmp_path / "c.json", coco({"bbox": [-0.5, -1, 200.9, 101.5]}))
    found, omissions = read(source, images)
    assert boxes_of(found) == [(0, 0, 200, 100)]
    assert not omissions.counts


@pytest.mark.parametrize(
    ("image", "reason"),
    [
        ({"file_name": "b.png"}, "image-missing"),
        ({"file_name": ""}, "image-missing"),
        ({"file_name": 7}, "malformed"),
        ({"file_name": "broken.png", "width": 1, "height": 1}, "image-unreadable"),
        ({"width": 100, "height": 50}, "size-differs"),
        ({"file_name": "https://elsewhere.org/a.png"}, "image-unreadable"),
        ({"file_name": "../secret.png"}, "image-unreadable"),
    ],
)
def test_an_image_that_cannot_be_used_is_told_and_its_objects_are_counted(
    image: dict[str, Any], reason: str, images: Path, tmp_path: Path
) -> None:
    (images / "broken.png").write_bytes(b"\x89PNG nothing")
    write_image(tmp_path, "secret.png")
    found, omissions = read(write_json(tmp_path / "c.json", coco({"bbox": BOX}, **image)), images)
    assert not found
    assert omissions.counts[reason] == 1
    assert omissions.counts["of-left-out-image"] + omissions.counts["no-image"] == 1


def test_images_are_found_by_path_by_name_by_windows_path_and_by_stem(images: Path) -> None:
    write_image(images, "day.1/b.v2.png")
    index = FolderImages(images)
    for written in ("b.v2.png", "day.1/b.v2.png", "/data/set/day.1/b.v2.png", "C:\\set\\day.1\\b.v2.png", "b.v2"):
        assert getattr(index.find(written), "name", None) == "day.1/b.v2.png", written
    assert list(index.names()) == ["a.png", "day.1/b.v2.png"]


def test_a_header_is_read_once_whatever_names_the_image_has(images: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Path] = []
    monkeypatch.setattr("gigavqa.construction.images.read_stored_header", _counting(opened))
    index = FolderImages(images)
    for written in ("a.png", "a", "x/a.png", "a.png"):
        index.find(written)
    assert opened == [images / "a.png"]


def _counting(opened: list[Path]) -> Any:
    from gigavqa.tiling.headers import read_stored_header  # noqa: PLC0415 - the one that is replaced

    def count(path: Path, **how: Any) -> Any:
        opened.append(path)
        return read_stored_header(path, **how)

    return count


def test_a_version_changes_with_the_file_and_with_nothing_else(images: Path) -> None:
    index = FolderImages(images)
    before = index.version_of("a.png")
    assert index.version_of("a.png") == before
    write_image(images, "a.png", (60, 50))
    assert index.version_of("a.png") != before


def test_two_images_of_a_name_are_unsure(images: Path, tmp_path: Path) -> None:
    write_image(images, "x/b.png")
    write_image(images, "y/b.png")
    _, omissions = read(write_json(tmp_path / "c.json", coco({"bbox": BOX}, file_name="b.png")), images)
    assert omissions.counts["image-unsure"] == 1


@pytest.mark.parametrize(
    ("orientation", "size", "is_read"),
    [(6, (200, 100), False), (6, (100, 200), True), (3, (200, 100), False), (1, (200, 100), True)],
)
def test_an_orientation_is_refused_unless_the_size_tells_that_the_upright_image_was_annotated(
    orientation: int, size: tuple[int, int], is_read: bool, images: Path, tmp_path: Path
) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    write_image(images, "turned.jpg", exif=exif)
    told = {"file_name": "turned.jpg", "width": size[0], "height": size[1]}
    found, omissions = read(write_json(tmp_path / "c.json", coco({"bbox": BOX}, **told)), images)
    assert (len(found), omissions.counts["turned"]) == ((1, 0) if is_read else (0, 1))


def test_images_that_a_source_is_about_twice_are_left_out(images: Path, tmp_path: Path) -> None:
    value = coco({"bbox": BOX})
    value["images"].append({"id": 2, "file_name": "./a.png"})
    found, omissions = read(write_json(tmp_path / "c.json", value), images)
    assert not found
    assert omissions.counts == {"image-twice": 1, "of-left-out-image": 1}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'{"images": [], "annotations": [{"bbox": [1', "c.json: parse error: premature EOF"),
        (b'{"images": [], "images": [], "annotations": [], "categories": []}', "has its key 'images' twice"),
        (b'{"images": [], "annotations": [{"id": 1, "id": 2}], "categories": []}', "its key 'id' twice"),
        (b'{"images": [], "annotations": {}, "categories": []}', "annotations: is no list"),
        (b'{"images": [{"file_name": "a.png"}], "annotations": []}', "categories: is missing"),
        (b'{"images": [], "annotations": [' + b"[" * 100, "nested deeper than 64"),
        (b"\xff\xfe{\x00}\x00", "UTF-16"),
        (b'{"images": [], "annotations": [{"id": 99999999999999999999}], "categories": []}', "integer overflow"),
    ],
)
def test_a_file_that_cannot_be_read_as_a_whole_is_refused(
    content: bytes, told: str, images: Path, tmp_path: Path
) -> None:
    (tmp_path / "c.json").write_bytes(content)
    with pytest.raises(AnnotationFileError, match=told):
        read(tmp_path / "c.json", images, "coco")


def test_packed_files_marks_of_bytes_and_foreign_letters_are_read(images: Path, tmp_path: Path) -> None:
    write_image(images, "škoda 船.png")
    value = coco({"bbox": BOX}, file_name="škoda 船.png")
    value["categories"][0]["name"] = "船"
    path = tmp_path / "c.json.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + json.dumps(value, ensure_ascii=False).encode()))
    found, _ = read(path, images)
    assert (found[0].image, found[0].annotations[0].category) == ("škoda 船.png", "船")


def test_forms_are_refused_with_what_was_seen_and_what_there_is(images: Path, tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(b"PK\x03\x04....")
    with pytest.raises(AnnotationFileError, match=r"zip archive: unpack it.*coco, dota, labelstudio, cvat"):
        read(tmp_path / "x.zip", images)
    with pytest.raises(AnnotationFileError, match="--form voc: is none of coco"):
        read(tmp_path / "x.zip", images, "voc")
    both = tmp_path / "both"
    (both / "labels").mkdir(parents=True)
    (both / "classes.txt").write_text("ship\n")
    (both / "a.txt").write_text("1 1 9 1 9 9 1 9 ship 0\n")
    with pytest.raises(AnnotationFileError, match="DOTA and YOLO; say which, --form dota or --form yolo"):
        read(both, images)


def _task(*annotations: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    return [{"id": 4, "data": {"image": "/data/local-files/?d=set/a.png"}, "annotations": list(annotations)} | more]


def _region(key: str = "r", **value: Any) -> dict[str, Any]:
    shape = {"x": 10, "y": 20, "width": 20, "height": 40, "rectanglelabels": ["ship"]} | value
    return {"id": key, "type": "rectanglelabels", "original_width": 200, "original_height": 100, "value": shape}


def test_of_several_annotators_one_is_chosen(images: Path, tmp_path: Path) -> None:
    first = {"completed_by": {"email": "ann@x.org", "id": 1}, "result": [_region()]}
    other = {"completed_by": 2, "result": [_region(x=50)]}
    source = write_json(tmp_path / "l.json", _task(first, other, predictions=[{"result": [_region()]}]))
    found, omissions = read(source, images)
    assert not found
    assert omissions.counts == {"several-annotators": 1, "prediction": 1}
    assert any("--annotator (here: ann@x.org, 2)" in sentence for _, sentence in omissions)
    assert boxes_of(read(source, images, annotator="2")[0]) == [(100, 20, 140, 60)]
    assert boxes_of(read(source, images, annotator="ann@x.org")[0]) == [(20, 20, 60, 60)]


def test_turned_boxes_of_label_studio_and_cvat_are_the_same(images: Path, tmp_path: Path) -> None:
    told = {"x": 50, "y": 20, "width": 10, "height": 40, "rotation": 90}
    studio = write_json(tmp_path / "l.json", _task({"result": [_region(**told)]}))
    (tmp_path / "c.xml").write_text(
        '<annotations><image name="a.png" width="200" height="100">'
        '<box label="ship" xtl="70" ytl="10" xbr="90" ybr="50" rotation="90"/></image></annotations>'
    )
    (left,), (right,) = (read(source, images)[0][0].annotations for source in (studio, tmp_path / "c.xml"))
    assert left.quad == pytest.approx((100, 20, 100, 40, 60, 40, 60, 20))
    assert right.quad == pytest.approx(left.quad)


def test_choices_of_a_region_are_attributes_and_those_of_an_image_are_labels(images: Path, tmp_path: Path) -> None:
    of_region = {"id": "r", "type": "choices", "from_name": "colour", "value": {"choices": ["red"]}}
    of_image = {"id": "i", "type": "choices", "from_name": "sea", "value": {"choices": ["calm"]}}
    brush = {"id": "b", "type": "brushlabels", "value": {"rle": [1], "brushlabels": ["ship"]}}
    source = write_json(tmp_path / "l.json", _task({"result": [_region(), of_region, of_image, brush]}))
    (image,), omissions = read(source, images)
    assert (image.annotations[0].attributes, image.labels) == ({"colour": "red"}, {"sea": "calm"})
    assert omissions.counts == {"unsupported-shape": 1}


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('<track id="0"/>', "tracks of a video"),
        ('<image name="a.png">', "whole XML file"),
        ("<a>" * 40, "nested deeper"),
    ],
)
def test_cvat_files_that_cannot_be_read_are_refused(body: str, told: str, images: Path, tmp_path: Path) -> None:
    (tmp_path / "c.xml").write_text(f"<annotations>{body}</annotations>")
    with pytest.raises(AnnotationFileError, match=told):
        read(tmp_path / "c.xml", images, "cvat")


def test_entities_of_xml_are_refused(images: Path, tmp_path: Path) -> None:
    (tmp_path / "c.xml").write_text(
        '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><annotations>&b;</annotations>'
    )
    with pytest.raises(AnnotationFileError, match="declares entities"):
        read(tmp_path / "c.xml", images, "cvat")


def test_attributes_of_cvat_have_the_types_that_its_labels_declare(images: Path, tmp_path: Path) -> None:
    declared = "".join(
        f"<attribute><name>{name}</name><input_type>{kind}</input_type></attribute>"
        for name, kind in (("moored", "checkbox"), ("masts", "number"), ("flag", "text"))
    )
    said = "".join(
        f'<attribute name="{name}">{text}</attribute>'
        for name, text in (("moored", "true"), ("masts", "2"), ("flag", "7"))
    )
    (tmp_path / "c.xml").write_text(
        f"<annotations><meta><task><labels><label><name>ship</name>{declared}</label></labels></task></meta>"
        f'<image name="a.png"><polygon label="ship" occluded="1" points="1,1;9,1;9,9">{said}</polygon>'
        '<tag label="harbour"/><mask label="ship" left="20" top="30" width="4" height="2" rle="1,2,1,4"/>'
        '<polyline label="ship" points="1,1;2,2"/></image></annotations>'
    )
    (image,), omissions = read(tmp_path / "c.xml", images)
    polygon, mask = image.annotations
    assert (polygon.attributes, polygon.flags) == ({"moored": True, "masts": 2.0, "flag": "7"}, {"occluded"})
    assert (mask.box, len(mask.rings), image.labels) == ((20, 30, 24, 32), 1, {"harbour": True})
    assert omissions.counts == {"unsupported-shape": 1}


def test_lines_of_yolo_are_told_apart_by_their_columns(images: Path, tmp_path: Path) -> None:
    labels = tmp_path / "set/labels"
    labels.mkdir(parents=True)
    (tmp_path / "set/data.yaml").write_text("names: {0: ship, 1: crane}\n")
    (labels / "a.txt").write_text(
        "0 0.5 0.5 0.1 0.2\n1 0.1 0.1 0.2 0.1 0.2 0.3 0.1 0.3\n0 0.1 0.1 0.4 0.1 0.3 0.5\n"
        "0 0.5 0.5 0.1 0.2 0.9\n0 0.5 0.5 0.1 0.2 0.5 0.5 2\n7 0.5 0.5 0.1 0.2\n0 0.5 x 0.1 0.2\n"
    )
    (image,), omissions = read(tmp_path / "set", images)
    box, oriented, outline = image.annotations
    assert tuple(box.box) == pytest.approx((90, 40, 110, 60))
    assert oriented.quad == pytest.approx((20, 10, 40, 10, 40, 30, 20, 30))
    assert outline.rings[0] == pytest.approx((20, 10, 80, 10, 60, 50))
    assert omissions.counts == {"prediction": 1, "unsupported-shape": 1, "no-category": 1, "malformed": 1}
    (tmp_path / "set/data.yaml").write_text("names: [ship]\nkpt_shape: [17, 3]\n")
    with pytest.raises(AnnotationFileError, match="poses"):
        read(tmp_path / "set", images)


def test_crossed_corners_of_dota_are_left_out_and_difficult_ones_are_flagged(images: Path, tmp_path: Path) -> None:
    folder = tmp_path / "labelTxt"
    folder.mkdir()
    (folder / "a.txt").write_text(
        "gsd:0.3\n10 10 20 10 20 20 10 20 small-vehicle 1\n10 10 20 20 20 10 10 20 ship 0\n1 2 3 ship 0\n"
    )
    (image,), omissions = read(folder, images)
    (vehicle,) = image.annotations
    assert (vehicle.id, vehicle.category, vehicle.flags) == ("a.txt#2", "small-vehicle", {"difficult"})
    assert omissions.counts == {"crossing": 1, "malformed": 1}


def test_parts_of_the_sides_are_never_guessed(images: Path, tmp_path: Path) -> None:
    source = tmp_path / "t.csv"
    source.write_text("image,x,y,w,h,label,colour\na.png,0.1,0.2,0.3,0.4,ship,red\n")
    with pytest.raises(AnnotationFileError, match="--unit parts or --unit pixels"):
        read(source, images)
    (image,), _ = read(source, images, unit="parts")
    assert tuple(image.annotations[0].box) == pytest.approx((20, 20, 80, 60))
    assert image.annotations[0].attributes == {"colour": "red"}


def test_regions_of_a_slide_keep_outer_outlines_and_unclassified_ones_are_told(images: Path, tmp_path: Path) -> None:
    outer, hole = [[10, 10], [50, 10], [50, 50], [10, 50], [10, 10]], [[20, 20], [30, 20], [30, 30], [20, 20]]
    other = [[100, 10], [120, 10], [120, 30], [100, 10]]
    features = [
        {"type": "Feature", "geometry": {"type": "MultiPolygon", "coordinates": [[outer, hole], [other]]},
         "properties": {"objectType": "annotation", "classification": {"name": "Tumor"}}},
        {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [outer]},
         "properties": {"objectType": "annotation"}},
        {"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]},
         "properties": {"objectType": "annotation", "classification": {"name": "Tumor"}}},
    ]  # fmt: skip
    (image,), omissions = read(write_json(tmp_path / "any.geojson", features), images, image="a.png")
    (tumor,) = image.annotations
    assert (tumor.box, len(tumor.rings)) == ((10, 10, 120, 50), 2)
    assert omissions.counts == {"no-category": 1, "unsupported-shape": 1}


def test_places_on_the_ground_become_pixels_of_a_georeferenced_image(images: Path, tmp_path: Path) -> None:
    rasterio = pytest.importorskip("rasterio")
    transform = rasterio.transform.from_origin(500_000, 5_000_000, 2, 2)
    how = {"driver": "GTiff", "width": 200, "height": 100, "count": 1, "dtype": "uint8", "crs": "EPSG:32633"}
    with rasterio.open(images / "land.tif", "w", transform=transform, **how):
        pass
    square = [[500_020, 4_999_980], [500_060, 4_999_980], [500_060, 4_999_900], [500_020, 4_999_980]]
    value = {
        "type": "FeatureCollection", "crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::32633"}},
        "features": [{"type": "Feature", "properties": {"class": "field", "area": 3},
                      "geometry": {"type": "Polygon", "coordinates": [square]}}],
    }  # fmt: skip
    (image,), _ = read(write_json(tmp_path / "land.geojson", value), images)
    (field,) = image.annotations
    assert field.rings[0] == pytest.approx((10, 10, 30, 10, 30, 50))
    assert (field.category, field.attributes) == ("field", {"area": 3.0})
    with pytest.raises(AnnotationFileError, match="it has no georeference"):
        read(tmp_path / "land.geojson", images, image="a.png")


def test_persons_of_panda_have_the_visible_body_and_zones_are_no_objects(images: Path, tmp_path: Path) -> None:
    def rect(x: float) -> dict[str, Any]:
        return {"tl": {"x": x, "y": 0.1}, "br": {"x": x + 0.1, "y": 0.5}}

    persons = {"01_x/a.png": {"image size": {"width": 200, "height": 100}, "objects list": [
        {"category": "person", "age": "adult", "rects": {"head": rect(0.5), "visible body": rect(0.1)}},
        {"category": "crowd", "rect": rect(0.3)}, {"category": "person", "rects": {}}]}}  # fmt: skip
    vehicles = {"01_x/a.png": {"image size": {"width": 200, "height": 100}, "objects list": [
        {"category": "small car", "rect": rect(0.7)}]}}  # fmt: skip
    folder = tmp_path / "panda"
    folder.mkdir()
    write_json(folder / "persons.json", persons)
    write_json(folder / "vehicles.json", vehicles)
    (image,), omissions = read(folder, images)
    person, crowd, car = image.annotations
    assert (person.box, person.attributes) == (pytest.approx((20, 10, 40, 50)), {"age": "adult"})
    assert (crowd.flags, car.category, omissions.counts) == ({"crowd", "ignore"}, "small car", {"malformed": 1})


def test_masks_of_defects_become_boxes_of_their_names(tmp_path: Path) -> None:
    product = tmp_path / "pushpins"
    for name in ("train/good/000.png", "test/good/000.png", "test/logical_anomalies/000.png"):
        write_image(product, name)
    mask = Image.new("L", (200, 100))
    mask.paste(255, (20, 30, 60, 70))
    path = product / "ground_truth/logical_anomalies/000/000.png"
    path.parent.mkdir(parents=True)
    mask.save(path)
    write_json(product / "defects_config.json", [{"defect_name": "missing_pin", "pixel_value": 255}])
    found, omissions = read(product, product)
    anomalous = next(image for image in found if image.annotations)
    assert (len(found), anomalous.image) == (3, "test/logical_anomalies/000.png")
    assert (anomalous.annotations[0].category, anomalous.annotations[0].box) == ("missing_pin", (20, 30, 60, 70))
    assert anomalous.labels == {"product": "pushpins", "split": "test", "kind": "logical_anomalies"}
    assert not omissions.counts
    several, _ = read(tmp_path, tmp_path)
    assert [image.image for image in several] == [f"pushpins/{image.image}" for image in found]


def test_answers_about_slides_become_labels_and_contradictions_are_told(images: Path, tmp_path: Path) -> None:
    write_image(images, "TCGA-A1-01Z-00-DX1.png")
    asked = [
        ("What is the histologic grade?", "Grade III"), ("Is lymphovascular invasion present?", "Not identified"),
        ("What is the histological type?", "Ductal carcinoma in situ"),
        ("What is the histological type?", "Infiltrating Ductal Carcinoma"),
        ("What is the focality of the tumor?", "28 cm, b) 2.8 cm"), ("What is the survival time?", "3 years"),
        ("What is the status of the margins?", "pares"),
    ]  # fmt: skip
    value = [{"Id": "TCGA-A1", "Question": question, "Answer": answer} for question, answer in asked]
    (slide,), omissions = read(write_json(tmp_path / "w.json", value), images)
    assert (slide.image, slide.labels) == (
        "TCGA-A1-01Z-00-DX1.png",
        {"grade": "3", "lvi": "absent", "invasive": "present"},
    )
    assert omissions.counts == {"conflict": 1, "garbled": 1, "not-visible": 1, "off-scale": 1}


def test_a_folder_of_two_forms_is_refused(tmp_path: Path) -> None:
    """Naming both files and forms, and what to do: one of them would be left out in silence."""
    source = tmp_path / "marks"
    source.mkdir()
    write_json(source / "a.json", coco({"bbox": [1, 1, 20, 20]}))
    write_json(source / "b.geojson", {"type": "FeatureCollection", "features": [
        {"type": "Feature", "properties": {"classification": {"name": "ship"}, "objectType": "annotation"},
         "geometry": {"type": "Polygon", "coordinates": [[[1, 1], [9, 1], [9, 9], [1, 1]]]}}]})  # fmt: skip
    with pytest.raises(AnnotationFileError, match="--form"):
        find_reader(source)


@pytest.mark.parametrize("form", ["coco", "labelstudio", "cvat", "csv"])
def test_a_folder_where_one_file_is_wanted_is_refused(form: str, images: Path, tmp_path: Path) -> None:
    """Also where somebody says which form it has."""
    (tmp_path / "exports").mkdir()
    reader = find_reader(tmp_path / "exports", form)
    with pytest.raises(AnnotationFileError, match="exports: is a folder, and this form is one file"):
        list(reader.read(tmp_path / "exports", FolderImages(images), Omissions(), ReaderOptions()))


def test_equal_causes_are_one_sentence_with_a_count() -> None:
    """And with the first few places; other causes have their own."""
    omissions = Omissions()
    for number in range(1, 8):
        omissions.add("image-missing", f"a.json: annotation {number}: there is no image '{number}.png'")
    omissions.add("image-missing", "a.json: annotation 9: its name is empty")
    assert [one.sentence for one in omissions] == [
        "a.json: annotation 1: there is no image '1.png' (7 such: 2 '2.png', 3 '3.png', 4 '4.png' ...)",
        "a.json: annotation 9: its name is empty",
    ]
