"""Turns the JSON shapes of ATOM-Bench's records into the fields of samples: one object a question, or one an image.

No public file is known, so that the shapes are ours; what a published one calls its keys belongs here.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from gigavqa.answers.numerals import is_number
from gigavqa.benchmarks.atombench.samples import LETTERS, AtomSample
from gigavqa.benchmarks.atombench.taxonomy import PRINTED, TITLES
from gigavqa.evaluation.benchmark import RecordContext
from gigavqa.evaluation.field_faults import FieldFault
from gigavqa.evaluation.records import Record, id_of

_LISTS = {"clues": "clue", "conclusions": "conclusion"}
"""The lists of an image's object, and the level of what they hold."""
_LABELS = ("level", "dimension", "domain", "scope", "certainty", "kind", "difficulty")
FIELDS = (
    "id", "image", "images", "question", "questions", "options", "answer", "group", "step", *_LABELS, *_LISTS,
)  # fmt: skip
"""What is read of a record; all else is kept with its questions."""
_LABELS_BY_TITLE = {title.replace("&", "and"): name for title, name in PRINTED.items()} | {
    title.lower().replace("&", "and"): name for name, title in TITLES.items()
}
_PLACE_OF_IMAGE = re.compile(r"^\s*<image(?:[ _]?\d+)?>\s*")
_LETTER = re.compile(r"\(?\s*([A-Za-z])\s*[).:]?")


def sample_fields(record: Record, origin: RecordContext) -> Iterator[dict[str, Any]]:
    """Yield the fields of each sample in one record; raises ValueError where its value is no record at all."""
    value = record.value
    if not isinstance(value, dict):
        raise ValueError(f"a record must be a JSON object, not {type(value).__name__}")
    if "id" in value and any(name in value for name in _LISTS):
        origin.unread["id of an image"] += 1
    yield from [_fields(part, origin) for part in _questions(value)]


def _questions(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the questions of a record, each as an object of its own."""
    if not any(name in value for name in _LISTS):
        yield value
        return
    if "question" in value:
        raise ValueError("holds a question and lists of questions: write one object a question, or one an image")
    shared = {key: kept for key, kept in value.items() if key not in (*_LISTS, "id")}
    for name, level in _LISTS.items():
        for position, part in enumerate(_split_record(value, name), start=1):
            step = {"step": position} if level == "clue" else {}
            yield {**shared, "level": level, **step, **part}


def _split_record(value: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    parts = value.get(name) or []
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise ValueError(f"{name} must be a list of objects, one a question")
    return parts


def _fields(value: Mapping[str, Any], origin: RecordContext) -> dict[str, Any]:
    images = _images(value, origin)
    options = _options(value.get("options"))
    level = _label(value.get("level"))
    step = value.get("step")
    fields = {
        "id": _identifier(value, level, step, images, origin),
        "images": images,
        "question": _question(value),
        "options": options,
        "answer": _answer(value.get("answer"), options),
        "extra": {key: kept for key, kept in value.items() if key not in FIELDS},
    }
    if value.get("group") is not None:
        fields["group"] = str(value["group"])
    labels = {name: _label(value[name]) for name in _LABELS if value.get(name) not in (None, "")}
    labels |= {"step": step} if step is not None else {}
    return fields | labels


def _images(value: Mapping[str, Any], origin: RecordContext) -> Any:
    named = value.get("image", value.get("images")) or origin.images.get(origin.stem)
    return [named] if isinstance(named, str) else named or []


def _question(value: Mapping[str, Any]) -> Any:
    question = value.get("question", value.get("questions"))
    return _PLACE_OF_IMAGE.sub("", question).strip() if isinstance(question, str) else question


def _label(value: Any) -> Any:
    """Return a label as the house writes it; what is none stays as it is, so that the message can name it."""
    if not isinstance(value, str):
        return value
    plain = " ".join(value.lower().replace("&", "and").split())
    return _LABELS_BY_TITLE.get(plain, re.sub(r"[ -]", "_", plain))


def _options(options: Any) -> Any:
    if isinstance(options, list):
        options = dict(zip(LETTERS, options, strict=False)) if len(options) <= len(LETTERS) else options
    if not isinstance(options, dict):
        return options
    return {_letter(str(key)): _text(text) for key, text in options.items()}


def _letter(text: str) -> str:
    found = _LETTER.fullmatch(text.strip())
    return found[1].upper() if found else text.strip()


def _text(value: Any) -> Any:
    return str(value) if is_number(value) else value


def _answer(answer: Any, options: Any) -> Any:
    """Return a letter; of an answer that is one option's own words, that option's."""
    if not isinstance(answer, str):
        return "" if answer is None else answer
    same = [letter for letter, text in options.items() if text == answer] if isinstance(options, dict) else []
    return same[0] if len(same) == 1 else _letter(answer)


def _identifier(
    value: Mapping[str, Any], level: Any, step: Any, images: Any, origin: RecordContext
) -> str | FieldFault:
    """Return the record's own id, else the image's name with the clue's step, or the number of the question."""
    image = str(images[0]) if isinstance(images, list) and images else origin.stem
    numbers: Counter[tuple[str, str]] = origin.seen.setdefault("numbers", Counter())
    numbers[image, str(level)] += 1
    if value.get("id") not in (None, ""):
        return str(value["id"])
    stem = id_of(PurePosixPath(image).stem)
    number = step if level == "clue" and step is not None else numbers[image, str(level)]
    derived = f"{stem}-{'c' if level == 'clue' else 'q'}{number}"
    names: set[tuple[str, str]] = origin.seen.setdefault("derived", set())
    if level == "clue" and (image, derived) in names:
        return FieldFault(f"step {step} is used twice on {image}")
    names.add((image, derived))
    return derived


def record_of(sample: AtomSample) -> dict[str, Any]:
    """Write a sample as the record that reads as the same sample."""
    fields = sample.model_dump(mode="json", exclude_none=True, exclude={"extra", "images"})
    image = {"image": sample.images[0]} if sample.images else {}
    return {**sample.extra, **image, **{name: value for name, value in fields.items() if value != ""}}
