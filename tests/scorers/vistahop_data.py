"""Draws VistaHop data sets and chats over them, with people's and models' judgements, by seed."""

import json
import random

from tests.scorers.responses import Asked, Line, Made, copies, failed, response, turn

CATEGORIES = ("Life", "Science", "Society", "Technology", "Culture")
ANSWER_TYPES = ("entity", "date", "count", "location", "comparative")
ANCHORS = ("logo", "text", "product", "landmark", "person")
FUSED = ("arithmetic", "temporal", "conditional", "cross_anchor")
FAILURES = ("anchor", "drift", "planning", "fusion", "boundary")
MODELS = ("qwen3-vl-8b", "somebodys/model")
WRONG = ("Nobody knows", "Elsewhere", "Somebody else")
SIDE = 10_000
"""Sides of every picture, in pixels."""
TOOLS = ("image_zoom_in_tool", "text_search_tool", "image_search_tool")
CELLS = (
    ("direct", "V2", None), ("direct", "V0", None), ("search", "V2", 10), ("search_crop", "V2", 10),
    ("search", "V2", 6), ("search_crop", "V2", 6), ("search_crop", "V2", 8), ("search_crop", "V2", 14),
)  # fmt: skip


def make(seed: int) -> Made:
    """Draw a data set, chats over it, and who judged them."""
    draw = random.Random(seed)
    records = [_record(draw, number) for number in range(draw.randint(3, 9))]
    lines = _responses(draw, records)
    beside = {name: text for name, text in _people(draw, lines).items() if draw.random() < 0.6}
    judges = [_judge(draw, f"judge-{at}", records) for at in range(draw.choice((0, 1, 2)))]
    return Made("vistahop", records, lines, beside, judges)


def _record(draw: random.Random, number: int) -> Line:
    """Draw a question of one chain or of several, which may lack an answer, its hops or a label."""
    hops = draw.choice((None, 2, 4, 5, 7, 9, 10, 14))
    labels = {
        "category": draw.choice(CATEGORIES),
        "scenario": draw.choice(("harbour", "street")),
        "answer_type": draw.choice(ANSWER_TYPES),
        "form": draw.choice(("single", "single", *FUSED)),
        "hops": hops,
    }
    labels = {name: value for name, value in labels.items() if value is not None and draw.random() < 0.9}
    return {
        "id": f"q{number}", "images": [f"images/p{draw.randrange(4)}.jpg"], "question": f"Which is {number}?",
        "answers": [f"Truth {number}", f"Fact {number}"][: draw.choice((0, 1, 1, 1, 1, 2))],
        "anchors": [_anchor(draw, at) for at in range(draw.choice((0, 1, 1, 2)))],
        "chain": [_hop(number, at) for at in range(draw.choice((0, 0, 2, 3)))],
        **labels, **_fused(labels),
    }  # fmt: skip


def _anchor(draw: random.Random, number: int) -> Line:
    x, y = draw.uniform(0, 0.9), draw.uniform(0, 0.9)
    box = {"box": [x, y, x + 0.01, y + 0.02]} if draw.random() < 0.8 else {}
    kind = {"kind": draw.choice(ANCHORS)} if draw.random() < 0.9 else {}
    return {"label": f"sign {number}", **box, **kind}


def _hop(number: int, at: int) -> Line:
    documents = [f"d{number}-{at}", f"e{number}-{at}"]
    return {"from": f"a{at}", "relation": "is near", "to": f"a{at + 1}", "documents": documents}


def _fused(labels: Line) -> Line:
    if labels.get("form", "single") == "single":
        return {}
    hops = labels.get("hops")
    parts = (None, None) if hops is None else (1, hops - 1)
    return {"components": [{"question": "One?", "answers": ["1"], **({} if part is None else {"hops": part})}
                           for part in parts]}  # fmt: skip


def _responses(draw: random.Random, records: list[Line]) -> list[Line]:
    lines = list[Line]()
    for model in [model for model in MODELS if draw.random() < 0.9] or [MODELS[1]]:
        skill, repeats = draw.uniform(0.1, 0.9), draw.randint(1, 3)
        for protocol, condition, rounds in [cell for cell in CELLS if draw.random() < 0.6] or CELLS[:1]:
            missing = draw.choice((0, 0, 0.1, 0.4))
            for repeat in range(draw.choice((repeats, repeats, 1))):
                for record in records:
                    if draw.random() >= missing:
                        said = _chat(draw, record, protocol, rounds, skill)
                        name = f"{record['id']}:{model}:{protocol}-{condition}-n{rounds}:{repeat}"
                        told = {"request_id": name} | ({"max_rounds": rounds} if rounds else {})
                        lines.append(response(record["id"], Asked(model, protocol, condition, repeat), **(said | told)))
    unknown = _chat(draw, {"id": "none", "answers": []}, "direct", None, 0)
    lines.append(response("unknown-sample", Asked(lines[0]["model"], "direct", "V2"), **unknown))
    by_id = {record["id"]: record for record in records}
    again = {at: _chat(draw, by_id[line["sample_id"]], line["protocol"], line.get("max_rounds"), 0.5)
             for at, line in enumerate(lines[:-1]) if draw.random() < 0.03}  # fmt: skip
    lines = copies(draw, lines, again)
    draw.shuffle(lines)
    return lines


def _chat(draw: random.Random, record: Line, protocol: str, rounds: int | None, skill: float) -> Line:
    """Draw a chat: rounds with calls, and how it ended."""
    if draw.random() < 0.05:
        return failed()
    if rounds is None:
        return {"turns": [_answer(draw, record, skill)]}
    stop = draw.choices(("answered", "rounds", "context"), (7, 2, 1))[0]
    played = rounds if stop == "rounds" else draw.randint(1, rounds)
    zooms = list[Line]()
    turns = [_round(draw, record, protocol, at, zooms) for at in range(played - 1)]
    if stop == "rounds":
        turns.append(_call(draw, draw.choice(TOOLS[1:]), "not_run"))
    elif stop == "answered":
        turns.append(_answer(draw, record, skill))
    elif not turns:
        turns.append(_round(draw, record, protocol, 0, zooms))
    first = {"view": {"image": f"data/{record['images'][0]}"}, "key": "first"}
    return {"turns": turns, "stop": stop, "rasters": [_raster(**first), *zooms]}


def _answer(draw: random.Random, record: Line, skill: float) -> Line:
    truths = record["answers"] or ["Truth none"]
    said = draw.choice(truths) if draw.random() < skill else draw.choice(WRONG)
    form = draw.choices(_ANSWERS, (20, 4, 2, 1, 1, 1, 1))[0]
    if form == "malformed":
        call = {"name": "", "arguments": "not JSON", "status": "malformed"}
        return turn(f"<answer>{said}</answer>", call=call, usage=_usage(draw))
    texts = {"whole": said, "empty": "", "unfinished": f"<thinking>{WRONG[0]}", "filtered": ""}
    finish = {"cut": "length", "filtered": "content_filter"}.get(form, "stop")
    usage = _usage(draw) | ({"completion_tokens": 0} if form == "empty" else {})
    usage |= {"completion_tokens": 64} if form == "cut" else {}
    return turn(texts.get(form, f"<thinking>So.</thinking><answer>{said}</answer>"), finish, usage=usage)


_ANSWERS = ("tag", "whole", "malformed", "empty", "unfinished", "cut", "filtered")


def _usage(draw: random.Random) -> Line:
    prompt = draw.randint(100, 2000)
    return {"prompt_tokens": prompt, "completion_tokens": 9, "cached_tokens": draw.randint(0, prompt)}


def _round(draw: random.Random, record: Line, protocol: str, at: int, zooms: list[Line]) -> Line:
    tool = draw.choice(TOOLS if protocol == "search_crop" else TOOLS[1:])
    status = draw.choices(("ok", "empty", "unknown_tool", "bad_arguments", "bad_box"), (12, 1, 1, 1, 1))[0]
    status = "ok" if status == "bad_box" and tool != TOOLS[0] else status
    if status == "ok" and tool == TOOLS[0]:
        zooms.append(_zoom(draw, record, at))
    documents = [f"{draw.choice('de')}{record['id'][1:]}-{draw.randrange(3)}"] if draw.random() < 0.5 else []
    return _call(draw, tool, status, documents if status == "ok" and tool == TOOLS[1] else [])


def _call(draw: random.Random, tool: str, status: str, documents: list[str] | None = None) -> Line:
    call = {"name": tool, "arguments": "{}", "status": status, "documents": documents or []}
    return turn("<tool_call>{}</tool_call>", call=call, usage=_usage(draw))


def _zoom(draw: random.Random, record: Line, at: int) -> Line:
    """Draw a crop: around an anchor of the question, or anywhere."""
    boxes = [anchor["box"] for anchor in record["anchors"] if "box" in anchor]
    x, y = draw.randrange(SIDE - 400), draw.randrange(SIDE - 400)
    if boxes and draw.random() < 0.5:
        x1, y1, _, _ = draw.choice(boxes)
        x, y = max(0, int(x1 * SIDE) - draw.randrange(20, 80)), max(0, int(y1 * SIDE) - draw.randrange(20, 80))
    width, height = draw.choice((150, 400)), draw.choice((150, 400))
    region, scale = f"{x},{y},{width},{height}", draw.choice((0.2, 0.5, 1))
    size = [max(1, int(width * scale)), max(1, int(height * scale))]
    view = {"image": f"data/{record['images'][0]}", "region": region}
    return _raster(view, f"{region}-{scale}-{at}", region, size, at + 1)


def _raster(view: Line, key: str, region: str = f"0,0,{SIDE},{SIDE}", size: tuple[int, int] | list[int] = (1000, 1000),
            number: int = 0) -> Line:  # fmt: skip
    return {
        "view": view, "key": key, "turn": number,
        "source_size": [SIDE, SIDE], "source_format": "jpeg", "region": region,
        "level": 0, "downsample": 1.0, "raster_size": list(size), "visual_tokens": 100, "digest": "0",
    }  # fmt: skip


def _people(draw: random.Random, lines: list[Line]) -> dict[str, str]:
    """Draw what people said of some chats, some of which are none of ours."""
    requests = sorted({line["request_id"] for line in lines if line["sample_id"] != "unknown-sample"})
    judged = [
        {"job": "job", "request": request, "annotator": name, "correct": draw.random() < 0.5}
        for name in ("ada", "bob") for request in requests if draw.random() < 0.3
    ]  # fmt: skip
    failures = [{"job": "job", "request": request, "type": draw.choice(FAILURES)}
                for request in requests if draw.random() < 0.2]  # fmt: skip
    strays = [{"job": "job", "request": "nobody's", "annotator": "ada", "correct": True}]
    return {"judgements.jsonl": _text([*judged, *strays]), "failures.jsonl": _text(failures)}


def _judge(draw: random.Random, name: str, records: list[Line]) -> list[Line]:
    """Draw what a model said of every answer that is no truth, of most of them."""
    lines = list[Line]()
    for record in records:
        for truth in record["answers"]:
            for answer in (*WRONG, f"<thinking>{WRONG[0]}"):
                if draw.random() < 0.9:
                    text = draw.choice(("<judge>Yes</judge>", "<judge>No</judge>", "<judge>No</judge>", "Perhaps."))
                    said = {
                        "job_id": name, "request_id": f"{record['id']}:{truth}:{answer}", "turns": [turn(text)],
                        "details": {"truth": truth, "answer": answer}, "prompt_version": "vistahop-judge/3",
                    }  # fmt: skip
                    lines.append(response(record["id"], Asked(name, "judge", "V2"), **said))
    return lines


def _text(lines: list[Line]) -> str:
    return "".join(json.dumps(line) + "\n" for line in lines)
