"""`vllm serve` with a client of its OpenAI API: a plain one that sends full PNGs, or one that an expert has tuned."""

import asyncio
import base64
import io
import json
import math
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
from openai import AsyncOpenAI, OpenAI
from PIL import Image

from gigavqa.launcher.preflight import free_port
from gigavqa.workers.engines.vllm.compat.torch_companions import repair_torch_companions
from performance.peers.lane import Lap, LapOutcome, Racer, one_by_one, serve
from performance.peers.scenario import PromptView, RaceItem, Scenario, alternating
from performance.peers.ways.rendering import looks_by_path, render_file

_START_SECONDS = 150
_THREADS = 2
_QUALITY = 90
_SERVED_PIXELS = 178_956_970  # VLLM_MAX_IMAGE_PIXELS, as it is where nobody sets it
_COUNTERS = {
    "queries": "vllm:mm_cache_queries_total",
    "hits": "vllm:mm_cache_hits_total",
    "prompt": "vllm:prompt_tokens_total",
    "cached": "vllm:prefix_cache_hits_total",
}


class VllmServer:
    """vLLM's own server with the arguments that all racers have."""

    def __init__(self, scenario: Scenario) -> None:
        repair_torch_companions()
        port = free_port("127.0.0.1")
        self.url = f"http://127.0.0.1:{port}"
        argv = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--port", str(port), "--host", "127.0.0.1"]
        environment = {**os.environ, "VLLM_SERVER_DEV_MODE": "1"}  # lets the caches be emptied between laps
        self._process = subprocess.Popen([*argv, *_flags(scenario)], env=environment)
        self.model = str(scenario.engine["served_model_name"])
        self._await_readiness()

    def empty_caches(self) -> None:
        """Forget every picture and prefix."""
        for what in ("mm", "encoder", "prefix"):
            httpx.post(f"{self.url}/reset_{what}_cache", timeout=30).raise_for_status()

    def counters(self) -> dict[str, float]:
        """Return what the server has counted so far."""
        text = httpx.get(f"{self.url}/metrics", timeout=30).text
        read = re.compile(r"^(\S+?)(?:{.*})? (\S+)$", re.MULTILINE).findall(text)
        values = {name: float(value) for name, value in read if name in _COUNTERS.values()}
        return {name: values.get(series, 0.0) for name, series in _COUNTERS.items()}

    def stop(self) -> None:
        """End it."""
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _await_readiness(self) -> None:
        give_up = time.monotonic() + _START_SECONDS
        while time.monotonic() < give_up:
            if self._process.poll() is not None:
                raise RuntimeError(f"the server ended with {self._process.returncode}")
            try:
                if httpx.get(f"{self.url}/health", timeout=5).is_success:
                    return
            except httpx.TransportError:
                time.sleep(0.2)
        raise RuntimeError(f"the server was not ready within {_START_SECONDS} s")


def _flags(scenario: Scenario) -> list[str]:
    """Return the engine's arguments as the server's flags."""

    flags = []
    for name, value in scenario.engine.items():
        if value is None or value == {}:
            continue
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            flags.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            flags += [f"--{flag}", json.dumps(value) if isinstance(value, dict) else str(value)]
    return flags


class ApiRacer(Racer):
    """The base of both clients: the server, and what is counted of it."""

    def __init__(self, scenario: Scenario) -> None:
        self._folder = Path(os.environ["RACE_FOLDER"]) / "rasters"
        self._server = VllmServer(scenario)
        self._work: dict[str, int] = {}
        self._ask_warm_up()
        self._before = self._server.counters()

    def prepare(self, lap: Lap, scenario: Scenario) -> None:
        """Empty the server's caches, and for a cold lap the client's folder."""
        if lap == "cold":
            shutil.rmtree(self._folder, ignore_errors=True)
        if lap != "again":
            self._server.empty_caches()
        self._folder.mkdir(exist_ok=True)
        self._work = {}
        self._before = self._server.counters()

    def count(self, outcome: LapOutcome) -> None:
        """Add what the server counted."""
        grown = {name: value - self._before[name] for name, value in self._server.counters().items()}
        outcome.work = self._work
        outcome.encoder_runs = int(grown["queries"] - grown["hits"])
        outcome.prefilled_tokens = int(grown["prompt"] - grown["cached"])

    def close(self) -> None:
        """End the server."""
        self._server.stop()

    def _ask_warm_up(self) -> None:
        client = OpenAI(base_url=f"{self._server.url}/v1", api_key="-", max_retries=0)
        picture = {"type": "image_url", "image_url": {"url": _data_url(Image.new("RGB", (640, 480)), "PNG")}}
        content: Any = [picture, {"type": "text", "text": "What is this?"}]
        client.chat.completions.create(
            model=self._server.model, messages=[{"role": "user", "content": content}], max_tokens=4
        )

    def _request(self, item: RaceItem, picture: Callable[[PromptView], dict[str, Any]]) -> dict[str, Any]:
        content = [
            {"type": "text", "text": part} if isinstance(part, str) else picture(item.looks[part])
            for part in item.parts
        ]
        known = {"temperature", "top_p", "max_tokens", "seed"}
        return {
            "model": self._server.model,
            "messages": [{"role": "user", "content": content}],
            **{name: value for name, value in item.sampling.items() if name in known},
            "extra_body": {name: value for name, value in item.sampling.items() if name not in known},
        }


class PlainApiRacer(ApiRacer):
    """Sends every picture as a PNG of all its pixels, one question after the other; limits are as they are."""

    def run(self, scenario: Scenario, limit: float) -> LapOutcome:
        """Answer a fair sample of the items, as far as time allows."""
        Image.MAX_IMAGE_PIXELS = 1_000_000_000
        client = OpenAI(base_url=f"{self._server.url}/v1", api_key="-", max_retries=0, timeout=max(limit, 30.0))
        self._work = {"decodes": 0, "PNGs": 0}

        def ask(item: RaceItem) -> None:
            client.chat.completions.create(**self._request(item, self._picture))

        return one_by_one(alternating(scenario.items), limit, ask)

    def _picture(self, look: PromptView) -> dict[str, Any]:
        if look.is_whole and math.prod(look.size) > _SERVED_PIXELS:
            raise ValueError(f"not sent: the server refuses pictures of more than {_SERVED_PIXELS:,} pixels")
        if look.is_whole and look.path.endswith(".png"):
            url = f"data:image/png;base64,{base64.b64encode(Path(look.path).read_bytes()).decode()}"
        else:
            x, y, width, height = look.region
            with Image.open(look.path) as image:
                cut = image.convert("RGB").crop((x, y, x + width, y + height))
            if look.longest:
                cut.thumbnail((look.longest, look.longest))
            url = _data_url(cut, "PNG", compress_level=1)
            self._work["decodes"] += 1
            self._work["PNGs"] += 1
        return {"type": "image_url", "image_url": {"url": url}}


class TunedApiRacer(ApiRacer):
    """Renders every raster once beforehand, keeps it as a JPEG, sends it with a uuid, many requests at a time."""

    def run(self, scenario: Scenario, limit: float) -> LapOutcome:
        """Render what is missing, then ask everything."""
        started = time.perf_counter()
        self._render(scenario)
        return asyncio.run(self._ask_all(scenario, started))

    def _render(self, scenario: Scenario) -> None:
        wanted = looks_by_path(scenario.items)
        missing = {path: [look for look in looks if not self._jpeg(look).exists()] for path, looks in wanted.items()}
        missing = {path: looks for path, looks in missing.items() if looks}
        self._work = {"decodes": len(missing), "renders": sum(map(len, missing.values()))}
        with ThreadPoolExecutor(_THREADS) as threads:
            for _ in threads.map(self._render_file, missing, missing.values()):
                pass

    def _render_file(self, path: str, looks: Sequence[PromptView]) -> None:
        rasters = render_file(path, looks)
        for look in looks:
            rasters[look.key].save(self._jpeg(look), quality=_QUALITY)

    def _jpeg(self, look: PromptView) -> Path:
        return self._folder / f"{look.key}.jpg"

    async def _ask_all(self, scenario: Scenario, started: float) -> LapOutcome:
        outcome = LapOutcome()
        at_once = asyncio.Semaphore(2 * int(scenario.engine["max_num_seqs"]))
        async with AsyncOpenAI(base_url=f"{self._server.url}/v1", api_key="-", max_retries=0) as client:

            async def ask(item: RaceItem) -> None:
                async with at_once:
                    try:
                        await client.chat.completions.create(**self._request(item, self._picture))
                    except Exception as error:  # noqa: BLE001 - it is what the table tells of this peer
                        outcome.fail(error)
                    else:
                        outcome.answer(item, time.perf_counter() - started)

            await asyncio.gather(*map(ask, scenario.items))
        return outcome

    def _picture(self, look: PromptView) -> dict[str, Any]:
        url = f"data:image/jpeg;base64,{base64.b64encode(self._jpeg(look).read_bytes()).decode()}"
        return {"type": "image_url", "image_url": {"url": url}, "uuid": look.key}


def _data_url(image: Image.Image, kind: str, **how: Any) -> str:
    buffer = io.BytesIO()
    image.save(buffer, kind, **how)
    return f"data:image/{kind.lower()};base64,{base64.b64encode(buffer.getvalue()).decode()}"


if __name__ == "__main__":
    serve(TunedApiRacer if sys.argv[3:] == ["tuned"] else PlainApiRacer)
