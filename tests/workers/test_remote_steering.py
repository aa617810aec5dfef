"""What chats ask for beyond sampling, as servers elsewhere are told it."""

from typing import Any

import pytest

from gigavqa.contract.requests import GenerationConstraints, Sampling, StructuredOutput
from gigavqa.workers.engines.engine import EngineError
from gigavqa.workers.engines.remote.dialects import DIALECTS
from gigavqa.workers.engines.remote.generation_constraints import constraint_parameters
from tests.workers.remote_server import Elsewhere, Mood, serving
from tests.workers.test_remote_engine import ask_about, asking

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}}
ENDS = {"stop_token_ids": [7]}


@pytest.mark.parametrize(
    ("steering", "sent"),
    [
        (None, ENDS),
        (GenerationConstraints(stop=("END",), stop_token_ids=(9,)), {"stop_token_ids": [7, 9], "stop": ["END"]}),
        (GenerationConstraints(ignore_eos=True), {"ignore_eos": True}),
        (GenerationConstraints(logprobs=3), {**ENDS, "logprobs": True, "top_logprobs": 3}),
        (
            GenerationConstraints(presence_penalty=1.5, logit_bias={5: -100}),
            {**ENDS, "presence_penalty": 1.5, "logit_bias": {"5": -100}},
        ),
        (
            GenerationConstraints(structure=StructuredOutput(json_schema=SCHEMA)),
            {**ENDS, "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}},
        ),
        (
            GenerationConstraints(structure=StructuredOutput(choice=("A", "B"))),
            {**ENDS, "structured_outputs": {"choice": ("A", "B")}},
        ),
        (GenerationConstraints(template={"b": 2}), {**ENDS, "chat_template_kwargs": {"a": 1, "b": 2}}),
    ],
)
def test_vllm_is_told_all_of_it(steering: GenerationConstraints | None, sent: dict[str, Any]) -> None:
    """What is not asked for is not said; what ends a turn stays, unless the chat wants to go beyond it."""
    assert constraint_parameters(steering, DIALECTS["vllm"], {"chat_template_kwargs": {"a": 1}}, ENDS) == sent


@pytest.mark.parametrize(
    ("dialect", "steering", "named"),
    [
        ("openai", GenerationConstraints(structure=StructuredOutput(regex="a+")), "structured_outputs"),
        ("google", GenerationConstraints(min_tokens=3), "min_tokens"),
        ("anthropic", GenerationConstraints(template={"enable_thinking": True}), "chat_template_kwargs"),
        ("sglang", GenerationConstraints(bad_words=("no",)), "bad_words"),
    ],
)
def test_what_a_server_does_not_take_is_refused(dialect: Any, steering: GenerationConstraints, named: str) -> None:
    """Whoever asked for it would get something else."""
    with pytest.raises(EngineError, match=f"takes no {named}"):
        constraint_parameters(steering, DIALECTS[dialect], {}, {})


async def test_a_text_is_told_in_one_piece_with_its_logprobs() -> None:
    """As the server writes them."""
    likely = {"token": "B", "logprob": -0.5, "bytes": [66], "top_logprobs": [{"token": "B", "logprob": -0.5}]}
    choice = {"message": {"content": "B"}, "finish_reason": "stop", "logprobs": {"content": [likely]}}
    told: list[tuple[int, str, Any]] = []
    with serving(Elsewhere(moods=[Mood(body={"choices": [choice]})])) as there:
        async with asking(there) as engine:
            sampling = Sampling(seed=1, max_tokens=5, steering=GenerationConstraints(logprobs=1))
            turn = await engine.generate(ask_about(text="?"), sampling, "r", grow=lambda *piece: told.append(piece))
    assert told == [(0, "B", turn.logprobs)]
    assert turn.logprobs and turn.logprobs[0].top_logprobs and turn.logprobs[0].top_logprobs[0].logprob == -0.5
    assert there.chats[0]["top_logprobs"] == 1
