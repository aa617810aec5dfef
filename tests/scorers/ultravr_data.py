"""Draws UltraVR data sets and responses to them, by seed."""

import json
import random
from typing import Any

from tests.scorers.responses import ABSTENTION, Asked, Line, Made, copies, failed, outgrown, response, turn

OPERATIONS = ("GND", "PER", "QUA", "INT", "INF")
_WSI = {"GND": "Q1 Q2 Q2.1", "PER": "Q3 Q4", "INT": "Q5 Q5.1 Q5.2", "INF": "Q6.1 Q6.2 Q6.3"}
_AD = {"GND": "S1 S2 S3", "PER": "S4 S5 S6 S7"}
SCHEMAS: dict[tuple[str, str], dict[str, str]] = {
    ("cctv", "comparison"): {"GND": "S1 S4", "PER": "S2 S5", "QUA": "S3 S6 S7 S8 S9", "INT": "S10", "INF": "S11"},
    ("cctv", "logical_verification"): {
        "GND": "S1 S3 S5 S7",
        "QUA": "S2 S4 S6 S8 S9",
        "INT": "S10",
        "INF": "S11 S12 S13",
    },
    ("cctv", "relational_inference"): {"GND": "S1 S2", "PER": "S3 S4", "INT": "S5 S6", "INF": "S7"},
    ("rs", "comparison"): {"GND": "S1 S5", "INT": "S2 S6", "PER": "S3 S7", "QUA": "S4 S8", "INF": "S9"},
    ("rs", "logical_verification"): {"GND": "S1 S3", "QUA": "S2 S4", "INF": "S5"},
    ("rs", "relational_inference"): {"GND": "S1 S3", "PER": "S2 S4", "INT": "S5"},
    ("wsi", "comparison"): _WSI,
    ("wsi", "logical_verification"): _WSI,
    ("wsi", "relational_inference"): _WSI,
    ("ad", "logical_anomaly"): _AD,
    ("ad", "structural_anomaly"): _AD,
}
"""Operations of steps (tables C.2 to C.5)."""
MODELS = ("qwen3-vl-8b", "gpt-5.5", "some-other-model")
CELLS = (
    ("S0", "V2"), ("S0", "V0"), ("S0", "V1"), ("S0", "V3"), ("S0", "V4"),
    ("S1", "V2"), ("S2", "V2"), ("S3", "V2"), ("S4", "V2"), ("S5", "V2"),
)  # fmt: skip
WITH_STEPS = ("S2", "S4", "S5")
_BOXES = ([0.1, 0.1, 0.3, 0.3], [0.6, 0.6, 0.8, 0.9], [0.1, 0.6, 0.2, 0.9])
_TRUTHS: dict[str, Any] = {
    "boolean": (True, False), "integer": (0, 1, 2, 17), "bbox_coordinates": _BOXES,
    "bbox_coordinates_list": ([], [_BOXES[0]], [_BOXES[0], _BOXES[1]], [*_BOXES]),
    "roi_list": ([], [8], [8, 9], [1, 2, 3]),
}  # fmt: skip
LISTS = ("bbox_coordinates_list", "roi_list")


def make(seed: int) -> Made:
    """Draw a data set and responses: some questions lack an answer, some domains are absent."""
    draw = random.Random(seed)
    kinds = draw.sample(sorted(SCHEMAS), draw.randint(2, len(SCHEMAS)))
    records = [_record(draw, kind, number) for kind in kinds for number in range(draw.randint(1, 3))]
    draw.shuffle(records)
    return Made("ultravr", records, _responses(draw, records))


def _record(draw: random.Random, kind: tuple[str, str], number: int) -> Line:
    domain, category = kind
    names = sorted(" ".join(SCHEMAS[kind].values()).split(), key=_place)
    steps = [_step(draw, domain, name) for name in names]
    answer = draw.choice("ABCD") if draw.random() < 0.9 else ""
    return {
        "id": f"{domain}-{category}-{number}", "domain": domain, "category": category,
        "subcategory": "pushpins" if domain == "ad" else "some", "image": f"images/{domain}.jpg",
        "question": f"Which of these is number {number}?", "options": dict(zip("ABCD", _WORDS, strict=True)),
        "answer": answer, "reasoning_supervision": {"step_type": "multi_step_qa", "steps": steps},
    }  # fmt: skip


_WORDS = ("a red roof", "a blue wall", "a green door", "a grey lane")


def _place(name: str) -> tuple[int, ...]:
    return tuple(map(int, name[1:].split(".")))


def _step(draw: random.Random, domain: str, name: str) -> Line:
    forms = [form for form in _TRUTHS if form != "roi_list" or domain == "wsi"]
    form = draw.choice(forms)
    truth = draw.choice(_TRUTHS[form]) if draw.random() < 0.95 else None
    own = {"operation": draw.choice(OPERATIONS)} if draw.random() < 0.05 else {}
    return {"step_id": name, "question": f"What of {name}?", "ground_truth": truth, "answer_format": form, **own}


def _responses(draw: random.Random, records: list[Line]) -> list[Line]:
    lines = list[Line]()
    for model in [model for model in MODELS if draw.random() < 0.8] or [MODELS[2]]:
        skill, repeats = draw.uniform(0.1, 0.95), draw.randint(1, 3)
        for protocol, condition in [cell for cell in CELLS if draw.random() < 0.75] or CELLS[:1]:
            missing = draw.choice((0, 0, 0.1, 0.4))
            for repeat in range(draw.choice((repeats, repeats, 1))):
                for record in records:
                    if draw.random() >= missing:
                        said = _reply(draw, record, protocol, condition, skill)
                        lines.append(response(record["id"], Asked(model, protocol, condition, repeat), **said))
    lines.append(response("unknown-sample", Asked(lines[0]["model"], "S0", "V2"), turns=[turn("A")]))
    by_id = {record["id"]: record for record in records}
    again = {at: _reply(draw, by_id[line["sample_id"]], line["protocol"], line["condition"], 0.5)
             for at, line in enumerate(lines[:-1]) if draw.random() < 0.02}  # fmt: skip
    lines = copies(draw, lines, again)
    draw.shuffle(lines)
    return lines


def _reply(draw: random.Random, record: Line, protocol: str, condition: str, skill: float) -> Line:
    forms = draw.choices(_FORMS, (30, 10 if condition == "V0" else 1, 1, 1, 1, 1, 1, 1, 1))[0]
    if forms == "failed":
        return failed()
    steps = record["reasoning_supervision"]["steps"]
    said = {step["step_id"]: _said(draw, step, skill) for step in steps}
    truth = record["answer"] or "A"
    letter = truth if draw.random() < skill else draw.choice([other for other in "ABCD" if other != truth])
    turns = [turn(_written(value), asks=name) for name, value in said.items()] if protocol in ("S4", "S5") else []
    if forms == "outgrown":
        return outgrown() | {"turns": turns[: draw.randrange(len(turns))] if turns else []}
    text, finish = {
        "letter": (letter, "stop"),
        "abstained": (ABSTENTION, "stop"),
        "empty": ("", "stop"),
        "wording": (dict(zip("ABCD", _WORDS, strict=True))[letter], "stop"),
        "cut": (letter, "length"),
        "thinking": ("<think> what is this", "length"),
        "filtered": ("", "content_filter"),
    }[forms]
    if protocol == "S2" and forms in ("letter", "cut", "abstained"):
        final = "not sure" if forms == "abstained" else letter
        text = json.dumps({**said, "final_answer": final})
    return {"turns": [*turns, turn(text, finish)]}


_FORMS = ("letter", "abstained", "empty", "wording", "cut", "thinking", "filtered", "failed", "outgrown")


def _said(draw: random.Random, step: Line, skill: float) -> Any:
    truth = step["ground_truth"]
    if draw.random() < skill:
        return truth
    others = [other for other in _TRUTHS[step["answer_format"]] if other != truth]
    return draw.choice(others)


def _written(value: Any) -> str:
    return json.dumps(value)
