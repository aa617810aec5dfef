"""A job expands into the same requests every time: their ids, seeds, sampling, prompts and order."""

import re
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pydantic import ValidationError

from gigavqa.catalogue.errors import ModelUnknownError
from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import Cell, JobSpec
from gigavqa.contract.requests import InferenceRequest
from gigavqa.evaluation.datasets import Dataset, load_dataset
from gigavqa.evaluation.errors import (
    AnnotationMissingError,
    EvidenceMissingError,
    OptionsInvalidError,
    PlanUnknownError,
    ProtocolUnavailableError,
    SampleUnknownError,
    SamplingInvalidError,
)
from gigavqa.evaluation.expansion import expand, request_id
from gigavqa.evaluation.installed import find_benchmark
from gigavqa.evaluation.plans import select_cells
from gigavqa.tiling.geometry import Size
from tests.benchmarks.ultravr.good_records import GOOD, good_record
from tests.evaluation.folders import write_dataset

CATALOGUE = load_catalogue()
DEMO = "demo-qwen3-vl"
ULTRAVR = find_benchmark("ultravr")


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    """All good records as one data set."""
    return load_dataset(write_dataset(tmp_path / "tiny", *GOOD.values()))


def requests(dataset: Dataset, **spec: Any) -> list[InferenceRequest]:
    """Expand a job over images of 1000 x 600 pixels."""
    job = JobSpec.model_validate({"dataset": "tiny", "models": [DEMO], "plan": "table1", **spec})
    return [request for _, request in expand(dataset, job, CATALOGUE, lambda _: Size(1000, 600))]


def test_table1_asks_every_sample_with_the_image_and_without() -> None:
    """Table 1 is S0 at V2 plus S0 at V0."""
    assert ULTRAVR.plans["table1"] == (Cell(protocol="S0", condition="V2"), Cell(protocol="S0", condition="V0"))


def test_the_plan_ultravr_holds_each_pair_once() -> None:
    """S0 at V0 to V4, and S1 to S5 at V2: ten pairs."""
    assert len(ULTRAVR.plans["ultravr"]) == 10
    assert set(ULTRAVR.plans["ultravr"]) == {
        *ULTRAVR.plans["table1"],
        *ULTRAVR.plans["table2"],
        *ULTRAVR.plans["table3"],
    }


def test_an_unknown_plan_is_refused() -> None:
    """The message lists the plans that exist."""
    with pytest.raises(PlanUnknownError, match="table1, table2"):
        select_cells(ULTRAVR, JobSpec(dataset="tiny", models=(DEMO,), plan="table9"))


def test_a_job_names_a_plan_or_cells_not_both() -> None:
    """Both would leave open which is meant."""
    with pytest.raises(PlanUnknownError, match="either a plan or cells"):
        select_cells(ULTRAVR, JobSpec(dataset="tiny", models=(DEMO,), plan="table1", cells=ULTRAVR.plans["table2"]))


def test_a_job_that_names_neither_asks_the_first_plan() -> None:
    """It is the one that the benchmark puts first."""
    assert select_cells(ULTRAVR, JobSpec(dataset="tiny", models=(DEMO,))) == ULTRAVR.plans["table1"]


def test_a_protocol_that_is_not_available_is_named() -> None:
    """All that are missing are named at once."""
    with pytest.raises(ProtocolUnavailableError, match="T8, T9"):
        cells = [{"protocol": name, "condition": "V2"} for name in ("T9", "T8")]
        select_cells(ULTRAVR, JobSpec(dataset="t", models=(DEMO,), cells=cells))


def test_rounds_are_for_protocols_that_have_them() -> None:
    """A cell of another says none, and one of theirs says how many, which its requests' ids tell."""

    class Looping(type(ULTRAVR)):  # type: ignore[misc]
        loops = ("S1",)

    for benchmark, cell in ((ULTRAVR, ("S1", 3)), (Looping(), ("S1", None)), (Looping(), ("S0", 3))):
        asked = Cell(protocol=cell[0], condition="V2", rounds=cell[1])
        with pytest.raises(ProtocolUnavailableError, match=f"protocol {cell[0]} has (no rounds|rounds; name how many)"):
            select_cells(benchmark, JobSpec(dataset="t", models=(DEMO,), cells=(asked,)))
    rounds = Cell(protocol="S1", condition="V2", rounds=3)
    assert select_cells(Looping(), JobSpec(dataset="t", models=(DEMO,), cells=(rounds,))) == (rounds,)
    assert request_id("a", rounds, DEMO, 0) == f"a:S1-V2-n3:{DEMO}:0"


def test_a_job_may_name_the_rounds_of_all_its_loops() -> None:
    """In place of those of the plan or of its cells, each cell once; other cells have none, and one must have some."""
    six, ten = (Cell(protocol="S1", condition="V2", rounds=number) for number in (6, 10))
    plain, bare = Cell(protocol="S0", condition="V2"), Cell(protocol="S1", condition="V2")

    class Looping(type(ULTRAVR)):  # type: ignore[misc]
        loops = ("S1",)
        plans: ClassVar[Mapping[str, tuple[Cell, ...]]] = {"first": (ten,), "many": (plain, six, ten)}

    def cells(**asked: Any) -> tuple[Cell, ...]:
        return select_cells(Looping(), JobSpec(dataset="t", models=(DEMO,), **asked))

    assert cells(plan="many", rounds=6) == (plain, six)
    assert cells(rounds=6) == cells(cells=(bare,), rounds=6) == cells(cells=(ten,), rounds=6) == (six,)
    assert cells(plan="many") == (plain, six, ten)
    with pytest.raises(ProtocolUnavailableError, match="the job names 6 rounds, and protocol S0 has no rounds"):
        cells(cells=(plain,), rounds=6)
    with pytest.raises(ValidationError, match="less than or equal to 64"):
        cells(rounds=65)


def test_ids_say_what_a_request_is(dataset: Dataset) -> None:
    """Sample, protocol, condition, model and repeat."""
    ids = [request.id for request in requests(dataset, samples=["rs-logic"], repeats=2)]

    assert ids == [f"rs-logic:S0-{condition}:{DEMO}:{repeat}" for condition in ("V2", "V0") for repeat in (0, 1)]


def test_expanding_twice_gives_equal_requests(dataset: Dataset) -> None:
    """Ids, seeds, views and prompts are functions of the job and the data set."""
    assert requests(dataset, plan="table2", seed=3) == requests(dataset, plan="table2", seed=3)


def test_every_request_draws_with_its_own_seed(dataset: Dataset) -> None:
    """Repeats differ from one another, and another seed of the job changes all of them."""
    first = {request.id: request.sampling.seed for request in requests(dataset, repeats=3)}
    other = {request.id: request.sampling.seed for request in requests(dataset, repeats=3, seed=1)}

    assert len(set(first.values())) == len(first)
    assert all(first[name] != other[name] for name in first)


def test_requests_of_one_image_are_consecutive(dataset: Dataset) -> None:
    """So that they can be bundled as they come."""
    job = JobSpec(dataset="tiny", models=(DEMO, "qwen3-vl-8b"), plan="table1")
    pairs = [(request.model, image) for image, request in expand(dataset, job, CATALOGUE, lambda _: Size(1000, 600))]
    groups = [key for key, _ in groupby(pairs)]

    assert len(groups) == len(set(groups))


def test_a_text_only_request_belongs_to_its_samples_image(dataset: Dataset) -> None:
    """V0 has no view, and is bundled with the other conditions of the image."""
    job = JobSpec(dataset="tiny", models=(DEMO,), plan="table1", samples=("rs-logic",))
    pairs = list(expand(dataset, job, CATALOGUE, lambda _: Size(1000, 600)))

    assert {image for image, _ in pairs} == {"tiny/images/harbor.png"}
    assert pairs[1][1].views == ()


def test_sampling_is_the_models_own_with_the_jobs_overrides(dataset: Dataset) -> None:
    """The demo model answers in 24 tokens at temperature 0.7; the job overrides the temperature alone."""
    sampling = requests(dataset, sampling={"temperature": 0})[0].sampling

    assert (sampling.temperature, sampling.max_tokens, sampling.top_k) == (0.0, 24, 20)


@pytest.mark.parametrize(
    ("sampling", "told"),
    [
        ({"temprature": 0}, "sampling has no temprature; it has max_tokens"),
        ({"top_p": 2}, "sampling.top_p: must be"),
    ],
)
def test_wrong_sampling_is_refused_by_name(dataset: Dataset, sampling: dict[str, Any], told: str) -> None:
    """An unknown parameter, and a value out of range."""
    with pytest.raises(SamplingInvalidError, match=told):
        requests(dataset, sampling=sampling)


def test_unknown_samples_are_all_named(dataset: Dataset) -> None:
    """A filter must not silently ask less."""
    with pytest.raises(SampleUnknownError, match="no sample nobody, nowhere"):
        requests(dataset, samples=["rs-logic", "nowhere", "nobody"])


def test_an_unknown_model_is_refused(dataset: Dataset) -> None:
    """The catalogue's own error."""
    with pytest.raises(ModelUnknownError):
        requests(dataset, models=["gpt-0"])


def test_missing_evidence_is_told_before_the_first_request(tmp_path: Path) -> None:
    """All samples that lack it are named at once, before anything is expanded."""
    bare = {"evidence": None, "reasoning_supervision": None}
    slides = [good_record("wsi-comparison") | bare | {"id": name} for name in ("one", "two")]
    dataset = load_dataset(write_dataset(tmp_path / "tiny", *slides))
    job = JobSpec(dataset="tiny", models=(DEMO,), plan="table2")

    with pytest.raises(EvidenceMissingError, match=r"(?s)'one'.*'two'"):
        expand(dataset, job, CATALOGUE, lambda _: Size(1000, 600))


@pytest.mark.parametrize(("plan", "pairs"), [("table1", 2), ("table2", 4), ("table3", 6), ("ultravr", 10)])
def test_a_plan_asks_every_sample_once_in_each_of_its_pairs(dataset: Dataset, plan: str, pairs: int) -> None:
    """Every plan is available; a chat of many turns is one request."""
    expanded = requests(dataset, plan=plan, repeats=2)

    assert len({request.id for request in expanded}) == len(expanded) == len(GOOD) * pairs * 2


def test_a_request_names_the_samples_whose_trajectories_it_tells(tmp_path: Path) -> None:
    """As many as the job asks for, from the whole data set, and only under S3."""
    records = [good_record("rs-logic") | {"id": f"rs-{n}", "image": f"images/{n}.png"} for n in range(5)]
    dataset = load_dataset(write_dataset(tmp_path / "tiny", *records))
    expanded = requests(dataset, plan="table3", samples=["rs-0"], options={"examples": 3})

    told = {request.protocol: request.details for request in expanded}

    (examples,) = told.pop("S3").values()
    assert len(set(examples)) == 3
    assert [*told.values()] == [{}] * 5


def test_few_requests_lie_in_memory_at_a_time(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    """The chats of one image are made together, to be brought into their order, but no more than the bound of them."""
    monkeypatch.setattr("gigavqa.evaluation.expansion._MOST_CACHED_CHATS", 2)
    asked: list[str] = []

    def size_of(image: str) -> Size:
        asked.append(image)
        return Size(1000, 600)

    cells = [{"protocol": "S5", "condition": "V3"}]
    pairs = expand(dataset, JobSpec(dataset="tiny", models=(DEMO,), cells=cells), CATALOGUE, size_of)
    counts = [len(asked)]
    for _ in range(4):
        next(pairs)
        counts.append(len(asked))

    assert [record["image"] for record in GOOD.values()][:4] == ["images/plaza.jpg"] * 3 + ["images/harbor.png"]
    assert counts == [0, 2, 2, 3, 5]


def test_few_others_are_fewer_examples(dataset: Dataset) -> None:
    """A category of which no other image has a sample is asked without examples, and the request says so."""
    asked = [request for request in requests(dataset, plan="table3") if request.protocol == "S3"]
    assert asked
    assert all(request.details == {"examples": []} for request in asked)


def test_samples_without_steps_cannot_be_asked_for_them(tmp_path: Path) -> None:
    """All of them are named at once, with the protocols that need steps."""
    records = [good_record("rs-logic") | {"id": name, "reasoning_supervision": None} for name in ("one", "two")]
    dataset = load_dataset(write_dataset(tmp_path / "tiny", *records))

    with pytest.raises(AnnotationMissingError, match=r"(?s)'one' has no steps, which S2, S4, S5 ask.*'two'"):
        requests(dataset, plan="table3")
    assert requests(dataset, plan="table2")


def test_the_prompt_asks_for_a_letter(dataset: Dataset) -> None:
    """Context, question, options, and the form of the answer."""
    (full, text_only) = requests(dataset, samples=["rs-comparison"])

    assert full.turns[0].text == (
        "The question is about what is shown above.\n\n"
        f"Question: {GOOD['rs-comparison']['question']}\n\n"
        "Options:\nA. 0\nB. 1\nC. 2\nD. 3\n\n"
        "Answer with the letter of the one correct option. End your response with a line of the form "
        '"Final answer: X", where X is one of A, B, C or D.'
    )
    assert full.prompt_version == "s0/1+conditions/2"
    assert "not sure" not in full.turns[0].text
    assert 'you may answer "Final answer: not sure" instead' in text_only.turns[0].text


def test_the_prompt_asks_for_a_coordinate_where_there_are_no_options(dataset: Dataset) -> None:
    """AD samples without options."""
    (request, _) = requests(dataset, samples=["ad-coordinate"])

    assert "Options:" not in request.turns[0].text
    assert request.turns[0].text.endswith('"Final answer: (row, column)".')


def test_several_models_are_asked_with_the_same_chats(dataset: Dataset) -> None:
    """Image by image, each model with the very texts and views of the others, which are made once."""
    looks: list[str] = []

    def size_of(image: str) -> Size:
        looks.append(image)
        return Size(1000, 600)

    cells = [{"protocol": "S5", "condition": "V3"}]
    job = JobSpec(dataset="tiny", models=(DEMO,), cells=cells)
    alone = [request for _, request in expand(dataset, job, CATALOGUE, size_of)]
    num_looks = len(looks)
    both = [
        request
        for _, request in expand(dataset, job.model_copy(update={"models": (DEMO, "qwen3-vl-8b")}), CATALOGUE, size_of)
    ]

    for model in (DEMO, "qwen3-vl-8b"):
        assert [(r.views, r.turns) for r in both if r.model == model] == [(r.views, r.turns) for r in alone]
    assert len(looks) == 2 * num_looks


def test_a_thousand_unknown_samples_are_one_short_message(dataset: Dataset) -> None:
    """A hundred are named, and the others counted."""
    with pytest.raises(SampleUnknownError, match=r"s0099 and 900 more$"):
        requests(dataset, samples=[f"s{number:04d}" for number in range(1000)])


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"exmaples": 1}, "options has no exmaples; it has budget, conditions, examples, s3, show, thumbnail"),
        ({"examples": -1}, "options.examples: must be greater than or equal to 0"),
        ({"thumbnail": 0}, "options.thumbnail: must be greater than or equal to 1"),
        ({"thumbnail": None}, "options.thumbnail: must be a whole number"),
    ],
)
def test_options_that_nobody_knows_or_that_are_out_of_range_are_refused(
    dataset: Dataset, options: dict[str, Any], why: str
) -> None:
    """Those of the conditions and those of the benchmark alike, by name."""
    with pytest.raises(OptionsInvalidError, match=re.escape(why)):
        requests(dataset, options=options)


def test_the_thumbnail_is_as_long_as_the_job_wants_it(dataset: Dataset) -> None:
    """It is an option of the conditions, whatever the benchmark."""
    cells = [{"protocol": "S0", "condition": "V1"}]
    asked = requests(dataset, plan=None, cells=cells, options={"thumbnail": 300})
    assert {view.sizing for request in asked for view in request.views} == {"longest:300"}
