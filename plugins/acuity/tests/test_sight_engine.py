"""The small model in the real engine: it answers as the same weights do under transformers alone."""

import asyncio
import importlib.util
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
import pytest_asyncio

from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import Cell
from gigavqa.contract.requests import Sampling
from gigavqa.evaluation.benchmark import Scene
from gigavqa.evaluation.datasets import load_dataset
from gigavqa.evaluation.metrics.intervals import wilson
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.rendering import Raster, render
from gigavqa.workers.checkpoints.build import ensure_checkpoint
from gigavqa.workers.engines.engine import Message, PromptRaster
from gigavqa.workers.engines.vllm.engine import VllmEngine
from gigavqa_acuity.benchmark import Acuity
from gigavqa_acuity.chart.dataset import build_dataset
from gigavqa_acuity.samples import AcuitySample
from gigavqa_acuity.sight.reading import CheckpointReader, RasterPrompt

pytestmark = [
    pytest.mark.engine,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed"),
]

ENTRY = load_catalogue()["demo-sight"]
SHIPPED = ensure_checkpoint(ENTRY.weights, Path("unused"))
SIDE, PICTURES = 32768, 32
GREEDY = Sampling(temperature=0.0, max_tokens=4)
LEAST_EQUAL = 0.98


class Request(NamedTuple):
    """A question of the chart as the product asks it."""

    condition: str
    truth: str
    text: str
    rasters: tuple[Raster, ...]


@pytest.fixture(scope="module")
def requests(tmp_path_factory: pytest.TempPathFactory) -> list[Request]:
    """Both questions about each picture of a small chart under every condition, its rasters rendered of the files."""
    folder = tmp_path_factory.mktemp("chart") / "data" / "chart"
    build_dataset(folder, seed=23, pictures=PICTURES, progress=lambda _: None)
    signs = [sample for sample in load_dataset(folder).samples if isinstance(sample, AcuitySample)]
    return [_request(folder, sign, cell) for cell in Acuity.plans["acuity"] for sign in signs]


def _request(folder: Path, sign: AcuitySample, cell: Cell) -> Request:
    scene = Scene(sign.images, lambda _: Size(SIDE, SIDE), "", thumbnail=64)
    chat = Acuity().ask(sign, cell, scene)
    (text,) = chat.turns[0].parts
    budget = ENTRY.visual_budget
    rasters = tuple(render(folder / view.image, view, budget, len(chat.views)) for view in chat.views)
    return Request(cell.condition, sign.truth, str(text), rasters)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def told(requests: Sequence[Request]) -> AsyncIterator[list[str]]:
    """What the engine answers, many at a time."""
    engine = VllmEngine(ENTRY, str(SHIPPED))
    await engine.start()

    async def answer(number: int, one: Request) -> str:
        rasters = (PromptRaster(raster.key, raster.pixels) for raster in one.rasters)
        turn = await engine.generate([Message("user", (*rasters, one.text))], GREEDY, f"request-{number}")
        return turn.text

    yield await asyncio.gather(*(answer(number, one) for number, one in enumerate(requests)))
    await engine.stop()


@pytest.fixture(scope="module")
def expected(requests: Sequence[Request]) -> list[str]:
    """What transformers answers."""
    importlib.import_module("torch").set_num_threads(1)  # a second one gains little, and on busy cores costs much
    asked = [RasterPrompt(one.text, tuple(raster.pixels for raster in one.rasters)) for one in requests]
    return CheckpointReader(SHIPPED).answer(asked)


async def test_greedy_answers_are_those_of_transformers(told: list[str], expected: list[str]) -> None:
    """At least 98 of 100 of them, letter by letter."""
    equal = sum(one == other for one, other in zip(told, expected, strict=True))
    assert equal / len(expected) >= LEAST_EQUAL


async def test_each_condition_is_as_accurate_as_under_transformers(
    requests: Sequence[Request], told: list[str], expected: list[str]
) -> None:
    """Within the interval of what transformers reaches, from no picture to two."""
    for condition in ("V0", "V1", "V2", "V3", "V4"):
        at = [number for number, one in enumerate(requests) if one.condition == condition]
        reached, wanted = ([answers[n] == requests[n].truth for n in at] for answers in (told, expected))
        interval = wilson(sum(wanted) / len(at), len(at))
        assert (interval.low or 0) <= sum(reached) / len(at) <= (interval.high or 0), condition


async def test_it_sees_in_the_engine(requests: Sequence[Request], told: list[str]) -> None:
    """Regions are read, and no more than guessed at without a picture."""
    right = {"V0": 0, "V3": 0}
    for one, answer in zip(requests, told, strict=True):
        if one.condition in right:
            right[one.condition] += answer == one.truth
    assert right["V3"] >= 0.85 * 2 * PICTURES > 0.45 * 2 * PICTURES > right["V0"]
