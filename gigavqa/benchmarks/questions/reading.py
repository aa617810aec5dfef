"""Turns a record of any shape into the fields of a question, and a question into the record that reads as the same."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from gigavqa.benchmarks.questions.columns import IGNORED, RecordColumns, parse_list, text_of
from gigavqa.benchmarks.questions.file_layout import (
    MAY_BE_CHOICES,
    FileLayout,
    find_wrapper,
    is_self_contained,
    read_layout,
    rows_of,
)
from gigavqa.benchmarks.questions.images import read_images
from gigavqa.benchmarks.questions.numbers import NumberConvention
from gigavqa.benchmarks.questions.options import AnswerOptions, letter_options, options_of, split_question
from gigavqa.benchmarks.questions.samples import NO_CATEGORY, AnswerKind, Question
from gigavqa.benchmarks.questions.truths import TruthConvention, read_kind, read_truth
from gigavqa.evaluation.benchmark import RecordContext
from gigavqa.evaluation.field_faults import FieldFault, read_field
from gigavqa.evaluation.records import Record, id_of
from gigavqa.tiling.errors import RegionError
from gigavqa.tiling.ground.geojson import areas_of, is_geojson
from gigavqa.tiling.region_grammar import PLACE_HEADS, parse_region

_PLACE_OF_IMAGE = re.compile(r"\s*<image(?:[ _]?(\d+))?>\s*")


def read_question(record: Record, origin: RecordContext) -> Iterator[dict[str, Any]]:
    """Yield the fields of each question in one record, a fault in place of each that cannot be read.

    Raises ValueError for a value that is no record, ColumnError for a column that no row can be read by.
    """
    if not isinstance(record.value, dict):
        raise ValueError(f"a record must be a JSON object, or a row, not {type(record.value).__name__}")
    wrapper = find_wrapper(record)
    if wrapper:
        origin.unread.update({name: 0 for name in record.value if name != wrapper})
    for at, row in enumerate(rows_of(record), start=0 if wrapper else record.index):
        fields = _fields(row, f"{origin.stem}-{at + 1}", record, origin)
        yield {name: _place(value, at, wrapper) for name, value in fields.items()} if wrapper else fields


def _place(value: Any, at: int, wrapper: str) -> Any:
    """Return a fault with the row of the object that it is of, and any other value as it is."""
    return FieldFault(f"row {at + 1} of '{wrapper}': {value.text}") if isinstance(value, FieldFault) else value


def _fields(value: Mapping[str, Any], default_id: str, record: Record, origin: RecordContext) -> dict[str, Any]:
    """Return the fields of a question; what is read of others is read only where those could be."""
    columns = RecordColumns(value, record)
    columns.drop(IGNORED)
    kind = read_kind(columns)
    layout = FileLayout() if is_self_contained(columns, kind, record) else read_layout(record, origin)
    images = read_field(lambda: read_images(columns, origin))
    text = read_field(lambda: _text_of_question(columns))
    told = "" if isinstance(text, FieldFault) else text
    asked = read_field(lambda: _split_options(told, columns, layout if kind in MAY_BE_CHOICES else FileLayout()))
    several = text_of(next(columns.all("category"), ("", ""))[1]) in layout.several
    said = TruthConvention(record.typed, NumberConvention(record.decimal, record.decimal_told), several, origin.note)
    return {
        "id": read_field(lambda: id_of(text_of(columns.first("id")[1]) or default_id)),
        "images": images,
        "hint": text_of(columns.first("hint")[1]),
        **_asked(columns, kind, text, asked, said),
        "evidence": images if isinstance(images, FieldFault) else read_field(lambda: [*_evidence(columns, images)]),
        "category": text_of(columns.first("category")[1]) or NO_CATEGORY,
        "sorted_by": _groups(columns),
        "extra": columns.left(),
    }


def _asked(
    columns: RecordColumns,
    kind: AnswerKind | None,
    text: str | FieldFault,
    asked: tuple[str, AnswerOptions | None] | FieldFault,
    said: TruthConvention,
) -> dict[str, Any]:
    """Return question, options and truth: options of a choice alone."""
    if isinstance(asked, FieldFault):
        return {"question": text, **dict.fromkeys(("options", "kind", "answers"), asked)}
    question, options = asked
    truth = read_field(lambda: _truth(columns, kind, question, options, said))
    if isinstance(truth, FieldFault):
        return {"question": text, **dict.fromkeys(("options", "kind", "answers"), truth)}
    return {
        "question": text
        if isinstance(text, FieldFault)
        else _PLACE_OF_IMAGE.sub(_describe_image_use, question).strip(),
        "options": options.texts if options and truth["kind"] in ("choice", "choices") else None,
        **truth,
    }


def _truth(
    columns: RecordColumns, kind: AnswerKind | None, question: str, options: AnswerOptions | None, said: TruthConvention
) -> dict[str, Any]:
    truth = read_truth(columns, kind, options, said)
    if kind is None and truth["kind"] == "text" and not truth["lettered"]:
        _require_no_options(question, truth["answers"])
    return truth


def _text_of_question(columns: RecordColumns) -> str:
    if text := text_of(columns.first("question")[1]):
        return text
    likely = next((one for one, inner in columns.left().items() if text_of(inner).endswith("?")), "COLUMN")
    raise ValueError(columns.missing("question", columns.called(likely)))


def _split_options(text: str, columns: RecordColumns, layout: FileLayout) -> tuple[str, AnswerOptions | None]:
    """Return the question's text and its options, which may stand in it."""
    options = options_of(columns)
    found = split_question(text) if layout.within and not options else None
    if found is None:
        return text, options
    behind = "" if found.behind == layout.shared else found.behind
    return "\n".join(filter(None, (found.before, behind))), AnswerOptions(letter_options(found.options))


def _require_no_options(question: str, answers: Sequence[str]) -> None:
    found = split_question(question)
    if found and any(answer in letter_options(found.options) for answer in answers):
        raise ValueError(
            f"options: the question's text lists some, and the answer '{answers[0]}' is the letter of one; they are "
            "read out of texts only where every row that may be a choice lists them: name columns A, B, C ..., or one "
            "list `choices`, or give every row its type"
        )


def _describe_image_use(place: re.Match[str]) -> str:
    # Some families' templates would take the mark for a picture.
    return f" (image {place[1]}) " if place[1] else " "


def _groups(columns: RecordColumns) -> dict[str, str]:
    name, value = columns.first("groups")
    named = parse_list(value)
    given = {**(named if isinstance(named, dict) else {name: named}), **columns.named(r"group_(.+)")}
    return {**columns.groups(), **{str(level): text for level, one in given.items() if (text := text_of(one))}}


def _evidence(columns: RecordColumns, images: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    for field in ("evidence", "regions", "boxes"):
        name, value = columns.first(field)
        for one in _list_regions(parse_list(value)):
            if is_geojson(one):
                yield from _of_geojson(name, one, images)
                continue
            try:
                image, region = (
                    _image_and_region(one, images) if isinstance(one, dict) else (0, _region(one, field == "boxes"))
                )
                yield {"image": image, "region": region}
            except RegionError as error:
                raise ValueError(f"{name}: {error}") from error
            except (TypeError, ValueError) as error:
                form = "a region is x,y,w,h in pixels, or pct:x,y,w,h; a box [x1, y1, x2, y2] in pixels, or from 0 to 1"
                places = "a place on the ground lonlat:W,S,E,N, projected:XMIN,YMIN,XMAX,YMAX, or an area of GeoJSON"
                raise ValueError(f"{name}: {form}; {places}; not {one!r}") from error


def _of_geojson(name: str, value: dict[str, Any], images: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Yield the areas of an object of GeoJSON; a property `image` of a feature says of which image, else the first."""
    try:
        areas = list(areas_of(value))
        for area in areas:
            yield {"image": _image_number(area.properties.get("image", 0), images), "region": area.region}
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def _list_regions(value: Any) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, str):
        return [part for part in re.split(r"[;|]", value) if part.strip()]
    if isinstance(value, list) and value and not all(isinstance(side, int | float) for side in value):
        return value
    return [value] if value else []


def _image_and_region(one: dict[str, Any], images: tuple[str, ...]) -> tuple[int, str]:
    """Return the number of the image, and the region of it."""
    image = _image_number(one.get("image", 0), images)
    for names, corners in _FORMS:
        if all(name in one for name in names):
            sides = one[names[0]] if len(names) == 1 else [one[name] for name in names]
            return image, _region(sides, corners)
    raise ValueError("names no region")


def _image_number(image: Any, images: tuple[str, ...]) -> int:
    """Return the number of an image, which may be named by its file."""
    if isinstance(image, str) and not image.isdecimal():
        return [PurePosixPath(name).name for name in images].index(PurePosixPath(image).name)
    return int(image)


_FORMS = (
    (("region",), False),
    (("box",), True),
    (("bbox",), True),
    (("x", "y", "w", "h"), False),
    (("x", "y", "width", "height"), False),
    (("x1", "y1", "x2", "y2"), True),
)
"""How one place may be written, and whether its numbers are two corners."""


def _region(place: Any, corners: bool) -> str:
    if isinstance(place, str) and place.strip().startswith(PLACE_HEADS):
        return parse_region(place.strip()).text
    percent = isinstance(place, str) and place.strip().startswith("pct:")
    numbers = place.strip(" []()").removeprefix("pct:").split(",") if isinstance(place, str) else place
    first, second, third, fourth = map(float, numbers)
    if percent:
        return _percent([first, second, third, fourth])
    if not corners:
        return _pixels([first, second, third, fourth])
    if max(first, second, third, fourth) <= 1:
        return _percent([100 * first, 100 * second, 100 * (third - first), 100 * (fourth - second)])
    left, top = math.floor(first), math.floor(second)
    return _pixels([left, top, math.ceil(third) - left, math.ceil(fourth) - top])


def _pixels(sides: list[float]) -> str:
    x, y, width, height = map(round, sides)
    _require_area([x, y], [width, height])
    return f"{x},{y},{width},{height}"


def _percent(sides: list[float]) -> str:
    _require_area(sides[:2], sides[2:])
    x, y, width, height = (f"{side:.6f}".rstrip("0").rstrip(".") for side in sides)
    return f"pct:{x},{y},{width},{height}"


def _require_area(corner: list[float], size: list[float]) -> None:
    if min(corner) < 0 or min(size) <= 0:
        raise ValueError("holds no pixel")


def record_of(question: Question) -> dict[str, Any]:
    """Write a question as a record that reads as the same question."""
    said: dict[str, Any] = {
        "id": question.id,
        "images": list(question.images),
        "question": question.question,
        "hint": question.hint,
        "options": question.options,
        "question_type": question.kind,
        "answer_text" if question.lettered else "answer": (
            list(question.answers) if len(question.answers) > 1 else "".join(question.answers)
        ),
        "tolerance": question.tolerance,
        "relative_tolerance": question.relative_tolerance,
        "category": "" if question.category == NO_CATEGORY else question.category,
        "groups": question.sorted_by,
        "evidence": [{"image": one.image, "region": one.region} for one in question.evidence],
    }
    return {**question.extra, **{name: value for name, value in said.items() if value}}
