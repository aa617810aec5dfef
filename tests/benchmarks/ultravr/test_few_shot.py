"""Whose trajectories S3 tells: others of the same kind, never of the same image, never the sample's own."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gigavqa.benchmarks.ultravr.asking import AskingContext, FewShot
from gigavqa.benchmarks.ultravr.conditions import ConditionViews
from gigavqa.benchmarks.ultravr.examples import ExampleChooser
from gigavqa.benchmarks.ultravr.samples import UltraVRSample
from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import JobSpec
from gigavqa.evaluation.expansion import expand
from gigavqa.reports.report import build_report
from gigavqa.tiling.geometry import Size
from tests.benchmarks.ultravr.good_records import GOOD, good_sample
from tests.evaluation.datasets import dataset_of
from tests.evaluation.responses import MODEL, response
from tests.reports.tables import caveats_of

KINDS = ("cctv-comparison", "cctv-logic", "rs-logic", "wsi-comparison", "ad-choice")


@st.composite
def data_sets(draw: st.DrawFn) -> list[UltraVRSample]:
    """Samples of several kinds on a few images, some on two, some unanswered, some without steps."""
    samples: list[UltraVRSample] = []
    for number in range(draw(st.integers(1, 12))):
        kind = draw(st.sampled_from(KINDS))
        images = [f"images/{index}.png" for index in draw(st.sets(st.integers(0, 3), min_size=1, max_size=2))]
        changes: dict[str, Any] = {"id": f"sample-{number}", "image": None, "images": images}
        changes["question"] = f"{GOOD[kind]['question']} [question of sample-{number}]"
        if kind == "wsi-comparison" and draw(st.booleans()):
            changes["answer"] = ""
        if draw(st.integers(0, 4)) == 0:
            changes["reasoning_supervision"] = None
        samples.append(good_sample(kind, **changes))
    return samples


def on(image: str, name: str, **changes: Any) -> UltraVRSample:
    """A sample of one kind on an image."""
    return good_sample("rs-logic", id=name, image=image, **changes)


def told(examples: Sequence[UltraVRSample]) -> list[str]:
    """Ids of examples."""
    return [example.id for example in examples]


@given(samples=data_sets(), count=st.integers(0, 4), seed=st.integers(0, 5))
def test_examples_are_others_of_the_same_kind_on_other_images(
    samples: list[UltraVRSample], count: int, seed: int
) -> None:
    """As many as asked for, or as many as there are."""
    chooser = ExampleChooser(samples, count, seed)
    for sample in samples:
        examples = chooser.of(sample)
        possible = [
            other
            for other in samples
            if (other.domain, other.category) == (sample.domain, sample.category)
            and not set(other.images) & set(sample.images)
            and other.steps
            and other.answer
        ]
        assert len(examples) == min(count, len(possible))
        assert len(set(told(examples))) == len(examples)
        assert set(told(examples)) <= set(told(possible)) - {sample.id}


@given(samples=data_sets(), count=st.integers(1, 4))
def test_a_prompt_holds_the_trajectories_of_its_examples_alone(samples: list[UltraVRSample], count: int) -> None:
    """Of the tested sample it holds the question once; of any sample but its examples nothing else."""
    chooser = ExampleChooser(samples, count, seed=0)
    for sample in samples:
        examples = chooser.of(sample)
        (turn,) = FewShot().turns(AskingContext(sample, ConditionViews((), "No image."), examples))
        before, _, after = turn.text.rpartition("Question: ")
        for other in samples:
            marker = f"[question of {other.id}]"
            assert (marker in before) == (other.id in told(examples))
            assert (marker in after) == (other.id == sample.id)
        assert after.count("Answer: ") == 0


def test_questions_on_one_image_share_their_examples() -> None:
    """So that the prompts of an image share them as a prefix."""
    others = [on(f"images/{number}.png", f"other-{number}") for number in range(20)]
    first, second = on("images/here.png", "first"), on("images/here.png", "second")
    chooser = ExampleChooser([*others, first, second], count=3, seed=0)

    assert chooser.of(first) == chooser.of(second)


def test_the_seed_draws_other_examples() -> None:
    """And the same seed the same ones."""
    others = [on(f"images/{number}.png", f"other-{number}") for number in range(20)]
    sample = on("images/here.png", "here")
    drawn = {tuple(told(ExampleChooser([*others, sample], 3, seed).of(sample))) for seed in range(10)}

    assert len(drawn) > 5
    assert ExampleChooser(others, 3, 4).of(sample) == ExampleChooser(others, 3, 4).of(sample)


def test_an_unanswered_sample_is_no_example() -> None:
    """A trajectory is complete only with its final answer."""
    waiting = good_sample("wsi-comparison", id="waiting", image="images/other.tif", answer="")

    assert ExampleChooser([waiting], 2, 0).of(good_sample("wsi-comparison")) == ()


def test_examples_that_are_set_apart_go_before_scored_ones() -> None:
    """S3 tells none of the scored set where its kind has others, and says where they come from."""
    asked = [on(f"{number}.png", f"asked-{number}") for number in range(4)]
    apart = [on(f"x{number}.png", f"apart-{number}").model_copy(update={"split": "examples"}) for number in range(3)]
    chooser = ExampleChooser(asked, 2, seed=0, set_apart=apart)
    for sample in asked:
        assert len(told(chooser.of(sample))) == 2
        assert set(told(chooser.of(sample))) <= {one.id for one in apart}


def test_a_kind_without_examples_of_its_own_is_told_scored_ones() -> None:
    """Those that are set apart are of another kind."""
    asked = [on(f"{number}.png", f"asked-{number}") for number in range(3)]
    other = good_sample("cctv-logic", id="other", image="y.png").model_copy(update={"split": "examples"})
    chooser = ExampleChooser(asked, 2, seed=0, set_apart=[other])
    assert set(told(chooser.of(asked[0]))) == {"asked-1", "asked-2"}


def test_a_request_and_its_report_say_where_examples_come_from() -> None:
    """The table names each with how many responses it was told to; a warning counts those told scored ones beside."""
    asked = [on(f"{number}.png", f"asked-{number}") for number in range(3)]
    logic = [good_sample("cctv-logic", id=f"logic-{number}", image=f"c{number}.png") for number in range(2)]
    apart = [on(f"x{number}.png", f"apart-{number}").model_copy(update={"split": "examples"}) for number in range(2)]
    dataset = replace(dataset_of([*asked, *logic]), examples=apart)
    job = JobSpec.model_validate(
        {"dataset": "tiny", "models": [MODEL], "cells": [{"protocol": "S3", "condition": "V2"}]}
    )
    requests = [request for _, request in expand(dataset, job, load_catalogue(), lambda _: Size(300, 200))]
    details = {request.sample_id: request.details for request in requests}
    assert details["asked-0"]["examples_from"] == "examples"
    assert details["logic-0"] == {"examples": ["logic-1"]}
    replies = [
        response(one.sample_id, "Final answer: B", protocol="S3", request_id=one.id, details=one.details)
        for one in requests
    ]
    report = build_report(dataset, replies, load_catalogue())
    table = report.table("examples")
    assert table is not None
    assert [(row.title, *row.values) for row in table.rows] == [
        ("apart-0", "set apart, never asked", 3),
        ("apart-1", "set apart, never asked", 3),
        ("logic-0", "scored set", 1),
        ("logic-1", "scored set", 1),
    ]
    assert [text for text in caveats_of(report) if "scored set" in text] == [
        f"{MODEL} S3 V2: 2 of 5 responses were told examples of the scored set, as none of their kind is set apart"
    ]
