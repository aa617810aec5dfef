"""On the real engine, all questions about a document and all their rotations share its pages; counted, not timed."""

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import httpx
import pytest

from gigavqa.demo.mmcr.dataset import build_demo_dataset
from gigavqa.launcher.preflight import free_port
from tests.flow.installation import Installation
from tests.flow.jobs import MODEL, job, responses
from tests.waiting import wait_until

SAMPLES = ("tides-q1", "tides-q2", "reefs-q1", "reefs-q2")
ROTATIONS, PAGES = 5, 3
REQUESTS, UNIQUE_PAGES = len(SAMPLES) * ROTATIONS, 2 * PAGES

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]


def counted(port: int, series: str) -> int:
    """A counter of the worker, summed over its labels."""
    text = httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=10).text
    found = re.findall(rf"^gigavqa_worker_{series}_total(?:{{.*}})? (\S+)$", text, re.MULTILINE)
    return int(sum(float(value) for value in found))


def test_questions_and_rotations_share_the_pages_of_their_document(tmp_path: Path) -> None:
    """Twenty prompts of three pages each: six pages are rendered and encoded, and prefixes are found again."""
    build_demo_dataset(tmp_path / "data" / "papers", progress=lambda _: None)
    installation = Installation(tmp_path)
    try:
        installation.start_server()
        installation.start_gateway()
        port = free_port("127.0.0.1")
        installation.start_worker("--model", MODEL, "--metrics-port", str(port))
        spec = {
            "dataset": "papers",
            "models": [MODEL],
            "plan": "mmcr",
            "samples": SAMPLES,
            "sampling": {"max_tokens": 4},
        }
        reply = httpx.post(f"{installation.url}/v1/jobs", json=spec, timeout=60)
        assert reply.status_code == httpx.codes.CREATED, reply.text
        name = reply.json()["id"]
        wait_until(
            lambda: job(installation.url, name)["status"] == "completed", timeout=500, what="the job's completion"
        )
        assert job(installation.url, name)["request_counts"]["completed"] == REQUESTS
        for series in ("renders", "processed_rasters", "encoder_runs"):
            wait_until(lambda of=series: counted(port, of) == UNIQUE_PAGES, what=f"the count of {series}")  # type: ignore[misc]
        check_prefixes(responses(installation.url, name))
    finally:
        installation.stop()


def check_prefixes(found: list[dict[str, Any]]) -> None:
    """Of the ten prompts about a document, all but the first find its pages in the prefix cache."""
    by_document: dict[str, list[int]] = defaultdict(list)
    for response in found:
        tokens = sum(raster["visual_tokens"] for raster in response["rasters"])
        assert len(response["rasters"]) == PAGES
        by_document[response["sample_id"].partition("-")[0]].append(
            response["turns"][0]["usage"]["cached_tokens"] >= tokens - 128
        )
    assert {name: sum(hits) for name, hits in by_document.items()} == {"tides": 9, "reefs": 9}
