"""Two workers with real engines share a plan by pictures: what is unique is still done once; counted, not timed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest

from gigavqa.launcher.preflight import free_port
from tests.flow.installation import Installation
from tests.flow.jobs import CONDITIONS, MODEL, job, responses, submit
from tests.flow.pictures import draw_dataset
from tests.waiting import wait_until

IMAGES, QUESTIONS = 6, 4
REQUESTS = IMAGES * QUESTIONS * len(CONDITIONS)
UNIQUE_VIEWS = IMAGES * 3  # thumbnail, full image, one quadrant
BUNDLE_REQUESTS = 4  # so that every picture has five bundles

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]


@dataclass(frozen=True)
class Fleet:
    """Two workers that are ready."""

    url: str
    metrics_ports: tuple[int, ...]

    def play(self, seed: int) -> str:
        """Let the fleet play a job; returns its id."""
        job_id = submit(self.url, seed=seed)
        wait_until(lambda: job(self.url, job_id)["status"] == "completed", timeout=240, what="the job's completion")
        return job_id

    def counted(self, series: str) -> list[int]:
        """A counter of each worker."""
        texts = (httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=10).text for port in self.metrics_ports)
        pattern = re.compile(rf"^gigavqa_worker_{series}(?:{{.*}})? (\S+)$", re.MULTILINE)
        return [int(sum(map(float, pattern.findall(text)))) for text in texts]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Workers that wait for one another's pictures as long as the test takes."""
    home = tmp_path_factory.mktemp("home")
    draw_dataset(home / "data" / "plazas", images=IMAGES, questions=QUESTIONS)
    installation = Installation(home, {"GIGAVQA_BUNDLE_REQUESTS": str(BUNDLE_REQUESTS)})
    try:
        installation.start_server()
        installation.start_gateway()
        ports = (free_port("127.0.0.1"), free_port("127.0.0.1"))
        for port in ports:
            patience = ("--lease", "600", "--defer", "300")
            installation.start_worker("--model", MODEL, "--metrics-port", str(port), *patience)
        wait_until(lambda: _ready(installation.url) == len(ports), timeout=240, what="two ready workers")
        yield Fleet(installation.url, ports)
    finally:
        installation.stop()


def _ready(url: str) -> int:
    workers = httpx.get(f"{url}/v1/workers", timeout=10).json()["data"]
    return sum(worker["state"] == "ready" for worker in workers)


def test_unique_work_is_done_once_in_a_fleet(fleet: Fleet) -> None:
    """Each view is rendered and encoded by one of two workers, and prefilled once there; both have had their share."""
    answers = responses(fleet.url, fleet.play(seed=1))
    assert len(answers) == REQUESTS
    assert len({answer["worker"] for answer in answers}) == len(fleet.metrics_ports)
    wait_until(lambda: sum(fleet.counted("renders_total")) == UNIQUE_VIEWS, what="one rendering of each view")
    wait_until(lambda: sum(fleet.counted("processed_rasters_total")) == UNIQUE_VIEWS, what="one encoding of each view")
    full = [answer for answer in answers if answer["condition"] == "V2"]
    tokens = full[0]["rasters"][0]["visual_tokens"]
    # A block of the cache that ends in the question's text is not shared, so a little less than the whole picture.
    shared = [answer for answer in full if answer["turns"][0]["usage"]["cached_tokens"] >= tokens - 128]
    assert len(shared) >= IMAGES * (QUESTIONS - 1)


def test_another_job_over_the_same_pictures_finds_their_workers(fleet: Fleet) -> None:
    """It renders and encodes nothing: every picture goes to the worker that looked at it for the first job."""
    before = fleet.counted("renders_total"), fleet.counted("processed_rasters_total")
    assert len(responses(fleet.url, fleet.play(seed=2))) == REQUESTS
    assert (fleet.counted("renders_total"), fleet.counted("processed_rasters_total")) == before
