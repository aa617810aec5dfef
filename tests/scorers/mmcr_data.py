"""Draws MMCR data sets and responses to them, by seed."""

import json
import random

from tests.scorers.responses import Asked, Line, Made, copies, failed, outgrown, response, turn

CROSS = ("multi_figure", "figure_table", "figure_text", "figure_formula", "multi_table")
TYPES = (
    "figure", "multi_figure", "figure_table", "figure_text", "figure_formula",
    "table", "multi_table", "text", "formula", "pseudocode",
)  # fmt: skip
ERRORS = (
    "hallucinated evidence", "incomplete evidence", "perceptual", "extractor", "reasoning", "irrelevant answer",
    "matching",
)  # fmt: skip
MODELS = ("gpt-4o", "qwen2.5-vl-7b", "some-other-model")
REFUSAL = "I cannot determine the answer."
LETTERS = "ABCDE"


def make(seed: int) -> Made:
    """Draw a data set, people's labels of wrong answers, and responses."""
    draw = random.Random(seed)
    records = _records(draw)
    lines = _responses(draw, records)
    labels = [
        {"sample_id": record["id"], "model": model, "category": draw.choice(ERRORS)}
        for model in MODELS[:2] for record in records if draw.random() < 0.3
    ]  # fmt: skip
    beside = {"errors.jsonl": "".join(json.dumps(label) + "\n" for label in labels)} if draw.random() < 0.7 else {}
    return Made("mmcr", records, lines, beside)


def _records(draw: random.Random) -> list[Line]:
    made = []
    for number in range(draw.randint(2, 5)):
        pages = [f"images/d{number}/{at:03d}.jpg" for at in range(1, draw.randint(2, 5))]
        subject = {"subject": draw.choice(("vision", "language", "robots"))} if draw.random() < 0.8 else {}
        made += [_record(draw, f"d{number}-q{at}", pages) | {"document": f"d{number}"} | subject
                 for at in range(draw.randint(1, 5))]  # fmt: skip
    draw.shuffle(made)
    return made


def _record(draw: random.Random, name: str, pages: list[str]) -> Line:
    letters = LETTERS[: draw.choice((2, 3, 4, 5, 5, 5))]
    options = {letter: f"thing {at} of {name}." for at, letter in enumerate(letters)}
    orders = ["", *("".join(draw.sample(letters, len(letters))) for _ in letters[1:])]
    return {
        "id": name, "pages": pages, "type": draw.choice(TYPES), "question": f"What is it in {name}?",
        "options": options, "answer": draw.choice(letters) if draw.random() < 0.9 else "",
        "evidence": {"pages": [1]}, **({"rotations": orders} if draw.random() < 0.3 else {}),
    }  # fmt: skip


def shown(record: Line, rotation: int) -> str:
    """Say which option of the original order stands under each letter of a rotation."""
    letters = "".join(record["options"])
    own = record.get("rotations", ())
    return (own[rotation] if rotation < len(own) else "") or letters[rotation:] + letters[:rotation]


def _responses(draw: random.Random, records: list[Line]) -> list[Line]:
    lines = list[Line]()
    for model in [model for model in MODELS if draw.random() < 0.85] or [MODELS[2]]:
        skill, repeats = draw.uniform(0.3, 0.98), draw.randint(1, 3)
        for family, condition in [("N", "V2"), *(cell for cell in _OTHERS if draw.random() < 0.4)]:
            for rotation in range(5 if draw.random() < 0.8 else 1):
                missing = draw.choice((0, 0, 0, 0.05, 0.3))
                for repeat in range(draw.choice((repeats, repeats, 1))):
                    for record in records:
                        if rotation < len(record["options"]) and draw.random() >= missing:
                            said = _reply(draw, record, family, rotation, skill) | _seen(record, condition)
                            lines.append(
                                response(record["id"], Asked(model, f"{family}{rotation}", condition, repeat), **said)
                            )
    lines.append(response("unknown-sample", Asked(lines[0]["model"], "N0", "V2"), turns=[turn("A")]))
    by_id = {record["id"]: record for record in records}
    again = {at: _reply(draw, by_id[line["sample_id"]], line["protocol"][0], int(line["protocol"][1]), 0.5)
             | {"rasters": line["rasters"]}
             for at, line in enumerate(lines[:-1]) if draw.random() < 0.02}  # fmt: skip
    lines = copies(draw, lines, again)
    draw.shuffle(lines)
    return lines


_OTHERS = (("C", "V2"), ("I", "V2"), ("N", "V1"), ("N", "V0"), ("C", "V3"))


def _seen(record: Line, condition: str) -> Line:
    pages = {"V0": [], "V3": record["pages"][:1]}.get(condition, record["pages"])
    return {"rasters": [_raster(page, 40 + 3 * at, condition) for at, page in enumerate(pages)]}


def _raster(page: str, tokens: int, condition: str) -> Line:
    return {
        "view": {"image": f"data/{page}", "sizing": "longest:1024" if condition == "V1" else "native"},
        "source_size": [1000, 1400], "source_format": "jpeg", "region": "0,0,1000,1400", "level": 0, "downsample": 1.0,
        "raster_size": [1000, 1400], "visual_tokens": tokens, "digest": "0", "key": f"{page}-{condition}",
    }  # fmt: skip


def _reply(draw: random.Random, record: Line, family: str, rotation: int, skill: float) -> Line:
    letters, order = "".join(record["options"]), shown(record, rotation)
    truth = record["answer"] or letters[0]
    original = truth if draw.random() < skill else draw.choice(letters)
    answer = letters[order.index(original)]
    form = draw.choices(_FORMS, (60, 20, 2, 2, 2, 2, 2, 2, 2, 2, 2))[0]
    if form in ("failed", "outgrown"):
        return failed() if form == "failed" else outgrown()
    text, finish = {
        "letter": (answer, "stop"),
        "text": (record["options"][original], "stop"),
        "cut": (answer, "length"),
        "quoted": (f'"{answer}"' if family == "N" else answer, "stop"),
        "refused": (REFUSAL, "stop"),
        "unmatched": ("7", "stop"),
        "empty": ("", "stop"),
        "thinking": ("<think> what is this", "length"),
        "filtered": ("", "content_filter"),
    }[form]
    announced = family != "N" and form in ("letter", "text", "cut", "quoted")
    marker = {"C": "Answer: ", "I": "Final answer: "}.get(family, "")
    return {"turns": [turn(f"It is so.\n{marker}{text}" if announced else text, finish)]}


_FORMS = ("letter", "text", "cut", "quoted", "refused", "unmatched", "empty", "thinking", "filtered",
          "failed", "outgrown")  # fmt: skip
