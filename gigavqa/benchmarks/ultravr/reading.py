"""Turns every JSON shape that UltraVR's files have into the fields of a Sample.

The flat record (appendix F.1, F.2), the WSI record with `slide` (F.3), the per-slide WSI file with `categories`, and
the AD record whose answer is a coordinate. The paper's records carry no id, domain or image; those are derived:
the id from the slide and category or the file's name, the domain from `slide`, category or the fixed subcategory, and
the image from the slide's or the file's name where the data set's `images/` has a file of that stem.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from gigavqa.answers.coordinates import format_coordinate, read_coordinate
from gigavqa.answers.numerals import is_number
from gigavqa.benchmarks.ultravr.samples import UltraVRSample
from gigavqa.benchmarks.ultravr.schemas import WSI_FORMATS
from gigavqa.benchmarks.ultravr.taxonomy import CATEGORIES, SUBCATEGORIES
from gigavqa.benchmarks.ultravr.vocabulary import WSI_OPTIONS
from gigavqa.evaluation.benchmark import RecordContext
from gigavqa.evaluation.field_faults import read_field
from gigavqa.evaluation.records import Record

_DOMAIN_OF_SUBCATEGORY = {name: domain for (domain, _), name in SUBCATEGORIES.items()}
_CATEGORY_ALIASES = {"logical_anomalies": "logical_anomaly", "structural_anomalies": "structural_anomaly"}
_FIELDS_READ = frozenset(
    [
        "id",
        "domain",
        "category",
        "subcategory",
        "image",
        "images",
        "slide",
        "question",
        "options",
        "answer",
        "reasoning_supervision",
        "evidence",
        "categories",
    ]
)

FIELDS = tuple(sorted(_FIELDS_READ))
_PLAIN_OF_STEPS = ("step_id", "question", "ground_truth", "answer_format", "operation")
_OF_STEPS = (*_PLAIN_OF_STEPS, "variants", "options")


def sample_fields(record: Record, origin: RecordContext) -> Iterator[dict[str, Any]]:
    """Yield the fields of each sample in one record; raises ValueError when the value is no record at all."""
    value = record.value
    if not isinstance(value, dict):
        raise ValueError(f"a record must be a JSON object, not {type(value).__name__}")
    if "categories" not in value:
        yield _flatten(value, origin, _default_id(value, record, origin))
        return
    for category, part in _categories(value):
        merged = {
            **{key: kept for key, kept in value.items() if key not in ("categories", "id")},
            "category": category,
            **part,
        }
        yield _flatten(merged, origin, f"{value.get('id') or value.get('slide') or origin.stem}-{category}")


def _categories(value: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    parts = value["categories"]
    if not isinstance(parts, dict) or not all(isinstance(part, dict) for part in parts.values()):
        raise ValueError("categories must be an object that maps each category to a record")
    return list(parts.items())


def _default_id(value: dict[str, Any], record: Record, origin: RecordContext) -> str:
    if value.get("slide"):
        return f"{value['slide']}-{value.get('category', record.index + 1)}"
    return origin.stem if record.alone else f"{origin.stem}-{record.index + 1}"


def _flatten(value: dict[str, Any], origin: RecordContext, default_id: str) -> dict[str, Any]:
    fields = {key: value[key] for key in ("question", "subcategory", "evidence") if value.get(key) is not None}
    options = _options(value.get("options"))
    fields |= {"id": _identifier(value.get("id"), default_id), "options": options, "images": _images(value, origin)}
    fields |= {
        "domain": _domain(value),
        "category": _category(value),
        "extra": {k: v for k, v in value.items() if k not in _FIELDS_READ},
    }
    fields["steps"] = read_field(lambda: [_step(step) for step in _steps(value.get("reasoning_supervision"))])
    origin.unread.update(_unread_step_fields(value.get("reasoning_supervision")))
    if "answer" in value:
        fields["answer"] = _answer(value["answer"], options)
    return fields


def _identifier(value: Any, default: str) -> Any:
    if value in (None, ""):
        return default
    return str(value) if isinstance(value, int) else value


def _category(value: dict[str, Any]) -> Any:
    name = value.get("category")
    if not isinstance(name, str):
        return name
    return _CATEGORY_ALIASES.get(_snake(name), _snake(name))


def _snake(name: str) -> str:
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def _domain(value: dict[str, Any]) -> Any:
    if isinstance(value.get("domain"), str):
        return value["domain"].strip().lower()
    if value.get("slide"):
        return "wsi"
    if _category(value) in CATEGORIES["ad"]:
        return "ad"
    return _DOMAIN_OF_SUBCATEGORY.get(str(value.get("subcategory")))


def _images(value: dict[str, Any], origin: RecordContext) -> Any:
    named = value.get("images", value.get("image"))
    if named:
        return [named] if isinstance(named, str) else named
    found = origin.images.get(str(value.get("slide") or origin.stem))
    return [found] if found else []


def _options(options: Any) -> Any:
    if isinstance(options, list):
        options = {chr(ord("A") + position): text for position, text in enumerate(options)}
    if not isinstance(options, dict):
        return options
    return {str(key).strip().upper(): _text(text) for key, text in options.items()} or None


def _text(value: Any) -> Any:
    return str(value) if is_number(value) else value


def _answer(answer: Any, options: Any) -> Any:
    if answer is None:
        return ""
    if not options and (cell := read_coordinate(answer)):
        return format_coordinate(cell)
    if isinstance(answer, str):
        answer = answer.strip()
        return answer.upper() if len(answer) == 1 else answer
    return answer


def _steps(supervision: Any) -> list[Any]:
    if supervision is None:
        return []
    steps = supervision.get("steps") if isinstance(supervision, dict) else None
    if not isinstance(steps, list):
        raise ValueError("reasoning_supervision must be an object with a list of steps")
    return steps


def _unread_step_fields(supervision: Any) -> Iterator[str]:
    """Yield what of the annotation no step keeps; a name stands once, however many of its steps have it."""
    if isinstance(supervision, dict):
        yield from (f"reasoning_supervision.{key}" for key in supervision if key not in {"steps", "step_type"})
        listed = supervision.get("steps")
        steps = [step for step in listed if isinstance(step, dict)] if isinstance(listed, list) else []
        yield from sorted({f"steps.{key}" for step in steps for key in step} - {f"steps.{key}" for key in _OF_STEPS})


def _step(step: Any) -> Any:
    if not isinstance(step, dict):
        return step
    fields = {key: step[key] for key in _PLAIN_OF_STEPS if key in step}
    if "answer_format" not in fields and step.get("step_id") in WSI_FORMATS:
        fields["answer_format"] = WSI_FORMATS[step["step_id"]]
    if isinstance(fields.get("answer_format"), str):
        fields["answer_format"] = _snake(fields["answer_format"])
    if variants := step.get("variants"):
        fields["variants"] = variants if isinstance(variants, dict) else {str(step.get("ground_truth")): variants}
    options = step.get("options")
    fields["options"] = list(options.values()) if isinstance(options, dict) else options or None
    choices = fields["options"] or WSI_OPTIONS.get(str(step.get("step_id")), ())
    if "ground_truth" in fields and isinstance(choices, list | tuple) and all(isinstance(one, str) for one in choices):
        fields["ground_truth"] = parse_list(fields["ground_truth"], fields.get("answer_format"), choices)
    return fields


def record_of(sample: UltraVRSample) -> dict[str, Any]:
    """Write a sample as the flat record that loads as the same sample."""
    fields = sample.model_dump(mode="json", exclude_none=True, exclude={"steps", "extra", "images", "expert_answer"})
    steps = [step.model_dump(mode="json", exclude_unset=True) for step in sample.steps]
    fields["images"] = list(sample.images)
    if steps:
        fields["reasoning_supervision"] = {"step_type": "multi_step_qa", "steps": steps}
    return {**sample.extra, **fields}


_SEPARATORS = re.compile(r"(?:[\s,;|/&•·\[\]\"'.-]|\band\b|\d+[.)])*", re.IGNORECASE)
_ROIS = re.compile(r"[\s\[(]*\d{1,2}(?:\s*(?:,|;|\s|and)\s*\d{1,2})*[\s\])]*")


def parse_list(truth: Any, answer_format: Any, choices: Sequence[str]) -> Any:
    """Return a multi-select or ROI text as the list that it names, in its own order; anything else as it is.

    A text that holds more than choices and separators stays a text, so that checks can name it.
    """
    if not isinstance(truth, str):
        return truth
    if answer_format == "roi_list" and _ROIS.fullmatch(truth):
        return [int(number) for number in re.findall(r"\d+", truth)]
    return _choices_in(truth, choices) or truth if answer_format == "multi_select" else truth


def _choices_in(text: str, choices: Sequence[str]) -> list[str]:
    rest, places = text.lower(), {}
    for choice in sorted(choices, key=len, reverse=True):
        at = rest.find(choice.lower())
        if at >= 0:
            places[at] = choice
            rest = rest[:at] + " " * len(choice) + rest[at + len(choice) :]
    return [places[at] for at in sorted(places)] if _SEPARATORS.fullmatch(rest) else []
