"""Questions about small documents, replies to them, and the report of both."""

from collections.abc import Iterable, Mapping
from typing import Any

from gigavqa.benchmarks.mmcr.benchmark import MMCR
from gigavqa.benchmarks.mmcr.samples import MMCRSample
from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import JobSpec
from gigavqa.contract.responses import Response
from gigavqa.evaluation.datasets import Dataset
from gigavqa.reports.report import Report, build_report
from tests.evaluation.responses import response

COLOURS = {"A": "Red.", "B": "Blue.", "C": "Green.", "D": "Grey.", "E": "None."}
MODEL = "qwen3-vl-8b"
LETTERS = "ABCDE"


def question(name: str, kind: str = "table", answer: str = "A", **changes: Any) -> MMCRSample:
    """A question about a document of three pages."""
    document = changes.get("document", "tides")
    fields = {
        "id": name,
        "document": document,
        "subject": "vision",
        "type": kind,
        "images": tuple(f"images/{document}/{page}.png" for page in (1, 2, 3)),
        "question": "Which colour?",
        "options": COLOURS,
        "answer": answer,
    }
    return MMCRSample.model_validate({**fields, **changes})


def dataset_of(questions: Iterable[MMCRSample], benchmark: MMCR | None = None) -> Dataset:
    """A data set that lies in no file."""
    return Dataset("papers", benchmark or MMCR(), "Papers", "", tuple(questions), "0" * 64)


def reply(sample: MMCRSample, protocol: str, text: str | None, condition: str = "V2", **changes: Any) -> Response:
    """A recorded response to a question under a protocol; None is a failure."""
    model, repeat = changes.setdefault("model", MODEL), changes.get("repeat", 0)
    identity = f"{sample.id}:{protocol}-{condition}:{model}:{repeat}"
    return response(sample.id, text, condition, request_id=identity, protocol=protocol, **changes)


def right(sample: MMCRSample, rotation: int) -> str:
    """The letter under which a rotation shows the right option."""
    return LETTERS[sample.order(rotation).index(sample.answer)]


def wrong(sample: MMCRSample, rotation: int) -> str:
    """The letter under which a rotation shows the option behind the right one."""
    order = sample.order(rotation)
    other = sample.letters[(sample.letters.index(sample.answer) + 1) % len(order)]
    return LETTERS[order.index(other)]


def answers(sample: MMCRSample, pattern: str, family: str = "N", **changes: Any) -> list[Response]:
    """Replies by rotation: `+` right, `-` wrong, `?` unmatched, `!` refused, `x` failed, a blank for none."""
    said = {"?": "Hm.", "!": "I cannot see the image.", "x": None}
    texts = [
        right(sample, k) if mark == "+" else wrong(sample, k) if mark == "-" else said.get(mark)
        for k, mark in enumerate(pattern)
    ]
    return [
        reply(sample, f"{family}{k}", text, **changes)
        for k, (mark, text) in enumerate(zip(pattern, texts, strict=True))
        if mark != " "
    ]


def reported(
    questions: Iterable[MMCRSample],
    patterns: Mapping[str, str] | Iterable[Response],
    benchmark: MMCR | None = None,
    *specs: JobSpec,
) -> Report:
    """The report of replies, or of patterns by the question's id."""
    questions = [*questions]
    if isinstance(patterns, Mapping):
        by_id = {one.id: one for one in questions}
        replies = [reply for name, pattern in patterns.items() for reply in answers(by_id[name], pattern)]
    else:
        replies = [*patterns]
    return build_report(dataset_of(questions, benchmark), replies, load_catalogue(), *specs)
