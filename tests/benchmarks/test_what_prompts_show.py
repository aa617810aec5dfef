"""What a prompt says of pictures is so: nothing where none is shown, and of several as many as there are."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from gigavqa.benchmarks.mmcr.samples import EvidencePages
from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import Cell, JobSpec
from gigavqa.contract.requests import InferenceRequest
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.expansion import expand
from gigavqa.tiling.geometry import Size
from tests.benchmarks.atombench import questions as atombench
from tests.benchmarks.mmcr import examples as mmcr
from tests.benchmarks.ultravr.good_records import GOOD, good_sample
from tests.evaluation.datasets import dataset_of
from tests.evaluation.responses import MODEL

CATALOGUE = load_catalogue()
ONE = re.compile(r"\b(?:The image|image) above\b")
SEVERAL = re.compile(r"\bThe (\d+) images above\b")
FIRST = re.compile(r"\bThe first (?:image|(\d+) images) above\b")
ANY = re.compile(r"\b(?:image|images|stands|stand|shown) above\b")


def documents() -> Dataset:
    """Questions about documents of one page and of three, with evidence on one page and on several."""
    one_page = ("images/note/1.png",)
    return mmcr.dataset_of(
        [
            mmcr.question("q1", evidence=EvidencePages(pages=(2,))),
            mmcr.question("q2", evidence=EvidencePages(pages=(2, 3))),
            mmcr.question("q3", document="note", images=one_page, evidence=EvidencePages(pages=(1,))),
        ]
    )


def trajectories() -> Dataset:
    """Samples of every kind, each twice on other images, so that S3 has an example."""
    copies = [(name, image) for name in GOOD for image in ("images/one.png", "images/two.png")]
    samples = [good_sample(name, id=f"{name}-{image[7:10]}", image=image) for name, image in copies]
    return dataset_of(samples)


DATASETS = {
    "atombench": lambda: dataset_of(atombench.EXAMPLE, benchmark="atombench"),
    "mmcr": documents,
    "ultravr": trajectories,
}


class Shown(NamedTuple):
    """A request's first text, and how many pictures stand before it or in it."""

    name: str
    text: str
    pictures: int


def prompts(name: str) -> Iterator[Shown]:
    """What is asked of a benchmark's samples in every cell that it has."""
    dataset = DATASETS[name]()
    conditions = {"atombench": ["V0", "V0F", "V1", "V2"]}.get(name, ["V0", "V0F", "V1", "V2", "V3", "V4"])
    cells = [Cell(protocol=one, condition=shown) for one in dataset.benchmark.protocols for shown in conditions]
    spec = JobSpec(dataset="tiny", models=(MODEL,), cells=tuple(cells))
    for _, request in expand(dataset, spec, CATALOGUE, lambda _: Size(3000, 2000)):
        yield Shown(request.id, request.turns[0].text, _pictures(request))


def _pictures(request: InferenceRequest) -> int:
    return len(request.turns[0].views)


@pytest.mark.parametrize("name", DATASETS)
def test_a_prompt_speaks_of_the_pictures_that_it_shows(name: str) -> None:
    """In every protocol, under every condition, for every kind of question."""
    asked = list(prompts(name))
    assert {one.pictures > 1 for one in asked} == {False, True} or name == "atombench"
    for one in asked:
        assert one.pictures or not ANY.search(one.text), one
        assert one.pictures == 1 or FIRST.search(one.text) or not ONE.search(one.text), one
        assert all(int(number) == one.pictures for number in SEVERAL.findall(one.text)), one
        assert all(int(number or 1) < one.pictures for number in FIRST.findall(one.text)), one
        assert not re.search(r"\bpage \d+,|\bpages \d+\b(?!,)|\b1 (?:pages|images)\b", one.text), one


@pytest.mark.parametrize("name", ["atombench", "mmcr"])
def test_a_prompt_that_says_what_is_shown_says_that_it_is_downsampled(name: str) -> None:
    """Under V1 in every protocol."""
    small = [one for one in prompts(name) if "-V1:" in one.name]
    assert small
    assert [one.name for one in small if "downsampled" not in one.text] == []


@pytest.mark.parametrize(
    ("name", "option", "version", "kept"),
    [
        ("mmcr", "shown", "mmcr-shown/1", "in order: page 2, 3."),
        ("mmcr", "shown", "mmcr-shown/1", "behind them some of these pages stand once more: page 2, 3."),
        ("ultravr", "s3", "s3/1", "Now answer the following question about the image above."),
    ],
)
def test_earlier_jobs_are_asked_again_in_their_words(name: str, option: str, version: str, kept: str) -> None:
    """An option names the version, which every request of theirs then carries."""
    dataset = DATASETS[name]()
    protocol = "S3" if name == "ultravr" else "N0"
    cells = tuple(Cell(protocol=protocol, condition=shown) for shown in ("V2", "V3", "V4"))
    spec = JobSpec(dataset="tiny", models=(MODEL,), cells=cells, options={option: version})
    requests = [request for _, request in expand(dataset, spec, CATALOGUE, lambda _: Size(3000, 2000))]
    assert any(kept in request.turns[0].text for request in requests)
    assert all(version in (request.prompt_version or "").split("+") for request in requests)
