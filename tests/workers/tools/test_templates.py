"""What families' own chat templates write of a call is read as that call, whatever its arguments are.

Templates are rendered as transformers renders them, of messages with `tool_calls`.
"""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gigavqa.contract.tool_loops import CALL_GRAMMARS, CallGrammar, ToolLoop
from gigavqa.workers.engines.vllm.compat.torch_companions import repair_torch_companions
from gigavqa.workers.tools.calls import Call, find_call
from tests.contract.test_loops import LOOP

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None, reason="transformers is not installed"
)

HERE = Path(__file__).parent / "templates"
VLLM = importlib.util.find_spec("vllm")
VLLMS = Path(str(VLLM.origin)).parent / "transformers_utils" / "chat_templates" if VLLM else Path("none")
TEMPLATES: dict[str, tuple[Path, CallGrammar, str]] = {
    "Qwen3-VL": (HERE / "qwen3_vl.jinja", "qwen3", "<|im_start|>assistant\n"),
    "MiniCPM-V 4.5": (VLLMS / "template_minicpmv45.jinja", "qwen3", "<|im_start|>assistant\n"),
    "Qwen3.5": (HERE / "qwen3_5_think.jinja", "qwen3.5", "<|im_start|>assistant\n"),
    "GLM-4.5": (HERE / "glm4moe.jinja", "glm4.5", "<|assistant|>"),
}
MARKS = ("<tool_call>", "</tool_call>", "</arg_value>", "</parameter>", "<|im_start|>", "<|assistant|>", "</think>")

texts = st.text(max_size=80).filter(lambda text: not any(mark in text for mark in MARKS))
numbers = st.integers(-(10**12), 10**12) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "ü"]), inner, max_size=3),
    max_leaves=6,
)
others = st.dictionaries(st.sampled_from(["label", "img_idx", "note", "ключ"]), values)


each_family = pytest.mark.parametrize(
    "family",
    [
        pytest.param(name, marks=pytest.mark.skipif(not path.is_file(), reason="vllm brings it"))
        for name, (path, _, _) in TEMPLATES.items()
    ],
)


@pytest.fixture(scope="module", autouse=True)
def _companions() -> None:
    """Transformers looks for torchvision."""
    repair_torch_companions()


def rendered(family: str, message: dict[str, Any], **more: Any) -> str:
    """A chat that ends with a message, as the family's template writes it."""
    from transformers.utils.chat_template_utils import render_jinja_template

    chat = [{"role": "system", "content": "Hunt."}, {"role": "user", "content": "Whose crane is it?"}, message]
    (text,), _ = render_jinja_template([chat], chat_template=TEMPLATES[family][0].read_text(encoding="utf-8"), **more)
    return str(text)


def read(family: str, name: str, arguments: dict[str, Any]) -> Call:
    """The call that is read from what the template writes of it."""
    _, grammar, header = TEMPLATES[family]
    called = [{"type": "function", "function": {"name": name, "arguments": arguments}}]
    said = rendered(family, {"role": "assistant", "content": "Hm.", "tool_calls": called}).rpartition(header)[2]
    call = find_call(said, ToolLoop.model_validate({**LOOP.model_dump(), **CALL_GRAMMARS[grammar]}))
    assert call is not None
    return call


@each_family
@given(query=texts.filter(bool), more=others)
def test_a_search_is_read_with_its_query(family: str, query: str, more: dict[str, Any]) -> None:
    """In any script, with quotes, braces and line breaks; GLM's template does not tell a line break at an end."""
    call = read(family, "look_up", {**more, "query": query})
    told = query.removeprefix("\n").removesuffix("\n") if family == "GLM-4.5" else query
    assert (call.name, call.query, call.status) == ("look_up", told, "ok" if told else "empty")


@each_family
@given(box=st.lists(numbers, min_size=4, max_size=4), more=others)
def test_a_box_is_read_to_the_last_digit(family: str, box: list[float], more: dict[str, Any]) -> None:
    """Whole numbers and fractions, beside whatever else is said."""
    call = read(family, "closer", {**more, "bbox_2d": box})
    assert (call.name, call.box, call.status) == ("closer", tuple(box), "ok")


@each_family
@given(name=st.from_regex(r"[a-z_][a-z0-9_.-]{0,40}", fullmatch=True), arguments=others)
def test_any_name_is_read(family: str, name: str, arguments: dict[str, Any]) -> None:
    """Of tools that there are not, too; arguments that are JSON come back as they were."""
    call = read(family, name, arguments)
    assert call.name == name
    if TEMPLATES[family][1] == "qwen3":
        assert json.loads(call.arguments) == arguments


@each_family
def test_a_call_without_arguments_is_read(family: str) -> None:
    """And is carried out."""
    call = read(family, "alike", {})
    assert (call.name, call.status) == ("alike", "ok")
