"""Which of the pictures in a file is shown, where it holds several: scenes, planes, associated images of a slide."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from gigavqa.tiling.errors import ImageUnsupportedError

Axis = Literal["scene", "z", "t"]


class ImagePart(NamedTuple):
    """A declared part of a file: `scene`, focal plane `z` and time `t` are counted from 1, and 0 where not declared.

    `associated` names a label, macro or thumbnail; `is_scanned` cuts a slide to what was scanned of it.
    """

    scene: int = 0
    z: int = 0
    t: int = 0
    associated: str = ""
    is_scanned: bool = False

    def __str__(self) -> str:
        return " ".join(self._words())

    def _words(self) -> Iterator[str]:
        for name, number in (("scene", self.scene), ("z", self.z), ("t", self.t)):
            if number:
                yield f"{name}={number}"
        if self.associated:
            yield f"associated={self.associated}"
        if self.is_scanned:
            yield "crop=scanned"


WHOLE = ImagePart()


def resolve_part(path: Path, part: ImagePart, counts: Mapping[Axis, int]) -> ImagePart:
    """Return the part with every axis resolved, of which a file has so many; what it has one of need not be declared.

    Raises ImageUnsupportedError for what is not declared though there are several, and for what is not there.
    """
    declared: dict[Axis, int] = {"scene": part.scene, "z": part.z, "t": part.t}
    missing = [axis for axis, count in counts.items() if count > 1 and not declared[axis]]
    if missing:
        held = " and ".join(f"{counts[axis]} {_NOUNS[axis]}" for axis in missing)
        words = " ".join(f"{axis}=1" for axis in missing)
        raise ImageUnsupportedError(f"{path}: holds {held}; say which is shown: `show` {words}")
    for axis, number in declared.items():
        if number > max(1, counts.get(axis, 1)):
            raise ImageUnsupportedError(
                f"{path}: `show` asks for {axis}={number}, and it has {counts.get(axis, 1)} {_NOUNS[axis]}"
            )
    return part._replace(scene=part.scene or 1, z=part.z or 1, t=part.t or 1)


def require_no_slide(path: Path, part: ImagePart) -> None:
    """Raise ImageUnsupportedError where a part of a slide is asked of what is none."""
    if part.associated or part.is_scanned:
        raise ImageUnsupportedError(f"{path}: `show` {part}: only slides that OpenSlide reads have such a part")


def require_whole(path: Path, part: ImagePart) -> None:
    """Raise ImageUnsupportedError where a part is asked of a file that holds one picture."""
    require_no_slide(path, part)
    resolve_part(path, part, {})


def require_associated(path: Path, name: str, known: Collection[str]) -> None:
    """Raise ImageUnsupportedError where a slide has no associated image of a name."""
    if name not in known:
        has = f"has {', '.join(sorted(known))}" if known else "has none"
        raise ImageUnsupportedError(f"{path}: `show` asks for the associated image {name}, and it {has}")


_NOUNS: dict[Axis, str] = {"scene": "scenes", "z": "focal planes (z)", "t": "times (t)"}
