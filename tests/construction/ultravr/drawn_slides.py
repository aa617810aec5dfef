"""Drawn slides with labels and areas, of worlds in which findings are rare, or go together."""

import numpy as np

from gigavqa.construction.annotations import AnnotatedImage, Annotation, Box

WIDTH, HEIGHT = 60_000, 48_000
_SHARES = {
    "even": {"focality": 0.5, "in_situ": 0.5, "invasive": 0.8, "lvi": 0.5, "high": 0.5},
    "rare": {"focality": 0.2, "in_situ": 0.7, "invasive": 0.97, "lvi": 0.25, "high": 0.35},
}
WORLDS = (*_SHARES, "correlated")
_LEANING = {"even": 0.2, "rare": 0.0, "correlated": 0.05}


def draw_slides(world: str, number: int, seed: int = 0) -> list[AnnotatedImage]:
    """Return slides of a world; each is the same whatever others there are."""
    return [draw_slide(world, at, np.random.default_rng([seed, WORLDS.index(world), at])) for at in range(number)]


def draw_slide(world: str, at: int, rng: np.random.Generator) -> AnnotatedImage:
    """Return one slide with all findings but a few."""
    chances = dict(_SHARES.get(world, _SHARES["even"]))
    if world == "correlated":
        chances |= {"lvi": 0.8, "focality": 0.7, "in_situ": 0.3} if rng.random() < 0.5 else {"lvi": 0.1, "high": 0.1}
    held = {name: bool(rng.random() < chance) for name, chance in chances.items()}
    held["in_situ"] |= not held["invasive"]
    held["lvi"] &= held["invasive"]
    labels: dict[str, str | float | bool] = {
        "grade": "3" if held["high"] else str(rng.integers(1, 3)),
        "focality": "multifocal" if held["focality"] else "unifocal",
        "in_situ": "present" if held["in_situ"] else "absent",
        "invasive": "present" if held["invasive"] else "absent",
        "lvi": "present" if held["lvi"] else "absent",
        "histologic_type": ("ductal", "lobular", "mixed")[int(rng.choice(3, p=(0.6, 0.3, 0.1)))],
    }
    for name in ("focality", "in_situ", "lvi"):
        if rng.random() < _LEANING[world]:
            labels[name] = f"leans {labels[name]}"
    missing = [name for name in labels if rng.random() < 0.05]
    kept = {name: value for name, value in labels.items() if name not in missing}
    marks = [_area("Invasive", *rng.uniform(0.1, 0.6, 2), 0.25, number=1)]
    if held["in_situ"]:
        marks.append(_area("DCIS", *rng.uniform(0.1, 0.8, 2), 0.08, number=2))
    return AnnotatedImage(f"TCGA-{at:02X}-{at:04d}-01Z-00-DX1.svs", WIDTH, HEIGHT, tuple(marks), kept)


def _area(category: str, x: float, y: float, side: float, number: int) -> Annotation:
    x1, y1, x2, y2 = x * WIDTH, y * HEIGHT, (x + side) * WIDTH, (y + side) * HEIGHT
    return Annotation(f"a#{number}", category, Box(x1, y1, x2, y2), rings=((x1, y1, x2, y1, x2, y2, x1, y2),))
