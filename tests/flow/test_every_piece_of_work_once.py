"""On the real engine, work is done once for every unique piece of it; counted, not timed."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest

from gigavqa.catalogue.load import load_catalogue
from gigavqa.launcher.preflight import free_port
from gigavqa.reports.report import Report
from gigavqa.reports.score import score_files
from gigavqa.tiling.geometry import Size
from tests.flow.installation import Installation
from tests.flow.jobs import CONDITIONS, MODEL, job, responses, submit
from tests.flow.pictures import draw_dataset
from tests.reports.tables import caveats_of, table_of
from tests.waiting import wait_until

IMAGES, QUESTIONS = 3, 4
REQUESTS = IMAGES * QUESTIONS * len(CONDITIONS)
UNIQUE_VIEWS = IMAGES * 3  # thumbnail, full image, one quadrant

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]


class Finished:
    """A finished job, what its responses say, and what the worker counted."""

    def __init__(self, installation: Installation, job_id: str, metrics_port: int) -> None:
        self.home = installation.home
        self.metrics_port = metrics_port
        self.url, self.id = installation.url, job_id
        self.responses = responses(self.url, job_id)

    def counted(self, series: str) -> int:
        """A counter of the worker, summed over its labels."""
        text = httpx.get(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=10).text
        return int(sum(float(value) for value in re.findall(rf"^{series}(?:{{.*}})? (\S+)$", text, re.MULTILINE)))

    def report(self) -> Report:
        """The report as the gateway serves it."""
        reply = httpx.get(f"{self.url}/v1/jobs/{self.id}/report", params={"format": "json"}, timeout=60)
        return Report.model_validate_json(reply.text)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Finished]:
    """One job over all conditions, played by one worker."""
    home = tmp_path_factory.mktemp("home")
    draw_dataset(home / "data" / "plazas", images=IMAGES, questions=QUESTIONS)
    installation = Installation(home)
    try:
        installation.start_server()
        installation.start_gateway()
        metrics_port = free_port("127.0.0.1")
        installation.start_worker("--model", MODEL, "--metrics-port", str(metrics_port))
        job_id = submit(installation.url)
        wait_until(
            lambda: job(installation.url, job_id)["status"] == "completed", timeout=240, what="the job's completion"
        )
        yield Finished(installation, job_id, metrics_port)
    finally:
        installation.stop()


def _rasters(finished: Finished) -> list[Mapping[str, Any]]:
    return [raster for response in finished.responses for raster in response["rasters"]]


def test_all_requests_are_answered(finished: Finished) -> None:
    """Every request of the job has a response that is no failure."""
    assert job(finished.url, finished.id)["request_counts"] == {"total": REQUESTS, "completed": REQUESTS, "failed": 0}


def test_each_unique_view_is_rendered_once(finished: Finished) -> None:
    """Questions, conditions and bundles share one rendering of a view."""
    assert len({raster["key"] for raster in _rasters(finished)}) == UNIQUE_VIEWS
    wait_until(lambda: finished.counted("gigavqa_worker_renders_total") == UNIQUE_VIEWS, what="the count of renders")


@pytest.mark.parametrize("series", ["processed_rasters", "encoder_runs"])
def test_each_raster_is_processed_and_encoded_once_by_the_engine(finished: Finished, series: str) -> None:
    """vLLM makes a raster ready and encodes it once, and finds it by its key ever after."""
    wait_until(lambda: finished.counted(f"gigavqa_worker_{series}_total") == UNIQUE_VIEWS, what="the engine's count")


def test_prompts_share_the_prefix_of_their_picture(finished: Finished) -> None:
    """Of the questions about one view, all but the first find its visual tokens in the prefix cache."""
    full = [response for response in finished.responses if response["condition"] == "V2"]
    tokens = full[0]["rasters"][0]["visual_tokens"]
    cached = [response["turns"][0]["usage"]["cached_tokens"] for response in full]
    # A block of the cache that ends in the question's text is not shared, so a little less than the whole picture.
    assert sum(count >= tokens - 128 for count in cached) >= IMAGES * (QUESTIONS - 1)


def test_responses_say_where_their_pixels_came_from(finished: Finished) -> None:
    """Every raster names its view, source size, level, raster size and tokens as the model's budget decides them."""
    budget = load_catalogue()[MODEL].visual_budget
    natively = [raster for raster in _rasters(finished) if raster["view"]["sizing"] == "native"]
    for raster in natively:
        _, _, width, height = map(int, raster["region"].split(","))
        plan = budget.plan(Size(width, height))
        assert (Size(*raster["raster_size"]), raster["visual_tokens"]) == (plan.raster, plan.visual_tokens)
        assert raster["source_size"] == [1600, 1200]


def test_the_report_counts_what_the_responses_say(finished: Finished) -> None:
    """Online report and offline scoring of the same raw responses are the same, and name the random weights."""
    online = finished.report()
    path = finished.home / "responses.ndjson"
    text = httpx.get(f"{finished.url}/v1/jobs/{finished.id}/results", params={"limit": 100_000}, timeout=60).text
    path.write_text(text, encoding="utf-8")
    offline = score_files(finished.home / "data" / "plazas", path)
    for name in ("table1", "table2"):
        assert table_of(offline, name) == table_of(online, name)
    assert any("random" in warning for warning in caveats_of(online))


def test_the_page_shows_every_raster_that_the_model_saw(finished: Finished) -> None:
    """A preview for each, once in the file, made by the worker and passed on by the gateway."""
    wait_until(lambda: finished.counted("gigavqa_worker_previews_total") == UNIQUE_VIEWS, what="the previews")
    reply = httpx.get(f"{finished.url}/v1/jobs/{finished.id}/report", params={"format": "html"}, timeout=60)
    assert reply.text.count("data:image/jpeg;base64,") == UNIQUE_VIEWS
