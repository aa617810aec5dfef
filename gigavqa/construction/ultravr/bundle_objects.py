"""The objects of a bundle in an image, by quadrant, where it is sure which ones they are."""

from typing import NamedTuple

from gigavqa.benchmarks.ultravr.taxonomy import QUADRANTS, Quadrant
from gigavqa.construction.annotations import AnnotatedImage, Annotation
from gigavqa.construction.bundles import Bundle
from gigavqa.construction.recipes.marked_objects import has_twins, overlap
from gigavqa.construction.ultravr.regions import objects_by_region

BUNDLE_REASONS = {
    "unread": "an object lacks an attribute that tells whether it belongs to the bundle",
    "twice": "two boxes mark one object",
}
SAME_OBJECT = 0.9
"""Intersection over union from which on two boxes mark one object."""


class BundleObjects(NamedTuple):
    """The objects of a bundle by quadrant, from top to bottom, and why they cannot be counted, if so.

    A doubt about a quadrant alone stands in `near_boundary`: which objects there are is sure all the same.
    """

    bundle: Bundle
    by_quadrant: dict[Quadrant, tuple[Annotation, ...]]
    doubt: str = ""
    near_boundary: bool = False

    @property
    def objects(self) -> list[Annotation]:
        """All of them, from top to bottom."""
        found = [one for objects in self.by_quadrant.values() for one in objects]
        return sorted(found, key=lambda one: (one.box.y1, one.box.x1))


def bundle_objects(image: AnnotatedImage, bundle: Bundle) -> BundleObjects:
    """Return the objects of an image that belong to a bundle."""
    regions = objects_by_region(image, bundle.category)
    doubts = {region.doubt for region in regions.values()}
    held = {one.id: bundle.holds(one) for region in regions.values() for one in region.objects}
    by_quadrant = {name: tuple(one for one in regions[name].objects if held[one.id]) for name in QUADRANTS}
    found = BundleObjects(bundle, by_quadrant, near_boundary="near_boundary" in doubts)
    if doubt := next((one for one in ("unlabelled", "difficult") if one in doubts), ""):
        return found._replace(doubt=doubt)
    if None in held.values():
        return found._replace(doubt="unread")
    return found._replace(doubt="twice" if has_twins([one.box for one in found.objects], SAME_OBJECT) else "")


def share_objects(first: BundleObjects, second: BundleObjects) -> bool:
    """Return whether an object, or a box, belongs to both."""
    one, other = first.objects, second.objects
    if {each.id for each in one} & {each.id for each in other}:
        return True
    return bool(overlap([each.box for each in one], [each.box for each in other], SAME_OBJECT).any())
