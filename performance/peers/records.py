"""The demo's questions as the records of a race: as many for every picture, in a data set of their own."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gigavqa.evaluation.records import Record, read_records


def flat_records(demo: Path) -> Iterator[dict[str, Any]]:
    """Yield the demo's records, those of a slide's own file taken apart by category."""
    for path in sorted((demo / "samples").rglob("*.json*")):
        for record in read_records(path, path.name):
            assert isinstance(record, Record)
            value = record.value
            if "categories" not in value:
                yield value
                continue
            shared = {key: kept for key, kept in value.items() if key != "categories"}
            for category, part in value["categories"].items():
                name = value["slide"]
                derived = {"id": f"{name}-{category}", "image": f"images/{name}.tiff", "category": category}
                yield {**shared, **derived, **part}


def write_race(folder: Path, images: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Write the records as a data set of their own, whose pictures are links to those in `images`."""
    (folder / "samples").mkdir(parents=True, exist_ok=True)
    (folder / "images").mkdir(exist_ok=True)
    for name in {Path(record["image"]).name for record in records}:
        (folder / "images" / name).unlink(missing_ok=True)
        os.link(images / name, folder / "images" / name)
    (folder / "dataset.toml").write_text(f'name = "{folder.name}"\nbenchmark = "ultravr"\n', encoding="utf-8")
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (folder / "samples" / "race.jsonl").write_text(lines, encoding="utf-8")


def choose(records: Sequence[Mapping[str, Any]], questions: int) -> list[dict[str, Any]]:
    """So many records of each picture, by id; where there are fewer, they are asked again in other words."""
    by_picture: dict[str, list[Mapping[str, Any]]] = {}
    for record in sorted(records, key=lambda record: str(record["id"])):
        by_picture.setdefault(record["image"], []).append(record)
    return [
        _again(own[number % len(own)], number // len(own)) for own in by_picture.values() for number in range(questions)
    ]


def _again(record: Mapping[str, Any], time: int) -> dict[str, Any]:
    if not time:
        return dict(record)
    return {**record, "id": f"{record['id']}-{time + 1}", "question": f"Look {time + 1} times. {record['question']}"}
