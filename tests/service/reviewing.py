"""Data sets to be reviewed, and verdicts on them as a client sends them."""

import json
from pathlib import Path
from typing import Any

import httpx
from PIL import Image

SHIPS = "ships"
ROUTE = f"/v1/datasets/{SHIPS}/reviews"
RECORDS: list[dict[str, Any]] = [
    {"id": "count-1", "question": "How many ships lie at the quay?", "answer": 3, "boxes": [[400, 240, 560, 330]]},
    {"id": "odd-1", "question": "Which one is red?", "options": ["the left one", "the right one", "neither"],
     "answer": "the right one", "boxes": [[60, 90, 140, 150], [300, 90, 380, 150]]},
    {"id": "presence-1", "question": "Is there a crane?", "answer": "yes", "boxes": [[500, 20, 540, 200]]},
    {"id": "relation-1", "question": "What lies north of the crane?", "answer": "a shed"},
]  # fmt: skip


def write_ships(root: Path, records: list[dict[str, Any]] = RECORDS) -> Path:
    """Write questions of one's own about one drawn picture of 640 x 480 pixels."""
    folder = root / SHIPS
    for name in ("samples", "images"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    picture = Image.linear_gradient("L").resize((640, 480)).convert("RGB")
    for x, y in ((60, 90), (300, 90), (400, 240)):
        picture.paste((180, 40, 30), (x, y, x + 80, y + 60))
    picture.save(folder / "images/port.png")
    (folder / "dataset.toml").write_text(f'name = "{SHIPS}"\nbenchmark = "questions"\ntitle = "Ships"\n')
    lines = (json.dumps({"image": "images/port.png", "category": "ships", **record}) for record in records)
    (folder / "samples/all.jsonl").write_text("\n".join(lines))
    return folder


def seen(client: httpx.Client, **wanted: Any) -> list[dict[str, Any]]:
    """The samples that are to be reviewed, as the reviewer sees them."""
    found: list[dict[str, Any]] = client.get(f"{ROUTE}/samples", params={"limit": 10, **wanted}).json()["data"]
    return found


def verdict(client: httpx.Client, sample: str, verdict: str = "keep", id: str = "", **fields: Any) -> dict[str, Any]:
    """A verdict on a sample as it is now."""
    (found,) = seen(client, sample=sample)
    return {
        "id": id or f"{sample}-{verdict}",
        "sample": sample,
        "digest": found["digest"],
        "verdict": verdict,
        **fields,
    }


def say(client: httpx.Client, sample: str, *told: Any, **fields: Any) -> httpx.Response:
    """Send a verdict."""
    return client.post(ROUTE, json=verdict(client, sample, *told, **fields))
