"""Writes data sets of harbours: records, their pictures' names, and a corpus of one page."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

QUESTION = "In which year was the firm founded whose mark is on the left crane?"
RUNNERS: dict[str, Any] = {
    "prompt": [{"role": "user", "content": f"<image>{QUESTION}"}],
    "image": ["images/harbour.tif"],
    "reward_model": {"ground_truth": ["1911", "in 1911"]},
    "image_search_title_list": ["Quay 4, Port of Ansel"],
    "image_search_thumbnail_list": ["thumbs/quay4.jpg"],
}
OURS: dict[str, Any] = {
    "id": "vh-0007",
    "images": ["images/harbour.tif"],
    "question": QUESTION,
    "answers": ["1911"],
    "hops": 7,
    "category": "Society",
    "scenario": "harbour",
    "form": "single",
    "answer_type": "date",
    "anchors": [{"label": "mark on the left crane", "kind": "logo", "box": [0.212, 0.418, 0.219, 0.424]}],
    "chain": [{"from": "Ansel Hoist", "relation": "part_whole", "to": "Norrland Works", "documents": ["d-031"]}],
    "image_search": [{"title": "Quay 4, Port of Ansel", "thumbnail": "thumbs/quay4.jpg"}],
    "components": [],
    "note": "kept",
}
PAGE = {"id": "d-031", "title": "Ansel Hoist", "url": "", "text": "Ansel Hoist belongs to Norrland Works since 1911."}


def write(folder: Path, records: Sequence[Mapping[str, Any]], settings: str = "") -> Path:
    """A data set of records with a corpus of one page."""
    (folder / "samples").mkdir(parents=True)
    (folder / "corpus").mkdir()
    (folder / "corpus" / "a.jsonl").write_text(json.dumps(PAGE) + "\n")
    (folder / "dataset.toml").write_text(f'name = "{folder.name}"\nbenchmark = "vistahop"\n{settings}')
    (folder / "samples" / "a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return folder
