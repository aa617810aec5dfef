"""Random scenes: land of ships, pools and roundabouts from above, and plazas of persons and bicycles with cues."""

import math
from collections.abc import Iterator

import numpy as np

from gigavqa.construction.annotations import AnnotatedImage, Annotation, Box
from gigavqa.construction.candidates import Candidate
from gigavqa.construction.recipes.recipe import CategoryNames, RecipeContext
from gigavqa.construction.recipes.registry import recipes_of

WIDTH, HEIGHT = 4000, 3000
LAND = ("pool", "roundabout", "ship")
PLAZA = ("bicycle", "person", "umbrella")
CONTEXT = RecipeContext({name: CategoryNames(name, f"{name}s") for name in (*LAND, *PLAZA)}, (*LAND, *PLAZA))
RECIPES = {name: recipe for name, recipe in recipes_of("ultravr").items() if name.startswith(("rs-", "cctv-"))}
"""Those of land and plazas."""
_ANGLES = (0, 5, 90, 170, 80, 45)


def mark(
    number: int, category: str, x: float, y: float, *, angle: float = 0, size: tuple[float, float] = (60, 20)
) -> Annotation:
    """Mark an oriented object around (x, y), turned by an angle in degrees."""
    cos, sin, (w, h) = math.cos(math.radians(angle)), math.sin(math.radians(angle)), (size[0] / 2, size[1] / 2)
    corners = [(x + u * cos - v * sin, y + u * sin + v * cos) for u, v in ((-w, -h), (w, -h), (w, h), (-w, h))]
    xs, ys = zip(*corners, strict=True)
    quad = tuple(side for corner in corners for side in corner)
    return Annotation(f"f#{number}", category, Box(min(xs), min(ys), max(xs), max(ys)), quad=quad)


def land(seed: int) -> AnnotatedImage:
    """Scatter ships and pools, a few of them aslant, and roundabouts with ships around them."""
    rng, marks = np.random.default_rng([1, seed]), list[Annotation]()
    for name, number in (("ship", int(rng.integers(2, 16))), ("pool", int(rng.integers(0, 10)))):
        for x, y in rng.uniform((50, 50), (WIDTH - 50, HEIGHT - 50), (number, 2)).tolist():
            angle = float(rng.choice(_ANGLES, p=[0.3, 0.2, 0.2, 0.14, 0.14, 0.02]))
            marks.append(mark(len(marks) + 1, name, x, y, angle=angle))
    for column in (0, 1):
        for row in (0, 1):
            x = (column + float(rng.uniform(0.25, 0.75))) * WIDTH / 2
            y = (row + float(rng.uniform(0.25, 0.75))) * HEIGHT / 2
            if rng.random() < 0.7:
                marks.append(mark(len(marks) + 1, "roundabout", x, y, size=(160, 150)))
                for dx, dy in rng.uniform(-180, 180, (int(rng.integers(0, 5)), 2)).tolist():
                    marks.append(mark(len(marks) + 1, "ship", x + dx, y + dy))
    return AnnotatedImage(f"land-{seed}.png", WIDTH, HEIGHT, tuple(marks))


def plaza(seed: int) -> AnnotatedImage:
    """Scatter persons with cues, some of them the same, bicycles and umbrellas."""
    rng, marks = np.random.default_rng([2, seed]), list[Annotation]()
    for name in PLAZA:
        for x, y in rng.uniform((70, 100), (WIDTH - 70, HEIGHT - 100), (int(rng.integers(1, 11)), 2)).tolist():
            wide, high = rng.integers(15, 60, 2).tolist()
            box = Box(x - wide, y - high, x + wide, y + high)
            marks.append(
                Annotation(f"p#{len(marks) + 1}", name, box, attributes=_cues(rng) if name == "person" else {})
            )
    return AnnotatedImage(f"plaza-{seed}.png", WIDTH, HEIGHT, tuple(marks))


def _cues(rng: np.random.Generator) -> dict[str, str]:
    drawn = {
        "age": str(rng.choice(["adult", "child"])),
        "pose": str(rng.choice(["standing", "walking"])),
        "upper clothing": str(rng.choice(["blue", "pink", "white", "yellow"])),
        "facing": str(rng.choice(["forward", "backward", "left", "right"])),
    }
    return {name: value for name, value in drawn.items() if rng.random() < 0.95}


def candidates(image: AnnotatedImage, context: RecipeContext = CONTEXT) -> Iterator[Candidate]:
    """Yield what the recipes of the image's domain find in it."""
    domain = "rs-" if image.image.startswith("land") else "cctv-"
    for name, recipe in RECIPES.items():
        if name.startswith(domain):
            found = recipe.candidates(image, context, np.random.default_rng(0))
            yield from (one for one in found if isinstance(one, Candidate))
