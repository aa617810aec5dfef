"""Plays prompts of every condition on small models, one after the other, in a process of its own."""

import asyncio
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageOps
from tokenizers import Tokenizer

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.load import read_entry
from gigavqa.contract.requests import GenerationConstraints, InferenceRequest, Sampling, Turn
from gigavqa.contract.responses import TurnResponse
from gigavqa.tiling.renderer import Renderer
from gigavqa.tiling.roots import ImageRoot
from gigavqa.tiling.views import View
from gigavqa.workers.chat import ChatPlayer
from gigavqa.workers.engines.engine import Message
from gigavqa.workers.engines.vllm.engine import VllmEngine
from gigavqa.workers.preparation import RasterPreparation
from gigavqa.workers.responses import Outcome, raster_records
from gigavqa.workers.script import FixedTurns
from tests.checkpoints.build import ensure_checkpoint
from tests.workers.references.families import reference_of
from tests.workers.references.reference import Answer, Reference, Step

PICTURES = {"plaza": (1500, 1000), "slide": (1200, 1200), "grid": (640, 2000), "land": (900, 600)}
QUADRANTS = ("pct:0,0,50,50", "pct:50,0,50,50", "pct:0,50,50,50", "pct:50,50,50,50")
GREEDY = Sampling(temperature=0.0, max_tokens=8, steering=GenerationConstraints(logprobs=2))
SEEDED = Sampling(temperature=1.0, max_tokens=8, seed=5)
QUESTION = "How many? A. one B. two"
LONG = " How many people are there, and where do they all stand?" * 6
"""Text of several blocks of the prefix cache, so that prompts end far behind what they share."""
DICTATION = "dictation.json"
"""In a checkpoint's folder: tokens of the answers that are dictated, by the seed that they are asked with."""
FIRST_DICTATED = 1000
"""Seed of the first dictated answer, which is ended with the family's first mark of an end; the next ones follow."""


def views_of(condition: str, name: str) -> tuple[View, ...]:
    """The views that a condition shows of a picture; two of its quadrants are local evidence."""
    image = f"demo/images/{name}.png"
    full, local = View(image=image), [View(image=image, region=region) for region in QUADRANTS[:2]]
    thumbnail = View(image=image, sizing="longest:256")
    return {"V0": (), "V1": (thumbnail,), "V2": (full,), "V3": tuple(local), "V4": (*local, full)}[condition]


def draw_pictures(root: Path) -> None:
    """Draw pictures of random blocks, each in shades of other colors."""
    (root / "demo" / "images").mkdir(parents=True)
    for seed, (name, (width, height)) in enumerate(PICTURES.items()):
        blocks = np.random.default_rng(seed).integers(0, 255, (height // 50, width // 50, 3), dtype=np.uint8)
        blocks[..., seed % 3] //= 4
        picture = Image.fromarray(blocks).resize((width, height), Image.Resampling.NEAREST)
        picture.save(root / "demo" / "images" / f"{name}.png")


def text_with_marks(marks: Sequence[str]) -> str:
    """A text in which every mark stands alone once and beside the others once."""
    return "".join(f"{mark} two " for mark in marks) + "".join(marks) + "A"


@dataclass(frozen=True)
class Greedy:
    """A question that was asked greedily: the pictures as they were shown, in their order, and the engine's answer."""

    name: str
    pictures: list[Image.Image]
    answer: Answer

    def of(self, reference: Reference) -> dict[str, Any]:
        """What the engine and the reference answer."""
        return {"engine": asdict(self.answer), "reference": asdict(self._answered(reference, self.pictures))}

    def gone_wrong(self, reference: Reference) -> dict[str, Any]:
        """What the reference answers when it is shown something else."""
        shown = {
            "mirrored": [ImageOps.mirror(picture) for picture in self.pictures],
            "blue for red": [Image.merge("RGB", picture.split()[::-1]) for picture in self.pictures],
            "in another order": self.pictures[::-1],
        }
        return {
            fault: {"engine": asdict(self.answer), "reference": asdict(self._answered(reference, pictures))}
            for fault, pictures in shown.items()
        }

    def _answered(self, reference: Reference, pictures: list[Image.Image]) -> Answer:
        return reference.answer((*pictures, QUESTION), GREEDY.max_tokens)


class Play:
    """An engine, and what is needed to show it pictures."""

    def __init__(self, entry: CatalogueEntry, folder: Path) -> None:
        family = entry.known_family
        assert family is not None
        self._marks = family.marks
        self._entry = entry
        self._checkpoint = checkpoint = ensure_checkpoint(entry.weights, folder)
        self._dictate(checkpoint)
        self._greedy: dict[tuple[View, ...], Greedy] = {}
        engine = entry.engine | {"logits_processors": ["tests.workers.forced_answers:Dictation"]}
        entry = entry.model_copy(update={"engine": engine})
        draw_pictures(folder / "data")
        library = Renderer(ImageRoot(folder / "data"), folder / "pyramids", 2**26)
        self._in_history = entry.in_history
        self._budget = entry.visual_budget
        self._preparation = RasterPreparation(library, entry.visual_budget, limit_bytes=2**28, threads=1)
        self._engine = VllmEngine(entry, str(checkpoint))

    async def run(self) -> dict[str, Any]:
        """Play everything."""
        await self._engine.start()
        played = {c: await self._ask(views_of(c, "plaza"), c) for c in ("V0", "V1", "V2", "V3", "V4")}
        before = (await self._engine.stats()).processed_rasters
        again = await self._ask(views_of("V2", "plaza"), "again")
        after = (await self._engine.stats()).processed_rasters
        answers = [(await self._ask(views_of("V2", name), name))["text"] for name in PICTURES]
        many = await self._ask((*views_of("V4", "slide"), View(image="demo/images/grid.png")), "many")
        seeded = [
            [(await self._ask(views_of(condition, "land"), name, SEEDED, LONG))["text"] for name in ("one", "two")]
            for condition in ("V4", "V0")
        ]
        caching = await self._caching()
        stats = await self._engine.stats()
        dictated = [await self._take_dictation(number) for number, _ in enumerate(self._marks.ends)]
        await self._engine.stop()
        self._preparation.close()
        return self._beside_the_reference() | {
            "conditions": played,
            "processed_again": after - before,
            "same_text": again["text"] == played["V2"]["text"],
            "answers": answers,
            "many": many,
            "seeded": seeded,
            "caching": caching,
            "processed": stats.processed_rasters,
            "encoded": stats.encoder_runs,
            "dictated": dictated,
            "marked": text_with_marks(self._marks.written),
        }

    def _beside_the_reference(self) -> dict[str, Any]:
        """Ask the family's reference what the engine was asked, and once more with pictures gone wrong."""
        reference = reference_of(self._entry, self._checkpoint)
        asked = {greedy.name: greedy for greedy in self._greedy.values()}
        return {
            "asked": {name: greedy.of(reference) for name, greedy in asked.items()},
            "gone_wrong": asked["V3"].gone_wrong(reference),
        }

    def _dictate(self, checkpoint: Path) -> None:
        """Leave beside the model what it is to write: the same marked text before each mark that ends a turn."""
        tokenizer = Tokenizer.from_file(str(checkpoint / "tokenizer.json"))
        text = tokenizer.encode(text_with_marks(self._marks.written)).ids
        scripts = {FIRST_DICTATED + n: [*text, tokenizer.token_to_id(end)] for n, end in enumerate(self._marks.ends)}
        (checkpoint / DICTATION).write_text(json.dumps(scripts))

    async def _caching(self) -> dict[str, Any]:
        """Ask long questions about two new pictures, one after the other and together, and play a chat about a third.

        Returns prompt tokens, cached tokens and visual tokens of every turn, and the unit that hits grow by.
        """
        names = ("land", "slide", "grid")
        one, other, third = (View(image=f"demo/images/{name}.png", region="pct:0,0,60,60") for name in names)
        serially = [await self._usage([one], [f"Number {n}.{LONG}"]) for n in range(3)]
        together = await asyncio.gather(*(self._usage([other], [f"Number {n}.{LONG}"]) for n in range(3)))
        chat = await self._usage([third], [f"Step {n}.{LONG}" for n in range(4)])
        config = self._engine._llm.vllm_config
        return {
            "serially": [turn for turns in serially for turn in turns],
            "together": [turn for turns in together for turn in turns],
            "chat": chat,
            "unit": config.cache_config.prefix_match_unit or config.cache_config.block_size,
            "cached": config.cache_config.enable_prefix_caching,
        }

    async def _usage(self, views: Sequence[View], texts: Sequence[str]) -> list[list[int]]:
        first, *others = texts
        turns = (Turn(parts=(*views, first)), *(Turn(parts=(text,)) for text in others))
        request = self._request(first, turns)
        async with self._preparation.rasters(request.views) as prepared:
            player = ChatPlayer(request, FixedTurns(turns), prepared.rasters, self._generate, self._in_history)
            usages = [turn.usage for turn in await player.play()]
        return [[usage.prompt_tokens, usage.cached_tokens, sum(usage.visual_tokens)] for usage in usages]

    async def _take_dictation(self, number: int) -> dict[str, Any]:
        sampling = Sampling(temperature=1.0, max_tokens=200, seed=FIRST_DICTATED + number)
        turn = await self._engine.generate([Message("user", ("Say it.",))], sampling, f"dictated-{number}")
        return {"text": turn.text, "finish_reason": turn.finish_reason}

    async def _ask(
        self, views: Sequence[View], name: str, sampling: Sampling = GREEDY, text: str = QUESTION
    ) -> dict[str, Any]:
        turns = (Turn(parts=(*views, text)),)
        request = self._request(name, turns, sampling)
        async with self._preparation.rasters(request.views) as prepared:
            player = ChatPlayer(request, FixedTurns(request.turns), prepared.rasters, self._generate)
            (turn,) = await player.play()
            records = raster_records(request, Outcome(rasters=prepared.rasters, turns=(turn,)))
            if sampling == GREEDY:
                shown = {raster.view: Image.fromarray(raster.pixels.copy()) for raster in prepared.rasters}
                self._greedy.setdefault(tuple(views), Greedy(name, [shown[view] for view in views], _told(turn)))
        return {
            "text": turn.text,
            "prompt_tokens": turn.usage.prompt_tokens,
            "planned": [raster.visual_tokens for raster in prepared.rasters],
            "counted": list(turn.usage.visual_tokens),
            "recorded": [record.visual_tokens for record in records],
        }

    def _request(self, name: str, turns: tuple[Turn, ...], sampling: Sampling = GREEDY) -> InferenceRequest:
        labels = {"request_id": name, "sample_id": "sample", "model": "tiny", "protocol": "S0", "condition": "V2"}
        return InferenceRequest.model_validate({**labels, "turns": turns, "sampling": sampling})

    async def _generate(self, chat: Sequence[Message], sampling: Sampling, request_id: str) -> TurnResponse:
        return await self._engine.generate(chat, sampling, request_id)


def _told(turn: TurnResponse) -> Answer:
    """An answer of the engine, as a reference's is told."""
    steps = []
    for one in turn.logprobs or ():
        second = next(top for top in one.top_logprobs or () if top.token != one.token)  # also where both are as likely
        steps.append(Step(one.token, one.logprob, second.token, one.logprob - second.logprob))
    return Answer(turn.usage.prompt_tokens, tuple(steps))


def play_families(folder: Path, asked: Connection) -> None:
    """Receive paths of catalogue entries, and answer each with what happened; what is said meanwhile is in `log`."""
    with (folder / "log").open("wb") as log:
        for stream in (1, 2):
            os.dup2(log.fileno(), stream)
    while path := asked.recv():
        asked.send(asyncio.run(Play(read_entry(path), folder / path.stem).run()))
