"""Questions that a build sets apart as examples: all of some pictures, so that nothing asked is about one of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gigavqa.construction.draws import stream
from gigavqa.construction.errors import BuildError
from gigavqa.evaluation.samples import EXAMPLES
from gigavqa.runtime.plurals import count_noun


def set_apart(records: Iterable[Mapping[str, Any]], number: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the records, those of some pictures as examples: of each category those of `number` pictures, or more.

    A category is what the record says, within its domain where it says one. Raises BuildError where a category has no
    question left to be asked.
    """
    records = list(records)
    images = _choose(records, number, seed) if number else frozenset()
    asked = {category_of(record) for record in records if images.isdisjoint(images_of(record))}
    if short := sorted({category_of(record) for record in records} - asked):
        own = {image for record in records if category_of(record) == short[0] for image in images_of(record)}
        raise BuildError(
            f"--examples {number}: '{short[0]}' has questions on {count_noun(len(own), 'picture')}, and none is left "
            "to be asked; set fewer apart, or make it without"
        )
    for record in records:
        yield dict(record) if images.isdisjoint(images_of(record)) else {**record, "split": EXAMPLES}


def category_of(record: Mapping[str, Any]) -> str:
    """Return what sorts a record: its category, behind its domain where it has one."""
    return " ".join(str(record[name]) for name in ("domain", "category") if record.get(name))


def images_of(record: Mapping[str, Any]) -> Sequence[str]:
    """Return the names of a record's images."""
    return [record["image"]] if "image" in record else list(record.get("images", ()))


def _choose(records: Sequence[Mapping[str, Any]], number: int, seed: int) -> frozenset[str]:
    """Return the images that are set apart: for each category in turn further ones, until it has enough."""
    of_category: dict[str, set[str]] = {}
    for record in records:
        of_category.setdefault(category_of(record), set()).update(images_of(record))
    chosen: set[str] = set()
    for category in sorted(of_category, key=lambda name: (len(of_category[name]), name)):
        draws = stream(seed, "examples", category)
        others = sorted(of_category[category] - chosen)
        missing = max(0, number - len(of_category[category] & chosen))
        chosen.update(others[at] for at in draws.permutation(len(others))[:missing].tolist())
    return frozenset(chosen)
