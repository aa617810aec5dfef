"""A build in the forms of others: COCO with questions, and Parquet as the Hugging Face Hub keeps data sets."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gigavqa.construction.annotations import AnnotatedImage
from gigavqa.construction.errors import BuildError
from gigavqa.reports.writers.verdict_files import open_whole_file

_SHARD_BYTES = 400_000_000
_MOST_IMAGE_BYTES = 1_000_000_000
_CARD = """---
configs:
- config_name: default
  data_files:
  - split: test
    path: data/test-*
---

# {title}
"""
_TOLD_BY_IDS = ("image", "objects", "group_object")
Records = Iterable[Mapping[str, Any]]


def write_coco(target: Path, images: Iterable[AnnotatedImage], records: Records) -> None:
    """Write COCO's object form, with `questions` beside `annotations`: each names its image and its evidence.

    Only images with questions are written, with all that is annotated in them. Ids count from 1.
    """
    asked: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        asked.setdefault(record["image"], []).append(record)
    document: dict[str, list[dict[str, Any]]] = {"images": [], "annotations": [], "categories": [], "questions": []}
    categories: dict[str, int] = {}
    for image in images:
        if image.image not in asked:
            continue
        number = len(document["images"]) + 1
        document["images"].append(
            {"id": number, "file_name": image.image, "width": image.width, "height": image.height}
        )
        own: dict[str, int] = {}
        for one in image.annotations:
            own[one.id] = len(document["annotations"]) + 1
            category = categories.setdefault(one.category, len(categories) + 1)
            x1, y1, x2, y2 = one.box
            document["annotations"].append({
                "id": own[one.id], "image_id": number, "category_id": category,
                "bbox": [x1, y1, x2 - x1, y2 - y1], "area": (x2 - x1) * (y2 - y1),
                "segmentation": [list(ring) for ring in one.rings],
                "iscrowd": int("crowd" in one.flags), "ignore": int("ignore" in one.flags),
                "attributes": {**one.attributes, **dict.fromkeys(sorted(one.flags - {"crowd", "ignore"}), 1)},
            })  # fmt: skip
        for lost in sorted(image.incomplete):
            document["annotations"].append(_zone(len(document["annotations"]) + 1, number, image, lost, categories))
        document["questions"] += [_coco_question(record, number, own) for record in asked[image.image]]
    document["categories"] = [{"id": number, "name": name} for name, number in categories.items()]
    with open_whole_file(target) as file:
        file.write(json.dumps(document, ensure_ascii=False).encode())


def _zone(
    number: int, image_number: int, image: AnnotatedImage, category: str, categories: dict[str, int]
) -> dict[str, Any]:
    """Return a zone over all of an image that lost marks: of their category, or of any where it is not known."""
    return {
        "id": number, "image_id": image_number,
        "category_id": categories.setdefault(category or next(iter(categories), "object"), len(categories) + 1),
        "bbox": [0, 0, image.width, image.height], "area": image.width * image.height, "segmentation": [],
        "iscrowd": int(bool(category)), "ignore": int(not category), "attributes": {},
    }  # fmt: skip


def _coco_question(record: Mapping[str, Any], image: int, own: Mapping[str, int]) -> dict[str, Any]:
    evidence = [own[name] for name in record.get("objects", ()) if name in own]
    told = {key: value for key, value in record.items() if key not in _TOLD_BY_IDS}
    return {"image_id": image, "annotation_ids": evidence, **told}


def write_huggingface(target: Path, records: Records, images: Path, *, title: str) -> int:
    """Write `data/test-*.parquet` with the pictures in it, and a README.md that the Hub and `load_dataset` read.

    Each row holds its picture's bytes, as those libraries expect. Returns the bytes written. Raises BuildError for a
    picture too large for a row, FileExistsError where `target` is.
    """
    target.mkdir(parents=True)
    (target / "data").mkdir()
    for number, shard in enumerate(_shards(records, images)):
        _write_shard(target / "data" / f"test-{number:05d}.parquet", shard)
    (target / "README.md").write_text(_CARD.format(title=title), encoding="utf-8")
    return sum(path.stat().st_size for path in target.rglob("*.parquet"))


def _shards(records: Records, images: Path) -> Iterator[list[dict[str, Any]]]:
    shard: list[dict[str, Any]] = []
    held = 0
    for record in records:
        path = images / record["image"]
        size = path.stat().st_size
        if size > _MOST_IMAGE_BYTES:
            raise BuildError(
                f"{path} has {size:,} bytes, too many for a row of Parquet: keep the data set as the folder it is"
            )
        if shard and held + size > _SHARD_BYTES:
            yield shard
            shard, held = [], 0
        shard.append({**record, "image": {"bytes": path.read_bytes(), "path": record["image"]}})
        held += size
    if shard:
        yield shard


def _write_shard(path: Path, rows: list[dict[str, Any]]) -> None:
    import pyarrow as pa  # noqa: PLC0415 - 0.1 s, for exports alone
    import pyarrow.parquet as pq  # noqa: PLC0415

    text, texts = pa.string(), pa.list_(pa.string())
    schema = pa.schema(
        [
            ("id", text),
            ("image", pa.struct([("bytes", pa.binary()), ("path", text)])),
            ("question", text),
            ("type", text),
            ("choices", texts),
            ("answer", text),
            ("category", text),
            ("boxes", pa.list_(pa.list_(pa.float64()))),
        ],
        metadata={"huggingface": json.dumps({"info": {"features": _FEATURES}})},
    )
    columns = {name: [_cell(name, row) for row in rows] for name in schema.names}
    pq.write_table(pa.table(columns, schema=schema), path)


def _cell(name: str, row: Mapping[str, Any]) -> Any:
    return str(row.get("answer_text", row.get("answer"))) if name == "answer" else row.get(name)


def _value(kind: str) -> dict[str, str]:
    return {"dtype": kind, "_type": "Value"}


_FEATURES = {
    **{name: _value("string") for name in ("id", "question", "type", "answer", "category")},
    "image": {"_type": "Image"},
    "choices": {"feature": _value("string"), "_type": "List"},
    "boxes": {"feature": {"feature": _value("float64"), "_type": "List"}, "_type": "List"},
}
