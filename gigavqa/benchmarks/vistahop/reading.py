"""Turns records into the fields of samples: the authors' runner's, ours, those of synthesis, and rows of Parquet."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from pydantic import BaseModel

from gigavqa.benchmarks.vistahop.samples import LETTERS, MOST_HITS, Anchor, Component, Hop, VistaHopSample
from gigavqa.evaluation.benchmark import RecordContext
from gigavqa.evaluation.field_faults import FieldFault, read_field
from gigavqa.evaluation.records import Record, id_of

_MARK = "<image>"
_ARROW = re.compile(r"\s*(?:-+>|→|=>)\s*")
_LABELS = (
    "hops", "level", "category", "scenario", "form", "answer_type", "anchors", "chain", "components", "options",
)  # fmt: skip
_TITLES, _THUMBNAILS = "image_search_title_list", "image_search_thumbnail_list"
_IMAGE_FIELDS = ("images", "image", "image_url", "picture")
_TRUTHS = ("answers", "answer", "ground_truth", "truth")
FIELDS = (
    "id", "question", *_IMAGE_FIELDS, *_TRUTHS, *_LABELS, "image_search", _TITLES, _THUMBNAILS, "prompt",
    "reward_model",
    "reasoning_path",
)  # fmt: skip
"""What is read of records of any of the shapes; all else is kept with their questions."""
VISTAHOP_FIELDS = frozenset(
    (
        "hops", "scenario", "anchors", "chain", "components", "image_search", _TITLES, _THUMBNAILS, "prompt",
        "reward_model", "reasoning_path",
    )
)  # fmt: skip
_PARTS: Mapping[str, type[BaseModel]] = {"anchors": Anchor, "chain": Hop, "components": Component}
_ENDS = {
    "from": ("from", "source", "head", "subject"),
    "relation": ("relation", "predicate", "type"),
    "to": ("to", "target", "tail", "object"),
}
"""What an edge of a chain may call its parts."""


def sample_fields(record: Record, origin: RecordContext) -> Iterator[dict[str, Any]]:
    """Yield the fields of the sample in a record; raises ValueError naming the field that is wrong."""
    if not isinstance(record.value, dict):
        raise ValueError(f"a record must be a JSON object, or a row, not {type(record.value).__name__}")
    value = {name: inner for name, inner in record.value.items() if inner is not None}
    origin.unread.update(set(_unread_parts(value)))
    yield _fields(_convert_record(value), record, origin)


def _unread_parts(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield what parts of a record hold that no sample keeps."""
    for name, kind in _PARTS.items():
        known = {*kind.model_fields, *(field.alias for field in kind.model_fields.values())}
        parts = value[name] if isinstance(value.get(name), list) else []
        yield from (f"{name}.{key}" for part in parts if isinstance(part, dict) for key in part if key not in known)
    hits = value.get("image_search", value.get(_TITLES))
    if isinstance(hits, list) and len(hits) > MOST_HITS:
        yield f"image_search behind hit {MOST_HITS}"


def _convert_record(value: dict[str, Any]) -> dict[str, Any]:
    """Return a record of another shape as one of ours; what neither shape knows is kept."""
    if isinstance(value.get("reward_model"), dict) or isinstance(value.get("prompt"), list):
        rest = {name: inner for name, inner in value.items() if name not in ("prompt", "reward_model")}
        asked = {"question": _first_question(value["prompt"])} if "prompt" in value else {}
        told = value.get("reward_model", {})
        truth = {"answers": told["ground_truth"]} if isinstance(told, dict) and "ground_truth" in told else {}
        return {**asked, **truth, **rest}
    if "reasoning_path" in value:
        rest = {name: inner for name, inner in value.items() if name != "reasoning_path"}
        chain = read_field(lambda: _read_chain(value["reasoning_path"]))
        if isinstance(chain, FieldFault):
            return {**rest, **dict.fromkeys(("chain", "hops", "level"), chain)}
        return {"hops": len(chain), "chain": chain, **rest}
    return value


def _first_question(prompt: Any) -> Any:
    messages = prompt if isinstance(prompt, list) else [prompt]
    users = (one for one in messages if isinstance(one, dict) and one.get("role", "user") == "user")
    content = next((one.get("content") for one in users), prompt if isinstance(prompt, str) else "")
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content


def _read_chain(path: Any) -> list[dict[str, str]]:
    """Return the chain of a synthesized question: edges, or nodes in their order."""
    if isinstance(path, str):
        path = [node for node in _ARROW.split(path) if node]
    if isinstance(path, list) and path and all(isinstance(edge, dict) for edge in path):
        return [{part: _first_value(edge, names) for part, names in _ENDS.items()} for edge in path]
    if isinstance(path, list) and len(path) > 1 and all(isinstance(node, str) for node in path):
        return [{"from": one, "to": other} for one, other in pairwise(path)]
    raise ValueError("reasoning_path: must be a list of edges {from, relation, to}, or of two nodes or more")


def _first_value(value: Mapping[str, Any], names: Sequence[str]) -> str:
    return next((str(value[name]) for name in names if value.get(name) is not None), "")


def _fields(value: dict[str, Any], record: Record, origin: RecordContext) -> dict[str, Any]:
    truths: Any = next((value[name] for name in _TRUTHS if name in value), [])
    pictures = read_field(lambda: _image_names(value, origin))
    hits = read_field(lambda: _read_hits(value, origin))
    fields = {
        "id": id_of(str(value.get("id", f"{origin.stem}-{record.index}"))),
        "question": read_field(lambda: _question(value)),
        "answers": truths if isinstance(truths, list | tuple) else [truths],
        **_shown(pictures, hits),
        **{name: value[name] for name in _LABELS if name in value},
        **({"options": _letter_options(value["options"])} if isinstance(value.get("options"), list) else {}),
    }
    return {**fields, "extra": {name: inner for name, inner in value.items() if name not in FIELDS}}


def _question(value: Mapping[str, Any]) -> Any:
    question = value.get("question")
    if question is None:
        raise ValueError(f"question: is missing; there are {', '.join(value) or 'no fields'}")
    return question.replace(_MARK, "").strip() if isinstance(question, str) else question


def _shown(pictures: tuple[str, ...] | FieldFault, hits: list[tuple[str, str | None]] | FieldFault) -> dict[str, Any]:
    """Return what is shown of a sample: the first picture and the hits' thumbnails; and what is not."""
    if isinstance(pictures, FieldFault) or isinstance(hits, FieldFault):
        return {"images": pictures, "unshown": (), "hits": hits if isinstance(hits, FieldFault) else ()}
    first, thumbnails = pictures[:1], [name for name in dict.fromkeys(name for _, name in hits) if name]
    places = (len(first) + thumbnails.index(name) if name else None for _, name in hits)
    told = [{"title": title, "thumbnail": place} for (title, _), place in zip(hits, places, strict=True)]
    return {"images": (*first, *thumbnails), "unshown": pictures[1:], "hits": told}


def _letter_options(options: list[Any]) -> Any:
    """Options by letters from A; what is no list of so many texts stays as it is, so that the message can name it."""
    is_plain = len(options) <= len(LETTERS) and all(isinstance(text, str) for text in options)
    return dict(zip(LETTERS, options, strict=False)) if is_plain else options


def _image_names(value: Mapping[str, Any], origin: RecordContext) -> tuple[str, ...]:
    found = next((value[name] for name in _IMAGE_FIELDS if value.get(name)), None)
    found = origin.images.get(origin.stem) if found is None else found
    listed = found if isinstance(found, list | tuple) else [] if found is None else [found]
    return tuple(_image_name(one, origin) for one in listed)


def _image_name(one: Any, origin: RecordContext) -> str:
    """Return a picture's name.

    Of one that lies in the record, as rows of Parquet hold them, that of the file it becomes.
    """
    content = one.get("bytes") if isinstance(one, dict) else one
    if isinstance(content, bytes):
        return origin.keep(content)
    name = one.get("path", one.get("image")) if isinstance(one, dict) else one
    if not isinstance(name, str) or not name:
        raise ValueError(f"images: a picture is the name of a file, or its bytes, not {one!r}")
    return name


def _read_hits(value: Mapping[str, Any], origin: RecordContext) -> list[tuple[str, str | None]]:
    """Titles of the image search's hits, each with its thumbnail where there is one."""
    if _TITLES in value or _THUMBNAILS in value:
        titles, thumbnails = (_as_list(name, value.get(name)) for name in (_TITLES, _THUMBNAILS))
        if len(thumbnails) > len(titles):
            told = f"{len(thumbnails)} thumbnails for {len(titles)} titles"
            raise ValueError(f"{_THUMBNAILS}: {told}; every thumbnail needs its title")
        thumbnails += [None] * (len(titles) - len(thumbnails))
        found = list(zip(titles, thumbnails, strict=True))
    else:
        given = value.get("image_search", [])
        if not isinstance(given, list) or not all(isinstance(one, dict) and "title" in one for one in given):
            raise ValueError('image_search: must be a list of {"title", "thumbnail"}')
        found = [(one["title"], one.get("thumbnail")) for one in given]
    return [(str(title), _image_name(name, origin) if name else None) for title, name in found[:MOST_HITS]]


def _as_list(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list | None):
        raise ValueError(f"{name}: must be a list")
    return list(value or ())


def record_of(sample: VistaHopSample) -> dict[str, Any]:
    """Write a sample as a record that reads as the same sample."""
    fields = sample.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude={"extra", "level", "hits"})
    hits = [
        {"title": hit.title, **({"thumbnail": sample.images[hit.thumbnail]} if hit.thumbnail else {})}
        for hit in sample.hits
    ]
    fields["images"] = [*sample.images[:1], *fields.pop("unshown", [])]
    return {**sample.extra, **fields, **({"image_search": hits} if hits else {})}
