"""Signs are asked about in one turn: what each condition shows, and that no text before the options tells an answer."""

from pathlib import Path

import pytest

from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import JobSpec
from gigavqa.contract.requests import InferenceRequest
from gigavqa.evaluation.benchmark import CONDITIONS, Scene, cross_plan
from gigavqa.evaluation.datasets import Dataset, load_dataset
from gigavqa.evaluation.errors import EvidenceMissingError
from gigavqa.evaluation.expansion import expand
from gigavqa.tiling.geometry import Size
from gigavqa_acuity.asking import write_question
from gigavqa_acuity.benchmark import Acuity
from gigavqa_acuity.samples import AcuitySample
from gigavqa_acuity.taxonomy import ATTRIBUTES, WORDS
from plugins.acuity.tests.files import DIRECTION, PICTURE, SIGN, write
from tests.evaluation.responses import MODEL


@pytest.fixture
def chart(tmp_path: Path) -> Dataset:
    """Both questions about one picture."""
    return load_dataset(write(tmp_path / "chart", [SIGN, DIRECTION]))


def asked(dataset: Dataset, **job: object) -> dict[tuple[str, str], InferenceRequest]:
    """The requests of a job, by sample and condition."""
    spec = JobSpec.model_validate({"dataset": dataset.name, "models": (MODEL,), **job})
    requests = [request for _, request in expand(dataset, spec, load_catalogue(), lambda _: PICTURE)]
    return {(request.sample_id, request.condition): request for request in requests}


def test_the_plan_asks_every_sign_once_under_every_condition(chart: Dataset) -> None:
    """Greedily, with room for those that think, as far as the model has it."""
    requests = asked(chart)
    assert set(requests) == {(sample.id, condition) for sample in chart.samples for condition in CONDITIONS}
    assert {request.protocol for request in requests.values()} == {"direct"}
    assert {(one.sampling.temperature, one.sampling.max_tokens) for one in requests.values()} == {(0.0, 4096)}


def test_each_condition_shows_its_package(chart: Dataset) -> None:
    """Nothing, the picture made small, the picture, the ring's region, and the picture before the region."""
    requests = asked(chart, options={"thumbnail": 64})
    shown = {
        condition: [(view.region, view.sizing) for view in requests["001-colour", condition].turns[0].views]
        for condition in CONDITIONS
    }
    full, local = ("full", "native"), ("100,80,80,80", "native")
    assert shown == {"V0": [], "V1": [("full", "longest:64")], "V2": [full], "V3": [local], "V4": [full, local]}


def test_prompts_say_what_is_shown_ask_and_list_options(chart: Dataset) -> None:
    """The text of one of them, word by word; all conditions differ in the first line alone."""
    requests = asked(chart)
    assert requests["001-direction", "V4"].turns[0].text == (
        "Above is a picture, and then a part of it.\n"
        "Which way does the gap of the ring point?\n"
        "A. left\nB. up\nC. right\nD. down\n"
        "Answer with the letter alone."
    )
    for sample in chart.samples:
        texts = [requests[sample.id, condition].turns[0].text.split("\n", 1) for condition in CONDITIONS]
        assert len({first for first, _ in texts}) == 5 and len({rest for _, rest in texts}) == 1


def test_no_question_names_an_option() -> None:
    """Neither in what is asked, nor in what is said of the pictures."""
    words = {word for attribute in ATTRIBUTES for word in WORDS[attribute]}
    for attribute in ATTRIBUTES:
        assert not words & set(write_question(attribute).rstrip("?").split())
    sign = AcuitySample.model_validate(SIGN)
    for cell in Acuity.plans["acuity"]:
        chat = Acuity().ask(sign, cell, Scene(sign.images, lambda _: PICTURE, seed="0"))
        first = chat.turns[0].text.split("\n")[0]
        assert not words & set(first.rstrip(".").replace(",", "").split())


def test_evidence_outside_the_picture_is_never_cropped() -> None:
    """V3 and V4 of it are refused; the other conditions need no evidence."""
    sign = AcuitySample.model_validate(SIGN)
    small = Scene(sign.images, lambda _: Size(150, 300), seed="0")
    for condition in ("V3", "V4"):
        (cell,) = cross_plan("direct", condition)
        with pytest.raises(EvidenceMissingError, match="sample '001-colour': evidence: region '100,80,80,80'"):
            Acuity().ask(sign, cell, small)
    for cell in cross_plan("direct", "V0 V1 V2"):
        Acuity().ask(sign, cell, small)
