"""Draws eye charts and answers of eyes that see well, badly, or through a fault, by seed."""

import random
from collections.abc import Mapping

from tests.scorers.responses import Asked, Line, Made, copies, failed, outgrown, response, turn

COLOURS = ("red", "green", "blue", "yellow")
DIRECTIONS = ("up", "right", "down", "left")
WORDS = {"colour": COLOURS, "direction": DIRECTIONS}
SCENES = ("board", "plate", "wall", "field")
PLACES = ("centre", "edge", "corner", "seam")
SIDE, RASTER, THUMBNAIL = 32768, 192, 64
"""Sides in pixels: of every picture, of its largest raster, and of its thumbnail."""
_DIAMETERS = (8, 32, 64, 96, 128, 256, 1024, 2048, 3072, 4096, 6000, 8192)
_OPPOSITE = {"left": "right", "right": "left", "up": "down", "down": "up"}
SOUND = {"demo-sight": 6.0, "qwen3-vl-8b": 20.0}
"""Models that see what has so many pixels."""
FAULTS = (
    "channels", "mirrored", "flipped", "turned", "neighbour", "off by a tile", "pale", "thumbnail", "coarse", "silent",
    "blind",
)  # fmt: skip
"""Models with a fault that see what has ten pixels, and what is wrong with them."""


def make(seed: int, models: tuple[str, ...], pictures: int = 32) -> Made:
    """Draw a chart of so many pictures, two questions about each, and what the models answer under all conditions."""
    draw = random.Random(seed)
    records = [record for number in range(pictures) for record in _picture(draw, number)]
    return Made("acuity", records, _responses(draw, records, models))


def _picture(draw: random.Random, number: int) -> list[Line]:
    """Draw both questions about the one ring of a picture."""
    diameter = draw.choice(_DIAMETERS)
    x, y = (draw.randrange(64, SIDE - 3 * diameter) for _ in "xy")
    ring = {"x": x, "y": y, "diameter": diameter, "colour": draw.choice(COLOURS), "direction": draw.choice(DIRECTIONS)}
    side = max(32, 2 * diameter)
    labels = {"scene": draw.choice(SCENES), "place": draw.choice(PLACES), "optotype": ring}
    return [
        _record(draw, f"p{number:02}", attribute) | labels | {"evidence": f"{x},{y},{side},{side}"}
        | _lettered(draw, attribute, str(ring[attribute]))
        for attribute in WORDS
    ]  # fmt: skip


def _record(draw: random.Random, picture: str, attribute: str) -> Line:
    question = f"Which {attribute} has the ring{'?' * draw.randint(1, 2)}"
    return {"id": f"{picture}-{attribute}", "images": [f"images/{picture}.tif"], "question": question,
            "attribute": attribute}  # fmt: skip


def _lettered(draw: random.Random, attribute: str, true: str) -> Line:
    options = dict(zip("ABCD", draw.sample(WORDS[attribute], 4), strict=True))
    return {"options": options, "answer": next(letter for letter, word in options.items() if word == true)}


def _responses(draw: random.Random, records: list[Line], models: tuple[str, ...]) -> list[Line]:
    lines = list[Line]()
    beside = {record["id"]: _true(records[(at + 2) % len(records)]) for at, record in enumerate(records)}
    for model in models:
        repeats, often = (draw.randint(1, 2), 0.8) if model in SOUND else (1, 0.2)
        always = ("V1", "V2", "V3") if model == "thumbnail" else ("V2", "V3")
        for condition in [name for name in ("V0", "V1", "V2", "V3", "V4") if name in always or draw.random() < often]:
            missing = draw.choice((0, 0, 0.1))
            for repeat in range(repeats):
                for record in records:
                    if draw.random() >= missing:
                        said = _reply(draw, record, model, condition, beside[record["id"]])
                        lines.append(response(record["id"], Asked(model, "direct", condition, repeat), **said))
    lines.append(response("unknown-sample", Asked(models[0], "direct", "V2"), turns=[turn("A")]))
    again = {at: {"turns": [turn("B")], "rasters": lines[at].get("rasters", [])}
             for at in range(len(lines) - 1) if draw.random() < 0.02}  # fmt: skip
    lines = copies(draw, lines, again)
    draw.shuffle(lines)
    return lines


def _true(record: Line) -> str:
    return str(record["options"][record["answer"]])


def _reply(draw: random.Random, record: Line, model: str, condition: str, beside: str) -> Line:
    rasters, form = _rasters(draw, record, condition), draw.choices(_FORMS, (60, 2, 1, 1, 1, 1, 1, 1, 1, 1))[0]
    if form in ("failed", "outgrown"):
        return failed() if form == "failed" else outgrown()
    letter = _letter(draw, record, _seen(draw, record, model, condition, beside))
    text, finish = {
        "letter": (letter, "stop"),
        "prose": (f"It is {record['options'][letter]}, hence **{letter}**.", "stop"),
        "ambiguous": ("Either A or B.", "stop"),
        "abstained": ("I cannot tell.", "stop"),
        "empty": ("", "stop"),
        "cut": (letter, "length"),
        "thinking": ("<think> what is this", "length"),
        "filtered": ("", "content_filter"),
    }[form if model != "silent" or draw.random() < 0.2 else "ambiguous"]
    return {"turns": [turn(text, finish)], "rasters": rasters}


_FORMS = ("letter", "prose", "ambiguous", "abstained", "empty", "cut", "thinking", "filtered", "failed", "outgrown")


def _letter(draw: random.Random, record: Line, seen: str) -> str:
    """The letter of what is seen; a guess where that is nothing."""
    letters: Mapping[str, str] = {word: letter for letter, word in record["options"].items()}
    return letters.get(seen) or draw.choice("ABCD")


def _seen(draw: random.Random, record: Line, model: str, condition: str, beside: str) -> str:
    """What a model sees of the ring's colour or gap; nothing where the ring is too small for it."""
    ring, true = record["optotype"], _true(record)
    pixels = _pixels(ring["diameter"], condition)
    side = int(record["evidence"].split(",")[2])
    is_dim = (model == "coarse" and condition == "V3") or (model == "thumbnail" and condition == "V2")
    if condition == "V0" or model == "blind" or draw.random() < 0.03:
        return ""
    if (pixels / 4 if is_dim else pixels) < SOUND.get(model, 10.0) * draw.uniform(0.8, 1.25):
        return ""
    if (model == "off by a tile" and condition == "V3" and side < 256) or (model == "pale" and true in COLOURS):
        return ""
    wrong = {
        "channels": {"red": "blue", "blue": "red"},
        "mirrored": {name: _OPPOSITE[name] for name in ("left", "right")},
        "flipped": {name: _OPPOSITE[name] for name in ("up", "down")},
        "turned": dict(zip(DIRECTIONS, (*DIRECTIONS[1:], DIRECTIONS[0]), strict=True)),
        "neighbour": {true: beside},
    }
    return wrong.get(model, {}).get(true, true)


def _pixels(diameter: float, condition: str) -> float:
    """Pixels of a ring in the raster that shows it largest."""
    whole = diameter * (THUMBNAIL if condition == "V1" else RASTER) / SIDE
    local = diameter * min(1.0, RASTER / max(32, 2 * diameter))
    return local if condition in ("V3", "V4") else whole


def _rasters(draw: random.Random, record: Line, condition: str) -> list[Line]:
    """What a condition shows; in one of many the wrong region, which holds no ring."""
    side = int(record["evidence"].split(",")[2])
    region = f"0,0,{side},{side}" if draw.random() < 0.01 else record["evidence"]
    size = min(side, RASTER)
    local, full = _raster(record, region, "native", size), _raster(record, f"0,0,{SIDE},{SIDE}", "native", RASTER)
    small = _raster(record, f"0,0,{SIDE},{SIDE}", f"longest:{THUMBNAIL}", THUMBNAIL)
    return {"V0": [], "V1": [small], "V2": [full], "V3": [local], "V4": [full, local]}[condition]


def _raster(record: Line, region: str, sizing: str, side: int) -> Line:
    image = f"data/{record['images'][0]}"
    return {
        "view": {"image": image, "region": region, "sizing": sizing}, "source_size": [SIDE, SIDE],
        "source_format": "tiff", "region": region, "level": 0, "downsample": 1.0, "raster_size": [side, side],
        "visual_tokens": (side // 32) ** 2, "digest": "0", "key": f"{image}-{region}-{sizing}",
    }  # fmt: skip
