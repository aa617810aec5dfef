"""V0F asks what V0 asks, with an answer required; V0 stays as it was printed."""

from collections.abc import Iterator

import pytest

from gigavqa.benchmarks.questions.samples import Question
from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import Cell, JobSpec
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.errors import ProtocolUnavailableError
from gigavqa.evaluation.expansion import expand
from gigavqa.evaluation.installed import find_benchmark
from gigavqa.evaluation.plans import select_cells
from gigavqa.tiling.geometry import Size
from tests.benchmarks.atombench import questions as atombench
from tests.benchmarks.mmcr import examples as mmcr
from tests.benchmarks.ultravr.good_records import GOOD, good_sample
from tests.evaluation.datasets import dataset_of
from tests.evaluation.responses import MODEL

ALONE = "If the answer cannot be determined from the text alone, "
FREE = {
    "ultravr": {
        f'{ALONE}you may answer "Final answer: not sure" instead.',
        f'{ALONE}the value of "final_answer" may be "not sure" instead.',
    },
    "mmcr": {f"{ALONE}you may say so instead."},
    "atombench": {"If there is no correct answer, explain why."},
    "questions": {f'{ALONE}you may answer "Final answer: not sure" instead.'},
}
"""What V0 says of giving no answer, to the letter."""
REQUIRED = "required: if it cannot be determined from the text alone, "


def trajectories() -> Dataset:
    """A sample of every kind, each twice, so that S3 has an example."""
    copies = [(name, image) for name in GOOD for image in ("images/one.png", "images/two.png")]
    return dataset_of([good_sample(name, id=f"{name}-{image[7:10]}", image=image) for name, image in copies])


def own_questions() -> Dataset:
    """One of each kind that is answered in a few words."""
    options = {"A": "red", "B": "blue"}
    fields = {
        "choice": {"options": options, "answers": ("A",)},
        "choices": {"options": options, "answers": ("A", "B")},
        "yes_no": {"answers": ("yes",)},
        "number": {"answers": ("3",)},
        "text": {"answers": ("crane",)},
    }
    return dataset_of(
        [
            Question.model_validate({"id": kind, "kind": kind, "images": ("a.png",), "question": "Which?", **said})
            for kind, said in fields.items()
        ],
        benchmark="questions",
    )


DATASETS = {
    "ultravr": trajectories,
    "mmcr": lambda: mmcr.dataset_of([mmcr.question("q1")]),
    "atombench": lambda: dataset_of(atombench.EXAMPLE, benchmark="atombench"),
    "questions": own_questions,
}


def asked(dataset: Dataset, condition: str) -> dict[str, str]:
    """All texts of every request under a condition, by sample and protocol."""
    cells = tuple(Cell.model_validate({"protocol": one, "condition": condition}) for one in dataset.benchmark.protocols)
    spec = JobSpec(dataset="tiny", models=(MODEL,), cells=cells)
    requests = [request for _, request in expand(dataset, spec, load_catalogue(), lambda _: Size(3000, 2000))]
    assert not any(request.views for request in requests)
    return {f"{one.sample_id} {one.protocol}": "\n\n".join(turn.text for turn in one.turns) for one in requests}


@pytest.mark.parametrize("name", DATASETS)
def test_a_forced_prompt_is_the_free_one_but_for_its_leave_to_abstain(name: str) -> None:
    """In every protocol, for every kind of question: the same sentences before and behind."""
    free, forced = (asked(DATASETS[name](), condition) for condition in ("V0", "V0F"))
    assert free.keys() == forced.keys()
    found = set()
    for place, text in free.items():
        (leave,) = {sentence for sentence in FREE[name] if sentence in text}
        found.add(leave)
        parts, ask_for = text.split(leave), list(required(forced[place]))
        assert len(ask_for) == len(parts) - 1, place
        assert forced[place] == "".join(part for pair in zip(parts, [*ask_for, ""], strict=True) for part in pair)
    assert found == FREE[name]


def required(text: str) -> Iterator[str]:
    """The sentences of a prompt that require an answer."""
    for part in text.split(REQUIRED)[1:]:
        begins = "An answer is " if f"An answer is {REQUIRED}{part}" in text else 'The value of "final_answer" is '
        yield f"{begins}{REQUIRED}{part.partition('likely.')[0]}likely."


@pytest.mark.parametrize("name", DATASETS)
def test_the_plan_of_leakage_asks_both_beside_each_other(name: str) -> None:
    """So that one job's report tells them apart."""
    cells = select_cells(find_benchmark(name), JobSpec(dataset="tiny", models=(MODEL,), plan="leakage"))
    assert {cell.condition for cell in cells} == {"V0", "V0F"}
    protocols = {cell.protocol for cell in cells}
    assert {str(cell) for cell in cells} == {f"{one}:{shown}" for one in protocols for shown in ("V0", "V0F")}


def test_a_benchmark_whose_v0_gives_no_leave_has_no_forced_one() -> None:
    """VistaHop's asks for the best answer as it is; the refusal lists what there is."""
    spec = JobSpec(dataset="tiny", models=(MODEL,), cells=(Cell(protocol="direct", condition="V0F"),))
    with pytest.raises(ProtocolUnavailableError, match=r"condition V0F is not available.* there is V0, V2"):
        select_cells(find_benchmark("vistahop"), spec)
