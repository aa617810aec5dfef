"""What fits nothing, contradicts itself or cannot be an answer is told, and never dropped in silence."""

from pathlib import Path
from typing import Any

import pytest

from gigavqa.benchmarks.vistahop.benchmark import VistaHop
from gigavqa.benchmarks.vistahop.sidecars import Sidecars
from gigavqa.contract.jobs import JUDGE
from gigavqa.contract.responses import Response
from gigavqa.evaluation.inspection import inspect_dataset
from gigavqa.evaluation.judgements import Panel
from gigavqa.evaluation.replies import reply_of
from gigavqa.tiling.geometry import Size
from tests.benchmarks.vistahop.examples import call, chat, direct, reported, sample
from tests.benchmarks.vistahop.files import OURS, write
from tests.benchmarks.vistahop.test_judge import NO, yes
from tests.benchmarks.vistahop.test_judge import reported as judged
from tests.evaluation.responses import response
from tests.reports.tables import caveats_of, values_of

QUAY, OPEN = sample("quay"), sample("open", answers=())
OPTIONS = {"A": "Red", "B": "Blue", "C": "Green", "D": "Grey"}


def place_of(one: Response) -> tuple[str, str]:
    """Where people name a chat by."""
    return one.job_id, one.request_id


def test_people_on_a_question_without_a_truth_count_in_no_accuracy() -> None:
    """Nor among the chats that they judged; how they agree with each other is still told."""
    chats = [direct(QUAY, "1911"), direct(OPEN, "1911")]
    said = {place_of(one): (("ada", False), ("bob", False)) for one in chats}
    report = reported([QUAY, OPEN], chats, VistaHop(Sidecars(judgements=said)))
    ada = values_of(report, "by_judge", judge="annotator ada")
    assert (ada["p1"].count, ada["p1"].value, ada["judged"], ada["missing"]) == (1, 0.0, 1, 0)
    assert values_of(report, "judges", judge="annotator ada", other="annotator bob")["both"] == 2


def test_labels_of_chats_that_are_not_there_are_counted() -> None:
    """Of people's judgements and of failures; those that fit say nothing."""
    chats = [direct(QUAY, "1912")]
    slip = ("another job", chats[0].request_id)
    fitting = Sidecars(judgements={place_of(chats[0]): (("ada", True),)}, failures={place_of(chats[0]): "drift"})
    assert not any("count nowhere" in told or "counts nowhere" in told for told in _told(fitting, chats))
    beside = Sidecars(judgements={slip: (("ada", True),)}, failures={slip: "drift", place_of(chats[0]): "drift"})
    told = " ".join(_told(beside, chats))
    assert "judgements.jsonl: 1 of the chats that it names have no answer among these responses (0 have)" in told
    assert "failures.jsonl: 1 of the chats that it names have no answer among these responses (1 have)" in told


def _told(beside: Sidecars, chats: list[Response]) -> list[str]:
    return caveats_of(reported([QUAY], chats, VistaHop(beside)))


def verdict(text: str, number: int, created: str = "2026-01-01T00:00:00Z", **details: str) -> Response:
    """What a model says of an answer to the quay's question."""
    told = {"truth": "1911", "answer": "Nobody", **details}
    changes: dict[str, Any] = {"details": told, "request_id": f"j{number}", "created_at": created, "job_id": "judges"}
    return Response.model_validate(
        response("quay", text, protocol=JUDGE, model="a-judge", prompt_version="p/1").model_dump() | changes
    )


def test_verdicts_that_fit_no_answer_are_counted() -> None:
    """Of another answer and of another truth."""
    chats = [direct(QUAY, "Nobody")]
    strays = [verdict(NO, 1), verdict(NO, 2, answer="Somebody"), verdict(NO, 3, truth="1812")]
    assert "a-judge by p/1: 2 verdicts fit no answer among these responses, and count nowhere" in caveats_of(
        judged([QUAY], chats, strays)
    )
    assert not any("fit no answer" in told for told in caveats_of(judged([QUAY], chats, strays[:1])))


@pytest.mark.parametrize("order", [1, -1])
def test_of_contradicting_verdicts_the_earlier_counts_in_any_order(order: int) -> None:
    """And the report says so."""
    both = [verdict(NO, 1, "2026-01-02T00:00:00Z"), verdict(yes(), 2, "2026-01-01T00:00:00Z")]
    report = judged([QUAY], [direct(QUAY, "Nobody")], both[::order])
    assert values_of(report, "table4")["p1"].value == 1.0
    assert "a-judge by p/1: said yes and no of 1 case; the earlier verdict counts" in caveats_of(report)


def test_a_panel_counts_strays_anew_for_every_report() -> None:
    """What an earlier report asked about fits nothing in one over other answers."""
    panel = Panel.of(map(reply_of, [verdict(NO, 1)]), VistaHop().read_judgement)
    (first,), (second,) = panel.called().judges, panel.called().judges
    first.of(VistaHop().cases(QUAY, reply_of(direct(QUAY, "Nobody"))))
    assert (len(first.asked), len(second.asked)) == (1, 0)


def test_more_rounds_than_the_limit_are_told() -> None:
    """Utilization is then no share."""
    report = reported(
        [QUAY], [chat(QUAY, "1911", [call()] * 5, limit=2), chat(QUAY, "1911", [call()], repeat=1, limit=2)]
    )
    assert any("1 of 2 chats went on for more rounds than N = 2 allows" in told for told in caveats_of(report))


@pytest.mark.parametrize(("answer", "is_refused"), [("E", True), ("Blue", True), (2, True), ("B", False), ("b", False)])
def test_a_truth_that_is_no_letter_of_the_options_is_an_error(tmp_path: Path, answer: Any, is_refused: bool) -> None:
    """Options may be a list, too."""
    for at, options in enumerate((OPTIONS, [*OPTIONS.values()])):
        folder = write(tmp_path / f"harbours{at}", [OURS | {"options": options, "answers": [answer]}])
        errors = [str(one) for one in inspect_dataset(folder, lambda image, show: Size(100, 100)).errors]
        told = [error for error in errors if "none of the answers that the prompt asks for: A, B, C, D" in error]
        assert bool(told) == is_refused, errors


def test_without_options_letters_are_asked_for_where_the_data_set_says_so(tmp_path: Path) -> None:
    """A year is then no answer."""
    folder = write(tmp_path / "harbours", [OURS], '[answers]\nkind = "letter"\n')
    errors = [str(one) for one in inspect_dataset(folder, lambda image, show: Size(100, 100)).errors]
    assert any("answer '1911' is none of the answers that the prompt asks for: A, B" in error for error in errors)
