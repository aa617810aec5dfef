"""Every plan can be asked of every sample of the demo data set."""

from pathlib import Path

import pytest

from gigavqa.benchmarks.ultravr.benchmark import UltraVR
from gigavqa.benchmarks.ultravr.examples import ExampleChooser
from gigavqa.benchmarks.ultravr.step_judge import StepJudge
from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import JobSpec
from gigavqa.contract.requests import InferenceRequest
from gigavqa.evaluation.datasets import Dataset, load_dataset
from gigavqa.evaluation.expansion import expand
from gigavqa.tiling.geometry import resolve_region
from gigavqa.tiling.headers import read_header
from gigavqa.tiling.roots import ImageRoot

MODEL = "demo-qwen3-vl"


@pytest.fixture(scope="module")
def dataset(demo_folder: Path) -> Dataset:
    """The demo data set, loaded as a job loads it."""
    return load_dataset(demo_folder)


def expanded(folder: Path, dataset: Dataset, plan: str) -> list[InferenceRequest]:
    """All requests of a plan, with the sizes of the real images."""
    root = ImageRoot(folder.parent)
    job = JobSpec(dataset=dataset.name, models=(MODEL,), plan=plan)
    pairs = expand(dataset, job, load_catalogue(), lambda image: read_header(root.locate(image)).size)
    return [request for _, request in pairs]


@pytest.mark.parametrize("plan", UltraVR.plans)
def test_every_plan_asks_every_sample_once_in_each_pair(demo_folder: Path, dataset: Dataset, plan: str) -> None:
    """As many requests as samples times pairs, each with its own id."""
    requests = expanded(demo_folder, dataset, plan)

    assert len({request.id for request in requests}) == len(requests) == len(dataset.samples) * len(UltraVR.plans[plan])


def test_every_view_of_a_plan_lies_in_its_image(demo_folder: Path, dataset: Dataset) -> None:
    """Each region resolves within the real image's level-0 pixels."""
    root = ImageRoot(demo_folder.parent)
    views = {view for request in expanded(demo_folder, dataset, "ultravr") for view in request.views}

    sizes = {view: resolve_region(view.region, read_header(root.locate(view.image)).size).size for view in views}

    assert all(min(size) > 0 for size in sizes.values())
    assert {view.image for view in views} == {dataset.image_of(image) for s in dataset.samples for image in s.images}


def test_chats_ask_every_annotated_step(demo_folder: Path, dataset: Dataset) -> None:
    """S4 and S5 have a turn for each step of the record, and one for the question."""
    steps = {sample.id: [*(step.step_id for step in sample.steps), None] for sample in dataset.samples}
    chats = [request for request in expanded(demo_folder, dataset, "table3") if request.protocol in {"S4", "S5"}]

    assert {request.id: [turn.asks for turn in request.turns] for request in chats} == {
        request.id: steps[request.sample_id] for request in chats
    }


@pytest.mark.parametrize("seed", range(5))
def test_no_sample_is_told_its_own_trajectory_or_one_of_its_image(dataset: Dataset, seed: int) -> None:
    """S3's examples are other samples of the same kind on other images, and every sample has one at least."""
    chooser = ExampleChooser(dataset.samples, 2, seed)
    for sample in dataset.samples:
        assert chooser.of(sample)
        for example in chooser.of(sample):
            assert example.id != sample.id
            assert (example.domain, example.category) == (sample.domain, sample.category)
            assert not set(example.images) & set(sample.images)


def test_every_given_answer_is_judged_right(demo_folder: Path, dataset: Dataset) -> None:
    """What S5 puts into the history is right by the judge of steps, for every step of every sample."""
    samples = {sample.id: sample for sample in dataset.samples}
    chats = [request for request in expanded(demo_folder, dataset, "table3") if request.protocol == "S5"]
    given = [
        (samples[chat.sample_id], step, turn.given)
        for chat in chats
        for step, turn in zip(samples[chat.sample_id].steps, chat.turns, strict=False)
    ]

    assert [
        (sample.id, step.step_id) for sample, step, raw in given if not StepJudge(sample, step).judge(raw).correct
    ] == []
