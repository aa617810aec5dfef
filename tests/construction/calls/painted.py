"""Painted scenes whose truth a stand-in model reads from the pixels that it is shown: no other knowledge of them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

SIZE = (1000, 800)
_BODY = (50, 110)
FACINGS = {"forward": (0, 0, 255), "backward": (255, 255, 0), "left": (0, 255, 255), "right": (255, 0, 255)}
CLOTHES = {"blue": (0, 0, 120), "white": (250, 250, 250), "black": (10, 10, 10), "brown": (120, 70, 30)}
HALLS = {"blue": (0, 0, 255), "yellow": (255, 255, 0), "purple": (160, 0, 160), "white": (255, 255, 255)}
Pixels = np.ndarray[Any, Any]


def write_plazas(folder: Path, number: int) -> dict[str, str]:
    """Paint plazas of four persons a quadrant, in PANDA's form; returns where each person faces, by its id.

    A person's upper half has the color of its clothes, and the lower half that of its facing.
    """
    (folder / "images").mkdir(parents=True)
    rng, document, truth = np.random.default_rng(4), dict[str, Any](), dict[str, str]()
    for at in range(number):
        picture, persons = Image.new("RGB", SIZE, "grey"), []
        for quadrant in range(4):
            rows, clothes = rng.permutation(4), rng.permutation(list(CLOTHES))
            for column in range(4):
                facing = str(rng.choice(list(FACINGS)))
                left = 55 + 110 * column + SIZE[0] // 2 * (quadrant % 2)
                top = 15 + 60 * int(rows[column]) + SIZE[1] // 2 * (quadrant // 2)
                box = (left, top, left + _BODY[0], top + _BODY[1])
                picture.paste(CLOTHES[clothes[column]], (*box[:3], top + _BODY[1] // 2))
                picture.paste(FACINGS[facing], (left, top + _BODY[1] // 2, *box[2:]))
                persons.append({"category": "person", "age": "adult", "rects": {"visible body": _rect(box)}})
                truth[f"person.json#{len(truth) + 1}"] = facing
        picture.save(folder / "images" / f"plaza-{at}.png")
        size = {"width": SIZE[0], "height": SIZE[1]}
        document[f"plaza-{at}.png"] = {"image size": size, "objects list": persons}
    (folder / "person.json").write_text(json.dumps(document), encoding="utf-8")
    return truth


def cues_seen(body: dict[str, Any], pictures: list[Pixels]) -> str:
    """Return the reply of somebody who looks into the red and the green box: where they face, and their clothes."""
    red, green, blue = (pictures[0][..., at].astype(int) for at in range(3))
    inks = {"red": (red > 150) & (green < 80) & (blue < 80), "green": (green > 150) & (red < 80) & (blue < 80)}
    return json.dumps({ink: _person(pictures[0], mask) for ink, mask in inks.items()})


def _person(pixels: Pixels, mask: Pixels) -> dict[str, Any]:
    down, across = np.nonzero(mask)
    top, bottom, middle = down.min(), down.max(), (across.min() + across.max()) // 2
    upper, lower = (pixels[int(top + part * (bottom - top)), middle] for part in (0.25, 0.75))
    seen = {"direction": _nearest(FACINGS, lower), "upper_clothing_color": _nearest(CLOTHES, upper)}
    return {**seen, "confidence": 0.9, "headwear": "none", "carried": "unsure"}


def write_land(folder: Path, number: int) -> Path:
    """Paint land of ships, and of a hall of a color of its own in every quadrant, with DOTA's labels of the ships."""
    for name in ("images", "labels"):
        (folder / name).mkdir(parents=True)
    for at in range(number):
        rng, picture, lines = np.random.default_rng([5, at]), Image.new("RGB", SIZE, "grey"), []
        for quadrant, ink in enumerate(HALLS.values()):
            x, y = SIZE[0] // 2 * (quadrant % 2), SIZE[1] // 2 * (quadrant // 2)
            picture.paste(ink, (x + 200, y + 150, x + 300, y + 250))
            places = [(180, 200), (250, 120), (330, 200), (40, 40), (460, 360), (40, 360)]
            for place in rng.permutation(6)[: int(rng.integers(3, 6))]:
                left, top = x + places[place][0] - 10, y + places[place][1] - 5
                picture.paste("red", (left, top, left + 20, top + 10))
                corners = (left, top, left + 20, top, left + 20, top + 10, left, top + 10)
                lines.append(f"{' '.join(map(str, corners))} ship 0")
        picture.save(folder / "images" / f"P{at:04}.png")
        (folder / "labels" / f"P{at:04}.txt").write_text("\n".join([*lines, ""]), encoding="utf-8")
    return folder


def halls_seen(body: dict[str, Any], pictures: list[Pixels]) -> str:
    """Return the reply of somebody who sees the hall of a quadrant: its name and box, or its box alone where asked."""
    pixels = pictures[0].astype(int)
    height, width = pixels.shape[:2]
    found = {name: np.abs(pixels - ink).max(axis=2) < 40 for name, ink in HALLS.items()}
    name = max(found, key=lambda one: int(found[one].sum()))
    down, across = np.nonzero(found[name])
    box = [across.min() / width, down.min() / height, (across.max() + 1) / width, (down.max() + 1) / height]
    box = [round(1000 * float(side)) for side in box]
    if "How many" in json.dumps(body["messages"]):
        return json.dumps({"number": "one", "boxes": [box]})
    named = [{"description": f"the {name} hall", "box": box}, {"description": "the grey open area", "box": box}]
    return json.dumps({"landmarks": named})


def _nearest(inks: dict[str, tuple[int, int, int]], pixel: Pixels) -> str:
    return min(inks, key=lambda name: int(np.abs(pixel.astype(int) - inks[name]).sum()))


def _rect(box: tuple[int, int, int, int]) -> dict[str, Any]:
    x1, y1, x2, y2 = box
    return {"tl": {"x": x1 / SIZE[0], "y": y1 / SIZE[1]}, "br": {"x": x2 / SIZE[0], "y": y2 / SIZE[1]}}
