"""Closing turns: what they hold answers to, who gets one, and the table that sets them beside the reader."""

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gigavqa.benchmarks.vistahop.judging import option_form
from gigavqa.benchmarks.vistahop.samples import VistaHopSample
from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import JobSpec
from gigavqa.contract.requests import ClosingKind, InferenceRequest
from gigavqa.contract.responses import ClosingAnswer, Failure, Response, Usage
from gigavqa.evaluation.capabilities import AnswerForms
from gigavqa.evaluation.closing_turns import NO_ANSWER, ClosingForm, boolean_form, choice_form, number_form
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.errors import ClosingUnavailableError
from gigavqa.evaluation.expansion import prepare_expansion
from gigavqa.evaluation.installed import find_benchmark
from gigavqa.evaluation.replies import reply_of
from gigavqa.evaluation.tables import Table
from gigavqa.reports.report import Report, build_report, report_on_tally, tally_replies
from gigavqa.reports.score import score_files
from gigavqa.reports.tallies import dump_tally, merge_tally
from gigavqa.tiling.geometry import Size
from tests.benchmarks.questions.files import ask_about
from tests.benchmarks.ultravr.good_records import good_sample
from tests.evaluation.responses import MODEL, response

CATALOGUE = load_catalogue()
LETTERS = "ABCDEFGHIJ"


def always(value: str) -> bool:
    """Take every answer for right."""
    return True


def choice(number: int) -> ClosingForm:
    """The form of a question with so many options."""
    form = choice_form(LETTERS[:number], always)
    assert form is not None
    return form


FORMS = st.one_of(st.integers(1, 10).map(choice), st.just(number_form(always)), st.just(boolean_form(always)))


def allowed(form: ClosingForm, kind: ClosingKind, *, elsewhere: bool) -> st.SearchStrategy[str]:
    """Whatever an engine may write that keeps to the form's structure; a server elsewhere keeps to the schema."""
    closing = form.closing(kind)
    assert closing is not None
    structure = closing.structure
    if elsewhere:
        return objects(structure.in_object).map(json.dumps)
    if structure.choice:
        return st.sampled_from(structure.choice)
    assert structure.regex
    return st.from_regex(structure.regex, fullmatch=True)


def objects(schema: Any) -> st.SearchStrategy[Any]:
    """Objects of a strict schema of one answer."""
    assert (schema["required"], schema["additionalProperties"]) == (["answer"], False)
    answer = schema["properties"]["answer"]
    found = [st.sampled_from(answer["enum"])] if "enum" in answer else [_OF_TYPE[name] for name in answer["type"]]
    return st.one_of(found).map(lambda said: {"answer": said})


_OF_TYPE: dict[str, st.SearchStrategy[Any]] = {
    "null": st.none(),
    "boolean": st.booleans(),
    "number": st.integers(-(10**15), 10**15) | st.floats(-1e15, 1e15),
}


@settings(deadline=None, max_examples=150, derandomize=True)
@given(form=FORMS, is_bare=st.booleans(), elsewhere=st.booleans(), data=st.data())
def test_whatever_the_structure_allows_is_read(
    form: ClosingForm, is_bare: bool, elsewhere: bool, data: st.DataObject
) -> None:
    """As a value or as none; the same answer in an object is the same value."""
    text = data.draw(allowed(form, form.kind if is_bare else "json", elsewhere=elsewhere))
    value = form.value_of(text)
    said = json.loads(text)["answer"] if text.startswith("{") else text
    assert (value is None) is (said in (None, NO_ANSWER))
    assert form.value_of(json.dumps({"answer": said})) == value


@settings(deadline=None, max_examples=150, derandomize=True)
@given(form=FORMS, text=st.text(max_size=12))
def test_nothing_else_is_read(form: ClosingForm, text: str) -> None:
    """A text that the structure does not allow is refused, and not searched for an answer."""
    bare = form.bare
    assert bare is not None
    said = text.strip()
    words = bare.choice or (NO_ANSWER,)
    is_number = form.kind == "number" and said.isascii() and said.removeprefix("-").replace(".", "", 1).isdecimal()
    if said not in words and not is_number:
        with pytest.raises(ValueError):
            form.value_of(f"The answer is {said}")
        with pytest.raises(ValueError):
            form.value_of(f"{said}?")


@pytest.mark.parametrize(
    "text",
    ["", "a", "AB", "A.", "[]", "{}", '{"answer": ["A"]}', '{"answer": "A", "b": 1}', '{"answer"', "{" * 9000, '"A"'],
)
def test_an_object_of_another_shape_is_refused(text: str) -> None:
    """Nothing of it is guessed."""
    with pytest.raises(ValueError):
        choice(4).value_of(text)


@pytest.mark.parametrize("said", ["NaN", "Infinity", "1e999", "true", '"7"x'])
def test_what_is_no_number_is_refused(said: str) -> None:
    """Also what JSON's readers take for one."""
    with pytest.raises(ValueError):
        number_form(always).value_of(f'{{"answer": {said}}}')


def test_a_letter_called_none_leaves_no_word_for_none() -> None:
    """So there is no closed form."""
    assert choice_form(("A", NO_ANSWER), always) is None


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    """Four choices (A, B, A, B), a number (7), yes or no (yes), several letters, a word, and an open question."""
    choices = [
        {"id": f"q{at}", "image": "red.jpg", "question": "Which?", "options": list("wxyz"), "answer": at % 2}
        for at in range(4)
    ]
    plain: dict[str, Any] = {"image": "red.jpg", "question": "What?"}
    return ask_about(
        tmp_path,
        *choices,
        {**plain, "id": "number", "answer": 7, "type": "number"},
        {**plain, "id": "yes", "answer": "yes", "type": "yes/no"},
        {**plain, "id": "several", "options": list("wxyz"), "answer": "A, C", "type": "multiple"},
        {**plain, "id": "word", "answer": "a word or two"},
        {**plain, "id": "open"},
    )


def requests(dataset: Dataset, **spec: Any) -> dict[str, InferenceRequest]:
    """The requests of a job by their samples."""
    job = JobSpec.model_validate({"dataset": dataset.name, "models": [MODEL], "plan": "direct", "seed": 3, **spec})
    found = prepare_expansion(dataset, job, CATALOGUE).requests(lambda _: Size(160, 120))
    return {request.sample_id: request for _, request in found}


CLOSED: dict[str | None, set[str]] = {
    None: set(),
    "choice": {"q0", "q1", "q2", "q3"},
    "number": {"number"},
    "boolean": {"yes"},
    "json": {"q0", "q1", "q2", "q3", "number", "yes"},
    "auto": {"q0", "q1", "q2", "q3", "number", "yes"},
}


@pytest.mark.parametrize("wanted", list(CLOSED))
def test_a_closing_turn_is_asked_where_it_fits(dataset: Dataset, wanted: str | None) -> None:
    """And nowhere else; what comes before it is the same in all jobs, draws included."""
    plain, found = requests(dataset), requests(dataset, closing=wanted)
    assert {name for name, request in found.items() if request.closing} == CLOSED[wanted]
    for name, request in found.items():
        alike = {"closing": None, "request_id": plain[name].request_id}
        assert request.model_copy(update=alike) == plain[name]
        assert (request.request_id == plain[name].request_id) is (request.closing is None)


def test_a_form_is_made_once_for_a_sample_and_a_protocol(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever asks for it: the check of the job, what it says of itself, and the requests of all conditions."""
    benchmark, made = dataset.benchmark, list[tuple[str, str]]()
    form_of = type(benchmark).closed_form

    def noted(self: Any, sample: Any, protocol: str) -> ClosingForm | None:
        made.append((sample.id, protocol))
        return form_of(self, sample, protocol)

    monkeypatch.setattr(type(benchmark), "closed_form", noted)
    spec = JobSpec(dataset=dataset.name, models=(MODEL,), plan="conditions", closing="auto", repeats=2)
    expansion = prepare_expansion(dataset, spec, CATALOGUE)
    told = [*expansion.remarks(), *expansion.requests(lambda _: Size(64, 64))]
    assert len(told) > 2 * len(made)
    assert sorted(made) == sorted(set(made)) == sorted((sample.id, "direct") for sample in dataset.samples)


def test_a_choice_is_held_to_the_letters_of_its_sample(dataset: Dataset) -> None:
    """And to a word for none."""
    closing = requests(dataset, closing="choice")["q0"].closing
    assert closing is not None
    assert closing.structure.choice == ("A", "B", "C", "D", NO_ANSWER)
    assert closing.text == (
        "Reply with the letter of your final answer (A, B, C or D) and nothing else, or with none if it cannot be told."
    )


def test_a_job_says_which_requests_get_none(dataset: Dataset) -> None:
    """Counted over models and repeats, by the forms of their answers."""
    spec = JobSpec(dataset=dataset.name, models=(MODEL,), plan="direct", closing="auto", repeats=2)
    assert list(prepare_expansion(dataset, spec, CATALOGUE).remarks()) == [
        "closing auto: 6 of 18 requests get no closing turn, since their answers are of other forms: choice of several "
        "2, text 2, open 2"
    ]
    assert not list(prepare_expansion(dataset, spec.model_copy(update={"closing": None}), CATALOGUE).remarks())


@pytest.mark.parametrize("wanted", ["choice", "number", "boolean", "json", "auto"])
def test_a_job_that_it_fits_nowhere_is_refused(dataset: Dataset, wanted: str) -> None:
    """With the forms of the answers."""
    with pytest.raises(ClosingUnavailableError, match=f"closing: {wanted} fits none .* text 1, open 1"):
        requests(dataset, closing=wanted, samples=["word", "open"])


def closing(text: str, kind: ClosingKind = "choice", **changes: Any) -> ClosingAnswer:
    """What a closing turn was answered, of a prompt of 100 tokens with 90 from the cache."""
    usage = Usage(prompt_tokens=100, cached_tokens=90, completion_tokens=2)
    return ClosingAnswer(kind=kind, text=text, finish_reason="stop", usage=usage).model_copy(update=changes)


def answered(sample: str, text: str, closed: ClosingAnswer | None, **changes: Any) -> Response:
    """A free answer with what closed it."""
    name = f"{sample}:{changes.get('repeat', 0)}"
    return response(sample, text, protocol="direct", closing=closed, request_id=name, **changes)


def row_of(report: Report) -> dict[str, Any]:
    """The one row of the table, estimates as what they are."""
    table = report.table("closing")
    assert isinstance(table, Table)
    (row,) = table.rows
    return {column.key: getattr(value, "value", value) for column, value in zip(table.columns, row.values, strict=True)}


def test_the_table_sets_both_readings_side_by_side(dataset: Dataset) -> None:
    """Agreement over all that were closed, and who of both is right."""
    report = build_report(
        dataset,
        [
            answered("q0", "Final answer: A", closing("A")),  # both right
            answered("q1", "Final answer: B", closing("C")),  # only the reader
            answered("q2", "A or B.", closing("A")),  # the reader found none
            answered("q3", "Final answer: not sure", closing(NO_ANSWER)),  # both say that there is none
            answered("number", "Final answer: 7", closing("7.0", "number")),
            answered("yes", "Final answer: no", closing("true", "boolean")),
            answered("word", "Final answer: a word", None),
        ],
        CATALOGUE,
    )
    row = row_of(report)
    assert (row["closed"], row["unread"]) == (6, 0)
    assert (row["reader"], row["closing"], row["agree"]) == (3 / 6, 4 / 6, 3 / 6)
    assert (row["both"], row["only_reader"], row["only_closing"]) == (2, 1, 2)
    assert (row["rescued"], row["abstained"]) == (1, 1)
    assert (row["tokens"], row["cached"]) == (12, 0.9)


@pytest.mark.parametrize(
    "closed",
    [
        closing("E"),
        closing("The answer is A."),
        closing(""),
        closing("A", finish_reason="length"),
        closing("A", failure=Failure(type="ContextExceededError", message="full")),
        closing("true", "boolean"),
    ],
)
def test_a_closing_turn_without_an_answer_is_counted_apart(dataset: Dataset, closed: ClosingAnswer) -> None:
    """It is none of either reading, and changes nothing of the free answer."""
    row = row_of(build_report(dataset, [answered("q0", "Final answer: A", closed)], CATALOGUE))
    assert (row["closed"], row["unread"], row["agree"]) == (0, 1, None)


def drawn(seed: int) -> list[Response]:
    """Replies to choices, some of them closed, some failed, some again."""
    draw = random.Random(seed)
    return [_drawn(draw, at) for at in range(40)]


def _drawn(draw: random.Random, at: int) -> Response:
    text = draw.choice(["Final answer: A", "Final answer: B", "A or B", "not sure", None])
    closed = draw.choice([None, closing("A"), closing("B"), closing(NO_ANSWER), closing("Z")]) if text else None
    given = response(f"q{draw.randrange(4)}", text, protocol="direct", repeat=at, closing=closed)
    return given.model_copy(update={"request_id": f"r{at}"})


@settings(deadline=None, max_examples=25, derandomize=True)
@given(seed=st.integers(0, 10_000), size=st.integers(1, 20))
def test_the_other_tables_are_those_without_closing_turns(
    tmp_path_factory: pytest.TempPathFactory, seed: int, size: int
) -> None:
    """And tallies that were written and merged fill the same table as all replies at once."""
    dataset = _choices(tmp_path_factory)
    responses = drawn(seed)
    report = build_report(dataset, responses, CATALOGUE)
    plain = build_report(dataset, [one.model_copy(update={"closing": None}) for one in responses], CATALOGUE)
    others = [table for table in report.tables if table.name != "closing"]
    assert (others, report.cells) == (list(plain.tables), plain.cells)
    merged = tally_replies(dataset, [], CATALOGUE)
    for part in _parts(responses, size):
        told = json.dumps(dump_tally(tally_replies(dataset, map(reply_of, part), CATALOGUE)))
        merge_tally(merged, "job", json.loads(told), dataset.benchmark)
    assert report_on_tally(dataset, merged, CATALOGUE) == report


def _parts(responses: Sequence[Response], size: int) -> Iterator[Sequence[Response]]:
    return (responses[first : first + size] for first in range(0, len(responses), size))


_KEPT: list[Dataset] = []


def _choices(folders: pytest.TempPathFactory) -> Dataset:
    """Four choices, imported once."""
    if not _KEPT:
        records = [
            {"id": f"q{at}", "image": "red.jpg", "question": "Which?", "options": list("wxyz"), "answer": at % 2}
            for at in range(4)
        ]
        _KEPT.append(ask_about(folders.mktemp("choices"), *records))
    return _KEPT[0]


def test_files_have_the_table_too(dataset: Dataset, tmp_path: Path) -> None:
    """The service's own lines, and lines of one's own that say kind and text."""
    file = tmp_path / "responses.ndjson"
    own = {"sample_id": "q1", "text": "Final answer: B", "model": MODEL, "closing": {"kind": "choice", "text": "B"}}
    service = answered("q0", "Final answer: A", closing("A")).model_dump(mode="json")
    file.write_text(f"{json.dumps(service)}\n{json.dumps(own)}\n")
    row = row_of(score_files(tmp_path / "data" / "records", file))
    assert (row["closed"], row["agree"], row["both"], row["tokens"]) == (2, 1.0, 2, 2)


def test_a_response_without_a_closing_turn_is_written_as_before(dataset: Dataset) -> None:
    """So that earlier releases read it, and earlier files are read."""
    written = response("q0", "A").model_dump_json()
    assert "closing" not in written
    assert "closing" not in JobSpec(dataset=dataset.name, models=(MODEL,)).model_dump_json()
    assert Response.model_validate_json(written).closing is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"row": 3, "column": 7}', "(3, 7)"),
        ('{"row": null, "column": null}', None),
        ('{"column": 7, "row": 3}', "(3, 7)"),
    ],
)
def test_a_cell_is_closed_by_an_object(text: str, value: str | None) -> None:
    """As the reader of free answers writes it."""
    form = AnswerForms.of(find_benchmark("ultravr")).closed_form(good_sample("ad-coordinate"), "S0")
    assert form is not None
    assert form.value_of(text) == value
    assert form.is_right("(3, 7)") and not form.is_right("(7, 3)")
    asked = form.closing("auto")
    assert asked is not None and (asked.kind, form.closing("choice")) == ("json", None)


@pytest.mark.parametrize("text", ['{"row": 3}', '{"row": "x", "column": 7}', '{"row": null, "column": 7}', "(3, 7)"])
def test_what_is_no_cell_is_refused(text: str) -> None:
    """Half a cell, too."""
    form = AnswerForms.of(find_benchmark("ultravr")).closed_form(good_sample("ad-coordinate"), "S0")
    assert form is not None
    with pytest.raises(ValueError):
        form.value_of(text)


def test_an_answer_in_prose_agrees_by_the_letter_in_it() -> None:
    """Where a benchmark reads whole texts, as VistaHop does, whose truths may be a letter or an option's words."""
    options = {"A": "Quay 4", "B": "the harbour"}
    for truth in ("B", "the harbour"):
        sample = VistaHopSample(id="s", images=("i.png",), question="Where?", options=options, answers=(truth,))
        form = option_form(sample)
        assert form is not None
        assert (form.meant("B. the harbour"), form.meant("nowhere")) == ("B", None)
        assert form.is_right("B") and not form.is_right("A")
