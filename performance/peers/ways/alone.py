"""The engine alone: the product's own engine and arguments, every raster in memory beforehand. It is the bound."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import JobSpec
from gigavqa.contract.requests import InferenceRequest, Sampling
from gigavqa.contract.responses import TurnResponse
from gigavqa.tiling.renderer import Renderer, ViewRequest
from gigavqa.tiling.rendering import Raster
from gigavqa.tiling.roots import ImageRoot
from gigavqa.tiling.views import View
from gigavqa.workers.chat import ChatPlayer
from gigavqa.workers.engines.engine import Message
from gigavqa.workers.engines.vllm.engine import VllmEngine
from gigavqa.workers.script import FixedTurns
from performance.peers.lane import Lap, LapOutcome, Racer, serve
from performance.peers.scenario import MODEL, Scenario, requests_of

_CACHE_BYTES = 1 << 30


class EngineAlone:
    """Plays requests as a worker does, as many at once and in the same order, with nothing beside it."""

    def __init__(self, entry: CatalogueEntry, weights: str) -> None:
        self._entry = entry
        self.engine = VllmEngine(entry, weights)
        self._slots = asyncio.Semaphore(int(entry.engine["max_num_seqs"]))
        self._rasters: dict[View, Raster] = {}

    def render(self, requests: Sequence[InferenceRequest], data: Path) -> None:
        """Render what the requests look at."""
        library = Renderer(ImageRoot(data), data.parent / "pyramids", _CACHE_BYTES)
        views = {view for request in requests for view in request.views} - self._rasters.keys()
        awaited, work = library.plan([ViewRequest(view) for view in views], self._entry.visual_budget)
        for each in work:
            each(lambda: True)
        self._rasters |= {each.look.view: each.result() for each in awaited}

    async def play(self, request: InferenceRequest, name: str) -> tuple[TurnResponse, ...]:
        """Play one chat; `name` sets its requests to the engine apart from those of other laps."""

        async def generate(chat: Sequence[Message], sampling: Sampling, turn_id: str) -> TurnResponse:
            return await self.engine.generate(chat, sampling, f"{name}/{turn_id}", 1)

        rasters = [self._rasters[view] for view in request.views]
        player = ChatPlayer(request, FixedTurns(request.turns), rasters, generate, self._entry.in_history)
        async with self._slots:
            return await player.play()


class EngineRacer(Racer):
    """The bound of a scenario."""

    def __init__(self, scenario: Scenario) -> None:
        self._loop = asyncio.new_event_loop()
        self._alone = EngineAlone(load_catalogue()[MODEL], scenario.weights)
        self._loop.run_until_complete(self._alone.engine.start())
        self._requests: list[InferenceRequest] = []
        self._lap = 0
        self._turns: list[TurnResponse] = []
        self._encoded = 0

    def prepare(self, lap: Lap, scenario: Scenario) -> None:
        """Render everything, and empty the engine's caches."""
        data = Path(scenario.data)
        ids = {item.id for item in scenario.items}
        spec = JobSpec.model_validate(scenario.spec)
        self._requests = [request for _, request in requests_of(spec, data) if request.id in ids]
        self._alone.render(self._requests, data)
        self._loop.run_until_complete(empty(self._alone.engine))
        self._lap += 1
        self._encoded = self._loop.run_until_complete(self._alone.engine.stats()).processed_rasters

    def run(self, scenario: Scenario, limit: float) -> LapOutcome:
        """Play everything at once."""
        return self._loop.run_until_complete(self._play(scenario))

    def count(self, outcome: LapOutcome) -> None:
        """Add what the engine counted."""
        stats = self._loop.run_until_complete(self._alone.engine.stats())
        outcome.encoder_runs = stats.processed_rasters - self._encoded
        outcome.prefilled_tokens = sum(turn.usage.prompt_tokens - turn.usage.cached_tokens for turn in self._turns)

    def close(self) -> None:
        """End the engine."""
        self._loop.run_until_complete(self._alone.engine.stop())

    async def _play(self, scenario: Scenario) -> LapOutcome:
        outcome, started = LapOutcome(), time.perf_counter()
        items = {item.id: item for item in scenario.items}
        self._turns = []

        async def play(request: InferenceRequest) -> None:
            self._turns += await self._alone.play(request, f"lap-{self._lap}")
            outcome.answer(items[request.id], time.perf_counter() - started)

        async with asyncio.TaskGroup() as group:
            for request in self._requests:
                group.create_task(play(request))
        return outcome


async def empty(engine: VllmEngine) -> None:
    """Make an engine forget every raster and prefix."""
    llm = engine._llm  # no part of the product ever wants to forget
    await llm.reset_mm_cache()
    await llm.reset_encoder_cache()
    await llm.reset_prefix_cache()


if __name__ == "__main__":
    serve(EngineRacer)
