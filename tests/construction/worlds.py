"""Random worlds of annotated images: sparse, dense, with one dominant category, with counts that go together."""

from collections.abc import Iterator

import numpy as np

from gigavqa.construction.annotations import AnnotatedImage, Annotation, Box
from gigavqa.construction.recipes.recipe import CategoryNames, RecipeContext

CATEGORIES = ("car", "plane", "ship", "tank", "tower")
COLORS = ("blue", "green", "grey", "red", "white")
KINDS = ("sparse", "dense", "dominant", "correlated")
WIDTH, HEIGHT = 4000, 3000
CONTEXT = RecipeContext(
    {name: CategoryNames(name, f"{name}s") for name in CATEGORIES},
    CATEGORIES,
    {name: {"color": COLORS, "moored": ("False", "True")} for name in CATEGORIES},
)


def draw_images(kind: str, number: int, seed: int = 0) -> Iterator[AnnotatedImage]:
    """Yield images of a kind of world; each is the same whatever others there are."""
    for at in range(number):
        yield draw_image(kind, at, np.random.default_rng([seed, KINDS.index(kind), at]))


def draw_image(kind: str, at: int, rng: np.random.Generator) -> AnnotatedImage:
    """Return one image with objects whose sizes, places and attributes are drawn."""
    total = int(rng.integers(1, 8))
    rates = {
        "sparse": np.full(5, 1.2),
        "dense": np.full(5, 8.0),
        "dominant": np.array([9.0, 1.0, 1.0, 0.7, 0.7]),
        "correlated": total * np.array([1.0, 0.5, 1.5, 1.0, 0.7]),
    }[kind]
    objects = [
        _draw_object(f"w.json#{at}-{place}", category, rng)
        for place, category in enumerate(np.repeat(CATEGORIES, rng.poisson(rates)))
    ]
    return AnnotatedImage(f"{kind}-{at}.png", WIDTH, HEIGHT, tuple(objects), {"north": 10.0})


def _draw_object(name: str, category: str, rng: np.random.Generator) -> Annotation:
    width, height = rng.integers(12, 120, 2)
    x, y = int(rng.integers(5, WIDTH - 130)), int(rng.integers(5, HEIGHT - 130))
    box = Box(float(x), float(y), float(x + width), float(y + height))
    color = COLORS[int(rng.choice(5, p=(0.4, 0.3, 0.15, 0.1, 0.05)))]
    return Annotation(name, str(category), box, attributes={"color": color, "moored": bool(rng.integers(4) == 0)})
