"""V5 shows a sample's images without those that hold its evidence, V6 these alone; what neither can show is refused."""

from collections.abc import Iterator, Sequence

import pytest

from gigavqa.benchmarks.mmcr.samples import EvidencePages, MMCRSample
from gigavqa.benchmarks.questions.samples import Question
from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import Cell, JobSpec
from gigavqa.contract.requests import InferenceRequest
from gigavqa.evaluation.benchmark import Scene
from gigavqa.evaluation.capabilities import CellRules
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.errors import EvidenceMissingError
from gigavqa.evaluation.expansion import expand
from gigavqa.tiling.geometry import Size
from tests.benchmarks.mmcr import examples as mmcr
from tests.evaluation.datasets import dataset_of
from tests.evaluation.responses import MODEL

SCENES = ("one.png", "two.png", "three.png")


def question(name: str, *held: int, images: Sequence[str] = SCENES) -> Question:
    """A question about some images, of which these hold evidence, in two boxes each."""
    evidence = [{"image": at, "region": region} for at in held for region in ("0,0,10,10", "20,0,10,10")]
    fields = {"id": name, "kind": "yes_no", "question": "Is it?", "answers": ("yes",), "images": images}
    return Question.model_validate({**fields, "evidence": evidence})


def paper(name: str, *pages: int, **changes: object) -> MMCRSample:
    """A question about three pages, of which these hold the evidence."""
    return mmcr.question(name, evidence=EvidencePages(pages=pages), **changes)


def requests(dataset: Dataset, *cells: str) -> Iterator[InferenceRequest]:
    """What a job of these cells asks."""
    named = [cell.split(":") for cell in cells]
    spec = JobSpec(
        dataset="tiny",
        models=(MODEL,),
        cells=tuple(Cell.model_validate({"protocol": one, "condition": shown}) for one, shown in named),
    )
    return (request for _, request in expand(dataset, spec, load_catalogue(), lambda _: Size(300, 200)))


def shown(dataset: Dataset, cell: str) -> list[str]:
    """Names of what the one request of a cell shows, each whole and natively."""
    (request,) = requests(dataset, cell)
    assert {(view.region, view.sizing) for view in request.views} == {("full", "native")}
    return [view.image.rpartition("/")[2] for view in request.views]


def test_images_with_evidence_are_left_out_or_shown_alone() -> None:
    """In the sample's order, each once, however many boxes it holds."""
    asked = dataset_of([question("q", 2, 0)], benchmark="questions")
    assert shown(asked, "direct:V5") == ["two.png"]
    assert shown(asked, "direct:V6") == ["one.png", "three.png"]


def test_an_image_that_stands_twice_is_left_out_twice() -> None:
    """Else V5 would show the evidence all the same."""
    asked = dataset_of([question("q", 0, images=("one.png", "two.png", "one.png"))], benchmark="questions")
    assert shown(asked, "direct:V5") == ["two.png"]


def test_pages_beside_the_evidence_are_named_in_the_prompt() -> None:
    """As those of V3 are, which shows the evidence's pages whole."""
    papers = mmcr.dataset_of([paper("q", 2)])
    assert shown(papers, "N0:V5") == ["1.png", "3.png"]
    assert shown(papers, "N0:V3") == ["2.png"]
    (request,) = requests(papers, "N0:V5")
    assert "is taken from one document of 3 pages, in order: pages 1, 3." in request.turns[0].text


@pytest.mark.parametrize("condition", ["V5", "V6"])
def test_samples_without_evidence_are_counted_and_named(condition: str) -> None:
    """All of them at once, before anything is asked."""
    asked = dataset_of([question("good", 0), question("bare"), question("plain")], benchmark="questions")
    with pytest.raises(EvidenceMissingError) as refused:
        next(requests(asked, f"direct:{condition}"))
    first, *each = str(refused.value).split("\n")
    assert first == f"{condition} cannot show 2 of 3 samples; name the others as the job's `samples`"
    assert [line.partition(":")[0] for line in each] == ["sample 'bare'", "sample 'plain'"]


def test_where_every_image_holds_evidence_v5_has_none_to_show() -> None:
    """V6 shows it as V2 does."""
    asked = dataset_of([question("full", 0, 1, 2)], benchmark="questions")
    with pytest.raises(EvidenceMissingError, match="sample 'full': all its 3 images hold evidence"):
        next(requests(asked, "direct:V5"))
    assert shown(asked, "direct:V6") == list(SCENES)
    single = dataset_of([question("single", 0, images=("one.png",))], benchmark="questions")
    with pytest.raises(EvidenceMissingError, match="sample 'single': its only image holds evidence"):
        next(requests(single, "direct:V5"))


def test_a_paper_all_of_whose_pages_are_evidence_is_refused() -> None:
    """Whatever else is asked beside it."""
    papers = mmcr.dataset_of([paper("q1", 1), paper("q2", 1, 2, 3), paper("q3")])
    with pytest.raises(EvidenceMissingError) as refused:
        next(requests(papers, "N0:V2", "N0:V5"))
    assert "V5 cannot show 2 of 3 samples" in str(refused.value)
    assert "sample 'q2': all its 3 images hold evidence" in str(refused.value)
    assert "sample 'q3': none of its images is named as its evidence's" in str(refused.value)


@pytest.mark.parametrize("sample", [question("q", 0, 1, 2), paper("q", 1, 2, 3)])
def test_a_check_warns_of_samples_that_are_evidence_throughout(sample: Question | MMCRSample) -> None:
    """Not of those of one image, which nobody asks so."""
    scene = Scene(sample.images, lambda _: Size(300, 200), "0")
    benchmark = "questions" if isinstance(sample, Question) else "mmcr"
    rules = CellRules.of(dataset_of([sample], benchmark=benchmark).benchmark)
    assert list(rules.warnings(sample, scene)) == ["V5 cannot show it: all its 3 images hold evidence"]
    single = sample.model_copy(update={"images": sample.images[:1]})
    assert [text for text in rules.warnings(single, scene) if "V5" in text] == []
