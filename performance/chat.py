"""Time to first token through the gateway beside the engine's own: `python -m performance.chat`.

A real server, a gateway in a process of its own, and one worker with the real engine in this process. The same chat is
asked of the engine alone, with its raster in memory, and of the gateway over HTTP, one after the other, again and
again; both find their prompt in the engine's caches, so that what differs is the way. Takes a minute, after the
engine's start.
"""

import argparse
import asyncio
import base64
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from PIL import Image
from prometheus_client import CollectorRegistry
from redis.asyncio import Redis

from catalogue.load import load_catalogue
from gigavqa.retries import LineSplitter
from jobs.connection import connect
from jobs.embedded_store import start_store
from jobs.models import GenerationConstraints, Sampling
from tiling.renderer import Renderer
from tiling.rendering import render
from tiling.roots import ImageRoot
from tiling.views import View
from workers.checkpoints.build import ensure_checkpoint
from workers.engines.engine import Engine, Message, PromptRaster
from workers.engines.simulated_engine import SimulatedEngine
from workers.engines.vllm_engine import VllmEngine
from workers.instrumentation import Instrumentation
from workers.model_runtime import ServedModel, WorkerContext
from workers.settings import WorkerSettings
from workers.worker import Worker

ENTRY = load_catalogue()["demo-qwen3-vl"]
QUESTION = "Which quadrant holds more people?\nA. upper left\nB. upper right\nC. lower left\nD. lower right"
TOKENS = 8
PORT = 8497


class ChatBench:
    """The picture, the engine, and the gateway's address."""

    def __init__(self, home: Path, engine: Engine) -> None:
        self.engine = engine
        self.path = home / "data" / "town" / "plaza.png"
        self.url = f"http://127.0.0.1:{PORT}/v1/chat/completions"
        self.client = httpx.AsyncClient(timeout=120)
        self.path.parent.mkdir(parents=True)
        pixels = np.random.default_rng(1).integers(0, 255, (480, 640, 3), dtype=np.uint8)
        file = io.BytesIO()
        Image.fromarray(pixels).save(file, "png")
        self.path.write_bytes(file.getvalue())
        self.shown = {
            "a text": None,
            "a picture by reference": "gigavqa:town/plaza.png",
            "a picture in the body": f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}",
        }

    async def alone(self, url: str | None, number: int) -> float:
        """Seconds to the first text of the engine alone."""
        parts: tuple[str | PromptRaster, ...] = (QUESTION,)
        if url:
            raster = render(self.path, View(image="town/plaza.png"), ENTRY.visual_budget)
            parts = (PromptRaster(raster.key, raster.pixels), QUESTION)
        sampling = Sampling(temperature=0.0, max_tokens=TOKENS, steering=GenerationConstraints(ignore_eos=True))
        told: list[float] = []
        started = time.perf_counter()
        chat = [Message("user", parts)]
        await self.engine.generate(chat, sampling, f"alone-{number}", 0, lambda *_: told.append(time.perf_counter()))
        return told[0] - started

    async def through(self, url: str | None) -> float:
        """Seconds to the first text through the gateway."""
        picture: list[dict[str, Any]] = [{"type": "image_url", "image_url": {"url": url}}] if url else []
        body = {
            "model": ENTRY.id,
            "messages": [{"role": "user", "content": [*picture, {"type": "text", "text": QUESTION}]}],
            "temperature": 0,
            "max_tokens": TOKENS,
            "ignore_eos": True,
            "stream": True,
        }
        first = 0.0
        content, headers = json.dumps(body).encode(), {"content-type": "application/json"}
        started = time.perf_counter()
        async with self.client.stream("POST", self.url, content=content, headers=headers) as answer:
            answer.raise_for_status()
            cut = LineSplitter()
            async for chunk in answer.aiter_bytes():
                for line in cut.take(chunk):
                    if not first and line.startswith("data: {") and _says(json.loads(line[6:])):
                        first = time.perf_counter()
        return first - started


def _says(chunk: dict[str, Any]) -> bool:
    if "error" in chunk:
        raise SystemExit(f"performance.chat: {chunk['error']['message']}")
    return any(choice["delta"].get("content") for choice in chunk["choices"])


async def compare(setting: ChatBench, rounds: int) -> None:
    """Ask in both ways in turn, and show what the way costs."""
    print("| asked about | engine alone, ms | through the gateway, ms | difference of medians | 9 of 10 differences |")
    print("| --- | --- | --- | --- | --- |")
    for name, url in setting.shown.items():
        alone: list[float] = []
        through: list[float] = []
        for number in range(rounds + 3):
            pair = await setting.alone(url, number), await setting.through(url)
            if number >= 3:  # the first ones fill the caches
                alone.append(pair[0])
                through.append(pair[1])
        print(f"| {name} | {_told(alone)} | {_told(through)} | {_difference(alone, through)}", flush=True)


def _told(seconds: Sequence[float]) -> str:
    return f"{1000 * statistics.median(seconds):.1f}"


def _difference(alone: Sequence[float], through: Sequence[float]) -> str:
    each = sorted(1000 * (there - here) for here, there in zip(alone, through, strict=True))
    medians = 1000 * (statistics.median(through) - statistics.median(alone))
    return f"{medians:.1f} | {each[int(0.9 * len(each))]:.1f} |"


async def run(home: Path, url: str, options: argparse.Namespace) -> None:
    engine: Engine = SimulatedEngine(ENTRY, speed=1.0)
    if options.engine == "vllm":
        engine = VllmEngine(ENTRY, str(ensure_checkpoint(ENTRY.weights, options.checkpoints)))
    redis = connect(url)
    setting = ChatBench(home, engine)
    worker = make_worker(redis, home, engine)
    working = asyncio.create_task(worker.run())
    try:
        await _until_served(working)
        await compare(setting, options.rounds)
    finally:
        worker.stop(grace_seconds=5)
        await asyncio.gather(working, return_exceptions=True)
        await setting.client.aclose()
        await redis.aclose()


def make_worker(redis: Redis, home: Path, engine: Engine) -> Worker:
    library = Renderer(ImageRoot(home / "data", home / "uploads"), home / "pyramids", 2**28)
    served = ServedModel(ENTRY, lambda: engine, 16)
    settings = WorkerSettings(max_requests=16, heartbeat_seconds=0.5)
    return Worker([served], WorkerContext(redis, library), settings, Instrumentation(CollectorRegistry()))


async def _until_served(working: "asyncio.Task[None]") -> None:
    async with httpx.AsyncClient() as client:
        while not working.done():
            try:
                answer = await client.get(f"http://127.0.0.1:{PORT}/v1/models/{ENTRY.id}")
                if answer.json()["loaded"]:
                    return
            except httpx.TransportError:
                pass
            await asyncio.sleep(0.2)
    working.result()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--engine", choices=("vllm", "simulated"), default="vllm")
    parser.add_argument("--checkpoints", type=Path, default=Path.home() / ".gigavqa" / "checkpoints")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        server = start_store(home / "server")
        environ = {**os.environ, "GIGAVQA_HOME": str(home), "REDIS_URL": server.url}
        with (home / "gateway.log").open("wb") as log:
            command = [sys.executable, "-m", "service", "--port", str(PORT)]
            gateway = subprocess.Popen(command, env=environ, stdout=log, stderr=log)
        try:
            asyncio.run(run(home, server.url, options))
        finally:
            gateway.terminate()
            gateway.wait()
            server.stop()


if __name__ == "__main__":
    main()
