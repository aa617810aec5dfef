"""On the real engine, a question asked directly and behind golden evidence shares its picture: counted, not timed."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest
from PIL import Image

from gigavqa.launcher.preflight import free_port
from gigavqa.reports.report import Report
from tests.flow.installation import Installation
from tests.flow.jobs import MODEL, job, responses
from tests.reports.tables import table_of
from tests.waiting import wait_until

IMAGES, CLUES = 2, 2
REQUESTS = IMAGES * (CLUES + 1 + 1)

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]


def write_places(folder: Path) -> None:
    """Two pictures, each with two clue questions and a conclusion, one object a picture."""
    rng = np.random.default_rng(7)
    (folder / "images").mkdir(parents=True)
    (folder / "samples").mkdir()
    (folder / "dataset.toml").write_text(f'name = "{folder.name}"\nbenchmark = "atombench"\n')
    lines = []
    for number in range(IMAGES):
        coarse = rng.integers(0, 255, (30, 40, 3), dtype=np.uint8)
        Image.fromarray(coarse).resize((1600, 1200), Image.Resampling.BICUBIC).save(
            folder / "images" / f"place-{number}.png"
        )
        options = [f"word {at}" for at in range(4)]
        clues = [{"question": f"What is clue {at}?", "options": options, "answer": "B"} for at in range(CLUES)]
        place = {"question": "Where is this?", "options": options, "answer": "C", "difficulty": "hard"}
        lines.append({"image": f"images/place-{number}.png", "clues": clues, "conclusions": [place]})
    (folder / "samples" / "places.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


class Played:
    """A finished job and what the worker counted."""

    def __init__(self, installation: Installation, job_id: str, port: int) -> None:
        self.url, self.id, self.port = installation.url, job_id, port
        self.responses = responses(self.url, job_id)

    def counted(self, series: str) -> int:
        """A counter of the worker, summed over its labels."""
        text = httpx.get(f"http://127.0.0.1:{self.port}/metrics", timeout=10).text
        found = re.findall(rf"^gigavqa_worker_{series}_total(?:{{.*}})? (\S+)$", text, re.MULTILINE)
        return int(sum(map(float, found)))

    def report(self, form: str) -> str:
        """The job's report in a form."""
        return httpx.get(f"{self.url}/v1/jobs/{self.id}/report", params={"format": form}, timeout=60).text


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """The default plan over two pictures, played by one worker."""
    home = tmp_path_factory.mktemp("home")
    write_places(home / "data" / "places")
    installation = Installation(home)
    try:
        installation.start_server()
        installation.start_gateway()
        port = free_port("127.0.0.1")
        installation.start_worker("--model", MODEL, "--metrics-port", str(port))
        spec = {"dataset": "places", "models": [MODEL]}
        reply = httpx.post(f"{installation.url}/v1/jobs", json=spec, timeout=60)
        assert reply.status_code == httpx.codes.CREATED, reply.text
        job_id = str(reply.json()["id"])
        wait_until(lambda: job(installation.url, job_id)["status"] == "completed", timeout=240, what="completion")
        yield Played(installation, job_id, port)
    finally:
        installation.stop()


@pytest.mark.parametrize("series", ["renders", "processed_rasters", "encoder_runs"])
def test_each_picture_is_made_and_encoded_once(played: Played, series: str) -> None:
    """Clue questions, the first answer and the one behind golden evidence share one rendering and one encoder run."""
    assert len(played.responses) == REQUESTS
    assert len({raster["key"] for one in played.responses for raster in one["rasters"]}) == IMAGES
    wait_until(lambda: played.counted(series) == IMAGES, what=f"the count of {series}")


def test_all_prompts_about_a_picture_share_its_prefix(played: Played) -> None:
    """All but the first find the picture's tokens in the prefix cache.

    The printed template of golden evidence begins with its role, so that a picture is prefilled twice.
    """
    tokens = played.responses[0]["rasters"][0]["visual_tokens"]
    cached = {one["request_id"]: one["turns"][0]["usage"]["cached_tokens"] for one in played.responses}
    # The picture's last block also holds the first words of the text, so a little less than all of it is shared.
    assert sum(count >= tokens - 64 for count in cached.values()) >= REQUESTS - 2 * IMAGES
    report = Report.model_validate_json(played.report("json"))
    assert (report.work.views, report.work.rasters) == (REQUESTS, IMAGES)
    assert report.work.cached_tokens == sum(cached.values())
    assert table_of(report, "table2").rows[0].keys["model"] == MODEL


def test_the_page_shows_golden_evidence_beside_both_answers(played: Played) -> None:
    """Once for each conclusion question, whose first and final answers stand under it."""
    page = played.report("html")
    lines = [f"What is clue {at}? word 1" for at in range(CLUES)]
    assert page.count(json.dumps(lines, separators=(",", ":"))) == IMAGES
    by_sample = {one["sample_id"]: set[str]() for one in played.responses}
    for one in played.responses:
        by_sample[one["sample_id"]].add(one["protocol"])
    assert [by_sample[f"place-{number}-q1"] for number in range(IMAGES)] == [{"A0", "AG"}] * IMAGES
