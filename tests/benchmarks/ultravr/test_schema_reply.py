"""Replies to S2 as models write them: whatever surrounds or breaks the JSON, what was written counts."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gigavqa.benchmarks.ultravr.answers import read_schema_reply
from tests.benchmarks.ultravr.good_records import good_sample

CASES = [json.loads(line) for line in (Path(__file__).parent / "schema_replies.jsonl").read_text().splitlines()]
COMPARISON = good_sample("cctv-comparison").steps
LONG = 60_000


@pytest.mark.parametrize("case", CASES, ids=[case["about"] for case in CASES])
def test_a_reply_says_what_its_case_states(case: dict[str, Any]) -> None:
    """Raw answers by step, the final answer, and whether the reply is whole."""
    reply = read_schema_reply(case["text"], good_sample(case["sample"]).steps)

    assert (reply.answers, reply.final, reply.complete) == (case["answers"], case["final"], case["complete"])


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-999, 999)
    | st.text(st.characters(min_codepoint=32, max_codepoint=126, exclude_characters="<["), min_size=1, max_size=20),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=8,
).filter(lambda value: not isinstance(value, str) or value.strip() not in {"", "..."})


@given(answers=st.fixed_dictionaries({step.step_id: VALUES for step in COMPARISON}), indent=st.sampled_from([None, 2]))
def test_strict_json_is_read_as_json(answers: dict[str, Any], indent: int | None) -> None:
    """Texts come back as they are and all else as the same JSON, whatever the layout; tags of thinking aside."""
    reply = read_schema_reply(json.dumps({**answers, "final_answer": "B"}, indent=indent), COMPARISON)

    raw = {name: value if isinstance(value, str) else json.dumps(value) for name, value in answers.items()}
    assert (reply.answers, reply.final, reply.complete) == (raw, "B", True)


@given(cut=st.integers(0, 200))
def test_a_reply_that_breaks_off_loses_only_what_was_not_written(cut: int) -> None:
    """Each answer is either the one of the whole reply or missing, and earlier ones are never missing before later."""
    whole = json.dumps({step.step_id: step.ground_truth for step in COMPARISON} | {"final_answer": "B"})
    full, part = (read_schema_reply(text, COMPARISON) for text in (whole, whole[:cut]))

    assert list(part.answers.items()) == list(full.answers.items())[: len(part.answers)]


@pytest.mark.parametrize(
    "unit", ["{", '{"S1": ', '{"S1": [1,', '{"S1": "aaa ', "{'S1': 'it's ", '{"a": 1} ', '{"x" "y" ', "[", '"S1": ']
)
def test_a_text_that_runs_in_circles_is_read_to_its_end(unit: str) -> None:
    """A model that repeats itself up to its limit neither breaks the reader nor holds it up."""
    reply = read_schema_reply(unit * (LONG // len(unit)), COMPARISON)

    assert not reply.complete


ITEMS = ("{}. {}", "{}) {}", "{}: {}", "**{}.** {}", "- {}. {}")


@pytest.mark.parametrize("item", ITEMS)
@pytest.mark.parametrize("final", ["", "\n\nFinal answer: B", "\nB"])
def test_a_numbered_list_answers_the_steps_in_their_order(item: str, final: str) -> None:
    """Where it has an item for each, and at most one line behind them; what is cut off loses its last line."""
    truths = {step.step_id: str(step.ground_truth) for step in COMPARISON}
    lines = [item.format(number, truth) for number, truth in enumerate(truths.values(), 1)]
    text = "\n".join(lines)

    assert read_schema_reply(text + final, COMPARISON).answers == truths
    assert read_schema_reply(text + final, COMPARISON).outside.strip() == final.strip()
    assert read_schema_reply(text + final, COMPARISON, cut_off=True).answers == (truths if final else {})


@pytest.mark.parametrize("item", ITEMS)
def test_a_list_that_need_not_be_of_the_steps_answers_none(item: str) -> None:
    """Of fewer or more items, in another order, behind prose, or of sentences that work something out."""
    truths = [str(step.ground_truth) for step in COMPARISON]
    lines = [item.format(number, truth) for number, truth in enumerate(truths, 1)]
    thought = [
        item.format(number, f"{truth}, for that is what the left half shows of it")
        for number, truth in enumerate(truths, 1)
    ]

    for told in (
        lines[1:],
        [*lines, item.format(len(lines) + 1, "B")],
        lines[::-1],
        ["I look at it.", *lines],
        thought,
    ):
        assert read_schema_reply("\n".join(told), COMPARISON).answers == {}
