"""lmms-eval's own class for vLLM (`lmms_eval.models.chat.vllm.VLLM`), from its package, asked as its evaluator asks.

Its task gives it messages whose pictures are files, or Pillow images where a task would cut them. vLLM's limit on
pixels is lifted and Pillow's raised to 1e9, without which one large picture ends its whole run. Its batch is one,
its default.
"""

import os
from typing import Any

from performance.peers.lane import Lap, LapOutcome, Racer, one_by_one, serve
from performance.peers.scenario import MAX_TOKENS, PromptView, RaceItem, Scenario, alternating
from performance.peers.ways.engine import EngineCounters, empty_caches, prepare_process, warm_up


class LmmsEval(Racer):
    """Nothing is left on disk; a cold lap begins with empty caches."""

    def __init__(self, scenario: Scenario) -> None:
        os.environ["VLLM_MAX_IMAGE_PIXELS"] = str(10**12)
        prepare_process(scenario)
        from lmms_eval.models.chat.vllm import VLLM  # noqa: PLC0415 - only in its own environment
        from PIL import Image  # noqa: PLC0415

        Image.MAX_IMAGE_PIXELS = 1_000_000_000
        engine = {name: value for name, value in scenario.engine.items() if value is not None}
        self._model = VLLM(**engine, max_new_tokens=MAX_TOKENS, batch_size=1)
        warm_up(self._model.client)
        self._work = {"decodes": 0, "crops": 0}
        self._counters = EngineCounters(self._model.client)

    def prepare(self, lap: Lap, scenario: Scenario) -> None:
        """Empty the caches of the engine and of its encoder of pictures."""
        from lmms_eval.models.model_utils import media_encoder  # noqa: PLC0415

        if lap != "again":
            media_encoder._PATH_BASE64_CACHE.clear()
            empty_caches(self._model.client)
        self._work = {"decodes": 0, "crops": 0}
        self._counters = EngineCounters(self._model.client)

    def run(self, scenario: Scenario, limit: float) -> LapOutcome:
        """Answer a fair sample of the items, as far as time allows."""
        return one_by_one(alternating(scenario.items), limit, self._ask)

    def count(self, outcome: LapOutcome) -> None:
        """Add what the engine counted."""
        outcome.work = self._work
        self._counters.tell(outcome)

    def _ask(self, item: RaceItem) -> None:
        from lmms_eval.api.instance import Instance  # noqa: PLC0415

        settings = {name: value for name, value in item.sampling.items() if name != "max_tokens"}
        arguments = ("", self._messages, settings | {"max_new_tokens": MAX_TOKENS}, 0, "race", "test")
        self._model.task_dict = {"race": {"test": [item]}}
        metadata = {"task": "race", "doc_id": 0, "repeats": 1}
        self._model.generate_until([Instance("generate_until", arguments, 0, metadata)])

    def _messages(self, item: RaceItem) -> list[dict[str, Any]]:
        return [{"role": "user", "content": [self._part(item, part) for part in item.parts]}]

    def _part(self, item: RaceItem, part: str | int) -> dict[str, Any]:
        if isinstance(part, str):
            return {"type": "text", "text": part}
        look = item.looks[part]
        return {"type": "image", "url": look.path if look.is_whole else self._cut(look)}

    def _cut(self, look: PromptView) -> Any:
        from PIL import Image  # noqa: PLC0415

        x, y, width, height = look.region
        with Image.open(look.path) as image:
            cut = image.convert("RGB").crop((x, y, x + width, y + height))
        if look.longest:
            cut.thumbnail((look.longest, look.longest))
        self._work["decodes"] += 1
        self._work["crops"] += 1
        return cut


if __name__ == "__main__":
    serve(LmmsEval)
