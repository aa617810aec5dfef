"""Draws ATOM-Bench data sets and responses to them, by seed."""

import json
import random

from tests.scorers.responses import ABSTENTION, Asked, Line, Made, copies, failed, outgrown, response, turn

DIMENSIONS = {
    "built_environment": ("architectural_style", "regional_architecture", "unique_structures"),
    "social_characteristics": ("clothing_customs", "street_characteristics", "transportation"),
    "structured_symbols": ("currency_flags", "language_signs", "license_plates"),
    "natural_characteristics": ("climate", "geographical_features", "natural_landmarks"),
}
DOMAINS = tuple(domain for domains in DIMENSIONS.values() for domain in domains)
MODELS = ("gpt-5", "qwen2.5-vl-7b", "some-other-model")


def make(seed: int) -> Made:
    """Draw a data set and responses: some questions lack an answer or a label, some images have one level alone."""
    draw = random.Random(seed)
    records = _records(draw)
    return Made("atombench", records, _responses(draw, records))


def _records(draw: random.Random) -> list[Line]:
    made: list[Line] = []
    for number in range(draw.randint(3, 7)):
        only = draw.choice(("both", "both", "both", "both", "clue", "conclusion"))
        clues = [] if only == "conclusion" else [_clue(draw, number, step) for step in range(1, draw.randint(2, 7))]
        asked = [] if only == "clue" else [_conclusion(draw, number, at) for at in range(1, draw.randint(2, 4))]
        made += [*clues, *asked]
    draw.shuffle(made)
    return made


def _question(draw: random.Random, image: int, name: str) -> Line:
    letters = "ABCDEF"[: draw.randint(2, 6)]
    options = {letter: f"thing {name} number {at}" for at, letter in enumerate(letters)}
    answer = draw.choice(letters) if draw.random() < 0.9 else ""
    return {
        "id": f"s{image}-{name}",
        "image": f"images/s{image}.jpg",
        "question": f"What of {name}{'!' * draw.randrange(9)}?",
        "options": options,
        "answer": answer,
    }


def _clue(draw: random.Random, image: int, step: int) -> Line:
    labels = {
        "domain": draw.choice(DOMAINS),
        "scope": draw.choice(("macro", "mid", "micro")),
        "certainty": draw.choice(("high", "medium", "low")),
        "step": step,
    }
    kept = {name: value for name, value in labels.items() if draw.random() < 0.93}
    return {**_question(draw, image, f"c{step}"), "level": "clue", **kept}


def _conclusion(draw: random.Random, image: int, number: int) -> Line:
    labels = {
        "difficulty": draw.choice(("easy", "medium", "hard")),
        "kind": draw.choice(("location", "decisive_clue")),
    }
    kept = {name: value for name, value in labels.items() if draw.random() < 0.9}
    return {**_question(draw, image, f"q{number}"), "level": "conclusion", **kept}


def _responses(draw: random.Random, samples: list[Line]) -> list[Line]:
    apart, lines = draw.random() < 0.5, list[Line]()
    models = [model for model in MODELS if draw.random() < 0.85] or [MODELS[2]]
    for model in models:
        skill, repeats = draw.uniform(0.2, 0.9), draw.randint(1, 3)
        cells = [("A0", "V2"), ("AG", "V2"), ("AGC", "V2"), ("A0", "V0"), ("A0", "V1")]
        for protocol, condition in [cells[0], *(cell for cell in cells[1:] if draw.random() < 0.6)]:
            missing = draw.choice((0, 0, 0.1, 0.5))
            for repeat in range(draw.choice((1, repeats, repeats))):
                for sample in samples:
                    if draw.random() < missing or (protocol != "A0" and sample["level"] == "clue"):
                        continue
                    job = {"job_id": protocol} if apart else {}
                    said = _reply(draw, sample, skill, protocol)
                    lines.append(response(sample["id"], Asked(model, protocol, condition, repeat), **said, **job))
    lines.append(response("unknown-sample", Asked(models[0], "A0", "V2"), turns=[turn("A")]))
    again = {at: _reply(draw, _of(samples, lines[at]), 0.5, lines[at]["protocol"])
             for at in range(len(lines) - 1) if draw.random() < 0.03}  # fmt: skip
    lines = copies(draw, lines, again)
    draw.shuffle(lines)
    return lines


def _of(samples: list[Line], line: Line) -> Line:
    return next(sample for sample in samples if sample["id"] == line["sample_id"])


def _reply(draw: random.Random, sample: Line, skill: float, protocol: str) -> Line:
    first = json.dumps({"answer": draw.choice(list(sample["options"]))})
    before = [turn(first, asks="first")] if protocol == "AGC" else []
    letters = list(sample["options"])
    wrong = draw.choice([letter for letter in letters if letter != sample["answer"]])
    letter = (sample["answer"] or letters[0]) if draw.random() < skill else wrong
    form = draw.choices(_FORMS, (12, 6, 1, 1, 1, 1, 1, 1, 1))[0]
    if form == "failed":
        return failed()
    if form == "outgrown":
        return outgrown()
    text, finish = {
        "letter": (letter, "stop"),
        "object": (json.dumps({"answer": letter}), "stop"),
        "abstained": (json.dumps({"answer": ABSTENTION}), "stop"),
        "empty": ("", "stop"),
        "cut": (letter, "length"),
        "thinking": ("<think> what is this", "length"),
        "filtered": ("", "content_filter"),
    }[form]
    return {"turns": [*before, turn(text, finish)]}


_FORMS = ("letter", "object", "abstained", "empty", "cut", "thinking", "filtered", "failed", "outgrown")
