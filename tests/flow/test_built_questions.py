"""What builds make of folders is asked as any data set: whoever sees the pictures and knows the truth scores 100."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from PIL import Image

from gigavqa.construction.build_folder import BuildFolder
from gigavqa.construction.build_settings import BuildSettings
from gigavqa.construction.builds import Build
from gigavqa.construction.publishing import publish
from gigavqa.reports.report import Report
from gigavqa.workers.engines.engine import Message, PromptRaster
from tests.construction.ultravr.slide_oracle import right_letter
from tests.flow.installation import Installation
from tests.flow.jobs import job
from tests.waiting import wait_until
from tests.workers.examples import ENTRY
from tests.workers.remote_server import Elsewhere, serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

_SIDE, _GRID = 64, 5
_STEP = 12
"""Of grey between two slides, so that whoever sees one knows which it is."""
_FINDINGS = ("focality", "in_situ", "lvi")


class Solver(Elsewhere):
    """Finds the red cell of a grid by looking; tells slides by their grey, and reads their findings in the table."""

    def __init__(self, labels: Mapping[int, Mapping[str, str]]) -> None:
        super().__init__()
        self._labels = labels

    async def _answer(self, chat: list[Message], body: dict[str, Any]) -> dict[str, Any]:
        parts = [part for message in chat for part in message.parts]
        text = "\n".join(part for part in parts if isinstance(part, str))
        pixels = next((part.pixels for part in parts if isinstance(part, PromptRaster)), None)
        answer = "I cannot tell" if pixels is None else self._look(text, pixels)
        choice = {"index": 0, "message": {"role": "assistant", "content": answer}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": 3}
        return {"id": "chatcmpl-1", "model": self.model, "choices": [choice], "usage": usage}

    def _look(self, text: str, pixels: Any) -> str:
        red = pixels[..., 0].astype(int) - pixels[..., 1]
        if red.max() > 100:
            row, column = np.argwhere(red == red.max()).mean(axis=0) / red.shape * _GRID
            return f"Final answer: ({int(row) + 1}, {int(column) + 1})"
        slide = round(float(pixels.mean()) / _STEP)
        heads = {"When comparing": "T1", "Does the slide support": "T2", "Which integrated summary": "T3"}
        found = re.search(rf"({'|'.join(heads)}).*?\?", text)
        if not found:
            return "Final answer: D"
        question, template = found[0], heads[found[1]]
        options = dict(re.findall(r"^\(?([A-D])[).:]\s*(.+)$", text, re.MULTILINE))
        record = {"subcategory": template, "question": question, "options": options}
        return f"Final answer: {right_letter(record, self._labels[slide])}"


def _draw_product(folder: Path) -> Path:
    for at in range(_GRID**2 - 1):
        _save(folder / "pushpins" / "train" / "good" / f"{at:03}.png", (90, 90 + at, 90))
    for kind, value in (("logical", 255), ("structural", 254)):
        name = f"{kind}_anomalies"
        _save(folder / "pushpins" / "test" / name / "000.png", (250, 20, value - 230))
        mask = Image.new("L", (_SIDE, _SIDE))
        mask.paste(value, (10, 10, 40, 40))
        place = folder / "pushpins" / "ground_truth" / name / "000" / "000.png"
        place.parent.mkdir(parents=True)
        mask.save(place)
    told = [{"defect_name": "missing_pushpin", "pixel_value": 255}, {"defect_name": "front_bent", "pixel_value": 254}]
    (folder / "pushpins" / "defects_config.json").write_text(json.dumps(told), encoding="utf-8")
    return folder / "pushpins"


def _save(path: Path, color: tuple[int, int, int]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (_SIDE, _SIDE), color).save(path)


def _draw_slides(folder: Path) -> dict[int, dict[str, str]]:
    """Write 16 grey slides with all combinations of findings twice, an area each, and return the findings."""
    labels: dict[int, dict[str, str]] = {}
    (folder / "known" / "regions").mkdir(parents=True)
    (folder / "images").mkdir()
    rows = [",".join(("slide", *_FINDINGS))]
    for at in range(16):
        values = [int(bit) for bit in f"{at % 8:03b}"]
        words = (("unifocal", "multifocal"), ("absent", "present"), ("absent", "present"))
        labels[at + 1] = {name: two[bit] for name, two, bit in zip(_FINDINGS, words, values, strict=True)}
        Image.new("RGB", (600, 480), (_STEP * (at + 1),) * 3).save(folder / "images" / f"slide-{at:02}.png")
        rows.append(",".join((f"slide-{at:02}", *labels[at + 1].values())))
        ring = [[0, 0], [200, 0], [200, 160], [0, 160], [0, 0]]
        feature = {
            "type": "Feature",
            "geometry": {"type": "Polygon", "coordinates": [ring]},
            "properties": {"objectType": "annotation", "classification": {"name": "Tumor"}},
        }
        (folder / "known" / "regions" / f"slide-{at:02}.geojson").write_text(json.dumps(feature), encoding="utf-8")
    (folder / "known" / "reports.csv").write_text("\n".join([*rows, ""]), encoding="utf-8")
    return labels


def _publish(name: str, source: Path, images: Path, home: Path, **how: Any) -> int:
    told = {"source": source, "images": images, "benchmark": "ultravr", **how}
    build = Build(BuildFolder(home / "builds", name), BuildSettings.model_validate(told))
    with build.folder.locked():
        build.run()
    lines = build.folder.file("samples.jsonl")
    publish(build.folder, lines, build.image_folder, home / "data", benchmark="ultravr", title="")
    return sum(1 for record in build.records() if record["answer"])


@pytest.fixture
def asked(installation: Installation, tmp_path: Path) -> Iterator[dict[str, int]]:
    """An installation with both data sets and a worker that has the solver answer; how many of each are scored."""
    product, labels = _draw_product(tmp_path / "drawn"), _draw_slides(tmp_path / "drawn" / "slides")
    slides, home = tmp_path / "drawn" / "slides", installation.home
    shape = {"recipes": ("ad-anomaly",), "parameters": {"rows": str(_GRID), "columns": str(_GRID)}}
    told = {
        "grids": _publish("grids", product, product.parent, home, **shape),
        "slides": _publish("slides", slides / "known", slides / "images", home, per_recipe=8),
    }
    with serving(Solver(labels)) as there:
        installation.start_server()
        installation.start_gateway()
        installation.start_worker("--model", ENTRY.id, "--engine", "remote", "--endpoint", there.url)
        yield told


def test_a_solver_that_sees_and_knows_scores_100_on_what_was_built(
    installation: Installation, asked: dict[str, int]
) -> None:
    """Of grids and of slides; and without pictures it says that it cannot tell."""
    assert asked["grids"] == 2
    assert asked["slides"] == 24
    for name, number in asked.items():
        cells = [{"protocol": "S0", "condition": condition} for condition in ("V2", "V0")]
        spec = {"dataset": name, "models": [ENTRY.id], "cells": cells}
        reply = httpx.post(f"{installation.url}/v1/jobs", json=spec, timeout=60)
        assert reply.status_code == httpx.codes.CREATED, reply.text
        job_id = str(reply.json()["id"])
        wait_until(lambda job_id=job_id: job(installation.url, job_id)["status"] == "completed", timeout=120, what=name)
        text = httpx.get(f"{installation.url}/v1/jobs/{job_id}/verdicts", params={"format": "jsonl"}, timeout=60).text
        verdicts = [json.loads(line) for line in text.splitlines()]
        seen = [one for one in verdicts if one["condition"] == "V2" and one["score"] is not None]
        assert (len(seen), {one["score"] for one in seen}) == (number, {1.0})
        assert not [one for one in verdicts if one["condition"] == "V0" and one["score"]]
        form = httpx.get(f"{installation.url}/v1/jobs/{job_id}/report", params={"format": "json"}, timeout=60).text
        assert Report.model_validate_json(form)
