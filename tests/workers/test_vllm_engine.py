"""The real engine, started once for all tests of this file and once more after its death."""

import asyncio
import importlib.util
import signal
from collections.abc import AsyncIterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

import psutil
import pytest
import pytest_asyncio
from prometheus_client import CollectorRegistry

from gigavqa.benchmarks.ultravr.step_forms import cell_form
from gigavqa.contract.requests import ClosingKind, Sampling, Turn
from gigavqa.contract.responses import TurnResponse, Usage
from gigavqa.evaluation.closing_turns import ClosingForm, boolean_form, choice_form, number_form
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.renderer import Renderer
from gigavqa.tiling.roots import ImageRoot
from gigavqa.tiling.views import View
from gigavqa.workers.chat import ChatPlayer
from gigavqa.workers.closing_turn import ClosingTurn
from gigavqa.workers.engines.engine import ContextExceededError, EngineDeadError, Message, PromptRaster, with_cache_salt
from gigavqa.workers.engines.supervisor import EngineSupervisor
from gigavqa.workers.engines.vllm.engine import VllmEngine
from gigavqa.workers.instrumentation import Instrumentation
from gigavqa.workers.preparation import RasterPreparation
from gigavqa.workers.script import FixedTurns
from gigavqa.workers.settings import WorkerSettings
from tests.benchmarks.ultravr.good_records import good_sample
from tests.checkpoints.build import ensure_checkpoint
from tests.waiting import async_wait_until
from tests.workers.examples import ENTRY, draw_images, make_request
from tests.workers.rasters import raster, raster_of
from tests.workers.tool_chats import assert_prefilled_once, in_order, looping, rounds_of, zoom

pytestmark = [
    pytest.mark.engine,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed"),
]

GREEDY = Sampling(temperature=0.0, max_tokens=16)
LONG = Sampling(temperature=0.0, max_tokens=3000)
BLOCK = ENTRY.engine["block_size"]


class Engines:
    """A keeper, and all engines that it made."""

    def __init__(self, checkpoint: Path) -> None:
        self.made: list[VllmEngine] = []
        self.checkpoint = checkpoint
        self.registry = CollectorRegistry()
        settings = WorkerSettings(backoff_seconds=0.01, hang_seconds=3)
        self.keeper = EngineSupervisor(self._make, settings, Instrumentation(self.registry))

    async def ask(
        self, raster: PromptRaster | None, text: str = "How many?", sampling: Sampling = GREEDY
    ) -> TurnResponse:
        """Ask one question."""
        chat = [Message("user", (raster, text) if raster else (text,))]
        return await self.keeper.generate(chat, sampling, text)

    def _make(self) -> VllmEngine:
        self.made.append(VllmEngine(ENTRY, str(self.checkpoint)))
        return self.made[-1]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engines(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Engines]:
    """The engine of this file."""
    made = Engines(ensure_checkpoint(ENTRY.weights, tmp_path_factory.mktemp("checkpoints")))
    await made.keeper.start()
    yield made
    await made.keeper.stop()


@pytest.mark.parametrize("size", [(800, 600), (5000, 5000), (1234, 300), (40, 40), (97, 3000)])
async def test_visual_tokens_are_those_of_the_budget(engines: Engines, size: tuple[int, int]) -> None:
    """A planned raster adds its planned tokens and the two that enclose it: the processor changes nothing."""
    plan = ENTRY.visual_budget.plan(Size(*size))
    with_raster = await engines.ask(raster(f"plan-{size}", plan.raster))
    without = await engines.ask(None)
    assert with_raster.usage.prompt_tokens - without.usage.prompt_tokens == plan.visual_tokens + 2


async def test_a_picture_is_answered_alike_under_two_keys(engines: Engines) -> None:
    """It is its pixels that are seen."""
    same = [(await engines.ask(raster(f"same-{number}", seed=5))).text for number in range(2)]
    assert same[0] == same[1]


async def test_a_known_raster_is_neither_processed_nor_prefilled_again(engines: Engines) -> None:
    """The second question finds it in both caches by its key alone: other pixels under that key are not looked at."""
    await engines.ask(raster("known", seed=1), "First?")
    before = await engines.keeper.stats()
    second = await engines.ask(raster("known", seed=2), "Second?")
    after = await engines.keeper.stats()
    assert after.processed_rasters == before.processed_rasters
    assert second.usage.cached_tokens >= 256 // BLOCK * BLOCK
    assert after.cached_prompt_tokens - before.cached_prompt_tokens == second.usage.cached_tokens


async def test_a_prefix_is_found_under_its_salt_alone(engines: Engines) -> None:
    """Of a text, and of a raster that is processed once for all."""
    chat = [Message("user", (raster("salted", seed=7), "Word by word, " * 40))]
    cached = [
        (await engines.keeper.generate(with_cache_salt(chat, salt), GREEDY, f"{salt}-{number}")).usage.cached_tokens
        for number, salt in enumerate(("", "ada", "bob", "ada", "bob", ""))
    ]
    assert cached[:3] == [0, 0, 0]
    assert all(found >= 256 // BLOCK * BLOCK for found in cached[3:])


async def test_questions_at_once_process_their_raster_once(engines: Engines) -> None:
    """Ten simultaneous questions about a new raster cost one processing and one prefill of it."""
    before = await engines.keeper.stats()
    answers = await asyncio.gather(*(engines.ask(raster("shared"), f"Question {number}?") for number in range(10)))
    after = await engines.keeper.stats()
    assert after.processed_rasters - before.processed_rasters == 1
    assert sum(answer.usage.cached_tokens >= 256 // BLOCK * BLOCK for answer in answers) == 9


async def test_several_rasters_keep_their_order(engines: Engines) -> None:
    """Two pictures in the other order are another prompt: only what precedes them is cached."""
    one, two = raster("order-1"), raster("order-2")
    await engines.keeper.generate([Message("user", (one, two, "Compare."))], GREEDY, "1")
    turned = await engines.keeper.generate([Message("user", (two, one, "Compare."))], GREEDY, "2")
    again = await engines.keeper.generate([Message("user", (one, two, "Compare."))], GREEDY, "3")
    assert turned.usage.cached_tokens < 256 < again.usage.cached_tokens


async def test_a_prompt_beyond_the_context_is_refused_with_counts(engines: Engines) -> None:
    """Text or pictures: the error names the context, and the engine goes on."""
    with pytest.raises(ContextExceededError, match=r"8192.*\d{4}") as refused:
        await engines.ask(None, "how many people " * 3000)
    assert refused.value.excess is None or refused.value.excess > 0
    pictures = [raster(f"many-{number}") for number in range(34)]
    with pytest.raises(ContextExceededError, match=r"\d{4}.*8192"):
        await engines.keeper.generate([Message("user", (*pictures, "Compare."))], GREEDY, "many")
    assert (await engines.ask(None)).text


async def _play(engines: Engines, key: str, *, given: bool) -> list[Usage]:
    """Play a chat of six steps and a question about one picture; returns the counts of each turn."""
    view = View(image=key)
    steps = [
        Turn(
            parts=(*([view] if n == 0 else []), f"Step {n}: how many people are there?"),
            given=f"{n} people" if given else None,
        )
        for n in range(6)
    ]
    request = make_request(key, None, turns=(*steps, Turn(parts=("Final answer?",))))

    async def generate(chat: Sequence[Message], sampling: Sampling, turn_id: str) -> TurnResponse:
        return await engines.keeper.generate(chat, GREEDY, turn_id)

    picture = raster_of(view, pixels=raster(key).pixels)
    return [answer.usage for answer in await ChatPlayer(request, FixedTurns(request.turns), [picture], generate).play()]


async def test_a_chat_carries_its_own_answers_on(engines: Engines) -> None:
    """Each turn's prompt holds the one before it, the answer to it, and finds nearly all of both in the cache."""
    before = await engines.keeper.stats()
    turns = await _play(engines, "own-answers", given=False)
    assert (await engines.keeper.stats()).processed_rasters == before.processed_rasters + 1
    for earlier, later in pairwise(turns):
        told = earlier.prompt_tokens + earlier.completion_tokens
        assert later.prompt_tokens > told
        assert later.cached_tokens > told - 2 * BLOCK


async def test_turns_with_given_answers_share_one_prefill_though_they_go_out_together(engines: Engines) -> None:
    """The picture is processed once, and every turn but one finds it in the cache; so does a second chat."""
    before = await engines.keeper.stats()
    turns = await _play(engines, "given-answers", given=True)
    assert (await engines.keeper.stats()).processed_rasters == before.processed_rasters + 1
    assert [turn.cached_tokens >= 256 // BLOCK * BLOCK for turn in turns].count(False) == 1
    assert all(turn.cached_tokens >= 256 // BLOCK * BLOCK for turn in await _play(engines, "given-answers", given=True))


async def test_an_interactive_question_overtakes_waiting_ones(engines: Engines) -> None:
    """With the engine full and a queue behind it, a question of higher priority is answered before that queue."""
    places = ENTRY.engine["max_num_seqs"]
    chats = [[Message("user", (f"Long question {number}?",))] for number in range(3 * places)]
    sampling = Sampling(temperature=0, max_tokens=200)
    batch = [
        asyncio.create_task(engines.keeper.generate(chat, sampling, f"batch-{i}", 1)) for i, chat in enumerate(chats)
    ]
    await asyncio.wait(batch, return_when=asyncio.FIRST_COMPLETED)
    await engines.keeper.generate([Message("user", ("Quick?",))], GREEDY, "interactive", 0)
    assert sum(task.done() for task in batch) <= 2 * places
    await asyncio.gather(*batch)


async def test_a_killed_engine_is_dead_and_another_takes_over(engines: Engines) -> None:
    """After SIGKILL of its process the engine says that it is dead; the keeper answers on a new one."""
    dying = engines.made[-1]
    direct = asyncio.create_task(dying.generate([Message("user", ("Go on and on.",))], LONG, "direct"))
    kept = asyncio.create_task(engines.ask(raster("survivor"), "And on.", LONG.model_copy(update={"max_tokens": 500})))
    await engines.ask(None, "Running?")
    for child in _processes():
        child.send_signal(signal.SIGKILL)
    with pytest.raises(EngineDeadError):
        await direct
    assert (await kept).usage.completion_tokens == 500
    assert engines.made[-1] is not dying
    assert not await dying.healthy()


async def test_an_engine_that_hangs_in_a_step_is_killed_and_another_takes_over(engines: Engines) -> None:
    """Its processes stand still while it generates: they are ended, and what it was asked is answered on a new one."""
    hung = engines.made[-1]
    asked = asyncio.create_task(engines.ask(None, "Go on and on.", LONG.model_copy(update={"max_tokens": 500})))
    await engines.ask(None, "Running?")
    processes = _processes()
    for each in processes:
        each.suspend()

    async def answered() -> bool:
        await engines.keeper.check()
        return asked.done()

    await async_wait_until(answered, timeout=120, what="an answer")
    assert (await asked).usage.completion_tokens == 500
    assert processes and not any(each.is_running() for each in processes)
    series = "gigavqa_worker_engine_failures_total"
    assert engines.registry.get_sample_value(series, {"during": "step"}) == 1
    assert engines.made[-1] is not hung


async def test_a_call_that_the_engine_does_not_live_through_ends(engines: Engines) -> None:
    """vLLM leaves open what it asked of a process that ended meanwhile, such as to fall asleep."""
    dying = engines.made[-1]
    for each in _processes():
        each.suspend()
    falling_asleep = asyncio.create_task(dying._survive(dying._llm, dying._llm.reset_prefix_cache()))
    await asyncio.sleep(0.1)
    for each in _processes():
        each.send_signal(signal.SIGKILL)
    with pytest.raises(EngineDeadError, match="ended in the change"):
        await asyncio.wait_for(falling_asleep, 30)
    assert (await engines.ask(None, "And now?")).text


def _processes() -> list[psutil.Process]:
    """Processes of the engine that runs."""
    children = psutil.Process().children(recursive=True)
    return [each for each in children if "EngineCore" in " ".join([each.name(), *each.cmdline()])]


async def test_ten_rounds_are_rendered_encoded_and_prefilled_once(engines: Engines, tmp_path: Path) -> None:
    """Of a chat that looks closer nine times: each raster, and each token but for the rest of a block a round."""
    library = Renderer(ImageRoot(draw_images(tmp_path / "data")), tmp_path / "pyramids", 2**26)
    preparation = RasterPreparation(library, ENTRY.visual_budget, limit_bytes=2**28, threads=1)
    written = in_order(*(zoom(100 * number, 0, 100 * number + 100, 500) for number in range(9)), "1911")

    async def generate(chat: Sequence[Message], sampling: Sampling, turn_id: str) -> TurnResponse:
        answer = await engines.keeper.generate(chat, sampling, turn_id)
        return answer.model_copy(update={"text": written(chat)})

    request = looping("rounds", sampling=GREEDY)
    before = await engines.keeper.stats()
    async with preparation.rasters(request.views) as prepared:
        rounds = rounds_of(request, prepared, preparation, generate)
        await rounds.play()
    after = await engines.keeper.stats()
    preparation.close()
    assert (rounds.stop, len(rounds.answers), len(rounds.rasters), library.stats().renders) == ("answered", 10, 9, 10)
    assert after.processed_rasters - before.processed_rasters == 10
    assert after.encoder_runs - before.encoder_runs == 10
    shown = sum(len(turn.usage.visual_tokens) for turn in rounds.answers)
    assert shown == sum(range(1, 11))
    assert_prefilled_once(rounds.answers, BLOCK)


def _choice(letters: str) -> ClosingForm:
    form = choice_form(tuple(letters), lambda letter: True)
    assert form is not None
    return form


async def test_a_closing_turn_is_held_to_the_letters_and_finds_its_prefix(engines: Engines) -> None:
    """Of every set of options; but for the last block of the first turn, all before the sentence is in the cache."""
    player_of = partial(ChatPlayer, rasters=(), generate=engines.keeper.generate)
    for letters in ("AB", "ABCDE", "DEFGHIJ"):
        closing = _choice(letters).closing("choice")
        assert closing is not None and closing.structure.choice
        request = make_request(f"closed-{letters}", None, f"Which of {letters}? " * 20, sampling=GREEDY)
        player = player_of(request, FixedTurns(request.turns))
        (free,) = await player.play()
        sampling = ClosingTurn(closing, {}, is_elsewhere=False).sampling(request.sampling)
        closed = await player.ask_behind(closing.text, sampling)
        assert closed.text in closing.structure.choice
        assert (closed.finish_reason, closed.usage.completion_tokens <= 4) == ("stop", True)
        assert closed.usage.cached_tokens >= free.usage.prompt_tokens - BLOCK


@pytest.mark.parametrize(
    ("form", "kind"),
    [
        (number_form(lambda value: True), "number"),
        (number_form(lambda value: True), "json"),
        (boolean_form(lambda value: True), "json"),
        (_choice("ABCD"), "json"),
        (cell_form(good_sample("ad-coordinate")), "json"),
    ],
)
async def test_other_kinds_of_closing_turns_are_held_to_their_form(
    engines: Engines, form: ClosingForm, kind: ClosingKind
) -> None:
    """What a model without meaning writes is read, and ends by itself."""
    closing = form.closing(kind)
    assert closing is not None
    turn = ClosingTurn(closing, {}, is_elsewhere=False)
    chat = [Message("user", (closing.text,))]
    answer = await engines.keeper.generate(chat, turn.sampling(GREEDY), f"closed-{form.kind}-{kind}")
    assert answer.finish_reason == "stop"
    form.value_of(answer.text)
