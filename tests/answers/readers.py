"""Everything that reads what a model wrote, found by benchmarks, their protocols and samples."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from gigavqa.answers.boxes import BoxFrame
from gigavqa.benchmarks.questions.samples import Question
from gigavqa.contract.jobs import Cell
from gigavqa.contract.responses import TurnResponse
from gigavqa.contract.tool_loops import CALL_GRAMMARS, SearchTool, ToolErrors, ToolLoop, ZoomTool
from gigavqa.evaluation.benchmark import Benchmark, Scene
from gigavqa.evaluation.capabilities import CellRules, JobOptions, judgement_reader
from gigavqa.evaluation.installed import find_benchmark
from gigavqa.evaluation.replies import reply_of
from gigavqa.evaluation.samples import Sample
from gigavqa.evaluation.verdicts import ReplyJudge
from gigavqa.tiling.geometry import Size
from gigavqa.workers.tools.calls import find_call
from tests.benchmarks.atombench import questions as atoms
from tests.benchmarks.mmcr.examples import question
from tests.benchmarks.ultravr.good_records import GOOD, sample_from
from tests.benchmarks.vistahop.examples import sample as chain
from tests.evaluation.responses import response


class Reader(NamedTuple):
    """Reads one text, as often as `texts` says: in every turn of a chat."""

    name: str
    read: Callable[[str], object]
    texts: int = 1


def _questions() -> Iterator[Question]:
    told = {"images": ("a.jpg",), "question": "Which?"}
    letters = {"options": dict(zip("ABC", ("red", "green", "a blue band"), strict=True)), "answers": ("A",)}
    answers = {"yes_no": ("yes",), "number": ("3",), "text": ("a red roof",), "open": ()}
    coloured = {**told, "question": "Which colour is the roof of the house on the left?"}
    yield Question.model_validate({"id": "choice", "kind": "choice", **coloured, **letters})
    for name, texts in {"numbers": ("3", "4", "5"), "verbs": ("She reads", "本を読んでいる", "책을 읽고 있다")}.items():
        asked = {"options": dict(zip("ABC", texts, strict=True)), "answers": ("A",)}
        yield Question.model_validate({"id": name, "kind": "choice", **told, **asked})
    yield Question.model_validate({"id": "choices", "kind": "choices", **coloured, **letters})
    for kind, answer in answers.items():
        question = {"question": _ASKED[kind]} if kind in _ASKED else {}
        yield Question.model_validate({"id": kind, "kind": kind, **told, **question, "answers": answer})


_ASKED = {"yes_no": "Are there any red cars in the image?", "number": "How many red cars are on the left?"}
"""What replies are read by, where they say several things."""


def examples() -> Mapping[str, Sequence[Sample]]:
    """Samples of every benchmark, of every kind that is read differently."""
    return {
        "atombench": [atoms.clue("a", 1), atoms.conclusion("a", 1)],
        "mmcr": [question("q")],
        "questions": [*_questions()],
        "ultravr": [sample_from(record) for record in GOOD.values()],
        "vistahop": [
            chain(),
            chain("crane", answers=("A",), options=dict(zip("ABCD", ("red", "green", "blue", "grey"), strict=True))),
        ],
    }


def _asked(
    benchmark: Benchmark[Any, Any], sample: Sample, samples: Sequence[Sample]
) -> Iterator[tuple[str, tuple[str | None, ...]]]:
    """Each protocol that applies to a sample, with what its turns ask."""
    choices, rules = JobOptions.of(benchmark), CellRules.of(benchmark)
    shared = choices.prepare(samples, choices.options(), 0)
    scene = Scene(sample.images, lambda image: Size(64_000, 64_000), "seed", shared=shared)
    for protocol in benchmark.protocols:
        rounds = 2 if protocol in rules.loops else None
        for condition in benchmark.conditions:
            cell = Cell(protocol=protocol, condition=condition, rounds=rounds)
            if rounds is None and rules.applies(sample, cell):
                yield protocol, tuple(turn.asks for turn in benchmark.ask(sample, cell, scene).turns)
                break
        else:
            yield protocol, (None,)


def judges() -> Iterator[Reader]:
    """A reader for every benchmark, sample and protocol: what judges a reply whose every turn is the text."""
    for name in examples():
        benchmark = find_benchmark(name)
        yield Reader(f"{name} judgement", judgement_reader(benchmark))
        for sample in examples()[name]:
            judge = benchmark.judge(sample)
            for protocol, asks in _asked(benchmark, sample, examples()[name]):
                yield Reader(f"{name} {sample.id} {protocol}", partial(_judged, judge, protocol, asks), len(asks))


def _judged(judge: ReplyJudge, protocol: str, asks: Sequence[str | None], text: str) -> object:
    turns = tuple(TurnResponse(text=text, finish_reason="stop", asks=step) for step in asks)
    reply = reply_of(response("read", text, protocol=protocol, turns=turns))
    return judge(reply, BoxFrame()).tell()


def calls() -> Iterator[Reader]:
    """A reader for every grammar of calls."""
    errors = ToolErrors(arguments="", unknown="", box="", query="")
    tools = (ZoomTool(name="zoom", before="", after=""), SearchTool(name="search", source="s", found="", nothing=""))
    for name, fields in CALL_GRAMMARS.items():
        loop = ToolLoop(tools=tools, errors=errors, max_rounds=2, **fields)
        yield Reader(f"calls {name}", partial(find_call, loop=loop))
