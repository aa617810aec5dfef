"""Landmarks of a quadrant that a model names, `rs-landmarks/1`, and finds again by the name: `rs-landmark-check/1`."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from gigavqa.answers.matching import IOU_THRESHOLD, iou
from gigavqa.benchmarks.ultravr.taxonomy import QUADRANTS, Quadrant
from gigavqa.construction.additions import LANDMARK
from gigavqa.construction.annotations import AnnotatedImage, Annotation, Box, Omissions
from gigavqa.construction.calls.call_desk import CallDesk, CallReading
from gigavqa.construction.calls.errors import ReplyFaultError
from gigavqa.construction.calls.model_call import CallPicture, CallSampling, ModelCall
from gigavqa.construction.errors import BuildError
from gigavqa.construction.inquiries import Images, InquiryScope, ModelAdditions, ask_in_groups, object_schema
from gigavqa.construction.recipes.marked_objects import draw_words
from gigavqa.construction.ultravr.regions import RegionObjects, named_categories, objects_by_region
from gigavqa.tiling.geometry import Region

MOST_LANDMARKS = 5
MOST_CATEGORIES = 3
"""Of a picture, whose quadrants are asked about: 12 calls a picture at most, and as many checks as landmarks."""
_MOST_OBJECTS = 12
_STAGE, _CHECK = "rs-landmarks", "rs-landmark-check"
_PROMPT, _CHECK_PROMPT = f"{_STAGE}/1", f"{_CHECK}/1"
_SAMPLING = CallSampling(max_tokens=800, temperature=0.0)
_SCALES = {"unit": 1, "thousand": 1000}
"""What a coordinate is at the far edge, by how a model writes boxes."""
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
_BROAD = frozenset(
    _WORD.findall(
        "area areas building buildings bushes car cars clearing courtyard field fields forest grass greenery ground "
        "house houses land lane lawn lot lots parking path pavement plants road roads roadway roof roofs sand shadow "
        "shadows sidewalk soil space street streets surface terrain tree trees vegetation vehicle vehicles water woods"
    )
)
"""A description that is one of these is of many things."""
_NEVER = _BROAD - {"building", "courtyard", "field", "house", "lot", "roof", "tree"}
"""Nor may it end in one of these, whatever stands before."""
_ARTICLES = frozenset({"a", "an", "the"})
_REASONS = {
    "broad": "a description such as a road, grass or buildings fits many things",
    "known": "it is a landmark that was named before",
    "unread": "a reply was refused, or could not be read",
    "not-one": "asked again, the model did not find just one such thing",
    "elsewhere": f"asked again, the model found it elsewhere (IoU below {IOU_THRESHOLD})",
    "no-file": "the picture is no single file",
}


class _Place(NamedTuple):
    """A quadrant as a call shows it, with the objects of one category."""

    image: AnnotatedImage
    region: Region
    picture: CallPicture
    category: str
    objects: Sequence[Annotation]


@dataclass(frozen=True)
class _Landmark:
    """What a model named, in pixels of the image, and the call that did."""

    place: _Place
    name: str
    box: Box
    call: str


class RsLandmarks:
    """Asks for landmarks of each quadrant with objects of a category, and of each whether it is found again, alone."""

    version = f"{_PROMPT}+{_CHECK_PROMPT}"
    later: Sequence[str] = (_CHECK,)

    def calls(self, images: Iterable[AnnotatedImage], scope: InquiryScope) -> Iterator[ModelCall]:
        """Yield one call a quadrant and category. Raises BuildError for a model that writes boxes in pixels."""
        return (_call(place, scope) for place in _places(images, scope, Omissions()))

    def ask(self, desk: CallDesk, images: Images, scope: InquiryScope, found: ModelAdditions) -> None:
        """Add landmarks to images for which people marked none."""
        places = ((place, [_call(place, scope)]) for place in _places(images(), scope, found.omissions))
        named = [
            one
            for place, (outcome,) in ask_in_groups(desk, places, _read_boxes)
            if not found.wait(_STAGE, [outcome])
            for one in _named(place, outcome, scope, found.omissions)
        ]
        desk.forecast(_check(one, scope) for one in named)
        checks = ((one, [_check(one, scope)]) for one in named)
        for one, (outcome,) in ask_in_groups(desk, checks, _read_boxes):
            if found.wait(_CHECK, [outcome]):
                continue
            reason = _fault(one, outcome, scope, found)
            if reason:
                _leave_out(found.omissions, reason, one.name, one.place.image)
                continue
            kept = found.landmarks.setdefault(one.place.image.image, [])
            mark = Annotation(
                f"{_PROMPT}#{one.call[:12]}-{len(kept) + 1}", LANDMARK, one.box, attributes={LANDMARK: one.name}
            )
            kept.append(mark)
            found.calls[mark.id] = [one.call, outcome.answered_by] if isinstance(outcome, CallReading) else [one.call]


def is_broad(description: str) -> bool:
    """Return whether a description fits many things: it says no more than a kind, or ends in a broad word."""
    words = [word for word in _WORD.findall(description.lower()) if word not in _ARTICLES]
    return not words or words[-1] in _NEVER or set(words) <= _BROAD | {"open", "the", "large", "small"}


def _places(images: Iterable[AnnotatedImage], scope: InquiryScope, omissions: Omissions) -> Iterator[_Place]:
    if scope.entry.box_convention not in _SCALES:
        raise BuildError(
            f"--ask {scope.entry.id}: it writes boxes in pixels of what it is shown, which {_PROMPT} does not read; "
            "name a model that writes them in parts or thousandths, or give --landmarks and other --recipes"
        )
    for image in images:
        if image.landmarks:
            continue
        regions = {name: objects_by_region(image, name) for name in named_categories(image, scope.context)}
        asked = {name: [one for one in QUADRANTS if _is_asked(by[one])] for name, by in regions.items()}
        for category in draw_words([name for name in asked if len(asked[name]) > 1], MOST_CATEGORIES, image.image):
            for quadrant in asked[category]:
                region = _region(image, quadrant)
                picture = scope.picture(image, str(region))
                if picture is None:
                    _leave_out(omissions, "no-file", quadrant, image)
                    continue
                yield _Place(image, region, picture, category, regions[category][quadrant].objects)


def _is_asked(region: RegionObjects) -> bool:
    return not region.doubt and 0 < len(region.objects) <= _MOST_OBJECTS


def _region(image: AnnotatedImage, quadrant: Quadrant) -> Region:
    """Return the pixels that lie whole in a quadrant."""
    row, column = divmod(QUADRANTS.index(quadrant), 2)
    left, top = (-(-image.width // 2) if column else 0), (-(-image.height // 2) if row else 0)
    return Region(left, top, image.width // 2, image.height // 2)


def _call(place: _Place, scope: InquiryScope) -> ModelCall:
    scale, many = _SCALES[scope.entry.box_convention], scope.context.names[place.category].many
    boxes = "; ".join(str(_written(one.box, place.region, scale)) for one in place.objects)
    text = f"""The picture is a part of a view from above. Boxes are [left, top, right, bottom], where 0 is the left \
or top edge and {scale} the right or bottom one. There are {many} at {boxes}.

Name at most {MOST_LANDMARKS} other things as landmarks: each whole within the picture, larger than each of those, and \
the only one of its look here. Describe each in two to eight words by kind and by color, shape, size or pattern, such \
as "the round white tank", so that it cannot be taken for anything else; no road, open area, grass, pavement or \
buildings in general. Where there is none, return an empty list. Return JSON only."""
    named = object_schema(
        {"description": {"type": "string", "minLength": 3, "maxLength": 80}, "box": _box_schema(scale)}
    )
    schema = object_schema({"landmarks": {"type": "array", "maxItems": MOST_LANDMARKS, "items": named}})
    return ModelCall(_STAGE, _PROMPT, scope.entry.id, text, (place.picture,), schema, _SAMPLING)


def _check(one: _Landmark, scope: InquiryScope) -> ModelCall:
    scale = _SCALES[scope.entry.box_convention]
    text = f"""The picture is a part of a view from above. How many things in it fit this description: "{one.name}"?

Return JSON: "number" is "none", "one" or "several", and "boxes" has the box of each, {MOST_LANDMARKS} at most, as \
[left, top, right, bottom], where 0 is the left or top edge and {scale} the right or bottom one."""
    boxes = {"type": "array", "maxItems": MOST_LANDMARKS, "items": _box_schema(scale)}
    schema = object_schema({"number": {"enum": ["none", "one", "several"]}, "boxes": boxes})
    return ModelCall(_CHECK, _CHECK_PROMPT, scope.entry.id, text, (one.place.picture,), schema, _SAMPLING)


def _box_schema(scale: int) -> dict[str, Any]:
    side = {"type": "integer" if scale > 1 else "number", "minimum": 0, "maximum": scale}
    return {"type": "array", "items": side, "minItems": 4, "maxItems": 4}


def _read_boxes(value: Any) -> Any:
    """Refuse boxes without area. Raises ReplyFaultError."""
    for x1, y1, x2, y2 in [*(one["box"] for one in value.get("landmarks", ())), *value.get("boxes", ())]:
        if x1 >= x2 or y1 >= y2:
            raise ReplyFaultError("box", f"Box {[x1, y1, x2, y2]} has no area: left < right and top < bottom.")
    return value


def _named(place: _Place, outcome: Any, scope: InquiryScope, omissions: Omissions) -> Iterator[_Landmark]:
    if not isinstance(outcome, CallReading):
        _leave_out(omissions, "unread", place.category, place.image)
        return
    for one in outcome.value["landmarks"]:
        name = " ".join(one["description"].split()).rstrip(".")
        if is_broad(name):
            _leave_out(omissions, "broad", name, place.image)
        else:
            yield _Landmark(place, name, _in_pixels(one["box"], place.region, scope), outcome.answered_by)


def _fault(one: _Landmark, outcome: Any, scope: InquiryScope, found: ModelAdditions) -> str:
    """Return why a landmark is not kept, or nothing."""
    if not isinstance(outcome, CallReading):
        return "unread"
    boxes = outcome.value["boxes"]
    if outcome.value["number"] != "one" or len(boxes) != 1:
        return "not-one"
    if iou(one.box, _in_pixels(boxes[0], one.place.region, scope)) < IOU_THRESHOLD:
        return "elsewhere"
    kept = found.landmarks.get(one.place.image.image, ())
    return "known" if any(iou(one.box, mark.box) >= IOU_THRESHOLD for mark in kept) else ""


def _in_pixels(box: Sequence[float], region: Region, scope: InquiryScope) -> Box:
    scale = _SCALES[scope.entry.box_convention]
    x1, y1, x2, y2 = (part / scale for part in box)
    return Box(
        region.x + x1 * region.width,
        region.y + y1 * region.height,
        region.x + x2 * region.width,
        region.y + y2 * region.height,
    )


def _written(box: Box, region: Region, scale: int) -> list[float]:
    """Return a box as parts of a region, in whole thousandths."""
    sides = (region.x, region.width), (region.y, region.height)
    parts = [(side - sides[at % 2][0]) / sides[at % 2][1] for at, side in enumerate(box)]
    return [round(min(max(part, 0), 1) * 1000) / (1000 // scale) for part in parts]


def _leave_out(omissions: Omissions, reason: str, about: str, image: AnnotatedImage) -> None:
    told = f"{_STAGE}: '{about}' of '{image.image}': {_REASONS[reason]}; needs people: --landmarks FILE"
    omissions.add(f"{_STAGE}-{reason}", told)
