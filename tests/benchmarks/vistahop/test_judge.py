"""A model is asked about every different answer once, truth by truth, and what it says is joined to all replies."""

import random
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from gigavqa.benchmarks.vistahop.benchmark import VistaHop
from gigavqa.benchmarks.vistahop.model_judge import ask_judge, list_cases, read_judgement
from gigavqa.benchmarks.vistahop.samples import VistaHopSample
from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.errors import JobTooLargeError
from gigavqa.contract.jobs import JobSpec, JudgeSpec
from gigavqa.contract.requests import InferenceRequest
from gigavqa.contract.responses import Response
from gigavqa.evaluation.benchmark import Scene
from gigavqa.evaluation.errors import JudgesMixedError, JudgeUnavailableError
from gigavqa.evaluation.judge_expansion import JudgingExpansion, prepare_judging
from gigavqa.evaluation.judgements import JudgeCase, Panel
from gigavqa.evaluation.replies import reply_of
from gigavqa.reports.report import Report, build_report
from gigavqa.reports.tallies import judging_fingerprint
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.views import View
from tests.benchmarks.vistahop.examples import call, chat, dataset_of, direct, sample
from tests.evaluation.responses import MODEL, response
from tests.reports.tables import caveats_of, value_of, values_of

JUDGE_MODEL = "glm-4.5v"
FIRST, SECOND = "vistahop-judge/3", "vistahop-judge/4"
MODELS = [model for model in load_catalogue() if model not in (MODEL, JUDGE_MODEL)][:6]


def spec(prompt: str | None = None, **changes: Any) -> JobSpec:
    """A job that judges one other."""
    return JobSpec(
        dataset="harbours", models=(JUDGE_MODEL,), judge=JudgeSpec(jobs=("job_1",), prompt=prompt), **changes
    )


def judging(
    samples: Iterable[VistaHopSample], chats: Iterable[Response], of: JobSpec | None = None
) -> JudgingExpansion:
    """What a job that judges these chats asks."""
    return prepare_judging(dataset_of(samples), of or spec(), load_catalogue(), map(reply_of, chats), 1000)


def asked(
    samples: Iterable[VistaHopSample], chats: Iterable[Response], of: JobSpec | None = None
) -> list[InferenceRequest]:
    """Its requests."""
    return [request for _, request in judging(samples, chats, of).requests(lambda image: Size(100, 100))]


def said(requests: Iterable[InferenceRequest], answers: Sequence[str | None], **changes: Any) -> list[Response]:
    """What a judge replies to requests in their order; None is a failure."""
    return [
        response(request.sample_id, text, **{**labels_of(request), "job_id": "job_j", **changes})
        for request, text in zip(requests, answers, strict=True)
    ]


def labels_of(request: InferenceRequest) -> dict[str, Any]:
    """What a request hands on to its response."""
    labels = {name: value for name, value in request.labels if name != "sample_id"}
    return {**labels, "sampling": request.sampling}


def yes(reason: str = "it is") -> str:
    """A verdict in favour."""
    return f"<judge>Yes</judge>\n<reason>{reason}</reason>"


NO = "<judge>No</judge><reason>it is not</reason>"


def reported(samples: Sequence[VistaHopSample], chats: Sequence[Response], verdicts: Sequence[Response]) -> Report:
    """The report of chats that judges judged."""
    panel = Panel.of(map(reply_of, verdicts), VistaHop().read_judgement)
    return build_report(dataset_of(samples).judged_with(panel), chats, load_catalogue())


def test_what_seven_models_answer_alike_is_judged_once() -> None:
    """Over models, repeats and settings; another answer is judged beside it, whatever order they come in."""
    one, other = sample("a"), sample("b")
    chats = [
        chat(one, "the year 1911 A.D.", model=model, repeat=repeat) for model in (*MODELS, MODEL) for repeat in range(2)
    ]
    chats += [direct(one, "the year 1911 A.D."), chat(other, "the year 1911 A.D."), chat(one, "in 1912")]
    assert len({reply.model for reply in map(reply_of, chats)}) == 7
    requests = asked([one, other], chats)
    assert [(request.sample_id, request.details["answer"]) for request in requests] == [
        ("a", "in 1912"), ("a", "the year 1911 A.D."), ("b", "the year 1911 A.D."),
    ]  # fmt: skip
    assert {request.protocol for request in requests} == {"judge"}
    random.Random(3).shuffle(chats)
    assert asked([one, other], chats) == requests
    again, less = judging([one, other], chats), judging([one, other], chats[:1])
    assert again.digest == judging([one, other], chats).digest != less.digest


def test_what_needs_no_judge_is_not_asked_about() -> None:
    """An answer that is a truth to the word, none at all, a chat that ran out of rounds or context, a failure."""
    one = sample(answers=("1911", "in the year 1911"))
    settled = [
        chat(one, "1911."), chat(one, "In the Year 1911!"), chat(one, ""), chat(one, None, [call("not_run")]),
        chat(one, None, [call()], stop="context"), direct(one, None),
    ]  # fmt: skip
    with pytest.raises(JudgeUnavailableError, match="nothing to judge: every answer of job_1"):
        judging([one], settled)
    assert len(asked([one], [*settled, chat(one, "1912")])) == 2
    awaiting = sample(answers=())
    with pytest.raises(JudgeUnavailableError, match="nothing to judge"):
        judging([awaiting], [chat(awaiting, "1911")])


def test_truths_are_asked_one_by_one_and_one_yes_is_enough() -> None:
    """No is said only where all were denied; one that is missing or unreadable leaves the reply without a verdict."""
    one = sample(answers=("Norrland Works", "Norrland", "NW"))
    chats = [chat(one, "Norrlands Verk")]
    requests = asked([one], chats)
    assert sorted(str(request.details["truth"]) for request in requests) == ["NW", "Norrland", "Norrland Works"]
    cases: dict[tuple[str | None, ...], tuple[float | None, int, int]] = {
        (NO, yes(), "hm"): (1.0, 0, 0),
        (yes(), None, None): (1.0, 0, 0),
        (NO, NO, NO): (0.0, 0, 0),
        (NO, NO, "I am not sure"): (None, 1, 0),
        (NO, NO, None): (None, 0, 1),
    }
    for answers, (value, unreadable, missing) in cases.items():
        report = reported([one], chats, said(requests, answers))
        assert value_of(report, "table4", "p1").value == value, answers
        row = values_of(report, "by_judge", judge=f"{JUDGE_MODEL} by {FIRST}")
        assert (row["unreadable"], row["missing"]) == (unreadable, missing), answers
        (cell,) = report.cells
        left_out = {part.reason: part.count for part in cell.excluded}
        assert left_out == ({} if value is not None else {"no verdict of the judge that could be read": 1})


def test_a_verdict_is_the_first_between_its_tags() -> None:
    """Whatever its case and the space around it; anything else cannot be read."""
    cases = {
        "<judge>Yes</judge>": True,
        "thus\n<JUDGE>\n  no </Judge> <judge>Yes</judge>": False,
        "<judge>Yes, it is</judge><judge>No</judge>": False,
        "Yes": None,
        "<judge>maybe</judge>": None,
        "<judge>Yes": None,
        "": None,
    }
    assert {text: read_judgement(text) for text in cases} == cases


@pytest.mark.parametrize(("prompt", "place"), [(FIRST, 1), (SECOND, 0)])
def test_the_picture_stands_behind_the_text_or_before_it(prompt: str, place: int) -> None:
    """As the authors have it, or so that its prefill is shared; braces in an answer mean nothing."""
    scene = Scene(("harbours/images/quay.tif", "harbours/thumbs/a.jpg"), lambda image: Size(1, 1), "0")
    case = JudgeCase("quay", "1911", "{question} {0} in {truth}")
    asked = ask_judge(case, "When?", prompt, scene)
    (turn,) = asked.turns
    view = View(image="harbours/images/quay.tif", sizing="fit:32:65536:8294400")
    assert turn.parts.index(view) == place
    text = turn.parts[1 - place]
    assert text == "Question: When?\nCorrect answer: 1911\nGiven answer: {question} {0} in {truth}"
    assert asked.prompt_version == prompt
    assert "<judge>Yes</judge>" in (asked.system or "")


def test_a_judge_decodes_without_chance_and_within_its_own_length() -> None:
    """Temperature 0 and 8,192 tokens, or as many as the model gives; what the job says goes before."""
    one = sample()
    (request,) = asked([one], [chat(one, "1912")])
    own = load_catalogue()[JUDGE_MODEL].decoding.max_tokens
    assert (request.sampling.temperature, request.sampling.max_tokens) == (0.0, min(8192, own))
    (request,) = asked([one], [chat(one, "1912")], spec(sampling={"max_tokens": 64}))
    assert request.sampling.max_tokens == 64


def test_endless_answers_are_cut_and_too_many_refused() -> None:
    """A judge is shown twenty thousand characters; the queue bounds what a job asks."""
    one = sample()
    (case,) = list_cases(one, "x" * 30_000)
    assert len(case.answer) == 20_000
    replies = [reply_of(chat(one, f"around {year}")) for year in range(1900, 1904)]
    with pytest.raises(JobTooLargeError, match="more than 3 answers"):
        prepare_judging(dataset_of([one]), spec(), load_catalogue(), replies, 3)


def test_several_judges_stand_side_by_side_with_the_rules_and_people() -> None:
    """Scores are the first one's; every pair has its agreement and kappa, and numbers name whose they are."""
    samples = [sample(name) for name in "abcd"]
    chats = [chat(one, answer) for one, answer in zip(samples, ("1911", "about 1911", "1912", "1913"), strict=True)]
    first = said(asked(samples, chats), (yes(), NO, yes()))
    second = said(asked(samples, chats, spec(SECOND)), (yes(), NO, "hm"), job_id="job_k")
    report = reported(samples, chats, [*first, *second])
    names = [f"{JUDGE_MODEL} by {prompt}" for prompt in (FIRST, SECOND)]
    assert value_of(report, "table4", "p1").value == 0.75
    assert {name: value_of(report, "by_judge", "p1", judge=name).value for name in ("rules/2", *names)} == {
        "rules/2": 0.5, names[0]: 0.75, names[1]: 2 / 3,
    }  # fmt: skip
    pair = values_of(report, "judges", judge=names[0], other=names[1])
    assert (pair["both"], pair["unreadable"]) == (3, 1)
    rules = {key: value_of(report, "judges", key, judge="rules/2", other=names[0]) for key in ("agreement", "kappa")}
    assert (rules["agreement"].value, rules["kappa"].value) == (0.75, 0.5)
    assert report.versions["judge"] == ", ".join(names)
    table = report.table("table4")
    assert table is not None
    assert f"Judged by {names[0]}." in table.caption
    assert caveats_of(report)[0] == f"right and wrong are by {names[0]}; beside it {names[1]}"
    assert not any("rules/2, without any model" in told for told in caveats_of(report))


def test_a_judge_of_its_own_answers_is_warned_of() -> None:
    """So are verdicts of an engine that is simulated, and requests that failed."""
    samples = [sample("a"), sample("b")]
    chats = [chat(one, "1912", model=JUDGE_MODEL) for one in samples]
    verdicts = said(asked(samples, chats), (NO, None))
    told = caveats_of(reported(samples, chats, verdicts))
    assert f"{JUDGE_MODEL} by {FIRST} judges answers of its own, too, which models may favour" in told
    assert f"{JUDGE_MODEL} by {FIRST}: 1 request brought no verdict" in told
    others = caveats_of(reported(samples, [chat(one, "1912") for one in samples], verdicts))
    assert not any("of its own" in one for one in others)


def test_what_is_judged_with_and_without_a_model_is_never_mixed() -> None:
    """Tallies that are kept know by whom they were judged, to the verdict."""
    samples = [sample()]
    chats = [chat(samples[0], "1912")]
    panels = [
        Panel.of(map(reply_of, said(asked(samples, chats), (text,))), VistaHop().read_judgement)
        for text in (yes(), NO, NO)
    ]
    catalogue: dict[str, CatalogueEntry] = {}
    plain, kind, harsh, again = (
        judging_fingerprint(dataset_of(samples).judged_with(one), catalogue) for one in (Panel(), *panels)
    )
    assert len({plain, kind, harsh}) == 3
    assert harsh == again
    assert plain == judging_fingerprint(dataset_of(samples), catalogue)


def test_responses_of_judges_are_no_answers() -> None:
    """Alone they tell what was said; among others, or in their place, they are refused."""
    samples = [sample()]
    chats = [chat(samples[0], "1912"), chat(samples[0], "1913"), chat(samples[0], "1914")]
    verdicts = said(asked(samples, chats), (yes(), "hm", None))
    report = build_report(dataset_of(samples), verdicts, load_catalogue())
    assert [table.name for table in report.tables] == ["judgements", "cells"]
    found = values_of(report, "judgements", model=JUDGE_MODEL)
    assert {name: found[name] for name in ("yes", "no", "unreadable", "failed")} == {
        "yes": 1, "no": 0, "unreadable": 1, "failed": 1,
    }  # fmt: skip
    with pytest.raises(JudgesMixedError):
        build_report(dataset_of(samples), [*chats, *verdicts], load_catalogue())
    with pytest.raises(JudgesMixedError):
        Panel.of(map(reply_of, chats), VistaHop().read_judgement)
