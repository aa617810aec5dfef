"""Writes the files of this folder with the tools that people export with; README.md says with which versions.

One scene of two images: `harbour.png`, 400 x 300, and `quay.png`, 320 x 240.
"""

import json
import math
import sys
import tempfile
from pathlib import Path

import cv2
import datumaro as dm
import numpy as np
import supervision as sv
from datumaro.components.annotation import RotatedBbox
from label_studio_sdk.converter.imports.coco import convert_coco_to_ls
from pycocotools import mask as masks

SIZES = {"harbour": (400, 300), "quay": (320, 240)}
BOXES = {
    "harbour": [("ship", 20, 30, 80, 60), ("ship", 200, 100, 264, 148), ("crane", 300.5, 10.25, 360, 90)],
    "quay": [("crane", 8, 12, 72, 108)],
}
LABELS = ["ship", "crane"]


def main(folder: Path) -> None:
    """Write every form below a folder."""
    boxes = datumaro_set(lambda label, x1, y1, x2, y2: dm.Bbox(x1, y1, x2 - x1, y2 - y1, label=label))
    for form in ("coco_instances", "cvat", "yolo"):
        boxes.export(str(folder / f"datumaro-{form}"), form, save_media=False)
    turned = datumaro_set(
        lambda label, x1, y1, x2, y2: RotatedBbox((x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1, 30, label=label)
    )
    turned.export(str(folder / "datumaro-dota"), "dota", save_media=False)
    write_supervision(folder)
    convert_coco_to_ls(str(folder / "supervision-coco.json"), str(folder / "labelstudio.json"), "/data/local-files/?d=")
    write_masks(folder)


def datumaro_set(shape) -> dm.Dataset:
    """Return the scene as datumaro has it, each mark of a shape."""
    found = []
    for frame, (name, (width, height)) in enumerate(SIZES.items()):
        marks = [shape(LABELS.index(label), *box) for label, *box in BOXES[name]]
        for at, mark in enumerate(marks, start=1):
            mark.id = mark.group = at
        image = dm.Image.from_file(path=f"{name}.png", size=(height, width))
        attributes = {"frame": frame, "gsd": 0.5, "imagesource": "drawn"}
        found.append(dm.DatasetItem(id=name, subset="train", media=image, annotations=marks, attributes=attributes))
    return dm.Dataset.from_iterable(found, categories=LABELS, media_type=dm.Image)


def write_supervision(folder: Path) -> None:
    """Write COCO and YOLO of supervision, which looks at the images for their sizes."""
    with tempfile.TemporaryDirectory() as drawn:
        paths = {name: str(Path(drawn) / f"{name}.png") for name in SIZES}
        detections = {}
        for name, (width, height) in SIZES.items():
            cv2.imwrite(paths[name], np.full((height, width, 3), 128, np.uint8))
            detections[paths[name]] = sv.Detections(
                xyxy=np.array([mark[1:] for mark in BOXES[name]], float),
                class_id=np.array([LABELS.index(mark[0]) for mark in BOXES[name]]),
            )
        whole = sv.DetectionDataset(LABELS, list(paths.values()), detections)
        yolo = folder / "supervision-yolo"
        whole.as_yolo(annotations_directory_path=str(yolo / "labels"), data_yaml_path=str(yolo / "data.yaml"))
        whole.as_coco(annotations_path=str(folder / "supervision-coco.json"))


def write_masks(folder: Path) -> None:
    """Write a mask in both of COCO's codes, with what pycocotools says of it and the boxes of its four parts."""
    drawing = np.zeros((300, 400), np.uint8)
    drawing[20:60, 30:90] = 1
    drawing[30:40, 40:60] = 0
    drawing[100:103, 200:203] = np.eye(3, dtype=np.uint8)
    drawing[200:, 390:] = 1
    compressed = masks.encode(np.asfortranarray(drawing))
    flat = drawing.ravel(order="F")
    edges = np.flatnonzero(np.diff(np.concatenate(([0], flat, [0]))))
    runs = {"size": [300, 400], "counts": np.diff(np.concatenate(([0], edges, [flat.size]))).tolist()}
    told = {
        "area": int(masks.area(compressed)),
        "bbox": masks.toBbox(compressed).tolist(),
        "compressed": {"size": [300, 400], "counts": compressed["counts"].decode()},
        "runs": runs,
    }
    draws = np.random.default_rng(3)
    told["drawn"] = []
    for _ in range(40):
        size = draws.integers(3, 24, 2)
        pixels = (draws.random(size) < draws.uniform(0.2, 0.8)).astype(np.uint8)
        packed = masks.encode(np.asfortranarray(pixels))
        told["drawn"].append(
            {
                "size": size.tolist(),
                "counts": packed["counts"].decode(),
                "area": int(masks.area(packed)),
                "bbox": masks.toBbox(packed).tolist(),
            }
        )
    assert masks.area(masks.frPyObjects(runs, 300, 400)) == told["area"]
    assert math.isclose(told["bbox"][2], 370)
    (folder / "pycocotools-masks.json").write_text(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
