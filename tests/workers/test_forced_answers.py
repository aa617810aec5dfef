"""How likely engines hold answers that they are given: beside transformers, and by what it costs."""

import asyncio
import importlib.util
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import torch
from PIL import Image

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.load import load_catalogue, read_entry
from gigavqa.contract.requests import GenerationConstraints, Sampling
from gigavqa.contract.responses import TurnResponse
from gigavqa.workers.engines.engine import AnswerUnweighableError, ContextExceededError, Message, PromptRaster
from gigavqa.workers.engines.vllm.engine import VllmEngine
from tests.checkpoints.build import ensure_checkpoint
from tests.workers.rasters import raster
from tests.workers.references.families import reference_of
from tests.workers.references.reference import Reference

pytestmark = [
    pytest.mark.engine,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed"),
]

NEAR = 1e-3
SAMPLING = Sampling(temperature=0.7, max_tokens=16)
QUESTION = "How many?"
LONG = "Ansel Hoist was founded in the year of nineteen hundred and eleven, in the harbour of Norrland, by two brothers"
ANSWERS = [
    "A",
    "Paris",
    "in 1911, by the river",
    LONG,
    " leading blank",
    "ends in a break\n",
    "Zürich 日本",
    "\n\nlate",
]
FAMILIES = [load_catalogue()["demo-qwen3-vl"], read_entry(Path(__file__).parent / "families" / "tiny-gemma-4.toml")]


class Weighing:
    """An engine, and its reference."""

    def __init__(self, entry: CatalogueEntry, folder: Path) -> None:
        self.entry = entry
        self.checkpoint = ensure_checkpoint(entry.weights, folder)
        self.engine = VllmEngine(entry, str(self.checkpoint))

    async def weigh(
        self, answer: str, picture: PromptRaster | None = None, question: str = QUESTION, sampling: Sampling = SAMPLING
    ) -> TurnResponse:
        """How likely an answer is."""
        parts = (picture, question) if picture else (question,)
        chat = [Message("user", parts), Message("assistant", (answer,))]
        return await self.engine.generate(chat, sampling, f"{answer[:9]}-{bool(picture)}")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=FAMILIES, ids=lambda entry: entry.id)
async def weighing(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Weighing]:
    """The engine of one family."""
    made = Weighing(request.param, tmp_path_factory.mktemp("checkpoints"))
    await made.engine.start()
    yield made
    await made.engine.stop()


async def test_answers_are_as_likely_as_transformers_holds_them(weighing: Weighing) -> None:
    """Token by token, with a picture and without, of one token and of many, with white space at either end."""
    pictures = (raster("seen"), None)
    weighed = [(answer, picture, await weighing.weigh(answer, picture)) for picture in pictures for answer in ANSWERS]
    reference = reference_of(weighing.entry, weighing.checkpoint)
    for answer, picture, turn in weighed:
        expected = teacher_forced(reference, answer, picture)
        assert (turn.text, turn.forced, turn.finish_reason) == (answer, True, "stop")
        assert [one.logprob for one in turn.logprobs or ()] == pytest.approx(expected, abs=NEAR), answer
        assert turn.likelihood is not None
        assert turn.likelihood.tokens == len(expected)
        assert turn.likelihood.sum == pytest.approx(sum(expected), abs=NEAR * len(expected))
    sums = {turn.likelihood.sum for answer, _, turn in weighed if answer == LONG and turn.likelihood}
    assert max(sums) - min(sums) > 0.01  # the picture is seen


def teacher_forced(reference: Reference, answer: str, picture: PromptRaster | None) -> list[float]:
    """The logprobs of an answer's tokens in one pass over prompt and answer."""
    parts = (Image.fromarray(picture.pixels.copy()), QUESTION) if picture else (QUESTION,)
    ids = reference.tokenizer.encode(answer, add_special_tokens=False)
    inputs: dict[str, Any] = dict(reference.inputs(parts))
    behind = {"input_ids": torch.tensor([ids]), "attention_mask": torch.ones((1, len(ids)))}
    for name in ("input_ids", "attention_mask", "token_type_ids", "mm_token_type_ids"):
        if name in inputs:
            more = behind.get(name, torch.zeros((1, len(ids)))).to(inputs[name].dtype)
            inputs[name] = torch.cat([inputs[name], more], 1)
    with torch.no_grad():
        rows = reference.model(**inputs).logits.float().log_softmax(-1)[0]
    return [float(rows[place - len(ids) - 1, token]) for place, token in enumerate(ids)]


async def test_eight_answers_about_a_picture_prefill_it_once(weighing: Weighing) -> None:
    """One run of the encoder; behind the first, an answer costs the ends of two prompts, all at once as one by one."""
    for name, together in (("one-by-one", False), ("together", True)):
        picture, before = raster(name), await weighing.engine.stats()
        asked = [weighing.weigh(f"answer number {number}", picture) for number in range(8)]
        turns = await asyncio.gather(*asked) if together else [await one for one in asked]
        after = await weighing.engine.stats()
        prompts = after.prompt_tokens - before.prompt_tokens
        prefilled = prompts - (after.cached_prompt_tokens - before.cached_prompt_tokens)
        whole = turns[0].usage.prompt_tokens
        block = weighing.engine._llm.vllm_config.cache_config.block_size
        assert after.encoder_runs - before.encoder_runs == 1
        assert prefilled <= whole + 8 * 2 * (block + 8)
        assert prefilled < 3 * whole < prompts


async def test_an_answer_that_was_weighed_before_is_weighed_alike(weighing: Weighing) -> None:
    """Although the cache then has rows of the answer itself, which tell nothing."""
    picture = raster("again")
    first, second = [await weighing.weigh(LONG, picture) for _ in range(2)]
    assert [one.logprob for one in first.logprobs or ()] == pytest.approx(
        [one.logprob for one in second.logprobs or ()], abs=NEAR
    )


async def test_the_sampling_changes_nothing(weighing: Weighing) -> None:
    """It is how likely the model holds the answer, not how likely it would be drawn."""
    cold = Sampling(temperature=0.0, max_tokens=1, seed=3, steering=GenerationConstraints(presence_penalty=2.0))
    plain, steered = await weighing.weigh("Paris"), await weighing.weigh("Paris", sampling=cold)
    assert plain.likelihood == steered.likelihood


async def test_answers_that_cannot_be_weighed_are_refused(weighing: Weighing) -> None:
    """Nothing, a special token, and what does not fit behind its prompt."""
    with pytest.raises(AnswerUnweighableError, match="answer: is empty"):
        await weighing.weigh("")
    special = weighing.engine._tokenizer.all_special_tokens[0]
    with pytest.raises(AnswerUnweighableError, match="a special token of"):
        await weighing.weigh(f"A{special}")
    with pytest.raises(ContextExceededError, match=r"the prompt has \d+ tokens and the answer \d+") as raised:
        await weighing.weigh("one two three " * weighing.entry.max_model_len)
    assert raised.value.excess


async def test_other_chats_keep_their_logprobs_beside_weighed_ones(weighing: Weighing) -> None:
    """In the same steps of the engine: an answer's likeliest tokens are told as without."""
    likeliest = Sampling(temperature=0.0, max_tokens=12, steering=GenerationConstraints(logprobs=3))
    chat = [Message("user", ("Tell me.",))]
    alone = await weighing.engine.generate(chat, likeliest, "alone")
    beside: Sequence[TurnResponse] = await asyncio.gather(
        weighing.engine.generate(chat, likeliest, "beside"), *(weighing.weigh(f"answer {n}") for n in range(4))
    )
    assert [len(one.top_logprobs or ()) for one in beside[0].logprobs or ()] == [3] * 12
    assert [one.token for one in beside[0].logprobs or ()] == [one.token for one in alone.logprobs or ()]
