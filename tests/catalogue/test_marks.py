"""What families write around their thoughts, and what later turns of a chat repeat of an answer."""

import pytest

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.families.registry import FAMILIES
from gigavqa.catalogue.load import load_catalogue

CATALOGUE = load_catalogue()
THINKERS = {
    "qwen3.5-27b": ("<think>", "</think>"),
    "glm-4.5v": ("<think>", "</think>"),
    "internvl3.5-38b": ("<think>", "</think>"),
    "mimo-vl-7b-sft-2508": ("<think>", "</think>"),
    "minicpm-v-4.5": ("<think>", "</think>"),
    "ovis2.5-9b": ("<think>", "</think>"),
    "phi-4-reasoning-vision-15b": ("<think>", "</think>"),
    "gemma-4-26b": ("<|channel>thought\n", "<channel|>"),
    "kimi-vl-a3b-thinking": ("◁think▷", "◁/think▷"),
}
OPENED_BY_PROMPT = {"qwen3.5-27b", "minicpm-v-4.5"}


@pytest.mark.parametrize("model_id", CATALOGUE)
def test_every_shipped_model_is_of_a_known_family(model_id: str) -> None:
    """Its marks are known, and with them what ends its turns; those of a closed model its server keeps to itself."""
    family = CATALOGUE[model_id].known_family
    assert family is not None
    assert bool(family.marks.ends) != family.is_closed == CATALOGUE[model_id].is_closed


@pytest.mark.parametrize("name", FAMILIES)
def test_what_ends_a_turn_is_no_text(name: str) -> None:
    """No mark is both."""
    marks = FAMILIES[name].marks
    assert not {*marks.written} & {*marks.ends}
    assert len({*marks.written}) == len(marks.written)


@pytest.mark.parametrize("model_id", THINKERS)
def test_a_chat_repeats_what_follows_the_thought(model_id: str) -> None:
    """Marks of an answer stay, those of the thought go with it, wherever the opening one was written."""
    opening, closing = THINKERS[model_id]
    entry = CATALOGUE[model_id]
    answer = "Two people, <|begin_of_box|>B<|end_of_box|>\n"
    assert entry.in_history(f"{opening}First I count.{closing}\n\n{answer}") == answer
    assert entry.in_history(f"First I count.{closing}\n\n{answer}") == answer
    assert entry.in_history(f"{opening}One.{closing}{opening}Or two.{closing}{answer}") == answer


@pytest.mark.parametrize("model_id", THINKERS)
def test_a_thought_that_never_ended_is_not_repeated(model_id: str) -> None:
    """A chat template would repeat it whole, and as an answer."""
    assert CATALOGUE[model_id].in_history(f"{THINKERS[model_id][0]}First I count the") == ""
    assert CATALOGUE[model_id].in_history(f"B{THINKERS[model_id][0]}But no,") == "B"


@pytest.mark.parametrize("model_id", THINKERS)
def test_text_without_a_mark_is_a_thought_where_the_prompt_opened_it(model_id: str) -> None:
    """Elsewhere, and with thinking switched off, it is the answer."""
    entry = CATALOGUE[model_id]
    quiet = entry.model_copy(update={"chat_template": {"enable_thinking": False}})
    assert entry.in_history("Two people.") == ("" if model_id in OPENED_BY_PROMPT else "Two people.")
    assert quiet.in_history("Two people.") == "Two people."


def test_a_family_that_only_its_operator_knows_is_repeated_word_for_word() -> None:
    """Nothing is cut by guess."""
    own: CatalogueEntry = CATALOGUE["qwen3.5-27b"].model_copy(update={"family": "own"})
    assert own.in_history("<think>One.</think>Two.") == "<think>One.</think>Two."
