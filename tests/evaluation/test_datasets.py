"""Every JSON shape of the paper loads, and every bad record is named by file and line."""

import json
from pathlib import Path
from typing import Any

import pytest

from gigavqa.evaluation.datasets import Dataset, load_dataset, load_for_scoring
from gigavqa.evaluation.errors import DatasetInvalidError
from tests.benchmarks.ultravr.good_records import GOOD, good_record, step_of
from tests.evaluation.folders import write_dataset, write_settings


def load(folder: Path, name: str, text: str) -> Dataset:
    """Load a data set whose only file of records has this text."""
    write_settings(folder)
    (folder / "samples" / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / "samples" / name).write_text(text, encoding="utf-8")
    return load_dataset(folder)


def problems(folder: Path, name: str, text: str) -> list[str]:
    """Load such a data set, which must fail, and return its problems as written."""
    with pytest.raises(DatasetInvalidError) as caught:
        load(folder, name, text)
    return [str(problem) for problem in caught.value.problems]


def test_all_good_records_load_from_lines(tmp_path: Path) -> None:
    """One object a line, of every domain and category."""
    dataset = load_dataset(write_dataset(tmp_path / "tiny", *GOOD.values()))

    assert [sample.id for sample in dataset.samples] == list(GOOD)
    assert dataset.title == "A test"
    assert dataset.image_of("images/plaza.jpg") == "tiny/images/plaza.jpg"


def test_a_list_of_records_loads(tmp_path: Path) -> None:
    """A JSON list in one file."""
    dataset = load(tmp_path / "tiny", "all.json", json.dumps(list(GOOD.values()), indent=1))

    assert [sample.id for sample in dataset.samples] == list(GOOD)


def test_a_flat_record_of_the_paper_loads_without_id_domain_and_image(tmp_path: Path) -> None:
    """F.1 and F.2 allow no further key: id and image come from the file's name, the domain from the subcategory."""
    record = {key: value for key, value in good_record("rs-logic").items() if key not in ("id", "domain", "image")}
    write_settings(tmp_path / "tiny")
    (tmp_path / "tiny" / "images" / "harbor.png").touch()
    (tmp_path / "tiny" / "samples" / "harbor.json").write_text(json.dumps(record))

    (sample,) = load_dataset(tmp_path / "tiny").samples

    assert (sample.id, sample.domain, sample.images) == ("harbor", "rs", ("images/harbor.png",))


def test_a_slide_record_may_await_its_answer(tmp_path: Path) -> None:
    """Appendix F.3: `slide`, `category`, and an empty answer for an expert to fill in."""
    record = good_record("wsi-comparison") | {"answer": "", "category": "relational_inference"}
    del record["id"]

    (sample,) = load(tmp_path / "tiny", "t4.json", json.dumps(record)).samples

    assert (sample.id, sample.domain, sample.scored) == ("TCGA-AQ-A54N-relational_inference", "wsi", False)


def test_a_slide_file_gives_one_sample_a_category(tmp_path: Path) -> None:
    """Per-slide files hold `categories.<category>` with question, options, answer and steps."""
    record = good_record("wsi-comparison")
    shared = {key: record.pop(key) for key in ("slide", "image", "evidence")}
    del record["id"], record["category"]
    text = json.dumps({**shared, "categories": {"comparison": record, "logical_verification": record}})

    first, second = load(tmp_path / "tiny", "TCGA-AQ-A54N.json", text).samples

    assert (first.id, second.id) == ("TCGA-AQ-A54N-comparison", "TCGA-AQ-A54N-logical_verification")
    assert [step.step_id for step in first.steps][:3] == ["Q1", "Q2", "Q2.1"]
    assert second.evidence is not None
    assert second.evidence.rois == (9, 8)


@pytest.mark.parametrize("answer", ["(3, 7)", "3,7", [3, 7], {"row": 3, "column": 7}])
def test_coordinate_answers_load_in_every_form_and_are_written_in_one(tmp_path: Path, answer: Any) -> None:
    """AD records without options."""
    record = good_record("ad-coordinate") | {"answer": answer}

    (sample,) = load(tmp_path / "tiny", "ad.json", json.dumps(record)).samples

    assert sample.answer == "(3, 7)"
    assert sample.options is None


def test_unknown_keys_are_kept_beside_the_sample(tmp_path: Path) -> None:
    """A record may say more than is needed."""
    record = good_record("rs-logic") | {"annotator": "K."}

    (sample,) = load(tmp_path / "tiny", "a.json", json.dumps(record)).samples

    assert sample.extra == {"annotator": "K."}


def test_steps_of_slides_may_leave_out_their_formats(tmp_path: Path) -> None:
    """The schema of Q1 to Q6.3 then says them."""
    record = good_record("wsi-comparison")
    for step in record["reasoning_supervision"]["steps"]:
        del step["answer_format"]

    (sample,) = load(tmp_path / "tiny", "a.json", json.dumps(record)).samples

    assert [step.answer_format for step in sample.steps][2] == "roi_list"


def test_names_of_categories_and_formats_may_be_written_freely(tmp_path: Path) -> None:
    """Capitals, spaces and hyphens make no other category or format."""
    record = good_record("wsi-comparison") | {"category": "Logical Verification"}
    step_of(record, "Q1").update(answer_format="Multi-select")

    (sample,) = load(tmp_path / "tiny", "a.json", json.dumps(record)).samples

    assert (sample.category, sample.steps[0].answer_format) == ("logical_verification", "multi_select")


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("an unknown domain", {"domain": "xray"}, "domain: must be"),
    ("a category of another domain", {"category": "logical_anomaly"}, "domain 'cctv' has no category"),
    ("an answer that is no option", {"answer": "E"}, "answer 'E' is none of the options"),
    ("no options", {"options": None}, "options are missing"),
    ("options with a gap", {"options": {"A": "1", "C": "2"}}, "lettered A, B, C, D without a gap"),
    ("an absolute path", {"image": "/etc/passwd"}, "does not lie in the data set's folder"),
    ("a path upwards", {"image": "images/../../x.png"}, "does not lie in the data set's folder"),
    ("no image", {"image": None}, "names no image"),
    ("no question", {"question": ""}, "question: String should have at least 1 character"),
    ("an id with a space", {"id": "a b"}, "id: String should match"),
    ("an unknown quadrant", {"evidence": {"quadrants": ["middle"]}}, "evidence.quadrants.0: must be"),
    ("a cell beyond the grid", {"evidence": {"grid": [5, 5], "cell": [6, 1]}}, "lies outside a grid of 5 x 5"),
    ("a region beyond the slide", {"evidence": {"rois": [0]}}, "evidence.rois.0: must be"),
    ("steps that are no list", {"reasoning_supervision": {"steps": "S1"}}, "with a list of steps"),
    ("a step of unknown format", {"reasoning_supervision": {"steps": [{"step_id": "S1", "question": "?",
     "ground_truth": 1, "answer_format": "number"}]}}, "steps.0.answer_format: must be"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "told"), [pytest.param(change, told, id=what) for what, change, told in BAD])
def test_a_bad_record_is_named_by_file_and_line(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    """The second line of a file, after a good one."""
    bad = good_record("cctv-comparison") | {"id": "bad"} | change
    text = f"{json.dumps(GOOD['rs-logic'])}\n{json.dumps(bad)}\n"

    (problem,) = problems(tmp_path / "tiny", "two.jsonl", text)

    assert problem.startswith("samples/two.jsonl:2: ")
    assert told in problem


def test_every_problem_of_a_list_is_named_by_the_line_at_which_its_record_starts(tmp_path: Path) -> None:
    """Records of a list span several lines, and more than one is bad."""
    first, good, third = (good_record("rs-logic") | {"id": name} for name in ("one", "two", "three"))
    text = json.dumps([first | {"answer": "X"}, good, third | {"domain": "?"}], indent=1)
    starts = [number for number, line in enumerate(text.splitlines(), start=1) if line == " {"]

    found = problems(tmp_path / "tiny", "list.json", text)

    assert [problem.split(": ")[0] for problem in found] == [
        f"samples/list.json:{starts[0]}",
        f"samples/list.json:{starts[2]}",
    ]


def test_an_id_used_twice_is_named_with_its_first_place(tmp_path: Path) -> None:
    """Ids are unique over all files of a data set."""
    text = f"{json.dumps(GOOD['rs-logic'])}\n" * 2

    (problem,) = problems(tmp_path / "tiny", "twice.jsonl", text)

    assert problem == "samples/twice.jsonl:2: rs-logic: the id is already used at samples/twice.jsonl:1"


def test_broken_lines_do_not_hide_each_other(tmp_path: Path) -> None:
    """What is no JSON, and what is JSON but no object, is named line by line."""
    found = problems(tmp_path / "tiny", "a.jsonl", '{"id": \n[1]\n\n"x"\n')

    assert [problem.split(": ")[0] for problem in found] == [
        "samples/a.jsonl:1",
        "samples/a.jsonl:2",
        "samples/a.jsonl:4",
    ]


def test_a_list_that_breaks_off_is_named_by_line(tmp_path: Path) -> None:
    """Syntax errors inside a list carry their own line."""
    (problem,) = problems(tmp_path / "tiny", "a.json", f"[\n{json.dumps(GOOD['rs-logic'])},\n{{\n")

    assert problem.startswith("samples/a.json:4: is not JSON")


@pytest.mark.parametrize("name", ["all.json", "all.jsonl"])
def test_half_a_character_is_named_and_hides_no_other_record(tmp_path: Path, name: str) -> None:
    """A text that was cut within an emoji can be neither sent nor stored; a whole emoji can."""
    whole, cut, bad = (good_record("rs-logic") | {"id": id_} for id_ in ("whole", "cut", "bad"))
    records = [whole | {"question": "Is it \U0001f600?"}, cut | {"note": "Is it \ud83d"}, bad | {"answer": "Z"}]
    lines = [json.dumps(record) for record in records]
    text = "\n".join(lines) if name.endswith("l") else f"[{','.join(chr(10) + line for line in lines)}]"

    first, second = problems(tmp_path / "tiny", name, text)

    assert "a text holds half a character, '\\ud83d'" in first
    assert "bad: answer 'Z' is none of the options" in second


def test_a_file_without_records_is_a_problem(tmp_path: Path) -> None:
    """An empty list loads as nothing, which nobody means."""
    assert problems(tmp_path / "tiny", "a.json", "[]") == [
        "samples: holds no record: each is one JSON object, in a list or one a line"
    ]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ('name = "other"\nbenchmark = "ultravr"', "differs from the folder's name 'tiny'"),
        ('name = "tiny"\nbenchmark = "imagenet"', "dataset.toml: benchmark 'imagenet' is not known; known: .*ultravr"),
        ("name = ", "dataset.toml: Invalid value"),
    ],
)
def test_wrong_settings_are_problems_of_their_file(tmp_path: Path, settings: str, told: str) -> None:
    """dataset.toml names the data set as its folder does, and a benchmark that is known."""
    folder = write_dataset(tmp_path / "tiny", GOOD["rs-logic"])
    (folder / "dataset.toml").write_text(settings)

    with pytest.raises(DatasetInvalidError, match=told):
        load_dataset(folder)


def test_a_folder_without_records_is_a_problem(tmp_path: Path) -> None:
    """An empty samples folder is told, not loaded as an empty data set."""
    write_settings(tmp_path / "tiny")

    with pytest.raises(DatasetInvalidError, match=r"holds no file of records \(\.jsonl, \.json, \.csv"):
        load_dataset(tmp_path / "tiny")


def test_a_loose_file_needs_no_images_and_no_settings(tmp_path: Path) -> None:
    """For scoring alone, one file of records is enough."""
    record = {key: value for key, value in good_record("rs-logic").items() if key != "image"}
    (tmp_path / "mine.json").write_text(json.dumps(record))

    assert [sample.id for sample in load_for_scoring(tmp_path / "mine.json").samples] == ["rs-logic"]


def test_a_folder_that_is_scored_finds_the_images_that_a_job_finds(tmp_path: Path) -> None:
    """Records without a name of their image take it from its place, so that what was shown can be told offline."""
    record = {key: value for key, value in good_record("rs-logic").items() if key != "image"} | {"id": "harbor"}
    folder = tmp_path / "tiny"
    write_settings(folder)
    (folder / "images" / "harbor.png").touch()
    (folder / "samples" / "harbor.json").write_text(json.dumps(record))

    assert load_for_scoring(folder).samples == load_dataset(folder).samples
    assert load_for_scoring(folder).samples[0].images == ("images/harbor.png",)


def test_the_digest_follows_the_records(tmp_path: Path) -> None:
    """Equal records have equal digests, and a changed record another one."""
    first = load_dataset(write_dataset(tmp_path / "a" / "tiny", GOOD["rs-logic"]))
    again = load_dataset(write_dataset(tmp_path / "b" / "tiny", GOOD["rs-logic"]))
    changed = load_dataset(write_dataset(tmp_path / "c" / "tiny", GOOD["rs-logic"] | {"question": "Else?"}))

    assert first.digest == again.digest
    assert first.digest != changed.digest
