"""The page of a build: yields by reason, what can be guessed, what was left out, and some questions with evidence."""

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from gigavqa.construction.build_summary import BuildSummary, best_readers
from gigavqa.construction.calls.accounts import CallAccount
from gigavqa.construction.question_records import offered_texts, right_text

_MOST_EXAMPLES = 24
EvidencePicture = Callable[[Mapping[str, Any]], bytes]
"""Takes a question's record, and returns a JPEG of its evidence."""


def render_page(
    made: BuildSummary,
    records: Iterable[Mapping[str, Any]],
    picture: EvidencePicture,
    calls: Sequence[CallAccount] = (),
) -> str:
    """Return the page, which needs no other file; its examples are spread over all questions.

    `calls` are those of models that took part, which the page then names.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - an extra's package

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined
    )
    step = max(1, made.questions // _MOST_EXAMPLES)
    examples = [_example(record, picture) for record in islice(records, 0, step * _MOST_EXAMPLES, step)]
    return environment.get_template("page.html.j2").render(
        made=made,
        best=best_readers(made.guessing["after"]),
        readers=len({score["reader"] for score in made.guessing["after"]}),
        examples=examples,
        calls=calls,
    )


def _example(record: Mapping[str, Any], picture: EvidencePicture) -> dict[str, Any]:
    return {
        "id": record["id"],
        "question": record["question"],
        "choices": offered_texts(record),
        "answer": right_text(record),
        "picture": base64.b64encode(picture(record)).decode(),
    }
