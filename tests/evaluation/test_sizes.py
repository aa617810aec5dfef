"""Large data sets take as much work an item as small ones."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from gigavqa.benchmarks.ultravr.samples import UltraVRSample
from gigavqa.contract.jobs import Cell
from gigavqa.evaluation import reader_choice
from gigavqa.evaluation.datasets import load_dataset, load_for_scoring
from gigavqa.evaluation.expansion import is_about, request_id
from gigavqa.evaluation.image_lookup import ImageLookup
from gigavqa.evaluation.importing import import_dataset
from gigavqa.evaluation.inspection import inspect_dataset
from gigavqa.evaluation.packed_samples import PackedSamples
from gigavqa.evaluation.reader_choice import find_reader
from gigavqa.runtime.work_progress import reported_to
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.headers import read_header
from tests.benchmarks.ultravr.good_records import GOOD, good_record
from tests.work import count_calls, growth

LINEAR = 1.3
"""Of work that grows with the number of items; quadratic work over four times as many is near 4."""


@pytest.mark.parametrize("stem", ["slide-{}.0123456789.png", "other-{}.png", "{}/picture.png"])
def test_finding_pictures_by_the_beginning_of_names_or_not_at_all_is_linear(tmp_path: Path, stem: str) -> None:
    def look_up(number: int) -> Callable[[], object]:
        pictures = tmp_path / str(number)
        for at in range(number):
            path = pictures / stem.format(f"{at:04}")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        found = ImageLookup(pictures, tmp_path / "draft", check_image=lambda path, show: None)
        return lambda: [
            found.find(f"elsewhere/slide-{at:04}.png") and found.by_stem.get(f"slide-{at:04}") for at in range(number)
        ]

    assert growth(look_up, 50, 200) < LINEAR


def test_pictures_of_one_name_in_many_folders_are_counted_once(tmp_path: Path) -> None:
    def look_up(number: int) -> Callable[[], object]:
        for at in range(number):
            (tmp_path / f"{number}/{at:04}").mkdir(parents=True)
            (tmp_path / f"{number}/{at:04}/slide.png").touch()
        found = ImageLookup(tmp_path / str(number), tmp_path / "draft", check_image=lambda path, show: None)
        return lambda: [found.find("elsewhere/slide.png") for _ in range(number)]

    assert growth(look_up, 50, 200) < LINEAR


def write_questions(folder: Path, number: int) -> Path:
    """Write a data set of so many questions about one picture."""
    (folder / "samples").mkdir(parents=True)
    (folder / "images").mkdir()
    Image.new("RGB", (8, 8)).save(folder / "images/street.png")
    (folder / "dataset.toml").write_text(f'name = "{folder.name}"\nbenchmark = "questions"\n')
    questions = (
        {"id": f"q-{at}", "image": "images/street.png", "question": f"What is at {at}?", "answer": f"house {at}"}
        for at in range(number)
    )
    (folder / "samples/all.jsonl").write_text("".join(json.dumps(one) + "\n" for one in questions))
    return folder


@pytest.fixture(scope="module")
def sizes(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Path]:
    """Data sets by their number of questions, each written once."""
    root = tmp_path_factory.mktemp("sizes")

    def of(number: int) -> Path:
        folder = root / f"questions-{number}"
        return folder if folder.exists() else write_questions(folder, number)

    return of


def test_a_check_is_linear_and_reads_each_question_once(sizes: Callable[[int], Path]) -> None:
    told: dict[str, int] = {}
    with reported_to(told.__setitem__):
        found = inspect_dataset(sizes(200), lambda image, show: Size(8, 8))
    assert found.dataset and not found.errors
    assert told == {"questions read": 200, "questions checked": 200}
    assert growth(lambda number: lambda: inspect_dataset(sizes(number), lambda *_: Size(8, 8)), 20, 80) < LINEAR


def test_pages_of_images_and_samples_cost_the_same_in_any_data_set(sizes: Callable[[int], Path]) -> None:
    def look(number: int) -> int:
        dataset = load_dataset(sizes(number))
        assert (dataset.positions[f"q-{number - 1}"], len(dataset.image_counts)) == (number - 1, 1)
        return count_calls(lambda: [dataset.image_counts, dataset.samples[dataset.positions["q-7"]]])

    assert look(50) == look(200)


def test_a_benchmark_is_found_by_the_first_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_choice, "_MOST_TRIED", 20)

    def find(number: int) -> Callable[[], object]:
        file = tmp_path / f"{number}.jsonl"
        rows = ({"id": at, "question": "Which?", "answer": "this"} for at in range(number))
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return lambda: find_reader(file)

    count_calls(find(20))  # what is made once a process
    assert count_calls(find(200)) < 1.01 * count_calls(find(20))


def test_samples_of_every_kind_are_packed_and_come_out_the_same(tmp_path: Path) -> None:
    file = tmp_path / "good.json"
    file.write_text(json.dumps([good_record(name) for name in GOOD]))
    packed = load_for_scoring(file, "ultravr").samples
    samples = list(packed)
    assert isinstance(packed, PackedSamples) and {type(one) for one in samples} == {UltraVRSample}
    again = PackedSamples(samples)
    assert again == samples and again[1:3] == samples[1:3] and again[-1] == samples[-1]
    assert [one.model_fields_set for one in again] == [one.model_fields_set for one in samples]
    assert list(again.drain()) == samples
    assert (len(again), again.num_bytes) == (0, 0)


def test_a_question_of_a_data_set_takes_less_than_a_thousand_bytes(sizes: Callable[[int], Path]) -> None:
    dataset = load_dataset(sizes(200))
    assert isinstance(dataset.samples, PackedSamples)
    assert dataset.samples.num_bytes / 200 < 400
    assert dataset.num_bytes / 200 < 1000


LONG = ("x" * 300 + ".png", "y" * 5000, "/".join(["deep"] * 3000) + ".png", "a" * 300 + "/b.png")


@pytest.mark.parametrize("image", LONG)
def test_a_name_that_no_file_can_have_leaves_the_other_rows(tmp_path: Path, image: str) -> None:
    Image.new("RGB", (8, 8)).save(tmp_path / "street.png")
    rows = [{"id": "bad", "image": image}, {"id": "good", "image": "street.png"}]
    records = tmp_path / "rows.jsonl"
    records.write_text("".join(json.dumps(row | {"question": "What?", "answer": "a house"}) + "\n" for row in rows))
    made = import_dataset(
        find_reader(records, "questions"), records, tmp_path, tmp_path / "data/street", check_image=read_header,
        leave_out_bad=True,
    )  # fmt: skip
    assert made.samples == 1
    (problem,) = made.left_out
    assert (problem.file, problem.line, problem.record) == ("rows.jsonl", 1, "bad")
    assert len(str(problem)) < 1500 and str(tmp_path / "data") not in str(problem)


def test_requests_are_known_by_their_samples() -> None:
    request = request_id("a:b:c", Cell(protocol="direct", condition="V2"), "model:8b", 3)
    assert is_about(request, {"a:b:c"})
    assert not is_about(request, {"b", "c", "a:b:c:d"})
