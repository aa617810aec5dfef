"""What a benchmark that brings nothing of its own is given: how records are read, judged and reported."""

from typing import Any, NamedTuple

import pytest

from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import Cell, JobSpec
from gigavqa.contract.responses import Failure, Response
from gigavqa.evaluation.benchmark import Benchmark, Chat, RecordContext, Scene, cross_plan
from gigavqa.evaluation.capabilities import PaperSettings, RecordLayout
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.expansion import decoding_of
from gigavqa.evaluation.metrics.accuracy import Grouping
from gigavqa.evaluation.records import Record
from gigavqa.evaluation.replies import reply_of
from gigavqa.evaluation.samples import Sample
from gigavqa.evaluation.verdicts import ReplyJudge, Verdict
from gigavqa.reports.report import Report, build_report, tally_replies
from gigavqa.reports.tallies import dump_tally, merge_tally
from tests.evaluation.responses import MODEL, response
from tests.reports.tables import table_of, value_of


class Quiz(Sample):
    """A question of one's own."""

    answer: str = ""
    place: str = ""
    kind: str = ""

    @property
    def truth(self) -> str:
        """The right letter."""
        return self.answer

    @property
    def groups(self) -> dict[str, str]:
        """Where it plays, and of what kind it is."""
        return {"place": self.place, "kind": self.kind}


class Quizzes(Benchmark[Quiz]):
    """All defaults, over balanced places."""

    name = title = "quiz"
    sample_type = Quiz
    plans = {"quiz": cross_plan("ask", "V2 V0")}  # noqa: RUF012
    protocols = {"ask": "directly"}  # noqa: RUF012
    grouping = Grouping(("place", "kind"), balanced=True)

    def ask(self, sample: Quiz, cell: Cell, scene: Scene) -> Chat:
        """Nobody is asked here."""
        raise NotImplementedError


SAMPLES = [("p1", "park", "count"), ("p2", "park", "count"), ("p3", "park", "colour"), ("s1", "sea", "count")]


def report_of(*responses: Response, samples: list[tuple[str, str, str]] = SAMPLES) -> Report:
    """The report on responses to questions whose answer is A."""
    options = {"A": "one", "B": "two"}
    quizzes = (
        Quiz(id=name, question="?", options=options, answer="A", place=place, kind=kind)
        for name, place, kind in samples
    )
    dataset = Dataset("tiny", Quizzes(), "Tiny", "", tuple(quizzes), "0" * 64)
    return build_report(dataset, responses, load_catalogue())


def said(name: str, letter: str, condition: str = "V2", **changes: Any) -> Response:
    """An answer to one question."""
    identity = f"{name}-{condition}-{changes.get('model', MODEL)}"
    return response(name, f"Final answer: {letter}", condition, protocol="ask", request_id=identity, **changes)


def read(value: Any, **place: Any) -> list[dict[str, Any]]:
    """The fields of a record, of which there may be others in its file."""
    return list(Quizzes().read(Record(value, 1, 4, **place), RecordContext("walks", {"walks": "images/walks.png"})))


def test_accuracies_stand_by_cell_and_group() -> None:
    """Parks 1 of 3, the sea 1 of 1: their mean is 2/3; of the parks' counts one of two is right, of colours none."""
    report = report_of(said("p1", "A"), said("p2", "B"), said("p3", "B"), said("s1", "A"), said("s1", "B", "V0"))

    assert value_of(report, "accuracy", "ask V2").value == pytest.approx(2 / 3)
    assert value_of(report, "accuracy", "ask V0").value == 0.0
    parts = [value_of(report, "accuracy_groups", "ask V2", place="park", kind=kind) for kind in ("count", "colour")]
    assert [(part.value, part.count) for part in parts] == [(0.5, 2), (0.0, 1)]
    rows = table_of(report, "accuracy_groups").rows
    assert [tuple(row.keys.values())[1:] for row in rows] == [
        ("park",), ("park", "count"), ("park", "colour"), ("sea",), ("sea", "count"),
    ]  # fmt: skip


def test_several_models_have_a_mean() -> None:
    """One is right, one is wrong: a half over two models."""
    mean = value_of(report_of(said("s1", "A"), said("s1", "B", model="other")), "accuracy", "ask V2", model="mean")

    assert (mean.value, mean.count) == (0.5, 2)


def test_samples_of_no_group_have_no_row_and_no_column_of_a_group() -> None:
    """They count in the accuracy over all."""
    report = report_of(said("n1", "A"), samples=[("n1", "", "")])

    assert value_of(report, "accuracy", "ask V2").value == 1.0
    assert table_of(report, "accuracy_groups").rows == ()
    assert all(group.title for group in table_of(report, "cells").groups)


def test_a_chat_that_outgrew_its_context_is_wrong_and_a_failure_is_left_out() -> None:
    """As of any benchmark's."""
    full = Failure(type="ChatOverflowError", message="full", by_model=True)
    report = report_of(
        said("p1", "A"),
        response("p2", None, protocol="ask", request_id="p2", failure=full),
        response("p3", None, protocol="ask", request_id="p3"),
    )

    found = value_of(report, "accuracy_groups", "ask V2", place="park", kind="count")
    assert (found.value, found.count) == (0.5, 2)
    (cell,) = report.cells
    assert (cell.answered, cell.overflowed) == (2, 1)


def test_a_record_has_the_samples_own_fields() -> None:
    """One image by its name or the file's, a number for an id, and other keys beside them."""
    (fields,) = read({"question": "?", "answer": "A", "author": "K.", "image": "images/a.png"})
    (bare,) = read({"question": "?"}, alone=True)

    assert fields == {
        "id": "walks-5",
        "images": ["images/a.png"],
        "question": "?",
        "answer": "A",
        "extra": {"author": "K."},
    }
    assert (bare["id"], bare["images"]) == ("walks", ["images/walks.png"])


def test_a_sample_is_written_as_the_record_that_it_was() -> None:
    """So that an import and a look at it lose nothing."""
    record = {"id": "a", "images": ["images/a.png"], "question": "?", "options": {"A": "one"}, "answer": "A", "n": 1}
    (fields,) = read(record)
    written = RecordLayout.of(Quizzes()).record(Quiz.model_validate(fields))

    assert record.items() <= written.items()
    assert Quiz.model_validate(*read(written)) == Quiz.model_validate(fields)


def test_a_record_that_is_no_object_is_refused() -> None:
    """In the words of JSON."""
    with pytest.raises(ValueError, match="a record must be a JSON object, not list"):
        read([1, 2])


def test_a_benchmark_may_decode_as_its_paper_does() -> None:
    """Over the model's own decoding, with no longer answers than the model's, and beneath the job's own sampling."""

    class Greedy(Quizzes, PaperSettings):
        decoding = {"temperature": 0.0, "max_tokens": 8192}  # noqa: RUF012

    entry = load_catalogue()[MODEL]
    brief = entry.model_copy(update={"decoding": entry.decoding.model_copy(update={"max_tokens": 64})})
    spec = JobSpec(dataset="quiz", models=(MODEL,))
    warm = spec.model_copy(update={"sampling": {"temperature": 1.0, "max_tokens": 9000}})

    plain, own = (PaperSettings.of(benchmark).decoding for benchmark in (Quizzes(), Greedy()))
    assert decoding_of(entry, plain, spec) == entry.decoding
    paper, short, asked = (decoding_of(one, own, of) for one, of in ((entry, spec), (brief, spec), (entry, warm)))
    assert (paper.temperature, paper.max_tokens, paper.top_k) == (0.0, 8192, entry.decoding.top_k)
    assert short.max_tokens == 64
    assert (asked.temperature, asked.max_tokens) == (1.0, 9000)


class Answered(NamedTuple):
    """What a benchmark may keep of a reply."""

    letter: str


def test_what_verdicts_keep_is_found_by_repeat() -> None:
    """A tally that was written and merged again knows it, too, so that cells can be joined within a repeat."""
    kept = {0: Answered("B"), 1: Answered("A")}

    class Keeping(Quizzes):
        details_type = Answered

        def judge(self, sample: Quiz) -> ReplyJudge[Any]:
            return lambda reply, frame: Verdict("A", "exact", float(reply.repeat), kept[reply.repeat])

    quiz = Quiz(id="p1", question="?", options={"A": "one", "B": "two"}, answer="A")
    dataset = Dataset("quiz", Keeping(), "quiz", "", (quiz,), "0")
    replies = [reply_of(response("p1", "A", protocol="ask", repeat=repeat)) for repeat in kept]
    told = tally_replies(dataset, replies, load_catalogue())
    merged = tally_replies(dataset, (), load_catalogue())
    merge_tally(merged, "a job", dump_tally(told), Keeping())

    for tally in (told, merged):
        repeats = tally.frame().by_repeat().items()
        found = [(repeat, list(one.details), list(one.means(1))) for (_, repeat), one in repeats]
        assert found == [(0, [Answered("B")], [0.0]), (1, [Answered("A")], [1.0])]
