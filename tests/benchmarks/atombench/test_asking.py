"""How questions are asked: the paper's words behind the picture, and the truth about clues from the whole data set."""

from collections.abc import Sequence

import pytest

from gigavqa.benchmarks.atombench.asking import AtomOptions
from gigavqa.benchmarks.atombench.benchmark import AtomBench
from gigavqa.benchmarks.atombench.samples import AtomSample
from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import Cell, JobSpec
from gigavqa.contract.requests import InferenceRequest
from gigavqa.evaluation.errors import EvidenceMissingError, PlanUnknownError
from gigavqa.evaluation.expansion import expand, prepare_expansion
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.views import View
from tests.benchmarks.atombench.questions import EXAMPLE, clue, conclusion
from tests.evaluation.datasets import dataset_of
from tests.evaluation.responses import MODEL


def requests(questions: Sequence[AtomSample] = EXAMPLE, /, **spec: object) -> list[InferenceRequest]:
    """The requests of a job over the worked example."""
    job = JobSpec.model_validate({"dataset": "tiny", "models": [MODEL], **spec})
    dataset = dataset_of(questions, benchmark="atombench")
    return [one for _, one in expand(dataset, job, load_catalogue(), lambda _: Size(3000, 2000))]


def asked(protocol: str, sample_id: str, condition: str = "V2", **spec: object) -> InferenceRequest:
    """One request of one cell."""
    cells = [{"protocol": protocol, "condition": condition}]
    (found,) = [one for one in requests(cells=cells, **spec) if one.sample_id == sample_id]
    return found


def texts(request: InferenceRequest) -> list[str]:
    """The text of each turn, without pictures."""
    return ["".join(part for part in turn.parts if isinstance(part, str)) for turn in request.turns]


def test_a_question_is_asked_in_the_papers_words() -> None:
    """The picture, what it is, the question, its choices on one line, and the object that the misprint means."""
    request = asked("A0", "I2-q2")
    assert isinstance(request.turns[0].parts[0], View)
    assert texts(request) == [
        "The image above is the full image.\n\n"
        "Where was I2 taken (2)?\n\n"
        "The choices are listed below: (A) a blue band (B) three letters (C) a red roof (D) an arch rock (E) a tram\n\n"
        "Analyze the image and question, then provide your reasoning process and conclusion. If there is no correct "
        "answer, explain why.\n\n"
        'Output in JSON format: {"answer": "your analysis and your solution"}'
    ]
    assert request.prompt_version == "a0/1+atombench-shown/1"


def test_golden_evidence_tells_the_right_words_without_their_letters() -> None:
    """Numbered, in the order of the steps, between the picture and the task; the question stands before the task."""
    request = asked("AG", "I3-q1")
    parts = texts(request)[0].split("\n\n")
    assert [isinstance(part, View) for part in request.turns[0].parts] == [False, True, False]
    assert parts[:2] == ["ROLE AND TASK", str(request.turns[0].parts[0]).split("\n\n")[1]]
    assert parts[3:7] == [
        "CORRECT ANSWERS TO CLUE QUESTIONS",
        "The following are the CORRECT answers to clue questions in this image:",
        "1. What is clue 1 of I3? a blue band\n"
        "2. What is clue 2 of I3? a blue band\n"
        "3. What is clue 3 of I3? a blue band",
        "ANSWER THE LOCATION QUESTIONS",
    ]
    assert parts[7] == "Where was I3 taken (1)?"
    assert parts[8].startswith("Now, please strictly base your answers on the CORRECT judgments")
    assert parts[-1] == '{"answer": "your analysis and solution"}'
    assert request.prompt_version == "ag/3+atombench-shown/1"


def test_without_a_picture_golden_evidence_says_so_in_its_place() -> None:
    """V0 of AG."""
    assert texts(asked("AG", "I3-q1", "V0"))[0].split("\n\n")[2] == "No image is provided."


def test_golden_evidence_says_of_a_small_picture_what_every_protocol_says_of_it() -> None:
    """The sentence of A0, behind the picture; the template under V2 stays the printed one."""
    told = texts(asked("A0", "I3-q1", "V1"))[0].split("\n\n")[0]
    small, whole = asked("AG", "I3-q1", "V1"), asked("AG", "I3-q1", "V2")
    assert told == "The image above is a downsampled view of the full image."
    assert small.turns[0].parts[2] == f"\n\n{told}"
    assert [part for part in small.turns[0].parts if isinstance(part, str) and part != f"\n\n{told}"] == [
        part for part in whole.turns[0].parts if isinstance(part, str)
    ]


@pytest.mark.parametrize("condition", ["V0", "V1", "V2"])
def test_an_earlier_version_of_golden_evidence_asks_as_it_did(condition: str) -> None:
    """Of ag/2 no sentence stands behind a picture, and all other words are today's."""
    earlier = asked("AG", "I3-q1", condition, options={"ag": "ag/2"})
    today = asked("AG", "I3-q1", condition)
    assert earlier.prompt_version == "ag/2"
    told = "\n\nThe image above is a downsampled view of the full image."
    assert earlier.turns[0].parts == tuple(part for part in today.turns[0].parts if part != told)


def test_the_chat_asks_directly_and_then_behind_golden_evidence() -> None:
    """AGC's first turn is A0's; its second is AG's earlier text, in the same chat, without the picture again."""
    request = asked("AGC", "I1-q1")
    first, final = texts(request)
    assert first == texts(asked("A0", "I1-q1"))[0]
    earlier = asked("AG", "I1-q1", options={"ag": "ag/1"})
    assert f"The image above is the full image.\n\n{final}" == texts(earlier)[0]
    assert earlier.prompt_version == "ag/1+a0/1+atombench-shown/1"
    assert [turn.asks for turn in request.turns] == ["first", None]
    assert [len(turn.views) for turn in request.turns] == [1, 0]


def test_controls_show_no_picture_or_a_small_one() -> None:
    """V0 says that there is none."""
    assert texts(asked("A0", "I1-c1", "V0"))[0].startswith("No image is provided.\n\n")
    assert [view.sizing for view in asked("A0", "I1-c1", "V1").turns[0].views] == ["longest:1024"]


def test_the_plan_asks_every_question_and_conclusions_again() -> None:
    """Clue questions get no request under AG; decoding is greedy unless the job says otherwise."""
    found = requests()
    assert len(found) == len(EXAMPLE) + 5
    assert {one.sample_id for one in found if one.protocol == "AG"} == {"I1-q1", "I1-q2", "I2-q1", "I2-q2", "I3-q1"}
    sampling = found[0].sampling
    assert (sampling.temperature, sampling.top_p, sampling.top_k, sampling.max_tokens) == (0.0, 1.0, -1, 8192)
    assert requests(sampling={"temperature": 0.5})[0].sampling.temperature == 0.5


def test_a_part_of_the_data_set_is_told_all_of_its_pictures_clues() -> None:
    """A job of one conclusion question tells the clue questions that it does not ask, in the order of their steps."""
    shuffled = tuple(reversed(EXAMPLE))
    (one,) = [one for one in requests(shuffled, samples=["I1-q1"]) if one.protocol == "AG"]
    assert one.details == {"clues": ["I1-c1", "I1-c2", "I1-c3", "I1-c4"]}


def test_a_conclusion_without_clues_is_refused_by_name() -> None:
    """All of them at once; A0 asks them all the same."""
    samples = (*EXAMPLE, conclusion("I4", 1), conclusion("I5", 1), clue("I5", 1, answer=""))
    with pytest.raises(EvidenceMissingError) as told:
        requests(samples)
    reason = "its image has no clue question with an answer, which AG tells"
    assert str(told.value).splitlines() == [f"sample 'I4-q1': {reason}", f"sample 'I5-q1': {reason}"]
    assert len(requests(samples, cells=[{"protocol": "A0", "condition": "V2"}])) == len(samples)


@pytest.mark.parametrize("condition", ["V3", "V4"])
def test_local_evidence_is_refused(condition: str) -> None:
    """None is annotated."""
    with pytest.raises(EvidenceMissingError, match="ATOM-Bench annotates no evidence regions; V3 and V4 cannot be"):
        requests(cells=[{"protocol": "A0", "condition": condition}])


def test_a_plan_of_another_benchmark_is_named_as_such() -> None:
    """With what the data set has itself."""
    job = JobSpec(dataset="geo", models=(MODEL,), plan="table1")
    with pytest.raises(PlanUnknownError) as told:
        prepare_expansion(dataset_of(EXAMPLE, benchmark="atombench"), job, load_catalogue())
    assert str(told.value).startswith(
        "plan 'table1' belongs to ultravr; data set 'geo' is of atombench, which has atombench"
    )


def test_a_conclusion_s_evidence_stands_beside_its_answers() -> None:
    """What golden evidence tells, for those who look at a reply; a clue question has none."""
    by_id = {one.id: one for one in EXAMPLE}
    shared = AtomBench().prepare(EXAMPLE, AtomOptions(), seed=0)
    found = AtomBench().evidence(by_id["I3-q1"], shared)
    assert found.lines == tuple(f"What is clue {step} of I3? a blue band" for step in (1, 2, 3))
    assert AtomBench().evidence(by_id["I3-c1"], shared).lines == ()
    assert AtomBench().applies(by_id["I3-q1"], Cell(protocol="AG", condition="V2"))
