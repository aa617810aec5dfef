"""A truth that no answer of the asked form can be is an error, for every benchmark."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import JobSpec
from gigavqa.evaluation.capabilities import AnswerForms
from gigavqa.evaluation.datasets import load_dataset
from gigavqa.evaluation.errors import AnnotationInvalidError
from gigavqa.evaluation.expansion import expand
from gigavqa.evaluation.inspection import inspect_dataset
from gigavqa.evaluation.installed import installed_benchmarks
from gigavqa.evaluation.samples import Sample
from gigavqa.evaluation.truth_checks import (
    AnswerForm,
    find_letters_without_options,
    form_of_options,
    unreachable_truths,
)
from gigavqa.tiling.geometry import Size
from tests.benchmarks.vistahop.examples import sample as chain
from tests.truth.reading import FILES, PICTURES, read, refusal, written

HEAD = "image,question,answer,question_type,A,B,C,D\n"


def _counted(numbers: Sequence[int], kind: str = "") -> str:
    rows = (f"harbour.png,Which of them?,{number},{kind},red,green,blue,grey\n" for number in numbers)
    return HEAD + "".join(rows)


def test_letters_without_options_are_refused(tmp_path: Path) -> None:
    """Every truth is a letter of options that nobody read: a column of another name holds them."""
    for settings in ({}, {"leave_out_bad": True}):
        told = refusal(FILES / "letters_without_options.csv", tmp_path, **settings)
        assert "the answers of all 2 questions without options are letters (A, B)" in told
        assert "`--map COLUMN=options`" in told and "`--map COLUMN=answer_text`" in told


def test_letters_that_a_picture_shows_are_said_to_be_texts(tmp_path: Path) -> None:
    """And stay so when the data set is written and read again."""
    assert [(one.kind, one.truth) for one in read("letters_to_read.csv", tmp_path)] == [("text", "B"), ("text", "E")]


def test_a_data_set_with_such_truths_is_neither_good_nor_asked(tmp_path: Path) -> None:
    """One that was made before is read, so that its reports are; `dataset check` and jobs refuse it."""
    folder = tmp_path / "data" / "old"
    (folder / "samples").mkdir(parents=True)
    (folder / "images").symlink_to(PICTURES)
    (folder / "dataset.toml").write_text('name = "old"\nbenchmark = "questions"\n')
    record = {"id": "q", "image": "images/harbour.png", "question": "Which?", "question_type": "text", "answer": "B"}
    (folder / "samples" / "a.jsonl").write_text(json.dumps(record) + "\n")
    dataset = load_dataset(folder)
    found = inspect_dataset(folder, lambda image, show: Size(8, 6))
    assert "is a letter (B)" in str(found.errors[0])
    spec = JobSpec.model_validate({"dataset": "old", "models": ["demo-qwen3-vl"], "plan": "direct"})
    with pytest.raises(AnnotationInvalidError, match="is a letter"):
        list(expand(dataset, spec, load_catalogue(), lambda image: Size(8, 6)))


@pytest.mark.parametrize("kind", ["", "mcq", "multi-choice"])
@pytest.mark.parametrize("numbers", [[4], [1, 4], [1, 2, 3, 4], [4, 4, 2]])
def test_a_column_that_counts_from_1_is_refused_as_a_whole(tmp_path: Path, numbers: list[int], kind: str) -> None:
    """It holds 4 of four options and never 0; leaving out bad rows shifts no other one, whatever type is declared."""
    source = written(tmp_path, "counted.csv", _counted(numbers, kind))
    for settings in ({}, {"leave_out_bad": True}):
        assert "so it counts from 1; say `--map answer=answer_from_1`" in refusal(source, tmp_path, **settings)


@pytest.mark.parametrize("numbers", [[0], [0, 3], [0, 1, 2, 3], [3, 0]])
def test_a_column_that_counts_from_0_is_not_said_to_count_from_1(tmp_path: Path, numbers: list[int]) -> None:
    """Said so all the same, it is refused as a whole."""
    source = written(tmp_path, "counted.csv", _counted(numbers))
    columns = {"answer": "answer_from_1"}
    told = refusal(source, tmp_path, columns=columns, leave_out_bad=True)
    assert "holds 0" in told and "`--map answer=answer_index`" in told


def test_numbers_among_letters_are_refused_where_none_is_0(tmp_path: Path) -> None:
    """What they count from is not told; with a 0 among them, it is."""
    mixed = HEAD + "harbour.png,Which?,2,,red,green,blue,grey\nfield.png,Which?,D,,red,green,blue,grey\n"
    told = refusal(written(tmp_path, "mixed.csv", mixed), tmp_path, leave_out_bad=True)
    assert "holds numbers in some rows (line 2: 2) and texts or letters in others (line 3: 'D')" in told


def test_more_options_than_letters_are_refused(tmp_path: Path) -> None:
    """With the number that there are."""
    record = {"image": "harbour.png", "question": "Which?", "options": [f"organ {at}" for at in range(30)], "answer": 0}
    told = refusal(written(tmp_path, "many.jsonl", json.dumps(record)), tmp_path)
    assert "options: 30 options are more than there are letters (26)" in told


def test_a_long_truth_is_no_word_or_short_phrase(tmp_path: Path) -> None:
    """It is an open question's, unless its type says otherwise: then it is refused."""
    record = {"image": "harbour.png", "question": "Why?", "answer": "x" * 81}
    assert read_kinds(tmp_path, record) == ["open"]
    told = refusal(written(tmp_path, "long.jsonl", json.dumps({**record, "question_type": "text"})), tmp_path)
    assert "has 81 characters, and the prompt asks for 80 at most (text); ask it as an open question" in told


def read_kinds(folder: Path, *records: dict[str, object]) -> list[str]:
    """The types of some records."""
    source = written(folder, "some.jsonl", "".join(json.dumps(record) + "\n" for record in records))
    return [one.kind for one in read(str(source), folder)]


def test_options_in_some_texts_alone_are_not_read_but_told(tmp_path: Path) -> None:
    """A letter is then no answer to what is asked."""
    rows = [
        {"image": "harbour.png", "question": "Which?\nA. red\nB. green", "answer": "A"},
        {"image": "harbour.png", "question": "What is it?", "answer": "a crane"},
    ]
    told = refusal(written(tmp_path, "some.jsonl", "\n".join(map(json.dumps, rows))), tmp_path)
    assert (
        "some.jsonl:1: some-1: options: the question's text lists some, and the answer 'A' is the letter of one" in told
    )


def test_options_in_the_texts_of_all_choices_are_read_beside_other_types(tmp_path: Path) -> None:
    """Where rows declare their types, those of others need list none."""
    rows = [
        {"image": "harbour.png", "question": "Which?\nA. red\nB. green", "answer": "A", "type": "mcq"},
        {"image": "harbour.png", "question": "What is it?", "answer": "a crane", "type": "short_answer"},
    ]
    assert read_kinds(tmp_path, *rows) == ["choice", "text"]


@pytest.mark.parametrize("name", installed_benchmarks())
def test_every_benchmark_tells_what_its_prompts_ask_for(name: str) -> None:
    """The host holds truths against it, so that a new benchmark's are, too, before it says anything of its own."""
    benchmark = installed_benchmarks()[name]
    letters = [_Plain(id=f"{at}", question="Which?", answer=letter) for at, letter in enumerate("ABA")]
    assert find_letters_without_options(letters, form_of_options) is not None
    assert callable(AnswerForms.of(benchmark).answer_form)


class _Plain(Sample):
    """A sample of a benchmark that brings nothing of its own."""

    answer: str = ""

    @property
    def truth(self) -> str:
        return self.answer


@pytest.mark.parametrize(("answer", "wrong"), [("A", 0), ("red", 0), ("C", 1), ("blue", 1), ("", 0)])
def test_a_plain_samples_truth_is_one_of_its_options(answer: str, wrong: int) -> None:
    """By letter or by text; an answer that is not known is none."""
    sample = _Plain(id="q", question="Which?", options={"A": "red", "B": "green"}, answer=answer)
    assert len(list(unreachable_truths(sample, form_of_options(sample)))) == wrong


def test_letters_are_no_fault_where_any_truth_is_none() -> None:
    """A file of words in which one answer is a letter."""
    samples = [_Plain(id="1", question="?", answer="A"), _Plain(id="2", question="?", answer="a crane")]
    assert find_letters_without_options(samples, form_of_options) is None
    assert find_letters_without_options(samples[:1], lambda sample: AnswerForm("text", ("A",), lettered=True)) is None


def test_letters_of_options_that_a_question_lists_are_within_reach() -> None:
    """VistaHop's lettered questions hold their options in their text; without any, a letter is out of reach."""
    form_of = AnswerForms.of(installed_benchmarks()["vistahop"]).answer_form
    listed = chain(answers=("A",), question="Which?\nA. red\nB. green")
    assert find_letters_without_options([listed], form_of) is None
    assert find_letters_without_options([chain(answers=("A",))], form_of) is not None
