"""Tools, calls and results that the gateway writes as text are what families' own chat templates write of them."""

import importlib.util
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gigavqa.service.openai.chat_history import write_history
from gigavqa.service.openai.chat_request import ChatCompletionRequest
from gigavqa.workers.engines.vllm.compat.torch_companions import repair_torch_companions
from tests.workers.tools.test_templates import TEMPLATES

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None, reason="transformers is not installed"
)
SCHEMA = {"type": "object", "properties": {"größe": {"type": "integer"}}, "required": ["größe"]}
TOOLS = [
    {"type": "function", "function": {"name": "weather", "description": "Say <how> it's.", "parameters": SCHEMA}},
    {"type": "function", "function": {"name": "now"}},
]
texts = st.text(min_size=1, max_size=20)
arguments = st.dictionaries(texts, st.none() | st.integers() | texts | st.lists(texts, max_size=2), max_size=3)


@pytest.fixture(scope="module", autouse=True)
def _companions() -> None:
    """Transformers looks for torchvision."""
    repair_torch_companions()


def rendered(family: str, messages: Sequence[Any], **more: Any) -> str:
    """A chat as a family's template writes it."""
    from transformers.utils.chat_template_utils import render_jinja_template  # noqa: PLC0415 - may be missing

    template = TEMPLATES[family][0].read_text(encoding="utf-8")
    (text,), _ = render_jinja_template([messages], chat_template=template, add_generation_prompt=True, **more)
    return str(text)


@pytest.mark.parametrize("family", ["Qwen3-VL", "MiniCPM-V 4.5"])
@settings(max_examples=20, deadline=None)
@given(system=st.none() | texts, said=st.none() | texts, called=st.lists(arguments, min_size=1, max_size=2), told=texts)
def test_a_chat_with_tools_is_written_as_the_template_writes_it(
    family: str, system: str | None, said: str | None, called: Sequence[Any], told: str
) -> None:
    """Letter by letter, whatever the arguments are: with and without a system's message, and several calls at once."""
    calls = [
        {"id": str(number), "type": "function", "function": {"name": "weather", "arguments": each}}
        for number, each in enumerate(called)
    ]
    first = [{"role": "system", "content": system}] if system else []
    begun = [*first, {"role": "user", "content": "How is it?"}, {"role": "assistant", "content": said or ""}]
    results = [{"role": "tool", "tool_call_id": call["id"], "content": told} for call in calls]
    theirs = [*begun[:-1], {**begun[-1], "tool_calls": calls}, *results]
    sent = [
        {**call, "function": {"name": "weather", "arguments": json.dumps(call["function"]["arguments"])}}
        for call in calls
    ]
    asked = ChatCompletionRequest.model_validate(
        {"model": "x", "messages": [*begun[:-1], {**begun[-1], "tool_calls": sent}, *results], "tools": TOOLS}
    )
    parts = [[part.text or "" for part in message.content] for message in asked.messages]
    ours = [{"role": one.role, "content": "".join(map(str, one.parts))} for one in write_history(asked, parts)]
    assert rendered(family, ours) == rendered(family, theirs, tools=TOOLS)
