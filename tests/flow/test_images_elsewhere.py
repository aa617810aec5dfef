"""A job over images here and elsewhere, whose servers fail once it is checked: each sample is answered or told why."""

import io
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.flow.installation import Installation
from tests.flow.jobs import MODEL, job, responses, submit
from tests.ranges.conftest import draw_pyramid
from tests.ranges.server import FileServer, file_server
from tests.waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

QUESTIONS = 2
SHOWN = ("V1", "V2", "V3", "V4")
FAULTS = {
    "changed.tif": "ImageReplacedError",
    "gone.tif": "ImageNotFoundError",
    "busy.tif": "ImageUnavailableError",
    "stalled.tif": "ImageUnavailableError",
    "cut.png": "ImageUnavailableError",
}
WELL = ("well.tif", "well.png")


def _picture(number: int) -> bytes:
    file = io.BytesIO()
    pixels = np.random.default_rng(number).integers(0, 255, (400, 600, 3), np.uint8)
    Image.fromarray(pixels).save(file, "png")
    return file.getvalue()


def _write_dataset(folder: Path, server: FileServer) -> None:
    (folder / "images").mkdir(parents=True)
    (folder / "samples").mkdir()
    (folder / "dataset.toml").write_text('name = "plazas"\nbenchmark = "ultravr"\ntitle = "Plazas"\n')
    (folder / "images" / "here.png").write_bytes(_picture(0))
    pyramid = draw_pyramid(folder.parent.parent / "pyramid.tif", 1024).read_bytes()
    names = {"here": "images/here.png"}
    for number, name in enumerate((*WELL, *FAULTS), start=1):
        content = pyramid if name.endswith(".tif") else _picture(number)
        names[name.replace(".", "-")] = server.serve(f"pictures/{name}", content)
    records = [
        {
            "id": f"{image}-{question}",
            "domain": "cctv",
            "category": "comparison",
            "subcategory": "attribute_bundle_count_difference",
            "image": name,
            "question": f"How many people of kind {question} stand there?",
            "options": dict(zip("ABCD", ["none", "one", "two", "three"], strict=True)),
            "answer": "A",
            "evidence": {"quadrants": ["upper-left"]},
            "reasoning_supervision": {"step_type": "multi_step_qa", "steps": []},
        }
        for image, name in names.items()
        for question in range(QUESTIONS)
    ]
    (folder / "samples" / "cctv.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))


def _break(server: FileServer) -> None:
    """Let each server's fault begin, for ever."""
    served = {name: server.files[f"/pictures/{name}"] for name in FAULTS}
    served["changed.tif"].content = served["changed.tif"].content[:-9] + b"otherwise"
    del server.files["/pictures/gone.tif"]
    served["busy.tif"].faults = ["busy"] * 10_000
    served["stalled.tif"].faults = ["stall"] * 10_000
    served["cut.png"].faults = ["cut"] * 10_000


def test_nothing_is_lost_of_a_job_whose_images_elsewhere_fail(tmp_path: Path) -> None:
    """Five images fail in five ways after the check: their samples alone have failures, and all others are answered."""
    with file_server() as server:
        _write_dataset(tmp_path / "data" / "plazas", server)
        installation = Installation(
            tmp_path,
            {
                "GIGAVQA_REMOTE_IMAGES": f"{server.prefix}pictures/",
                "GIGAVQA_REMOTE_PRIVATE_HOSTS": "127.0.0.1",
                "GIGAVQA_REMOTE_SECONDS": "2",
            },
        )
        try:
            installation.start_server()
            installation.start_gateway()
            name = submit(installation.url)
            _break(server)
            installation.start_worker("--model", MODEL, "--engine", "simulated", "--speed", "0", within=())
            wait_until(lambda: job(installation.url, name)["status"] == "completed", timeout=200, what="the job's end")
            found = responses(installation.url, name)
            counts = job(installation.url, name)["request_counts"]
        finally:
            installation.stop()
    _check(found, counts)
    assert server.sent["/pictures/well.png"] <= len(_picture(2)) + 4096
    assert server.sent["/pictures/well.tif"] <= 1.05 * len(server.files["/pictures/well.tif"].content)


def _check(found: list[dict[str, object]], counts: dict[str, int]) -> None:
    images = 1 + len(WELL) + len(FAULTS)
    failed = len(FAULTS) * QUESTIONS * len(SHOWN)
    total = images * QUESTIONS * (1 + len(SHOWN))
    assert counts == {"total": total, "completed": total - failed, "failed": failed}
    assert set(Counter(each["request_id"] for each in found).values()) == {1}
    for response in found:
        image = str(response["sample_id"]).rpartition("-")[0]
        expected = {name.replace(".", "-"): kind for name, kind in FAULTS.items()}.get(image)
        failure = response["failure"]
        if expected and response["condition"] in SHOWN:
            assert isinstance(failure, dict)
            assert failure["type"] == expected
            assert "/pictures/" in failure["message"]
            assert failure["retryable"] == (expected == "ImageUnavailableError")
        else:
            assert failure is None
