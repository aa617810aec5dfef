"""Where persons face and what they wear, as a model sees them: `cctv-cues/1`, one pair of persons a picture."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import sqrt
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from blake3 import blake3

from gigavqa.construction.annotations import AnnotatedImage, Annotation, Omissions
from gigavqa.construction.build_folder import canonical_json
from gigavqa.construction.calls.call_desk import CallDesk, CallReading
from gigavqa.construction.calls.model_call import CallPicture, CallSampling, ModelCall
from gigavqa.construction.evidence_pictures import draw_boxes, region_around
from gigavqa.construction.inquiries import Images, InquiryScope, ModelAdditions, ask_in_groups, object_schema
from gigavqa.construction.ultravr.persons import FACING
from gigavqa.construction.ultravr.regions import named_categories, objects_by_region
from gigavqa.reports.writers.verdict_files import open_whole_file
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.views import View, plan_view

PERSON = "person"
MOST_PAIRS = 8
"""Of a picture, that are asked about; quadrants with the fewest persons first."""
MOST_PERSONS = 8
"""Of a quadrant: all of them are asked about or none, since whoever lacks a cue may have that of another."""
SAMPLES = 3
_LEAST_CONFIDENCE = 0.8
_TEMPERATURE, _MOST_TOKENS = 0.7, 400
_LEAST_KEPT, _MOST_ALIKE = 8, 0.9
"""Of so many persons or more, the part that may face alike; a model that never looks agrees with itself, too."""
_MOST_PIXELS, _LINE = 1024 * 1024, 3
_LEAST_WIDTH, _LEAST_HEIGHT = 12, 40
"""Of a person in the picture that is shown, in pixels."""
_INKS = {"red": (255, 0, 0), "green": (0, 255, 0)}
_UNSURE, _NONE = "unsure", "none"
_STAGE, _PROMPT = "cctv-cues", "cctv-cues/1"
_CUES = {"upper_clothing_color": "upper clothing", "headwear": "headwear", "carried": "carried"}
_MEANINGS = {
    "forward": "towards the camera",
    "backward": "away from the camera",
    "left": "towards the left edge of the picture",
    "right": "towards the right edge of the picture",
}
_TEXT = f"""Two persons in the picture are boxed: one in red, one in green. Tell of each what you see in its box alone.

direction: where the person's front is turned, as the camera sees it. {{meanings}}; "{_UNSURE}": it cannot be seen.
confidence: from 0 to 1, how sure you are of the direction.
upper_clothing_color: one color, such as "blue".
headwear: with its article, such as "a cap".
carried: what the person carries, with its article, such as "a black backpack".
Write "{_NONE}" where there is none, "{_UNSURE}" where it cannot be seen. Return JSON only, with "red" and "green"."""
_WORDS = {"type": "string", "pattern": "^[a-z][a-z -]{0,39}$"}
"""The pattern bounds the length, too: engines take no pattern beside bounds of its own."""
_SEEN = object_schema(
    {
        "direction": {"enum": [*_MEANINGS, _UNSURE]},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        **dict.fromkeys(_CUES, _WORDS),
    }
)
SCHEMA = object_schema(dict.fromkeys(_INKS, _SEEN))
_REASONS = {
    "disagree": f"{SAMPLES} samples disagree on where a person faces",
    "unsure": f"where a person faces cannot be seen, or the median of confidence is below {_LEAST_CONFIDENCE}",
    "alike": f"over {_MOST_ALIKE:.0%} of the persons are said to face alike, as a model says that does not look",
    "unread": "a sample was refused, or could not be read",
    "crowded": f"a quadrant has more than {MOST_PERSONS} persons, or a picture more than {MOST_PAIRS} pairs",
    "small": f"a person has less than {_LEAST_WIDTH} x {_LEAST_HEIGHT} pixels where both of a pair are shown",
}


class _Pair(NamedTuple):
    """Two persons of a quadrant: the red and the green one. `asked` are those that nobody and no other pair tells."""

    image: AnnotatedImage
    persons: tuple[Annotation, Annotation]
    asked: frozenset[str]


class CctvCues:
    """Asks of each pair three times; what all three agree on is kept, by person, where they are sure of the facing."""

    version = _PROMPT
    later: Sequence[str] = ()

    def calls(self, images: Iterable[AnnotatedImage], scope: InquiryScope) -> Iterator[ModelCall]:
        """Yield three calls a pair."""
        for pair in _pairs(images, scope, Omissions()):
            yield from _calls(pair, scope)

    def ask(self, desk: CallDesk, images: Images, scope: InquiryScope, found: ModelAdditions) -> None:
        """Add `facing` and cues to persons without a `facing` of people's."""
        kept: dict[str, str] = {}
        groups = ((pair, _calls(pair, scope)) for pair in _pairs(images(), scope, found.omissions))
        for pair, outcomes in ask_in_groups(desk, groups):
            if found.wait(_STAGE, outcomes):
                continue
            read = [one for one in outcomes if isinstance(one, CallReading)]
            for one, ink in zip(pair.persons, _INKS, strict=True):
                if one.id not in pair.asked:
                    continue
                agreed = agreement([each.value[ink] for each in read])
                if isinstance(agreed, str):
                    _leave_out(found.omissions, agreed, one.id)
                else:
                    found.attributes[one.id] = agreed
                    found.calls[one.id] = [each.answered_by for each in read]
                    kept[one.id] = agreed[FACING]
        _leave_out_alike(kept, found)


def agreement(seen: Sequence[Mapping[str, Any]]) -> dict[str, str] | str:
    """Return the attributes that all samples of a person agree on, or the reason why none is kept."""
    if len(seen) < SAMPLES:
        return "unread"
    (direction, votes), *_ = Counter(each["direction"] for each in seen).most_common()
    if votes < len(seen):
        return "disagree"
    if direction == _UNSURE or median(each["confidence"] for each in seen) < _LEAST_CONFIDENCE:
        return "unsure"
    kept = {FACING: str(direction)}
    for told, name in _CUES.items():
        values = {each[told].strip() for each in seen}
        if len(values) == 1 and not values & {_NONE, _UNSURE}:
            kept[name] = values.pop()
    return kept


def _pairs(images: Iterable[AnnotatedImage], scope: InquiryScope, omissions: Omissions) -> Iterator[_Pair]:
    for image in images:
        left = MOST_PAIRS
        for persons in sorted(_quadrants(image, scope), key=len):
            pairs = [pair for pair in _neighbours(image, persons) if pair.asked]
            if len(persons) > MOST_PERSONS or len(pairs) > left:
                for one in persons:
                    if FACING not in one.attributes:
                        _leave_out(omissions, "crowded", one.id)
                continue
            left -= len(pairs)
            for pair in pairs:
                if _is_large(pair, scope):
                    yield pair
                else:
                    for name in sorted(pair.asked):
                        _leave_out(omissions, "small", name)


def _quadrants(image: AnnotatedImage, scope: InquiryScope) -> list[list[Annotation]]:
    """Return the persons of each quadrant of which something can be asked, from left to right."""
    if PERSON not in named_categories(image, scope.context):
        return []
    found = (region for region in objects_by_region(image, PERSON).values() if not region.doubt)
    return [sorted(each.objects, key=lambda one: (one.box.x1, one.id)) for each in found if len(each.objects) > 1]


def _neighbours(image: AnnotatedImage, persons: Sequence[Annotation]) -> Iterator[_Pair]:
    """Yield persons two by two; the last of an odd number beside the one before, which is told already."""
    told = {one.id for one in persons if FACING in one.attributes}
    for at in range(0, len(persons), 2):
        both = (persons[at], persons[at + 1]) if at + 1 < len(persons) else (persons[at - 1], persons[at])
        asked = frozenset(one.id for one in both) - told
        told |= asked
        yield _Pair(image, both, asked)


def _is_large(pair: _Pair, scope: InquiryScope) -> bool:
    """Return whether both persons are large enough in the raster that the model is shown of them."""
    region = region_around([one.box for one in pair.persons], pair.image.width, pair.image.height)
    drawn = min(1.0, sqrt(_MOST_PIXELS / (region.width * region.height)))
    size = Size(max(1, round(region.width * drawn)), max(1, round(region.height * drawn)))
    shown = plan_view(size, View(image=pair.image.image), scope.entry.visual_budget).plan.raster
    scale = min(drawn, shown.width / region.width, shown.height / region.height)
    sides = ((one.box.x2 - one.box.x1, one.box.y2 - one.box.y1) for one in pair.persons)
    return all(wide * scale >= _LEAST_WIDTH and high * scale >= _LEAST_HEIGHT for wide, high in sides)


def _calls(pair: _Pair, scope: InquiryScope) -> list[ModelCall]:
    picture = CallPicture.of(_drawn(pair, scope))
    return [
        ModelCall(
            stage=_STAGE,
            prompt=_PROMPT,
            model=scope.entry.id,
            text=_TEXT.format(meanings=_meanings(seed)),
            pictures=(picture,),
            schema=SCHEMA,
            sampling=CallSampling(_MOST_TOKENS, temperature=_TEMPERATURE, seed=seed),
        )
        for seed in range(1, SAMPLES + 1)
    ]


def _meanings(seed: int) -> str:
    """Return what directions mean, in another order for each sample, so that who takes the first one disagrees."""
    names = [*_MEANINGS][seed:] + [*_MEANINGS][:seed]
    return "; ".join(f'"{name}": {_MEANINGS[name]}' for name in names)


def _drawn(pair: _Pair, scope: InquiryScope) -> Path:
    """Draw a pair, once for an image's version; no region of an image has boxes in it, so that it must be sent."""
    boxes = [one.box for one in pair.persons]
    about = canonical_json([_PROMPT, scope.images.version_of(pair.image.image), boxes])
    path = scope.drawn / f"{blake3(about.encode()).hexdigest()[:32]}.png"
    if not path.is_file():
        inked = list(zip(boxes, _INKS.values(), strict=True))
        picture = draw_boxes(scope.images.folder, pair.image.image, inked, _MOST_PIXELS, _LINE)
        with open_whole_file(path) as file:
            picture.save(file, "PNG")
    return path


def _leave_out_alike(kept: Mapping[str, str], found: ModelAdditions) -> None:
    if len(kept) < _LEAST_KEPT or max(Counter(kept.values()).values()) <= _MOST_ALIKE * len(kept):
        return
    for one in kept:
        del found.attributes[one], found.calls[one]
        _leave_out(found.omissions, "alike", one)


def _leave_out(omissions: Omissions, reason: str, person: str) -> None:
    told = f"{_STAGE}: person '{person}': {_REASONS[reason]}; needs people: --attributes CSV"
    omissions.add(f"{_STAGE}-{reason}", told)
