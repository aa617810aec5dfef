"""Draws questions of every kind, as people of their own have them, and responses to them, by seed."""

import random
from collections.abc import Mapping, Sequence

from tests.scorers.responses import Asked, Line, Made, copies, failed, outgrown, response, turn

KINDS = ("choice", "choice", "choice", "choices", "yes_no", "number", "text", "open")
CATEGORIES = ("counting", "colour", "place", "")
MODELS = ("qwen3-vl-8b", "gpt-5.5", "some-other-model")
CELLS = (
    ("direct", "V2"), ("direct", "V0"), ("direct", "V1"), ("direct", "V3"), ("step-by-step", "V2"), ("own", "V2"),
)  # fmt: skip
WORDS = ("a heron", "a barge", "the lock", "two cranes", "a weir", "a ferry")
TEMPLATE = 'version = "mine/1"\nprompt = """{shown}\n\n{question}\n\n{options}\n\n{form}"""\n'


def make(seed: int) -> Made:
    """Draw questions, some of which lack an answer, responses to them, and often a prompt of their own."""
    draw = random.Random(seed)
    records = [_record(draw, number, draw.choice(KINDS)) for number in range(draw.randint(10, 24))]
    beside = {"prompt.toml": TEMPLATE} if draw.random() < 0.7 else {}
    return Made("questions", records, _responses(draw, records, bool(beside)), beside)


def _record(draw: random.Random, number: int, kind: str) -> Line:
    options = dict(zip("ABCDEFGHIJ", draw.sample(WORDS, draw.randint(2, 6)), strict=False))
    answer = _truth(draw, kind, list(options))
    groups = {name: draw.choice(values) for name, values in _GROUPS.items() if draw.random() < 0.8}
    evidence = [{"image": 0, "region": "10,10,80,60"}] if draw.random() < 0.5 else []
    tolerances: Mapping[str, Line] = {"number": draw.choice(({}, {"tolerance": 1.0}, {"relative_tolerance": 0.1}))}
    return {
        "id": f"q{number}", "images": [f"images/{draw.choice('abc')}.jpg"], "question": f"What is number {number}?",
        "question_type": kind, "category": draw.choice(CATEGORIES), "groups": groups, "evidence": evidence,
        **({"options": options} if kind in ("choice", "choices") else {}), **tolerances.get(kind, {}),
        **({"answer": answer} if kind not in ("text", "open") else {"answer_text": answer}),
    }  # fmt: skip


_GROUPS = {"split": ("dev", "test"), "level": ("1", "2", "3")}


def _truth(draw: random.Random, kind: str, letters: list[str]) -> str | Sequence[str]:
    if draw.random() < 0.08:
        return ""
    several = sorted(draw.sample(letters, draw.randint(2, len(letters))))
    return {
        "choice": draw.choice(letters),
        "choices": several,
        "yes_no": draw.choice(("yes", "no")),
        "number": draw.choice(("7", "12.5", "0", "1300")),
        "text": draw.choice(("heron", ["heron", "a grey heron"])),
        "open": draw.choice(("", "Because the lock is shut.")),
    }[kind]


def _responses(draw: random.Random, records: list[Line], has_own: bool) -> list[Line]:
    lines = list[Line]()
    for model in [model for model in MODELS if draw.random() < 0.85] or [MODELS[2]]:
        skill, repeats = draw.uniform(0.2, 0.9), draw.randint(1, 3)
        for protocol, condition in [CELLS[0], *(cell for cell in CELLS[1:] if draw.random() < 0.6)]:
            missing = draw.choice((0, 0, 0.1, 0.4))
            for repeat in range(draw.choice((repeats, repeats, 1))):
                for record in records if has_own or protocol != "own" else ():
                    if draw.random() >= missing and (record["evidence"] or condition != "V3"):
                        said = _reply(draw, record, skill)
                        lines.append(response(record["id"], Asked(model, protocol, condition, repeat), **said))
    lines.append(response("unknown-sample", Asked(lines[0]["model"], "direct", "V2"), turns=[turn("A")]))
    by_id = {record["id"]: record for record in records}
    again = {at: _reply(draw, by_id[line["sample_id"]], 0.5)
             for at, line in enumerate(lines[:-1]) if draw.random() < 0.03}  # fmt: skip
    lines = copies(draw, lines, again)
    draw.shuffle(lines)
    return lines


def _reply(draw: random.Random, record: Line, skill: float) -> Line:
    form = draw.choices(_FORMS, (20, 10, 6, 3, 3, 1, 1, 1, 1, 1, 1))[0]
    if form in ("failed", "outgrown"):
        return failed() if form == "failed" else outgrown()
    said = _answer(draw, record, skill)
    text, finish = {
        "bare": (said, "stop"),
        "announced": (f"Let us see.\nFinal answer: {said}", "stop"),
        "prose": (f"I would say {said}.", "stop"),
        "worded": (draw.choice(WORDS), "stop"),
        "ambiguous": (f"{said} or {_answer(draw, record, 0)}", "stop"),
        "abstained": ("Final answer: not sure", "stop"),
        "empty": ("", "stop"),
        "cut": (f"Final answer: {said}", "length"),
        "filtered": ("", "content_filter"),
    }[form]
    return {"turns": [turn(text, finish)]}


_FORMS = ("bare", "announced", "prose", "worded", "ambiguous", "abstained", "empty", "cut", "filtered", "failed",
          "outgrown")  # fmt: skip


def _answer(draw: random.Random, record: Line, skill: float) -> str:
    """A right answer or another one of the same kind, as it is written in a reply."""
    kind, true = record["question_type"], record.get("answer", record.get("answer_text"))
    letters = list(record.get("options", "AB"))
    if not true or draw.random() >= skill:
        true = _truth(draw, kind, letters) or "nothing"
    joint = ", " if kind == "choices" else " "
    return joint.join(true) if kind == "choices" else true if isinstance(true, str) else draw.choice(true)
