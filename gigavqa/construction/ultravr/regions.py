"""The objects of a category by quadrant, where it is sure which quadrant each belongs to."""

from typing import NamedTuple

from gigavqa.benchmarks.ultravr.taxonomy import QUADRANTS, Quadrant
from gigavqa.construction.annotations import AnnotatedImage, Annotation
from gigavqa.construction.recipes.recipe import CategoryNames, RecipeContext

REGION_REASONS = {
    "near_boundary": "an object lies so close to a line between quadrants that its quadrant is not sure",
    "difficult": "an object is marked as difficult",
    "unlabelled": "a zone is marked in which objects of the category are not marked one by one, or a mark was left out",
    "unnamed": "the category has no name that can stand in a sentence: give one by --call",
}
_LEAST_DISTANCE = 0.005
"""Of the image's side: what the center of even the smallest object keeps from a line between quadrants."""


class RegionObjects(NamedTuple):
    """The objects of a category in one quadrant, from top to bottom, and why they cannot be counted, if so."""

    objects: tuple[Annotation, ...]
    doubt: str = ""


def named_categories(image: AnnotatedImage, context: RecipeContext) -> list[str]:
    """Return the categories of an image's objects whose names can stand in a sentence, sorted."""
    return [one for one in _categories(image, context) if _is_named(context.names[one])]


def unnamed_categories(image: AnnotatedImage, context: RecipeContext) -> list[str]:
    """Return the others: names with a `_` are labels of files, which nobody reads as words."""
    return [one for one in _categories(image, context) if not _is_named(context.names[one])]


def _categories(image: AnnotatedImage, context: RecipeContext) -> list[str]:
    found = {one.category for one in image.annotations if not one.flags & {"crowd", "ignore"}}
    return sorted(found & set(context.names))


def _is_named(names: CategoryNames) -> bool:
    return "_" not in names.one + names.many


def objects_by_region(image: AnnotatedImage, category: str) -> dict[Quadrant, RegionObjects]:
    """Return the objects of a category in each quadrant, by their centers.

    A quadrant is in doubt where an object of it is difficult, has its center within half its side (or 0.005 of the
    image's side) of a line between quadrants, or where a zone without single marks reaches into it: a crowd of the
    category, or a zone to be ignored. All are where a mark of the category was left out.
    """
    found: dict[Quadrant, list[Annotation]] = {quadrant: [] for quadrant in QUADRANTS}
    doubts: dict[Quadrant, str] = dict.fromkeys(QUADRANTS if {"", category} & image.incomplete else (), "unlabelled")
    for one in image.annotations:
        zone = bool(one.flags & {"crowd", "ignore"})
        hides_any = "ignore" in one.flags or (zone and not one.category)
        if one.category != category and not hides_any:
            continue
        if zone:
            doubts |= dict.fromkeys(touched_quadrants(image, one), "unlabelled")
        else:
            home = quadrant_of(image, one)
            found[home].append(one)
            if "difficult" in one.flags:
                doubts.setdefault(home, "difficult")
            if not _is_stable(image, one):
                doubts |= {name: doubts.get(name, "near_boundary") for name in (home, *touched_quadrants(image, one))}
    ordered = {name: sorted(marks, key=lambda one: (one.box.y1, one.box.x1)) for name, marks in found.items()}
    return {name: RegionObjects(tuple(marks), doubts.get(name, "")) for name, marks in ordered.items()}


def center(image: AnnotatedImage, one: Annotation) -> tuple[float, float]:
    """Return the center of an object as parts of the image's sides."""
    return (one.box.x1 + one.box.x2) / 2 / image.width, (one.box.y1 + one.box.y2) / 2 / image.height


def extent(image: AnnotatedImage, one: Annotation) -> tuple[float, float]:
    """Return the width and height of an object as parts of the image's sides."""
    return (one.box.x2 - one.box.x1) / image.width, (one.box.y2 - one.box.y1) / image.height


def quadrant_of(image: AnnotatedImage, one: Annotation) -> Quadrant:
    """Return the quadrant of an object's center; a center on a line belongs to the right or lower one."""
    x, y = center(image, one)
    return QUADRANTS[2 * (y >= 0.5) + (x >= 0.5)]


def normalized(image: AnnotatedImage, one: Annotation) -> list[float]:
    """Return `[x1, y1, x2, y2]` as parts of the sides, to six decimals."""
    box, width, height = one.box, image.width, image.height
    return [round(v, 6) for v in (box.x1 / width, box.y1 / height, box.x2 / width, box.y2 / height)]


def _is_stable(image: AnnotatedImage, one: Annotation) -> bool:
    (x, y), (width, height) = center(image, one), extent(image, one)
    return abs(x - 0.5) >= max(width / 2, _LEAST_DISTANCE) and abs(y - 0.5) >= max(height / 2, _LEAST_DISTANCE)


def touched_quadrants(image: AnnotatedImage, one: Annotation) -> list[Quadrant]:
    """Return the quadrants that a box reaches into, or comes close to."""
    margin = _LEAST_DISTANCE
    columns = [one.box.x1 / image.width < 0.5 + margin, one.box.x2 / image.width > 0.5 - margin]
    rows = [one.box.y1 / image.height < 0.5 + margin, one.box.y2 / image.height > 0.5 - margin]
    return [quadrant for index, quadrant in enumerate(QUADRANTS) if rows[index // 2] and columns[index % 2]]
