"""Closing turns as a worker plays them: behind the answer, on its prefix, beside it in one response."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.requests import Closing, ClosingKind, InferenceRequest, Sampling, Turn
from gigavqa.contract.responses import OnTokens, Response, TurnResponse
from gigavqa.evaluation.closing_turns import choice_form
from gigavqa.runtime.embedded_store import StateStoreProcess
from gigavqa.workers.engines.engine import ContextExceededError, EngineError, GenerationFailedError, Message
from gigavqa.workers.engines.remote.dialects import DIALECTS
from gigavqa.workers.engines.remote.generation_constraints import constraint_parameters
from gigavqa.workers.engines.simulation.engine import SimulatedEngine
from tests.waiting import wait_until
from tests.workers.examples import image, job_of, make_request, responses_of, submit_requests
from tests.workers.processes import worker_process
from tests.workers.remote_server import Holding, serving
from tests.workers.simulated_worker import running_worker
from tests.workers.test_processes import until_recorded
from tests.workers.tool_chats import LOOP, WritingEngine, in_order, looping, zoom


def closing_of(letters: str, kind: ClosingKind = "choice") -> Closing:
    """The closing turn of a question with these options."""
    form = choice_form(tuple(letters), lambda letter: letter == "A")
    closing = form.closing(kind) if form else None
    assert closing is not None
    return closing


CLOSING = closing_of("AB")


async def played(
    redis: Redis, data: Path, tmp_path: Path, engine: SimulatedEngine, request: InferenceRequest
) -> Response:
    """The response to a request, played to its end."""
    job_id = await submit_requests(redis, request)
    async with running_worker(redis, data, tmp_path, lambda: engine) as rig:
        await rig.until_final(job_id)
    (response,) = await responses_of(redis, job_id)
    usage = (await job_of(redis, job_id)).usage
    assert usage.completion_tokens == sum(answer.usage.completion_tokens for answer in response.answers)
    return response


async def test_a_closing_turn_stands_behind_the_answer_and_beside_it(redis: Redis, data: Path, tmp_path: Path) -> None:
    """Its prompt is the chat with the model's own answer and the sentence; the answers of the turns are as ever."""
    engine = WritingEngine(in_order("It is one, A.", "A"))
    response = await played(redis, data, tmp_path, engine, make_request("r", image(0), closing=CLOSING))
    assert [turn.text for turn in response.turns] == ["It is one, A."]
    assert response.closing is not None
    assert (response.closing.kind, response.closing.text) == ("choice", "A")
    assert response.closing.prompt_version == "closing/1"
    first, closed = engine.chats["r"]
    assert closed == [*first, ("assistant", ["It is one, A."]), ("user", [CLOSING.text])]
    assert response.closing.usage.cached_tokens > 0


async def test_a_request_without_one_is_asked_nothing_more(redis: Redis, data: Path, tmp_path: Path) -> None:
    """And its response says nothing of it."""
    engine = WritingEngine(in_order("A"))
    response = await played(redis, data, tmp_path, engine, make_request("r", image(0)))
    assert (response.closing, len(engine.chats["r"])) == (None, 1)


async def test_several_turns_and_rounds_are_closed_at_their_end(redis: Redis, data: Path, tmp_path: Path) -> None:
    """Behind the last answer of a chat of turns, and behind that of a loop, with the pictures of its rounds."""
    turns = (Turn(parts=("one",)), Turn(parts=("two",)))
    engine = WritingEngine(in_order("first", "second", "B"))
    response = await played(redis, data, tmp_path, engine, make_request("r", None, turns=turns, closing=CLOSING))
    assert [answer.text for answer in response.answers] == ["first", "second", "B"]
    engine = WritingEngine(in_order(zoom(0, 0, 500, 500), "It is A.", "A"))
    response = await played(redis, data, tmp_path, engine, looping("loop", closing=CLOSING))
    assert (response.stop, [turn.text for turn in response.turns][1:]) == ("answered", ["It is A."])
    assert response.closing is not None and response.closing.text == "A"
    *_, rounds, closed = engine.chats["loop"]
    assert closed[: len(rounds)] == rounds
    assert len(response.rasters) == 2


async def test_a_chat_without_an_answer_is_not_closed(redis: Redis, data: Path, tmp_path: Path) -> None:
    """One that ran out of rounds; there is nothing that a last word could be said of."""
    loop = LOOP.model_copy(update={"max_rounds": 2})
    engine = WritingEngine(in_order(zoom(0, 0, 500, 500)))
    response = await played(redis, data, tmp_path, engine, looping("loop", loop, closing=CLOSING))
    assert (response.stop, len(response.turns), response.closing) == ("rounds", 2, None)
    assert len(engine.chats["loop"]) == 2


class RefusingEngine(WritingEngine):
    """Answers the question, and raises an error at a closing turn, as often as it is told to."""

    def __init__(self, error: EngineError, times: int = 1_000_000) -> None:
        super().__init__(in_order("It is A.", "A"))
        self.error = error
        self.times = times
        self.samplings: list[Sampling] = []

    async def generate(
        self,
        chat: Sequence[Message],
        sampling: Sampling,
        request_id: str,
        priority: int = 0,
        grow: OnTokens | None = None,
    ) -> TurnResponse:
        """Answer, or raise."""
        self.samplings.append(sampling)
        if chat[-1].text == CLOSING.text and self.times:
            self.times -= 1
            raise self.error
        return await super().generate(chat, sampling, request_id, priority, grow)


async def test_a_closing_turn_that_is_refused_costs_no_answer(redis: Redis, data: Path, tmp_path: Path) -> None:
    """The response is whole, and says why it is not closed."""
    engine = RefusingEngine(ContextExceededError("full"))
    response = await played(redis, data, tmp_path, engine, make_request("r", image(0), closing=CLOSING))
    assert (response.ok, response.turns[0].text) == (True, "It is A.")
    assert response.closing is not None and response.closing.failure is not None
    assert (response.closing.text, response.closing.failure.type) == ("", "ContextExceededError")


async def test_one_that_may_be_answered_later_fails_the_request(redis: Redis, data: Path, tmp_path: Path) -> None:
    """So that a retry plays all of it anew: a response is whole, or it is none."""
    engine = RefusingEngine(GenerationFailedError("broken off"))
    response = await played(redis, data, tmp_path, engine, make_request("r", image(0), closing=CLOSING))
    assert response.failure is not None
    assert (response.failure.type, response.failure.retryable, response.closing) == (
        "GenerationFailedError",
        True,
        None,
    )


async def test_it_is_asked_without_chance_and_in_a_few_tokens(redis: Redis, data: Path, tmp_path: Path) -> None:
    """Whatever the job's sampling is, penalties included."""
    engine = RefusingEngine(ContextExceededError("full"), 0)
    sampling = Sampling(temperature=1.0, presence_penalty=1.5, max_tokens=4000, seed=7)
    await played(redis, data, tmp_path, engine, make_request("r", image(0), closing=CLOSING, sampling=sampling))
    free, closed = engine.samplings
    assert free == sampling
    assert (closed.temperature, closed.presence_penalty, closed.max_tokens) == (0.0, 0.0, CLOSING.max_tokens)
    assert closed.steering is not None
    assert closed.steering.structure == CLOSING.structure


def test_only_a_template_that_opens_a_thought_is_told_not_to() -> None:
    """Others write the same generation prompt anyway, and some would change the beginning of the chat."""
    catalogue = load_catalogue()
    opening = {name for name, entry in catalogue.items() if entry.unthinking}
    assert opening == {"minicpm-v-4.5", "qwen3.5-27b"}


@pytest.mark.parametrize("dialect", ["sglang", "dynamo", "openai", "azure", "google"])
def test_servers_that_keep_to_schemas_alone_get_the_letter_in_an_object(dialect: Any) -> None:
    """A strict one, as OpenAI wants it."""
    sampling = Sampling.model_validate({"steering": {"structure": CLOSING.structure}})
    sent = constraint_parameters(sampling.steering, DIALECTS[dialect], {}, {})
    (said,) = sent.values()
    assert said["json_schema"]["strict"] is True
    assert said["json_schema"]["schema"]["properties"]["answer"]["enum"] == ["A", "B", "none"]


def test_vllm_elsewhere_gets_the_letters_themselves() -> None:
    """As it has them in this process."""
    sampling = Sampling.model_validate({"steering": {"structure": CLOSING.structure}})
    sent = constraint_parameters(sampling.steering, DIALECTS["vllm"], {}, {})
    assert sent == {"structured_outputs": {"choice": ("A", "B", "none")}}


def test_a_server_that_ignores_schemas_is_asked_for_none() -> None:
    """What is not held is no closing turn."""
    sampling = Sampling.model_validate({"steering": {"structure": CLOSING.structure}})
    with pytest.raises(EngineError, match="'anthropic' takes no response_format"):
        constraint_parameters(sampling.steering, DIALECTS["anthropic"], {}, {})


class HoldingClosings(Holding):
    """Holds closing turns, and counts the others."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    async def _answer(self, chat: list[Message], body: dict[str, Any]) -> dict[str, Any]:
        answer = await super()._answer(chat, body)
        if chat[-1].text == CLOSING.text:
            await self.hold()
            answer["choices"][0]["message"]["content"] = "A"
        else:
            self.asked += 1
        return answer


@pytest.mark.slow
async def test_a_worker_that_is_killed_between_both_turns_loses_nothing(
    redis: Redis, server: StateStoreProcess, data: Path, tmp_path: Path
) -> None:
    """Nothing of such a chat is recorded; another worker plays all of it, and each response is there once, closed."""
    requests = [make_request(f"r{number}", image(number % 4), closing=CLOSING) for number in range(6)]
    with serving(HoldingClosings()) as holding:
        arguments = ("--engine", "remote", "--endpoint", holding.url, "--lease", "1")
        job_id = await submit_requests(redis, *requests)
        with worker_process(tmp_path, data, server.url, *arguments) as worker:
            wait_until(lambda: holding.held == len(requests), timeout=120, what="the closing turns of all chats")
            worker.kill()
        assert not await responses_of(redis, job_id)
        holding.go_on()
        with worker_process(tmp_path, data, server.url, *arguments) as worker:
            await until_recorded(redis, job_id, len(requests))
    responses = await responses_of(redis, job_id)
    assert sorted(response.request_id for response in responses) == [request.id for request in requests]
    assert {response.closing.text for response in responses if response.closing} == {"A"}
    assert all(response.ok and response.closing and response.turns[0].text for response in responses)
    assert holding.asked == 2 * len(requests)
