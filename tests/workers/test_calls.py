"""What a model writes is read as a call, as an error that it is told, or as its answer; whatever it is."""

import random
from typing import Any

import pytest

from gigavqa.contract.tool_loops import CALL_GRAMMARS, ToolLoop
from gigavqa.workers.tools import calls
from gigavqa.workers.tools.calls import Call, fill_template, find_call
from tests.contract.test_loops import LOOP

BOX = '{"name": "closer", "arguments": {"bbox_2d": [250, 500, 500.5, 625], "label": "a mark", "img_idx": 0}}'
QUERY = '{"name": "look_up", "arguments": {"query": "who made {result}?"}}'


def called(content: str, loop: ToolLoop = LOOP) -> Call:
    """The call of an answer in which this stands between the marks."""
    call = find_call(f"<thinking>Hm.</thinking>\n{loop.opening}\n{content}\n{loop.closing}\n", loop)
    assert call is not None
    return call


def test_a_call_is_read_with_its_arguments_as_written() -> None:
    """Box and query are what was asked for; what else is said changes nothing."""
    box, query = called(BOX), called(QUERY)
    assert (box.status, box.name, box.box) == ("ok", "closer", (250, 500, 500.5, 625))
    assert box.arguments == '{"bbox_2d": [250, 500, 500.5, 625], "label": "a mark", "img_idx": 0}'
    assert (query.status, query.query, query.arguments) == (
        "ok",
        "who made {result}?",
        '{"query": "who made {result}?"}',
    )
    assert called('{"arguments":[1,2],"name":"alike"}').status == "ok"  # whose arguments nobody looks at
    assert called('{"name": "closer", "arguments": {"bbox": [0, 0, 1, 1]}}').box == (0, 0, 1, 1)


@pytest.mark.parametrize(
    "text",
    ["", "It is 1911.", "<tool_call>", f"<tool_call>{BOX}", "</tool_call>", f"{BOX}</tool_call><tool_call>"],
)
def test_a_text_without_a_closed_call_is_an_answer(text: str) -> None:
    """However much it looks like one."""
    assert find_call(text, LOOP) is None


def test_the_first_call_counts() -> None:
    """Inside a thought, too, beside an answer, and whatever other calls there are."""
    text = f"<thinking><tool_call>{QUERY}</tool_call></thinking><answer>1911</answer><tool_call>{BOX}</tool_call>"
    call = find_call(text, LOOP)
    assert call is not None
    assert call.name == "look_up"


@pytest.mark.parametrize(
    ("content", "status", "error"),
    [
        ("", "malformed", ""),
        ("{}", "malformed", ""),
        ("null", "malformed", ""),
        ('{"name": "closer"', "malformed", ""),
        (f"<tool_call>{BOX}", "malformed", ""),
        ("[" * 100_000, "malformed", ""),
        ('{"name": "closer", "arguments": {"bbox_2d": [' + "9" * 5000 + ", 0, 1, 1]}}", "malformed", ""),
        ('["closer"]', "bad_arguments", "not so"),
        ("7", "bad_arguments", "not so"),
        ('{"name": "closer", "arguments": "[0, 0, 1, 1]"}', "bad_arguments", "not so"),
        ('{"name": "look_up", "arguments": null}', "bad_arguments", "not so"),
        ('{"name": "look_up", "arguments": {"query": ["cranes"]}}', "bad_arguments", "not so"),
        ('{"name": "look_up", "arguments": {"query": NaN}}', "bad_arguments", "not so"),
        ('{"name": "farther", "arguments": {}}', "unknown_tool", "no farther"),
        ('{"name": null, "arguments": {}}', "unknown_tool", "no null"),
        ('{"arguments": {}}', "unknown_tool", "no "),
        ('{"name": "closer"}', "empty", "no box"),
        ('{"name": "closer", "arguments": {"bbox_2d": null, "bbox": [0, 0, 1, 1]}}', "empty", "no box"),
        ('{"name": "closer", "arguments": {"bbox_2d": [0, 0, 1]}}', "empty", "no box"),
        ('{"name": "closer", "arguments": {"bbox_2d": "0, 0, 1, 1"}}', "empty", "no box"),
        ('{"name": "closer", "arguments": {"bbox_2d": ["0", "0", "1", "1"]}}', "bad_box", "no box"),
        ('{"name": "closer", "arguments": {"bbox_2d": [0, 0, NaN, 1]}}', "bad_box", "no box"),
        ('{"name": "closer", "arguments": {"bbox_2d": [0, 0, 1e999, 1]}}', "bad_box", "no box"),
        ('{"name": "closer", "arguments": {"bbox_2d": [0, 0, true, 1]}}', "bad_box", "no box"),
        ('{"name": "closer", "arguments": {"bbox_2d": 7}}', "bad_box", "no box"),
        ('{"name": "look_up", "arguments": {}}', "empty", "no query"),
        ('{"name": "look_up", "arguments": {"query": ""}}', "empty", "no query"),
    ],
)
def test_what_cannot_be_done_has_a_status_and_an_answer(content: str, status: str, error: str) -> None:
    """The text that the loop declares for it; what is no call at all has none."""
    call = called(content)
    assert (call.status, call.error) == (status, error)


WRITTEN = {
    "qwen3": (BOX, QUERY, '{"name": "alike", "arguments": {}}'),
    "glm4.5": (
        "closer\n<arg_key>bbox_2d</arg_key>\n<arg_value>[250, 500, 500.5, 625]</arg_value>\n"
        "<arg_key>label</arg_key>\n<arg_value>a mark</arg_value>",
        "look_up\n<arg_key>query</arg_key>\n<arg_value>who made {result}?</arg_value>",
        "alike",
    ),
    "qwen3.5": (
        "<function=closer>\n<parameter=bbox_2d>\n[250, 500, 500.5, 625]\n</parameter>\n"
        "<parameter=label>\na mark\n</parameter>\n</function>",
        "<function=look_up>\n<parameter=query>\nwho made {result}?\n</parameter>\n</function>",
        "<function=alike>\n</function>",
    ),
    "kimi": (
        'functions.closer:0<|tool_call_argument_begin|>{"bbox_2d": [250, 500, 500.5, 625], "label": "a mark"}',
        'functions.look_up:12<|tool_call_argument_begin|>{"query": "who made {result}?"}',
        "functions.alike:1<|tool_call_argument_begin|>{}",
    ),
}


def loop_of(model: str) -> ToolLoop:
    """The loop, with calls written as the model writes them."""
    return ToolLoop.model_validate({**LOOP.model_dump(), **CALL_GRAMMARS[model]})


@pytest.mark.parametrize("model", CALL_GRAMMARS)
def test_every_grammar_says_the_same(model: str) -> None:
    """Box, query and a call without arguments."""
    box, query, alike = (called(content, loop_of(model)) for content in WRITTEN[model])
    assert (box.name, box.status, box.box) == ("closer", "ok", (250, 500, 500.5, 625))
    assert (query.name, query.status, query.query) == ("look_up", "ok", "who made {result}?")
    assert (alike.name, alike.status) == ("alike", "ok")


@pytest.mark.parametrize(
    ("model", "content"),
    [
        ("glm4.5", ""),
        ("glm4.5", "look_up\n<arg_key>query</arg_key>\n<arg_value>cranes"),
        ("glm4.5", "look_up\n<arg_key>query"),
        ("qwen3.5", QUERY),
        ("qwen3.5", "<function=>"),
        ("kimi", QUERY),
        ("kimi", "functions.look_up:0<|tool_call_argument_begin|>cranes"),
    ],
)
def test_a_call_in_another_grammar_is_malformed(model: str, content: str) -> None:
    """It is not guessed what it may have meant."""
    assert called(content, loop_of(model)).status == "malformed"


def test_a_value_is_no_place() -> None:
    """Places of a template are filled once, and those that nothing was given for stay."""
    assert (
        fill_template("{query}: {result} {name} {}", query="{result}", result="{query}")
        == "{result}: {query} {name} {}"
    )


PIECES = [
    *(piece for written in WRITTEN.values() for piece in written),
    *(
        "<tool_call>",
        "</tool_call>",
        "<|tool_call_begin|>",
        "<|tool_call_end|>",
        "<answer>1911</answer>",
        "</thinking>",
    ),
    *("[", "]", "{", "}", '"', "\\", ",", ":", "NaN", "-Infinity", "1e999", "9" * 5000, "null", "true", "[" * 2000),
    *('{"name": "closer", "arguments": [1]}', '{"name": "farther"}', '{"name": "look_up"}', "\\ud800", "\ud800", "\0"),
    *("起重机", "رافعة", "🏗", "\u2028", '{"name": "closer", "arguments": {"bbox_2d": [1e999, 0, "x", null]}}'),
]


def _mutated(chance: random.Random, loop: ToolLoop) -> str:
    begun = [loop.opening, chance.choice(PIECES), loop.closing]
    text = "".join(
        [*chance.choices(PIECES, k=chance.randrange(4)), *begun, *chance.choices(PIECES, k=chance.randrange(3))]
    )
    for _ in range(chance.randrange(4)):
        at, end = sorted(chance.randrange(len(text) + 1) for _ in range(2))
        text = chance.choice(
            [text[:at] + text[end:], text[:at] + chance.choice(PIECES) + text[at:], text[at:end] + text]
        )
    return text


def test_no_text_breaks_the_reader() -> None:
    """Of 10,000 mutated texts each is a call, an error or an answer that can be stored, and every outcome comes up."""
    chance, loops, found = random.Random(13), [loop_of(model) for model in CALL_GRAMMARS], set[Any]()
    for number in range(10_000):
        loop = loops[number % len(loops)]
        call = find_call(_mutated(chance, loop), loop)
        if call is not None:
            (call.name + call.arguments + call.query + call.error).encode()
        found.add(call and call.status)
    assert found == {None, "ok", "empty", "malformed", "unknown_tool", "bad_arguments", "bad_box"}


class CountingText(str):
    """Counts the characters that searches in it, and in what is cut out of it, may look at."""

    looked = 0

    def find(self, *arguments: Any) -> int:
        """Count from where the search begins to where it ends."""
        found = super().find(*arguments)
        begin = arguments[1] if len(arguments) > 1 else 0
        CountingText.looked += (found if found >= 0 else len(self)) - begin
        return found

    def partition(self, mark: str) -> tuple[str, str, str]:
        """Count up to the mark."""
        before, found, behind = super().partition(mark)
        CountingText.looked += len(before)
        return before, found, behind

    def __getitem__(self, place: Any) -> "CountingText":
        return CountingText(super().__getitem__(place))

    def strip(self, *arguments: Any) -> "CountingText":
        """What is left is counted on."""
        return CountingText(super().strip(*arguments))


MARKS = {
    "qwen3": ("{", "[", '{"name":', '"arguments": {', "9", '\\"', '{"a": 1, '),
    "glm4.5": ("<arg_key>", "</arg_key>", "<arg_value>", "<arg_key>k</arg_key>", "<arg_key>k</arg_key><arg_value>"),
    "qwen3.5": ("<function=", "<parameter=", "<parameter=>", "</parameter>", "<parameter=k>v</parameter>"),
    "kimi": ("functions.", ":", "<|tool_call_argument_begin|>", "functions.a:0<|tool_call_argument_begin|>{"),
}


@pytest.mark.parametrize("model", CALL_GRAMMARS)
def test_a_megabyte_of_marks_is_looked_at_once(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Openings without an end, calls that are not closed, and keys without values take linear time."""
    loop, storable = loop_of(model), calls._storable
    monkeypatch.setattr(calls, "_storable", lambda text: CountingText(storable(text)))
    for mark in (loop.opening, loop.closing, *MARKS[model]):
        for begin, end in (("", ""), (loop.opening, ""), (loop.opening, loop.closing), ("", loop.opening)):
            CountingText.looked = 0
            text = CountingText(begin + mark * (1_000_000 // len(mark)) + end)
            find_call(text, loop)
            assert CountingText.looked <= 6 * len(text)
