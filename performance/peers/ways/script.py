"""An expert's own script: one process, each picture decoded once in a thread ahead of the engine, chats with uuids."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from PIL import Image

from performance.peers.lane import Lap, LapOutcome, Racer, serve
from performance.peers.scenario import RaceItem, Scenario
from performance.peers.ways.engine import EngineCounters, empty_caches, sampling_of, start_llm
from performance.peers.ways.rendering import looks_by_path, render_file

_THREADS = 2
"""Pillow decodes and resizes without Python's lock; the engine waits for the first pictures anyway."""


class ScriptRacer(Racer):
    """Rasters are kept in memory as long as the process lives."""

    def __init__(self, scenario: Scenario) -> None:
        self._llm = start_llm(scenario)
        self._rasters: dict[str, Image.Image] = {}
        self._counters = EngineCounters(self._llm)

    def prepare(self, lap: Lap, scenario: Scenario) -> None:
        """A cold lap begins with empty caches."""
        if lap != "again":
            self._rasters.clear()
            empty_caches(self._llm)
        self._counters = EngineCounters(self._llm)

    def run(self, scenario: Scenario, limit: float) -> LapOutcome:
        """Render file after file ahead, and let the engine answer all questions about a file together."""
        outcome, started = LapOutcome(), time.perf_counter()
        wanted = looks_by_path(scenario.items)
        missing = {path: [look for look in looks if look.key not in self._rasters] for path, looks in wanted.items()}
        outcome.work = {
            "decodes": sum(bool(looks) for looks in missing.values()),
            "renders": sum(map(len, missing.values())),
        }
        with ThreadPoolExecutor(_THREADS) as threads:
            rendering = {path: threads.submit(render_file, path, looks) for path, looks in missing.items() if looks}
            for path in wanted:
                items = [item for item in scenario.items if item.looks[0].path == path]
                try:
                    if path in rendering:
                        self._rasters |= rendering[path].result()
                    self._ask(items)
                except (OSError, ValueError, MemoryError) as error:
                    for _ in items:
                        outcome.fail(error)
                else:
                    for item in items:
                        outcome.answer(item, time.perf_counter() - started)
        return outcome

    def count(self, outcome: LapOutcome) -> None:
        """Add what the engine counted."""
        self._counters.tell(outcome)

    def _ask(self, items: Sequence[RaceItem]) -> None:
        chats = [[{"role": "user", "content": [self._part(item, part) for part in item.parts]}] for item in items]
        self._llm.chat(chats, sampling_of(items), use_tqdm=False)

    def _part(self, item: RaceItem, part: str | int) -> dict[str, Any]:
        if isinstance(part, str):
            return {"type": "text", "text": part}
        key = item.looks[part].key
        return {"type": "image_pil", "image_pil": self._rasters[key], "uuid": key}


if __name__ == "__main__":
    serve(ScriptRacer)
