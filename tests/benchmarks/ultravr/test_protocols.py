"""What each protocol asks, in which turns, and that no prompt tells what it must not."""

import json

import pytest

from gigavqa.benchmarks.ultravr.asking import PROTOCOLS, AskingContext
from gigavqa.benchmarks.ultravr.conditions import show_condition
from gigavqa.benchmarks.ultravr.samples import ReasoningStep, UltraVRSample
from gigavqa.benchmarks.ultravr.step_forms import answer_form_of, choices_of
from gigavqa.contract.requests import Condition, Turn
from gigavqa.evaluation.benchmark import Scene
from gigavqa.tiling.geometry import Size
from tests.benchmarks.ultravr.good_records import GOOD, good_record, good_sample, sample_from, step_of

ALL = list(PROTOCOLS)
STEPWISE = ["S4", "S5"]


def turns(
    protocol: str, sample: UltraVRSample, condition: Condition = "V2", examples: tuple[UltraVRSample, ...] = ()
) -> list[Turn]:
    """The turns of a sample whose image has 1000 x 600 pixels."""
    showing = show_condition(sample, Scene(("tiny/image.png",), lambda _: Size(1000, 600), "0"), condition)
    return list(PROTOCOLS[protocol].turns(AskingContext(sample, showing, examples)))


def text(protocol: str, name: str, condition: Condition = "V2") -> str:
    """The only turn's text of a good sample."""
    (turn,) = turns(protocol, good_sample(name), condition)
    return turn.text


def without_truth(sample: UltraVRSample) -> UltraVRSample:
    """The same questions with other answers: the next option, and null in every step."""
    steps = tuple(step.model_copy(update={"ground_truth": None}) for step in sample.steps)
    answer = "(9, 9)" if sample.options is None else {"A": "B", "B": "C", "C": "D", "D": "A"}[sample.answer]
    return sample.model_copy(update={"steps": steps, "answer": answer})


def step_named(name: str, step_id: str) -> tuple[UltraVRSample, ReasoningStep]:
    """One step of a good sample, with its sample."""
    sample = good_sample(name)
    return sample, next(step for step in sample.steps if step.step_id == step_id)


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("protocol", ALL)
def test_no_prompt_depends_on_the_truth_of_its_sample(protocol: str, name: str) -> None:
    """The same questions with other ground truths are asked in the same words; S5's given answers stand apart."""
    sample = good_sample(name)
    example = good_sample("rs-logic", id="other")

    asked, other = (turns(protocol, each, examples=(example,)) for each in (sample, without_truth(sample)))

    assert [turn.text for turn in asked] == [turn.text for turn in other]


@pytest.mark.parametrize("name", GOOD)
def test_prompts_of_one_sample_share_a_prefix_that_holds_the_question(name: str) -> None:
    """Pictures, context, question and options come first under S0, S1, S2, S4 and S5, so they are prefilled once."""
    sample = good_sample(name)
    firsts = [turns(protocol, sample)[0].text for protocol in ("S0", "S1", "S2", "S4", "S5")]

    shared, _, _ = firsts[0].rpartition("\n\n")

    assert all(first.startswith(shared) for first in firsts)
    assert sample.question in shared
    assert all(option in shared for option in (sample.options or {}).values())


def test_s1_is_s0_with_an_instruction_at_its_end() -> None:
    """Same input, plus a generic step-by-step instruction."""
    direct, generic = text("S0", "rs-logic"), text("S1", "rs-logic")

    assert generic.startswith(direct)
    assert generic.removeprefix(direct).strip() == "Think step by step before you give the final answer."


def test_s2_asks_all_steps_and_the_answer_as_one_json_object() -> None:
    """Step questions with their forms, in their order, and the keys of the object."""
    asked = text("S2", "rs-relation")

    locate = '- "S2" (Step 2): Locate the leftmost ship in the upper-left quadrant. Report bbox coordinates.'
    assert f"{locate} Answer with one box" in asked
    assert '{"S1": ..., "S2": ..., "S3": ..., "S4": ..., "S5": ..., "final_answer": ...}' in asked
    assert asked.endswith('The value of "final_answer" is the letter of the one correct option: A, B, C or D.')


def test_s2_of_a_grid_asks_for_a_coordinate() -> None:
    """AD samples without options."""
    assert '"(row, column)"' in text("S2", "ad-coordinate")


def test_s3_tells_whole_trajectories_before_the_question() -> None:
    """Question, options, every step with its true answer, and the final answer of each example."""
    sample, example = good_sample("rs-logic"), good_sample("cctv-logic")

    (turn,) = turns("S3", sample, examples=(example, example))

    told, asked = turn.text.split("The examples end here.")
    assert all(step.question in told for step in example.steps)
    last = "Step 13: Which evidence pattern is supported by the image?\nAnswer: count_match_and_region_mismatch"
    assert told.count(last) == 2
    assert told.count("Final answer: B") == 2
    assert sample.question in asked
    assert not any(step.question in turn.text for step in sample.steps)


def test_s3_without_examples_speaks_of_none() -> None:
    """A category whose samples are all on one image."""
    assert "xample" not in text("S3", "rs-logic")


@pytest.mark.parametrize("protocol", STEPWISE)
@pytest.mark.parametrize("name", GOOD)
def test_steps_are_asked_one_a_turn_and_the_question_last(protocol: str, name: str) -> None:
    """As many turns as steps and one more; each names its step."""
    sample = good_sample(name)
    asked = turns(protocol, sample)

    assert [turn.asks for turn in asked] == [*(step.step_id for step in sample.steps), None]
    assert all(step.question in turn.text for step, turn in zip(sample.steps, asked[:-1], strict=True))
    assert asked[-1].text.startswith("Now answer the question that was put at the beginning.")
    assert asked[-1].text.endswith(turns("S0", sample)[0].text.rpartition("\n\n")[2])


def test_s4_gives_no_answer() -> None:
    """Its history is the model's own."""
    assert {turn.given for turn in turns("S4", good_sample("cctv-logic"))} == {None}


def test_s5_asks_what_s4_asks_and_gives_the_true_answers() -> None:
    """In the very form that is asked for: JSON, and texts as they are."""
    sample = good_sample("cctv-comparison")
    own, given = turns("S4", sample), turns("S5", sample)

    assert [turn.text for turn in given] == [turn.text for turn in own]
    assert [turn.given for turn in given[:3]] == ["true", "[[0.1, 0.1, 0.12, 0.12], [0.2, 0.2, 0.22, 0.22]]", "2"]
    assert [turn.given for turn in given[-3:]] == ["group_a_more", "total_claim", None]


@pytest.mark.parametrize(
    ("name", "step_id", "said"), [("wsi-comparison", "Q5.1", "N/A"), ("rs-relation", "S2", "null")]
)
def test_a_step_that_does_not_apply_is_answered_as_its_question_says(name: str, step_id: str, said: str) -> None:
    """Slides say N/A, land says null."""
    record = good_record(name)
    step_of(record, step_id).update(ground_truth=None)

    given = {turn.asks: turn.given for turn in turns("S5", sample_from(record))}

    assert given[step_id] == said
    assert answer_form_of(*step_named(name, step_id)).endswith(f"or {said} if the step does not apply")


@pytest.mark.parametrize("protocol", ALL)
def test_without_an_image_abstaining_is_allowed(protocol: str) -> None:
    """V0 alone says so, in the last turn (appendix D.1)."""
    sample = good_sample("rs-logic")

    assert "not sure" in turns(protocol, sample, "V0")[-1].text
    assert all("not sure" not in turn.text for turn in turns(protocol, sample))


FORMS = [
    ("cctv-comparison", "S1", "true or false"),
    ("cctv-comparison", "S3", "a whole number in digits"),
    ("cctv-comparison", "S9", "the ratio in lowest terms, two whole numbers with a colon between them"),
    ("cctv-logic", "S1", "a list of boxes [[x1, y1, x2, y2], ...], which is [] if there are none"),
    ("cctv-logic", "S10", 'exactly one of "upper-left", "upper-right", "lower-left", "lower-right", "tie"'),
    ("cctv-relation", "S1", "one box [x1, y1, x2, y2]"),
    ("cctv-relation", "S3", 'exactly one of "forward", "backward", "left", "right"'),
    ("cctv-relation", "S5", 'exactly one of "a_is_in_front_of_b", "a_is_behind_b"'),
    ("rs-relation", "S5", "true or false, or null if the step does not apply"),
    ("wsi-comparison", "Q2", 'exactly one of "Yes", "No"'),
    ("wsi-comparison", "Q2.1", "a JSON list of integers from 1 to 36, or N/A if the step does not apply"),
    ("wsi-comparison", "Q3", 'exactly one of "10x", "20x", "40x", or N/A if the step does not apply'),
    ("ad-coordinate", "S7", "a short text"),
]


@pytest.mark.parametrize(("name", "step_id", "form"), FORMS)
def test_each_step_is_asked_for_in_its_own_form(name: str, step_id: str, form: str) -> None:
    """By answer format, with the answer space where the paper lists it."""
    assert answer_form_of(*step_named(name, step_id)) == form


@pytest.mark.parametrize("name", GOOD)
def test_every_true_choice_can_be_chosen(name: str) -> None:
    """A text that is the ground truth of a step with listed choices is one of them."""
    sample = good_sample(name)
    for step in sample.steps:
        truths = step.ground_truth if isinstance(step.ground_truth, list) else [step.ground_truth]
        choices = choices_of(sample, step)
        assert not choices or {truth for truth in truths if truth is not None} <= set(choices)


def test_a_records_own_options_win_over_the_papers_list() -> None:
    """Also for a step that the schema knows."""
    record = good_record("cctv-relation")
    step_of(record, "S3").update(options=["north", "south"])

    sample = sample_from(record)

    assert choices_of(sample, sample.steps[2]) == ("north", "south")


def test_slides_without_their_own_lists_are_asked_with_the_papers() -> None:
    """The per-slide files of the paper may leave the options of Q1 to Q6.3 out."""
    record = good_record("wsi-comparison")
    del step_of(record, "Q6.2")["options"]

    sample = sample_from(record)

    assert "Stromal invasion pattern" in answer_form_of(sample, sample.steps[9])


def test_how_boxes_are_written_is_said_once_and_only_where_boxes_are_asked() -> None:
    """The convention does not lengthen every step."""
    boxes = [turn.text for turn in turns("S4", good_sample("cctv-logic"))]

    assert sum("fractions of the full image" in asked for asked in boxes) == 1
    assert "fractions of the full image" not in text("S2", "wsi-comparison")


def test_versions_name_all_files_that_a_prompt_is_made_of() -> None:
    """S4 and S5 are written with the same texts, and no other two protocols are."""
    versions = {name: protocol.version for name, protocol in PROTOCOLS.items()}

    assert versions["S4"] == versions["S5"] == "sequential/1+forms/1+s0/1"
    assert len(set(versions.values())) == len(versions) - 1


def test_given_answers_are_in_the_form_that_a_parser_reads() -> None:
    """What is not a text is JSON."""
    sample = good_sample("wsi-comparison")
    given = {turn.asks: turn.given or "" for turn in turns("S5", sample)}

    assert json.loads(given["Q2.1"]) == [8, 9]
    assert json.loads(given["Q1"]) == ["Tumor-rich region", "Invasive component"]
    assert given["Q3"] == "20x"
