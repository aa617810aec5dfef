"""Records in either shape are read as the same questions, written again as they were, and refused in clear words."""

import json
from pathlib import Path
from typing import Any

import pytest

from gigavqa.benchmarks.atombench.benchmark import AtomBench
from gigavqa.benchmarks.atombench.checks import check_sample
from gigavqa.benchmarks.atombench.samples import AtomSample
from gigavqa.benchmarks.atombench.taxonomy import DOMAINS, PRINTED, TITLES
from gigavqa.evaluation.errors import Problem
from gigavqa.evaluation.sample_files import load_samples

IMAGE = "images/quay-07.jpg"
CLUE: dict[str, Any] = {
    "id": "quay-07-c2",
    "image": IMAGE,
    "level": "clue",
    "dimension": "structured_symbols",
    "domain": "license_plates",
    "scope": "micro",
    "certainty": "medium",
    "step": 2,
    "question": "What do the plates of the two parked cars have in common?",
    "options": {"A": "A blue band", "B": "Three letters", "C": "A coat of arms", "D": "There is no car"},
    "answer": "B",
}
CONCLUSION: dict[str, Any] = {
    "id": "quay-07-q1",
    "image": IMAGE,
    "level": "conclusion",
    "kind": "location",
    "difficulty": "hard",
    "question": "Where was this photo most likely taken?",
    "options": {"A": "Velmar", "B": "Ostrin", "C": "Tarn", "D": "Quell", "E": "Ulm"},
    "answer": "E",
}


def write_records(path: Path, *records: dict[str, Any]) -> Path:
    """A file of records, one a line."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def read(folder: Path, *records: dict[str, Any]) -> tuple[list[AtomSample], list[Problem]]:
    """The questions of a file of records, one a line, and what is wrong with it."""
    problems: list[Problem] = []
    found = load_samples(AtomBench(), [write_records(folder / "geo.jsonl", *records)], folder, problems)
    return [sample for sample in found if isinstance(sample, AtomSample)], problems


def without(record: dict[str, Any], *names: str, **changes: Any) -> dict[str, Any]:
    """A record without some of its keys, and with others."""
    return {**{name: value for name, value in record.items() if name not in names}, **changes}


def test_one_object_an_image_is_read_as_one_object_a_question(tmp_path: Path) -> None:
    """The step is the position in the list, and ids follow from the image's name."""
    first = without(CLUE, "image", "level", "step", "id")
    last = without(CLUE, "image", "level", "step", "id", question="And what else?")
    together = {"image": IMAGE, "clues": [first, last], "conclusions": [without(CONCLUSION, "image", "level", "id")]}
    apart = [CLUE | {"step": 1, "id": "quay-07-c1"}, CLUE | {"question": "And what else?"}, CONCLUSION]
    assert read(tmp_path, together) == read(tmp_path, *apart)
    assert [one.id for one in read(tmp_path, together)[0]] == ["quay-07-c1", "quay-07-c2", "quay-07-q1"]


def test_other_spellings_are_the_same_question(tmp_path: Path) -> None:
    """Titles of labels, a list of options, letters in brackets, `questions`, and a mark for the picture."""
    loose = without(
        CLUE,
        "dimension",
        "question",
        level="Clue",
        domain=TITLES["license_plates"],
        scope="Micro",
        options=list(CLUE["options"].values()),
        answer="(b)",
        questions=f"<image 1> {CLUE['question']}",
    )
    keyed = CLUE | {"options": {f"({key})": text for key, text in CLUE["options"].items()}, "answer": "Three letters"}
    expected = read(tmp_path, CLUE)
    assert read(tmp_path, loose) == expected
    assert read(tmp_path, keyed) == expected


@pytest.mark.parametrize("printed", [*PRINTED, *TITLES.values()])
def test_labels_are_read_as_any_table_prints_them(tmp_path: Path, printed: str) -> None:
    """Tables 1, 3 and 4 of the paper, and our own."""
    name = PRINTED.get(printed) or next(name for name, title in TITLES.items() if title == printed)
    field = "scope" if name == "mid" else "dimension" if name in DOMAINS else "domain"
    (sample,), problems = read(tmp_path, without(CLUE, "domain", "dimension") | {field: printed.capitalize()})
    assert (getattr(sample, field), problems) == (name, [])


def test_a_question_is_written_as_it_was_read(tmp_path: Path) -> None:
    """Other keys are kept, and a group takes the place of the image."""
    found, problems = read(tmp_path, CLUE | {"design_rationale": "bait", "group": "quay"}, CONCLUSION)
    assert problems == []
    again, _ = read(tmp_path, *map(AtomBench().record, found))
    assert again == found
    assert [(one.place, one.extra) for one in again] == [("quay", {"design_rationale": "bait"}), (IMAGE, {})]


def test_questions_without_an_answer_or_a_label_are_named(tmp_path: Path) -> None:
    """They are asked; `gigavqa dataset check` says which tables leave them out."""
    (bare, unlabelled), problems = read(
        tmp_path, without(CLUE, "domain", "dimension", "scope", "certainty", "step", answer=""),
        without(CONCLUSION, "difficulty"),
    )  # fmt: skip
    assert problems == []
    assert not bare.scored
    assert [told.split(",")[0] for told in check_sample(bare)] == [
        *(f"has no {label}" for label in ("domain", "scope", "certainty", "step")),
        "has no answer: it is asked",
    ]
    assert check_sample(unlabelled) == ["has no difficulty, so that RRS and the outcomes by difficulty leave it out"]


def test_ids_come_from_the_image_where_there_are_none(tmp_path: Path) -> None:
    """By the clue's step, and by the number of the conclusion question of its image."""
    records = [CLUE, CONCLUSION, CONCLUSION | {"question": "Which clue tells?"}]
    found, problems = read(tmp_path, *(without(record, "id") for record in records))
    assert ([one.id for one in found], problems) == (["quay-07-c2", "quay-07-q1", "quay-07-q2"], [])


OTHER = CLUE | {"id": "quay-07-c3", "step": 3}
BAD = {
    "level: 'summary' is neither clue nor conclusion": OTHER | {"level": "summary"},
    "domain: 'weather' is not known: architectural_style, regional_architecture,": OTHER | {"domain": "weather"},
    "dimension: 'x' does not hold domain 'climate', which belongs to natural_characteristics": OTHER
    | {"domain": "climate", "dimension": "x"},
    "answer 'E' is none of the options A, B, C, D": OTHER | {"answer": "E"},
    "options must be lettered A, B, C, D without a gap, not A, B, D": OTHER
    | {"options": {"A": "one", "B": "two", "D": "three"}},
    "options: at least 2, and at most 26, not 1": OTHER | {"options": ["one"]},
    "options: at least 2, and at most 26, not 0": without(OTHER, "options"),
    "difficulty belongs to conclusion questions": OTHER | {"difficulty": "easy"},
    "scope belongs to clue questions; step belongs to clue questions": CONCLUSION | {"scope": "mid", "step": 1},
    "domain belongs to clue questions; dimension belongs to clue questions; certainty belongs": CONCLUSION
    | {"domain": "climate", "certainty": "low"},
    "difficulty: 'extreme' is none of easy, medium, hard": CONCLUSION | {"difficulty": "extreme"},
    "is about 2 images; each question is about one": OTHER | {"image": [IMAGE, "images/other.jpg"]},
    "step 2 is used twice on images/quay-07.jpg, first at geo.jsonl:1": OTHER | {"step": 2},
    "the id is already used at geo.jsonl:1": OTHER | {"id": "quay-07-c2"},
    "holds a question and lists of questions": OTHER | {"clues": []},
    "clues must be a list of objects, one a question": {"image": IMAGE, "clues": "none"},
}


@pytest.mark.parametrize("told", BAD)
def test_what_is_wrong_is_named_by_file_and_line(told: str, tmp_path: Path) -> None:
    """In one sentence, beside a good record that does not make it good."""
    found, problems = read(tmp_path, CLUE, BAD[told])
    assert len(problems) == 1, problems
    assert str(problems[0]).startswith("geo.jsonl:2: ")
    assert told in str(problems[0])
    assert found[0].id == CLUE["id"]


def test_all_that_is_wrong_is_named_at_once(tmp_path: Path) -> None:
    """Records of a file, and fields of a record."""
    _, problems = read(tmp_path, CLUE | {"domain": "weather", "scope": "tiny"}, CONCLUSION | {"answer": "F"})
    assert [(one.line, one.message.split(":")[0]) for one in problems] == [
        (1, "domain"),
        (1, "scope"),
        (2, "answer 'F' is none of the options A, B, C, D, E"),
    ]


def test_a_step_is_used_once_on_an_image_over_all_files(tmp_path: Path) -> None:
    """The second clue is refused where it stands, and told where the first does; another group has steps of its own."""
    grouped = [clue | {"id": f"{clue['id']}-night", "group": "night"} for clue in (CLUE, OTHER)]
    write_records(tmp_path / "a.jsonl", CLUE, *grouped)
    write_records(tmp_path / "b.jsonl", OTHER, CLUE | {"id": "again"}, CONCLUSION)
    problems: list[Problem] = []
    found = load_samples(AtomBench(), [tmp_path / "a.jsonl", tmp_path / "b.jsonl"], tmp_path, problems)
    assert list(map(str, problems)) == [
        "b.jsonl:2: again: step 2 is used twice on images/quay-07.jpg, first at a.jsonl:1"
    ]
    assert len(found) == 5


def test_a_step_that_is_used_twice_is_named_as_such(tmp_path: Path) -> None:
    """Where the ids come from steps, too."""
    _, problems = read(tmp_path, *(without(CLUE, "id", question=text) for text in ("What?", "What else?")))
    assert [str(problem) for problem in problems] == [f"geo.jsonl:2: step 2 is used twice on {IMAGE}"]


def test_a_question_that_is_missing_is_called_missing(tmp_path: Path) -> None:
    """And not a value of the wrong type."""
    _, problems = read(tmp_path, without(CLUE, "question"))
    assert [str(problem) for problem in problems] == ["geo.jsonl:1: quay-07-c2: question: is missing"]


def test_an_image_with_questions_of_one_level_alone_is_told(tmp_path: Path) -> None:
    """Once, by its first question; an image with both has nothing to be told of."""
    other = CLUE | {"id": "b-c1", "image": "images/b.jpg", "step": 1}
    found, _ = read(tmp_path, CLUE, CONCLUSION, other, other | {"id": "b-c2", "step": 2})
    told = [(one.sample, one.text, one.is_error) for one in AtomBench().check(found, lambda sample: "here")]
    needed = "RCS, HI, RRS and the support curve leave the image out"
    assert told == [("b-c1", f"its image has no conclusion question, so that {needed}", False)]
