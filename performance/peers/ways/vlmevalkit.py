"""VLMEvalKit's way, rebuilt from what its source does, since it is no package: `vlmeval/vlm/qwen3_vl/model.py`.

One `LLM.generate` for each question (`generate_inner_vllm`), pictures opened by Pillow with its limit of 1e9 pixels
(`vlmeval/smp/vlm.py`) and brought into the model's budget as `qwen_vl_utils.fetch_image` does. Thumbnails and crops are
files, written once as JPEGs of quality 75, as `dump_image` of its data sets leaves them.
"""

import os
import shutil
from pathlib import Path
from typing import Any

from PIL import Image

from performance.peers.lane import Lap, LapOutcome, Racer, one_by_one, serve
from performance.peers.scenario import PromptView, RaceItem, Scenario, alternating
from performance.peers.ways.engine import EngineCounters, empty_caches, sampling_of, start_llm

Image.MAX_IMAGE_PIXELS = 1_000_000_000


class VlmEvalKit(Racer):
    """A warm lap finds the JPEGs that the cold one wrote."""

    def __init__(self, scenario: Scenario) -> None:
        self._llm = start_llm(scenario)
        from transformers import AutoProcessor  # noqa: PLC0415 - takes seconds

        self._processor = AutoProcessor.from_pretrained(scenario.weights)
        self._dumped = Path(os.environ["RACE_FOLDER"]) / "vlmevalkit"
        self._work = {"decodes": 0, "JPEGs": 0}
        self._counters = EngineCounters(self._llm)

    def prepare(self, lap: Lap, scenario: Scenario) -> None:
        """Empty the engine's caches, and for a cold lap the folder of pictures."""
        if lap == "cold":
            shutil.rmtree(self._dumped, ignore_errors=True)
        if lap != "again":
            empty_caches(self._llm)
        self._dumped.mkdir(exist_ok=True)
        self._work = {"decodes": 0, "JPEGs": 0}
        self._counters = EngineCounters(self._llm)

    def run(self, scenario: Scenario, limit: float) -> LapOutcome:
        """Answer a fair sample of the items, as far as time allows."""
        return one_by_one(alternating(scenario.items), limit, self._ask)

    def count(self, outcome: LapOutcome) -> None:
        """Add what the engine counted."""
        outcome.work = self._work
        self._counters.tell(outcome)

    def _ask(self, item: RaceItem) -> None:
        content = [
            {"type": "text", "text": part} if isinstance(part, str) else {"type": "image"} for part in item.parts
        ]
        text = self._processor.apply_chat_template(
            [{"role": "user", "content": content}], tokenize=False, add_generation_prompt=True
        )
        pictures = [self._fetch(item.looks[part]) for part in item.parts if not isinstance(part, str)]
        prompt: dict[str, Any] = {"prompt": text, "multi_modal_data": {"image": pictures}}
        self._llm.generate([prompt], sampling_of([item]), use_tqdm=False)

    def _fetch(self, look: PromptView) -> Image.Image:
        """Open, convert, and resize to what the model's budget makes of it (`smart_resize`)."""
        with Image.open(look.path if look.is_whole else self._dump(look)) as image:
            raster = image.convert("RGB").resize(look.raster)
        self._work["decodes"] += 1
        return raster

    def _dump(self, look: PromptView) -> Path:
        path = self._dumped / f"{look.key}.jpg"
        if not path.exists():
            x, y, width, height = look.region
            with Image.open(look.path) as image:
                cut = image.convert("RGB").crop((x, y, x + width, y + height))
            if look.longest:
                cut.thumbnail((look.longest, look.longest))
            cut.save(path, quality=75)
            self._work["decodes"] += 1
            self._work["JPEGs"] += 1
        return path


if __name__ == "__main__":
    serve(VlmEvalKit)
