"""Cores per GPU: the share of time that the engine waits for pixels, by kind of file and cores.

    python -m performance.cores [--pictures N] [--answer-tokens 8B 27B] [--no-check]

CPU seconds of rendering are measured, in a process of its own for each sample, through a worker's own
`RasterPreparation` and one thread: every view that plan `ultravr` asks of one sample of the demo data set, at the
native budget, of a file of full size. The rest is a discrete-event simulation of a worker (`performance.pipeline`):
claimed ahead within a worker's bounds, so many render threads, chats turn by turn, and the simulated engine on an
H100, in its own time. Every picture is new and has one sample, ten requests: the hardest case. "Waits" is the share of
the time in which the engine has nothing to do. A node's cores are divided evenly among the workers of its GPUs. At
last, the simulation is held against a real worker with one render thread and an engine that is as fast as that thread.
Some four minutes.
"""

import argparse
import asyncio
import multiprocessing
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from math import ceil
from pathlib import Path

import numpy as np
import tifffile
from PIL import Image

from catalogue.entry import CatalogueEntry
from catalogue.load import load_catalogue
from jobs.models import InferenceRequest
from performance.ideal import EntryTokens
from performance.pipeline import PipelineRun, SimulatedImage, WorkerLimits, play_pictures
from performance.reuse import PlanRequests, ask, play
from performance.view_files import FULL, encoded_tiles, layered_texture, make_files, shrunk
from tiling.geometry import Size
from tiling.headers import read_header
from tiling.renderer import Renderer
from tiling.roots import ImageRoot
from tiling.views import View
from workers.engines.kv_admission import chat_slots
from workers.engines.simulated_engine import roofline_of
from workers.preparation import RasterPreparation

MODELS = {"8b": "qwen3-vl-8b", "27b": "qwen3.5-27b"}
SHARES = (0.5, 1.0, 2.0, 4.0, 8.0)
GPUS = (1, 2, 4, 8)
WANTED = 0.03
_STEP = 1 / 4
_MOST_CORES = 16
_SVS = "Aperio Image Library v1.0\n60000x40000 [0,0 60000x40000] (256x256) JPEG Q=70|AppMag = 20|MPP = 0.5000"


@dataclass(frozen=True)
class FileKind:
    """A kind of file: its title, its file, and the picture of the demo data set whose questions are asked of it."""

    title: str
    path: Path
    asked_like: str


@dataclass(frozen=True)
class Cost:
    """CPU seconds of all views of one sample, and which share of them has passed when each of its requests is ready."""

    cpu_seconds: float
    ready: tuple[float, ...]


def kinds(folder: Path) -> list[FileKind]:
    """Write what is missing of the files; those of `performance.views` are used, too."""
    files = make_files(folder, FULL)
    svs = folder / "slide-60000x40000.svs"
    if not svs.exists():
        _write_svs(svs.with_name(f"partial-{svs.name}"), svs)
    return [
        FileKind("flat JPEG, 403 Mpx", files["jpeg"], "plaza.jpg"),
        FileKind("PNG, 205 Mpx", files["png"], "land.png"),
        FileKind("TIFF pyramid, 2.4 Gpx, levels 1, 2, 4 ...", files["pyramid"], "synthetic-slide.tiff"),
        FileKind("SVS, 2.4 Gpx, levels 1, 4, 16", svs, "synthetic-slide.tiff"),
    ]


def _write_svs(partial: Path, path: Path) -> None:
    """As a scanner lays it out, each level of sixty-four JPEG tiles."""
    pattern = layered_texture(2048)
    with tifffile.TiffWriter(partial, bigtiff=True) as writer:
        for scale in (1, 4, 16):
            width, height = 60000 // scale, 40000 // scale
            columns, rows = -(-width // 256), -(-height // 256)
            tiles = encoded_tiles(pattern, 256, quality=70)
            writer.write(
                (tiles[row % 8 * 8 + column % 8] for row in range(rows) for column in range(columns)),
                shape=(height, width, 3),
                dtype=np.uint8,
                tile=(256, 256),
                photometric="ycbcr",
                compression="jpeg",
                subsampling=(2, 2),
                description=_SVS,
                metadata=None,
            )
            pattern = shrunk(pattern, 4)
    partial.replace(path)


def samples_of(asked: PlanRequests, image: str, path: Path, number: int) -> list[list[InferenceRequest]]:
    """Return the requests of the first samples that look at `image` alone, asked of the file at `path` instead."""
    by_sample: dict[str, list[InferenceRequest]] = {}
    for _, request in asked.requests:
        if {Path(view.image).name for view in request.views} <= {image}:
            by_sample.setdefault(request.sample_id, []).append(_shown(request, path.name))
    whole = [requests for requests in by_sample.values() if any(request.views for request in requests)]
    return whole[:: max(1, len(whole) // number)][:number]


def _shown(request: InferenceRequest, image: str) -> InferenceRequest:
    def part(of: str | View) -> str | View:
        return of if isinstance(of, str) else of.model_copy(update={"image": image})

    turns = (turn.model_copy(update={"parts": tuple(map(part, turn.parts))}) for turn in request.turns)
    return request.model_copy(update={"turns": tuple(turns)})


def measure(folder: Path, requests: Sequence[InferenceRequest], model: str) -> Cost:
    """Render all views of these requests with one thread, as a worker does that has just claimed them."""
    return asyncio.run(_measure(folder, requests, model))


async def _measure(folder: Path, requests: Sequence[InferenceRequest], model: str) -> Cost:
    with tempfile.TemporaryDirectory() as pyramids:
        library = Renderer(ImageRoot(folder), Path(pyramids), 2**33)
        preparation = RasterPreparation(library, load_catalogue()[model].visual_budget, limit_bytes=2**36, threads=1)
        all_ready, ready = asyncio.Event(), dict[int, float]()
        cpu = time.process_time()

        async def hold(number: int, request: InferenceRequest) -> None:
            async with preparation.rasters(request.views):
                ready[number] = time.process_time() - cpu
                if len(ready) == len(requests):
                    all_ready.set()
                await all_ready.wait()

        async with asyncio.TaskGroup() as group:
            for number, request in enumerate(requests):
                group.create_task(hold(number, request))
        spent = time.process_time() - cpu
        preparation.close()
    return Cost(spent, tuple(ready[number] / spent for number in range(len(requests))))


@dataclass(frozen=True, eq=False)
class CoreCase:
    """A kind of file and a model: pictures to be played, each with its cost."""

    pictures: tuple[SimulatedImage, ...]
    entry: CatalogueEntry
    answer_tokens: int

    @cache  # noqa: B019 - a case lives as long as the program
    def waits(self, share: float) -> float:
        """Return the part of the time in which the engine has nothing to do, with so many cores for the worker."""
        threads = max(1, int(share))
        played = self._play(WorkerLimits(threads=threads, core_seconds=threads / share))
        return played.idle / played.seconds

    def engine_seconds(self) -> float:
        """Return what the engine needs for a picture when pixels cost nothing."""
        return self._play(WorkerLimits(threads=64, core_seconds=0.0)).seconds / len(self.pictures)

    def _play(self, bounds: WorkerLimits) -> PipelineRun:
        roofline = roofline_of(self.entry)
        most = chat_slots(self.entry, roofline.kv_tokens) or bounds.max_requests
        return play_pictures(self.pictures, roofline, self.answer_tokens, replace(bounds, places=most))

    def share_wanted(self) -> float | None:
        """Return the fewest cores, in quarters, with which waits are as short as wanted."""
        shares = [number * _STEP for number in range(1, int(_MOST_CORES / _STEP) + 1)]
        if self.waits(shares[-1]) >= WANTED:
            return None
        low, high = 0, len(shares) - 1
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.waits(shares[middle]) < WANTED else (middle + 1, high)
        return shares[low]


def make_pictures(
    samples: Sequence[Sequence[InferenceRequest]], costs: Sequence[Cost], tokens: EntryTokens, number: int
) -> tuple[SimulatedImage, ...]:
    """So many pictures with a sample each, taken in turns; no two share a raster."""
    return tuple(
        SimulatedImage.of(f"p{index}", samples[index % len(samples)], cost.cpu_seconds, cost.ready, tokens)
        for index, cost in ((index, costs[index % len(samples)]) for index in range(number))
    )


def main() -> None:
    arguments = _arguments()
    files = kinds(arguments.files)
    sizes = {f"demo/images/{kind.asked_like}": read_header(kind.path).size for kind in files}
    asked = {name: ask(model, "ultravr", arguments.questions, sizes) for name, model in MODELS.items()}
    answers = dict(zip(MODELS, arguments.answer_tokens, strict=True))
    heads = [
        "file",
        "rasters, CPU seconds per picture",
        "model, its seconds per picture",
        *(f"{share:g}" for share in SHARES),
    ]
    heads += [f"{number} GPU{'s' * (number > 1)}" for number in GPUS]
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    for kind in files:
        samples = samples_of(asked["8b"], kind.asked_like, kind.path, arguments.samples)
        costs = list(_measured(kind.path.parent, samples))
        rasters = [len({view for request in requests for view in request.views}) for requests in samples]
        each = f"{sum(rasters) / len(rasters):.1f}, {sum(cost.cpu_seconds for cost in costs) / len(costs):.1f} s"
        for name, model in MODELS.items():
            entry = load_catalogue()[model]
            tokens = EntryTokens(entry, ImageRoot(kind.path.parent))
            pictures = make_pictures(samples, costs, tokens, arguments.pictures)
            case = CoreCase(pictures, entry, answers[name])
            waits = [f"{case.waits(share):.1%}" for share in SHARES]
            share = case.share_wanted()
            cores = [f"{ceil(share * number)}" if share else f"> {_MOST_CORES * number}" for number in GPUS]
            print(
                f"| {kind.title} | {each} | {name}, {case.engine_seconds():.1f} s | {' | '.join([*waits, *cores])} |",
                flush=True,
            )
    if not arguments.no_check:
        print("\n" + check(arguments.questions))


def _measured(folder: Path, samples: Sequence[Sequence[InferenceRequest]]) -> Iterator[Cost]:
    for requests in samples:
        # A process for each: libraries that decode keep what they did before.
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            yield pool.submit(measure, folder, requests, MODELS["8b"]).result()


class SlowRoot(ImageRoot):
    """Images of which the first look takes `seconds`, whatever else the machine does."""

    def __init__(self, folder: Path, seconds: float) -> None:
        super().__init__(folder)
        self._seconds = seconds
        self._seen: set[str] = set()

    def locate(self, name: str) -> Path:
        if name not in self._seen:
            self._seen.add(name)
            time.sleep(self._seconds)
        return super().locate(name)


def check(questions: Path, number: int = 20, speed: float = 10.0) -> str:
    """Play so many pictures by a real worker with one render thread, and by the simulation; says how long both took.

    Pictures are small; the first look at one takes as long as the engine needs for it, so that neither hides the other.
    """
    answer_tokens, roofline = 100, roofline_of(load_catalogue()[MODELS["8b"]])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        names = [f"{index}.png" for index in range(number)]
        for index, image in enumerate(names):
            _draw(folder / image, index)
        asked = ask(MODELS["8b"], "ultravr", questions, {"demo/images/land.png": Size(2000, 1600)})
        (sample,) = samples_of(asked, "land.png", folder / names[0], 1)
        pairs = [(image, _renamed(_shown(request, image), image)) for image in names for request in sample]
        tokens = EntryTokens(asked.entry, ImageRoot(folder))
        cost = Cost(1.0, tuple(float(bool(request.views)) for request in sample))
        pictures = make_pictures([sample_of(pairs, image) for image in names], [cost] * number, tokens, number)
        free = (
            play_pictures(pictures, roofline, answer_tokens, WorkerLimits(threads=1, core_seconds=0.0)).seconds / speed
        )
        seconds = free / number
        slow = WorkerLimits(threads=1, core_seconds=seconds, engine_speed=speed)
        simulated = play_pictures(pictures, roofline, answer_tokens, slow).seconds
        real = PlanRequests(asked.entry, asked.spec, pairs, SlowRoot(folder, seconds))
        done = asyncio.run(play(real, roofline, 1, speed, answer_tokens=answer_tokens))
    busy = done.engine_seconds / speed
    return (
        f"{number} pictures, each of which takes a thread and an engine {seconds:.2f} s (the 8B, {speed:g} times as "
        f"fast as on an H100). A real worker: {done.seconds:.1f} s, its engine busy for {busy:.1f} s. "
        f"The simulation: {simulated:.1f} s, and {free:.1f} s without rendering."
    )


def sample_of(pairs: Sequence[tuple[str, InferenceRequest]], image: str) -> list[InferenceRequest]:
    """Return the requests about one image."""
    return [request for name, request in pairs if name == image]


def _renamed(request: InferenceRequest, image: str) -> InferenceRequest:
    return request.model_copy(update={"request_id": f"{image}:{request.id}"})


def _draw(path: Path, seed: int) -> None:
    blocks = np.random.default_rng(seed).integers(0, 255, (16, 20, 3), dtype=np.uint8)
    Image.fromarray(blocks).resize((2000, 1600), Image.Resampling.NEAREST).save(path, compress_level=1)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=int, default=16)
    parser.add_argument("--samples", type=int, default=2, help="of each kind whose rendering is measured")
    parser.add_argument(
        "--answer-tokens", type=int, nargs=2, default=[100, 1000], help="of a turn, by the 8B and the 27B"
    )
    parser.add_argument("--no-check", action="store_true", help="leave the real worker out")
    temporary = Path(tempfile.gettempdir())
    parser.add_argument("--files", type=Path, default=temporary / "gigavqa-benchmark-views")
    parser.add_argument("--questions", type=Path, default=temporary / "gigavqa-benchmark-reuse")
    return parser.parse_args()


if __name__ == "__main__":
    main()
