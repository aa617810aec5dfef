"""Folders of products in the form of MVTec LOCO AD, whose pictures say in their pixels what they are."""

import json
from pathlib import Path

import numpy as np
from PIL import Image

SIZE = (64, 48)
NUMBER, DEFECT = 0, 1
"""Rows of a picture that hold its number and its defect: the number in red and green, the defect in blue."""
DEFECTS = {
    "breakfast_box": {"missing_almonds": "logical", "2_nectarines_1_tangerine": "logical", "box_damaged": "structural"},
    "juice_bottle": {"swapped_labels": "logical", "contamination": "structural"},
    "pushpins": {"missing_pushpin": "logical", "front_bent": "structural", "color": "structural"},
    "screw_bag": {"1_missing_long_screw": "logical", "part_broken": "structural", "bag_broken": "structural"},
}
VIOLATED = {
    "missing_almonds": {"the lower part of the right compartment holds almonds"},
    "2_nectarines_1_tangerine": {
        "the left compartment holds exactly two tangerines",
        "the left compartment holds exactly one nectarine",
    },
    "box_damaged": {"the box is undamaged and free of foreign objects"},
    "swapped_labels": {
        "the fruit label sits in the middle of the bottle and is straight",
        "the bottle carries a text label at its bottom that is straight",
    },
    "contamination": {"bottle, labels and juice are undamaged and free of foreign objects"},
    "missing_pushpin": {"each compartment holds exactly one pushpin"},
    "front_bent": {"every pushpin has a straight, complete needle"},
    "1_missing_long_screw": {"the bag holds exactly two screws", "one screw is long"},
    "part_broken": {"all parts are undamaged"},
    "bag_broken": {"the bag is undamaged and free of foreign objects"},
}
"""What people would say of each defect, in the words of the steps; of the colour of a pin they say nothing."""


def draw_product(
    folder: Path, product: str = "pushpins", normal: int = 99, each: int = 2, mask: tuple[int, int] = (30, 26)
) -> Path:
    """Write a product's folder with so many normal pictures, and so many of each of its defects."""
    source, rng = folder / product, np.random.default_rng(len(product))
    for at in range(normal):
        split = ("train", "validation", "test")[at % 3]
        _draw(source / split / "good" / f"{at:03}.png", at, 0, rng)
    names = [name for name in DEFECTS[product] for _ in range(each)]
    for at, name in enumerate(names):
        kind, value = f"{DEFECTS[product][name]}_anomalies", 255 - [*DEFECTS[product]].index(name)
        _draw(source / "test" / kind / f"{at:03}.png", normal + at, value, rng)
        marked = np.zeros(SIZE[::-1], np.uint8)
        marked[10 : 10 + mask[1], 20 : 20 + mask[0]] = value
        _save(source / "ground_truth" / kind / f"{at:03}" / "000.png", marked)
    told = [{"defect_name": name, "pixel_value": 255 - at} for at, name in enumerate(DEFECTS[product])]
    (source / "ground_truth").mkdir(parents=True, exist_ok=True)
    (source / "defects_config.json").write_text(json.dumps(told), encoding="utf-8")
    return source


def _draw(path: Path, number: int, defect: int, rng: np.random.Generator) -> None:
    pixels = rng.integers(0, 256, (SIZE[1], SIZE[0], 3), np.uint8)
    pixels[NUMBER] = number >> 8, number & 255, 7
    pixels[DEFECT] = 9, 9, defect
    _save(path, pixels)


def _save(path: Path, pixels: np.ndarray) -> None:  # type: ignore[type-arg]
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, compress_level=1)
