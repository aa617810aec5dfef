"""Changes drawn data sets and responses, by seed, to what their own drawing leaves out.

Other wordings of answers and other kinds of options, closing turns, copies of a response in several jobs, other
engines, decoding, prompts and views, lines of somebody's own, and what may be wrong with single turns.
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from tests.scorers.responses import Asked, Line, Made, response, stamp, turn

OTHER_MODELS = ("demo-qwen3-vl", "demo-sight", "deepseek-vl2", "some-other-model")
"""Models of random weights, of one benchmark, of few pictures, and one that nobody knows."""
_WORDINGS = (
    "The answer is {one}.", "**{one}**", "\\boxed{{{one}}}", "Final answer: {one}", "({one}) fits best.",
    "Not {other}; hence {one}.", "{one} or {other}", "{one}, {other}", "I think {one}. No, wait: {other}.",
    "Option {one} is right, the others are not.", '{{"answer": "{one}"}}', "I cannot answer this question.",
    "{word}", "It is {word}.", "Either {word} or {other}.", "None of them.", "{one}\n\nFinal answer: {other}",
)  # fmt: skip
_CHAINS = ("{word}", "The answer is {word}.", "<answer>{word}</answer><answer>{other}</answer>", "<answer></answer>",
           "**{word}**", "{word} or {other}", "<answer>{one}</answer>")  # fmt: skip
_CLOSED: Mapping[str, Sequence[tuple[str, str]]] = {
    "choice": (("choice", "{one}"), ("choice", "{other}"), ("json", '{{"answer": "{one}"}}'), ("number", "7")),
    "yes_no": (("boolean", "true"), ("boolean", "false"), ("json", '{{"answer": true}}'), ("choice", "{one}")),
    "number": (("number", "7"), ("number", "12.5"), ("json", '{{"answer": 1300}}'), ("choice", "{one}")),
    "cell": (("json", '{{"row": 2, "column": 3}}'), ("json", '{{"row": null, "column": null}}'), ("json", "(2, 3)")),
}
"""Kinds of closing turns and what is said in them, by what is asked for; the last of each kind is of another form."""
_PIXELS = 9000
_Key = TypeVar("_Key", bound=tuple[str | int, ...])


def vary(made: Made, seed: int) -> Made:
    """Change a drawn data set and the responses to it."""
    draw = random.Random(seed)
    records = [_vary_record(draw, made.benchmark, record) for record in made.records]
    by_id = {record["id"]: record for record in records}
    renamed = {"some-other-model": draw.choice(OTHER_MODELS), "somebodys/model": draw.choice(OTHER_MODELS)}
    closed, gone = _some(draw, made, _cell, 0.5), _some(draw, made, _repeat, 0.06)
    stubborn = {one: draw.choice(_STUBBORN) for one in _some(draw, made, _pair, 0.06)}
    lines = list[Line]()
    for line in (line for line in made.lines if _repeat(line) not in gone):
        record = by_id.get(line["sample_id"], {})
        told = _vary_line(draw, made.benchmark, line, record) | {"model": renamed.get(line["model"], line["model"])}
        if _pair(line) in stubborn and told["turns"]:
            told["turns"] = [*told["turns"][:-1], told["turns"][-1] | {"text": stubborn[_pair(line)]}]
        if _cell(line) in closed and line["turns"] and draw.random() < 0.8:
            told["closing"] = _closing(draw, record)
        lines.append(told)
    lines += _of_other_jobs(draw, lines)
    lines += _of_ones_own(draw, made.benchmark, records) if made.benchmark != "acuity" else []
    return made._replace(records=records, lines=lines)


_STUBBORN = ("I cannot answer this question.", "Nobody knows.", "A", "B")
"""What is said of a question however often it is asked."""


def _some(draw: random.Random, made: Made, key: Callable[[Line], _Key], share: float) -> list[_Key]:
    """Choose a share of what responses have as keys, in their order."""
    return [one for one in sorted({key(line) for line in made.lines}) if draw.random() < share]


def _cell(line: Line) -> tuple[str, str, str]:
    return line["model"], line["protocol"], line["condition"]


def _repeat(line: Line) -> tuple[str, str, str, int]:
    return *_cell(line), line["repeat"]


def _pair(line: Line) -> tuple[str, str]:
    return line["model"], line["sample_id"]


def _vary_record(draw: random.Random, benchmark: str, record: Line) -> Line:
    """Give some questions other options: more of them, none where a cell is asked for, or some in a chain of hops."""
    record = dict(record)
    if benchmark == "ultravr":
        record["reasoning_supervision"] = _with_other_steps(draw, record["reasoning_supervision"])
        if record["domain"] == "ad" and draw.random() < 0.5:
            del record["options"]
            record["answer"] = "(2, 3)"
        elif draw.random() < 0.3:
            record["options"] = record["options"] | {"E": "a brown fence"}
    if benchmark == "vistahop" and draw.random() < 0.85:
        known = [*record["answers"], "Nobody knows", "Elsewhere"]
        record["options"] = dict(zip("ABCD", known, strict=False))
    return record


def _with_other_steps(draw: random.Random, supervision: Line) -> Line:
    """Ask for words in some of the steps."""
    forms: Mapping[str, Any] = {
        "single_choice": "left", "multiple_choice": "left", "multi_select": ["left", "right"], "short_text": "left",
    }  # fmt: skip
    steps = [dict(step) for step in supervision["steps"]]
    for step in steps:
        if draw.random() < 0.2:
            form = draw.choice([*forms])
            step |= {"answer_format": form, "ground_truth": forms[form], "options": ["left", "right", "above"]}
    return supervision | {"steps": steps}


def _vary_line(draw: random.Random, benchmark: str, line: Line, record: Line) -> Line:
    turns = [_vary_turn(draw, one) for one in line["turns"]]
    if turns and draw.random() < 0.35 and turns[-1]["finish_reason"] == "stop" and "call" not in turns[-1]:
        turns[-1]["text"] = _wording(draw, benchmark, record)
    if turns and draw.random() < 0.02:
        turns[-1]["finish_reason"] = "abort"
    told = {**line, "turns": turns, "prompt_version": draw.choice(("asked/1", "asked/1", "asked/2"))}
    told |= {"queued_seconds": draw.randrange(50) / 3, "rendering_seconds": draw.randrange(50) / 7}
    told["engine"] = draw.choices([line["engine"], *_ENGINES], (30, *(1 for _ in _ENGINES)))[0]
    if turns and draw.random() < 0.04:
        told |= draw.choice(({}, {"engine": _ENGINES[-1]}))
        turns[-1] |= {"finish_reason": "length", "usage": draw.choice(_SHORT)}
    if draw.random() < 0.05:
        told["sampling"] = {"temperature": 0.7, "max_tokens": 128, "seed": 7}
    if "rasters" not in line and record and line["condition"] != "V0":
        told["rasters"] = _rasters(draw, record, line["condition"])
    return told


def _vary_turn(draw: random.Random, answer: Line) -> Line:
    """Say something else in some steps, and how long each answer took."""
    fault = draw.choice(_STEP_FAULTS) if "asks" in answer and draw.random() < 0.15 else {}
    seconds = {"queued": draw.randrange(9) / 8, "prefill": 0.25, "decode": draw.randrange(99) / 7}
    return {**answer, **fault, "timings": seconds}


_STEP_FAULTS: Sequence[Line] = (
    {"text": "", "finish_reason": "content_filter"},
    {"text": "", "usage": {"prompt_tokens": 9, "completion_tokens": 0}},
    {"finish_reason": "length", "text": "It is clearly"},
    *({"text": text} for text in ("left", '"left"', '["right", "left"]', "[0.1, 0.1, 0.3, 0.3]", "3 or 4",
                                  "[[100, 100, 300, 300]]", "I cannot see it.")),
)  # fmt: skip
_SHORT = (
    {"prompt_tokens": 100, "completion_tokens": 20},
    {"prompt_tokens": 8170, "completion_tokens": 20},
    {"prompt_tokens": 100, "completion_tokens": 20, "reasoning_tokens": 30},
)
"""Tokens of answers that end for their length before the job's limit, some of them where a context is full."""
_REMOTE = {"endpoint": "https://models.example", "model": "theirs", "dialect": "openai", "pictures": "png"}
_ENGINES: Sequence[Line] = (
    {"name": "vllm", "version": "2", "device": "cuda", "model_revision": "abc", "budget": "4 to 16384 tokens"},
    {"name": "vllm", "version": "1", "chat_template": {"enable_thinking": False}},
    {"name": "simulated", "version": "1", "simulated": True},
    {"name": "remote", "version": "", "remote": _REMOTE},
    {
        "name": "remote",
        "version": "",
        "remote": _REMOTE | {"detail": "high", "not_sent": ["temperature"], "extra": {"effort": "low"}},
    },
)


def _wording(draw: random.Random, benchmark: str, record: Line) -> str:
    """Say something that may be an answer."""
    wordings = _CHAINS if benchmark == "vistahop" else _WORDINGS
    if benchmark == "ultravr" and not record.get("options"):
        return draw.choice(("(2, 3)", "Row 2, column 3.", "(3, 2)", "Final answer: (2, 3)", "(2, 3) or (2, 4)", "B"))
    return draw.choice(wordings).format(**_choices(draw, record))


def _choices(draw: random.Random, record: Line) -> Mapping[str, str]:
    """One option and another, and what a word for the answer may be."""
    options: Mapping[str, str] = record.get("options") or dict(zip("AB", record.get("answers") or "xy", strict=False))
    letters = [*options, "B", "C"]
    one, other = draw.choice(letters), draw.choice(letters)
    return {"one": one, "other": other, "word": options.get(one, "nothing")}


def _closing(draw: random.Random, record: Line) -> Line:
    """What a closing turn was answered, or that it failed."""
    usage = {"prompt_tokens": 600, "completion_tokens": draw.randint(1, 9), "cached_tokens": draw.randint(0, 600)}
    kind, text = draw.choice(_CLOSED.get(_form_of(record), _CLOSED["choice"]))
    said = {"kind": kind, "usage": usage}
    if draw.random() < 0.1:
        return said | {"failure": {"type": "GenerationFailedError", "message": "made"}}
    text = draw.choice((text, text, text, "none", "maybe")).format(**_choices(draw, record))
    finish = draw.choice(("stop", "stop", "stop", "stop", "length"))
    return said | {"text": text, "finish_reason": finish, "prompt_version": "closing/1"}


def _form_of(record: Line) -> str:
    if record.get("domain") == "ad" and "options" not in record:
        return "cell"
    return str(record.get("question_type", "choice"))


def _of_other_jobs(draw: random.Random, lines: Iterable[Line]) -> list[Line]:
    """Copy some responses into other jobs, where they count again; of the copies some differ."""
    found = list[Line]()
    for line in lines:
        if draw.random() < 0.08:
            changed = draw.choice(({}, {"created_at": stamp(30)}, {"repeat": 3}, {"turns": [], "failure": _FAILURE}))
            found.append({**line, "job_id": draw.choice(("job-2", "job-3")), **changed})
    return found


_FAILURE = {"type": "EngineDiedError", "message": "made"}


def _of_ones_own(draw: random.Random, benchmark: str, records: Sequence[Line]) -> list[Line]:
    """Lines as somebody's own program writes them, of which several to one sample are repeats."""
    chosen = [record for record in records if draw.random() < 0.5]
    texts = [{"sample_id": record["id"], "text": _wording(draw, benchmark, record)} for record in chosen]
    return [*texts, *({**one, "model": "mine", "condition": "V0"} for one in texts if draw.random() < 0.5)]


def _rasters(draw: random.Random, record: Line, condition: str) -> list[Line]:
    """One picture, in another version of its contents or at another size now and then; sometimes many."""
    image = record.get("image") or record["images"][0]
    sizing = f"longest:{draw.choice((1024, 1024, 1024, 512))}" if condition == "V1" else "native"
    region = "10,10,80,60" if condition == "V3" else f"0,0,{_PIXELS},{_PIXELS}"
    side = 512 if sizing.endswith("512") else draw.choice((1024, 1024, 1024, 1056))
    raster = {
        "view": {"image": f"data/{image}", "sizing": sizing}, "source_size": [_PIXELS, _PIXELS],
        "source_format": "tiff", "region": region, "level": 0, "downsample": 1.0, "raster_size": [side, side],
        "visual_tokens": (side // 32) ** 2, "digest": draw.choice("0000000001"), "key": f"{image}-{region}-{side}",
    }  # fmt: skip
    return [raster] * draw.choice((1, 1, 1, 1, 1, 5))


def judges_alone(made: Made) -> Made:
    """Take what the models said that judge for the responses."""
    lines = [line for said in made.judges for line in said]
    extra = response("q0", Asked("judge-0", "judge", "V2", 1), turns=[turn("Perhaps.")], details={"truth": 1})
    return made._replace(lines=[*lines, extra], judges=())
