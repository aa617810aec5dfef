"""Thousands of UltraVR's questions of random scenes cannot be guessed from their texts; forms that leak are found."""

from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest

from gigavqa.construction.candidates import Candidate
from gigavqa.construction.guessing.guessing import BlindQuestion, score_readers
from gigavqa.construction.question_records import blind_question
from gigavqa.construction.selection import Quotas, order_options, select
from gigavqa.construction.ultravr.claims import Claims, is_open
from tests.construction.ultravr.worlds import CONTEXT, RECIPES, candidates, land, plaza


@cache
def _candidates(world: str, number: int) -> tuple[Candidate, ...]:
    """Keep of each scene what the tests need, without boxes of steps, which no text shows."""
    draw = land if world == "land" else plaza
    return tuple(one for seed in range(number) for one in candidates(draw(seed)))


def _questions(found: Sequence[Candidate]) -> list[BlindQuestion]:
    """The questions that a build makes of candidates, without a bound."""
    by_id = {one.id: one for one in found}
    chosen = [by_id[name] for name in select(by_id.values(), Quotas(per_image=0), 1).accepted]
    rng = np.random.default_rng(2)
    texts = [order_options(one, RECIPES[one.recipe].word(one, CONTEXT, rng), 1) for one in chosen]
    return [blind_question(one, text) for one, text in zip(chosen, texts, strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize(("world", "scenes"), [("land", 450), ("plaza", 250)])
def test_no_reader_guesses_what_recipes_ask(world: str, scenes: int) -> None:
    """Each reader is within its bound on every recipe, over hundreds or thousands of questions."""
    questions = _questions(_candidates(world, scenes))
    counts = Counter(question.recipe for question in questions)
    assert len(counts) == 3
    assert min(counts.values()) > 300, counts
    scores = score_readers(questions)
    assert [(score.recipe, score.reader, score.right.value) for score in scores if score.guesses] == []


@pytest.mark.parametrize("world", ["land", "plaza"])
def test_in_every_group_each_answer_is_true_equally_often(world: str) -> None:
    """And options are never more than the four of the paper."""
    by_id = {one.id: one for one in _candidates(world, 25)}
    chosen = [by_id[name] for name in select(by_id.values(), Quotas(per_image=0), 3).accepted]
    counts = Counter((one.balance, one.truth) for one in chosen)
    assert chosen
    for one in chosen:
        assert len({counts[one.balance, answer] for answer in one.program["options"]}) == 1
        assert len(one.program["options"]) == 4


def test_four_claims_that_rule_one_of_themselves_out_are_never_offered() -> None:
    """The paper's own example offers a ratio of 1:2 beside "B more", which would make both true."""
    printed = Claims(1, 4, "1:2", "group_b_more")
    assert not is_open(printed)
    assert is_open(printed._replace(order="group_a_more"))
    offered = [one.program["options"] for one in _candidates("plaza", 10) if one.recipe == "cctv-comparison"]
    claims = {Claims(*(int(text) if text.isdigit() else text for text in _values(options))) for options in offered}  # type: ignore[arg-type]
    assert len(claims) > 100
    assert all(map(is_open, claims))


def _values(options: Sequence[str]) -> list[str]:
    return [option.partition("=")[2] for option in options]


def test_the_printed_form_of_comparison_is_caught() -> None:
    """Where a ratio and the order that follows from it are never right, one who learns from other pictures sees it."""
    rng = np.random.default_rng(4)
    scores = score_readers([_printed(at, rng) for at in range(400)])
    assert "learned" in {score.reader for score in scores if score.guesses}


def _printed(at: int, rng: np.random.Generator) -> BlindQuestion:
    """Two counts, a true difference or total, and beside it the ratio 1:2 and the order that it implies."""
    a, b = rng.integers(3, 9, 2).tolist()
    is_total = bool(rng.integers(2))
    texts = {
        "difference": f"The absolute difference is {abs(a - b) + (1 if is_total else 0)}.",
        "total": f"The total count is {a + b + (0 if is_total else 1)}.",
        "ratio": "The ratio is 1:2.",
        "order": "Motorcycles are more numerous than bicycles.",
    }
    order = rng.permutation(list(texts)).tolist()
    right = "total" if is_total else "difference"
    options = dict(zip("ABCD", (texts[name] for name in order), strict=True))
    return BlindQuestion(f"q-{at}", f"{at}.png", "printed", "", "Which?", options, "ABCD"[order.index(right)])
