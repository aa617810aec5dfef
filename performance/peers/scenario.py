"""The work of all racers: the demo's pictures and questions, as a data set for a job and as items for the others."""

import json
import math
import os
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, Self

from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import JobSpec
from gigavqa.contract.requests import InferenceRequest
from gigavqa.demo.ultravr.dataset import build_demo_dataset
from gigavqa.evaluation.datasets import load_dataset
from gigavqa.evaluation.expansion import prepare_expansion
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.headers import read_header
from gigavqa.tiling.recipes import ImageIdentity, identify, plan_raster
from gigavqa.tiling.views import View
from gigavqa.workers.checkpoints.build import ensure_checkpoint
from gigavqa.workers.engines.vllm.arguments import cpu_environment, engine_arguments, engine_environment
from performance.peers.huge import huge_records, write_huge_picture
from performance.peers.records import choose, flat_records, write_race

MODEL = "demo-qwen3-vl"
CONDITIONS = ("V1", "V2", "V3", "V4")
MAX_TOKENS = 24


@dataclass(frozen=True)
class PromptView:
    """One picture of a prompt: a region of a file in its pixels, and the raster that the model makes of it."""

    path: str
    size: tuple[int, int]
    region: tuple[int, int, int, int]
    longest: int | None
    raster: tuple[int, int]
    tokens: int
    key: str

    @property
    def is_whole(self) -> bool:
        """Whether it shows the file as it is."""
        return self.longest is None and self.region == (0, 0, *self.size)


@dataclass(frozen=True)
class RaceItem:
    """One question about one picture under one condition; a number in `parts` is a place in `looks`."""

    id: str
    picture: str
    condition: str
    looks: tuple[PromptView, ...]
    parts: tuple[str | int, ...]
    sampling: Mapping[str, Any]

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Self:
        """Read it from JSON."""
        looks = tuple(
            PromptView(**{name: tuple(value) if isinstance(value, list) else value for name, value in look.items()})
            for look in fields["looks"]
        )
        return cls(**{**fields, "looks": looks, "parts": tuple(fields["parts"])})


@dataclass(frozen=True)
class Scenario:
    """A data set below `data`, the same as items in a job's order, and the engine that everybody starts."""

    name: str
    data: str
    spec: Mapping[str, Any]
    items: tuple[RaceItem, ...]
    weights: str
    engine: Mapping[str, Any]
    environment: Mapping[str, str]

    def write(self, path: Path) -> None:
        """Write it where the racers' processes read it."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read what `write` wrote."""
        fields = json.loads(path.read_text(encoding="utf-8"))
        return cls(**{**fields, "items": tuple(map(RaceItem.of, fields["items"]))})


def cache_folder() -> Path:
    """Return where pictures, the checkpoint and the peers' environments are kept from one run to the next."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gigavqa" / "peers"


def make_scenario(cache: Path, questions: int, *, scale: float = 1.0) -> Scenario:
    """Return each of the demo's ten pictures with so many questions, under V1 to V4 of S0."""
    demo = build_demo_dataset(cache / f"data-{scale:g}" / "demo", scale=scale)
    folder = demo.with_name(f"race-{questions}")
    write_race(folder, demo / "images", choose(list(flat_records(demo)), questions))
    return _scenario(cache, folder)


def make_huge_scenario(cache: Path, questions: int) -> Scenario:
    """One slide of 100,000 x 100,000 pixels, which is made here, with so many questions."""
    folder = cache / "data-huge" / f"huge-{questions}"
    picture = folder.with_name("pictures") / "huge.tiff"
    write_huge_picture(picture)
    write_race(folder, picture.parent, list(huge_records(questions)))
    return _scenario(cache, folder)


def alternating(items: Sequence[RaceItem]) -> list[RaceItem]:
    """Return all items, one of each picture in turn, the largest and the smallest picture alternately.

    Any beginning of it is a fair sample for a peer that is stopped by the clock: conditions and sizes mix in it as they
    do in the whole.
    """
    by_picture: dict[str, list[RaceItem]] = {}
    for item in items:
        by_picture.setdefault(item.picture, []).append(item)
    by_size = sorted(by_picture.values(), key=lambda own: (math.prod(own[0].looks[0].size), own[0].id))
    half = (len(by_size) + 1) // 2
    mixed = [own for pair in zip_longest(by_size[:half], reversed(by_size[half:])) for own in pair if own]
    turned = [_turned(own, place) for place, own in enumerate(mixed)]
    return [item for turn in zip_longest(*turned) for item in turn if item]


def _turned(own: Sequence[RaceItem], place: int) -> list[RaceItem]:
    """One picture's items, beginning with another condition for each picture and changing it with every item."""
    columns = [[item for item in own if item.condition == condition] for condition in CONDITIONS]
    columns = [column for column in columns if column]
    columns = columns[place % len(columns) :] + columns[: place % len(columns)]
    return [item for row in zip_longest(*columns) for item in row if item]


def distinct_prefix_tokens(prompts: Iterable[Sequence[Hashable]]) -> int:
    """Tokens of which no two share all that stands before them: what a perfect prefix cache would prefill."""
    seen = set()
    for prompt in prompts:
        prefix = 0
        for token in prompt:
            prefix = hash((prefix, token))
            seen.add(prefix)
    return len(seen)


def _scenario(cache: Path, folder: Path) -> Scenario:
    entry = load_catalogue()[MODEL]
    weights = str(ensure_checkpoint(entry.weights, cache / "checkpoints"))
    cells = tuple({"protocol": "S0", "condition": condition} for condition in CONDITIONS)
    spec = JobSpec(dataset=folder.name, models=(MODEL,), cells=cells, sampling={"max_tokens": MAX_TOKENS})
    items = tuple(_item(request, folder.parent) for _, request in requests_of(spec, folder.parent))
    return Scenario(
        name=folder.name,
        data=str(folder.parent),
        spec=spec.model_dump(mode="json", exclude_defaults=True),
        items=items,
        weights=weights,
        engine=engine_arguments(entry, weights, is_cpu=True),
        environment=engine_environment(weights) | cpu_environment(small=entry.random_weights),
    )


def requests_of(spec: JobSpec, data: Path) -> Iterator[tuple[str, InferenceRequest]]:
    """Return the requests that a job makes of a data set below `data`, with the picture of each, in their order."""

    def size_of(image: str) -> Size:
        return read_header(data / image).size

    return prepare_expansion(load_dataset(data / spec.dataset), spec, load_catalogue()).requests(size_of)


def _item(request: InferenceRequest, data: Path) -> RaceItem:
    (turn,) = request.turns
    looks = tuple(_look(view, data) for view in turn.views)
    places = iter(range(len(looks)))
    parts = tuple(part if isinstance(part, str) else next(places) for part in turn.parts)
    sampling = {name: value for name, value in request.sampling.model_dump().items() if value is not None}
    picture = Path(turn.views[0].image).name
    return RaceItem(request.id, picture, request.condition, looks, parts, sampling)


def _look(view: View, data: Path) -> PromptView:
    path = data / view.image
    identity: ImageIdentity = identify(path)
    recipe = plan_raster(identity, view, load_catalogue()[MODEL].visual_budget, 1)
    region = recipe.region
    longest = None if recipe.downsampled == region.size else max(recipe.downsampled)
    return PromptView(
        path=str(path),
        size=tuple(recipe.source_size),
        region=(region.x, region.y, region.width, region.height),
        longest=longest,
        raster=tuple(recipe.plan.raster),
        tokens=recipe.plan.visual_tokens,
        key=recipe.key,
    )


def prompt_tokens(items: Iterable[RaceItem], weights: str) -> Iterator[list[Hashable]]:
    """Yield the prompts as the engine sees them, each visual token named by its raster and place."""
    from transformers import AutoTokenizer  # noqa: PLC0415 - takes seconds

    tokenizer = AutoTokenizer.from_pretrained(weights)
    image = tokenizer.convert_tokens_to_ids("<|image_pad|>")
    for item in items:
        content = [
            {"type": "text", "text": part} if isinstance(part, str) else {"type": "image"} for part in item.parts
        ]
        chat = [{"role": "user", "content": content}]
        text = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        looks = iter(item.looks)
        prompt: list[Hashable] = []
        for token in tokenizer.encode(text):
            look = next(looks) if token == image else None
            prompt += [(look.key, number) for number in range(look.tokens)] if look else [token]
        yield prompt
