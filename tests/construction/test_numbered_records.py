"""What has no id of its own is named by its place in the file."""

from pathlib import Path

from tests.construction.scenes import coco, read, write_image, write_json


def test_objects_categories_and_images_without_an_id_are_named_by_their_place(tmp_path: Path) -> None:
    """Of each kind the second is bad."""
    images = write_image(tmp_path / "images").parent
    content = coco({"bbox": [10, 20, 30, 40]}, {"id": None, "bbox": [1, 2, 3]})
    content["categories"].append({"name": "boat"})
    content["images"].append({"file_name": "b.png"})
    _, omissions = read(write_json(tmp_path / "c.json", content), images)
    assert {sentence.split(": ")[1] for _, sentence in omissions} == {"annotations[1]", "category 2", "image 2"}
