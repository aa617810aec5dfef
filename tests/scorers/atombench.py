"""Works the tables of an ATOM-Bench report out again, from docs/atombench.md."""

import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from tests.scorers.atombench_data import DIMENSIONS, DOMAINS
from tests.scorers.cells import Judged, accuracy, add_cells, cells
from tests.scorers.numbers import Number, Numbers, deviation, mean, share
from tests.scorers.responses import ABSTENTION, Line, Made, absence

GROUPS = {"gpt-5": "private", "qwen2.5-vl-7b": "open"}
BASES = {"qwen2.5-vl-7b": "Qwen2.5-7B"}
BILLIONS = {"qwen2.5-vl-7b": 8.3}
DIMENSION_OF = {domain: dimension for dimension, domains in DIMENSIONS.items() for domain in domains}
WEIGHTS = {"easy": 1, "medium": 2, "hard": 3}
NO_DIFFICULTY = "no difficulty"
ENOUGH = 0.75
UNREADABLE = frozenset({"none", "ambiguous", "unfinished", "overflowed"})
FEWEST = 3
LEVELS = ("clue", "conclusion")
RULES = ("any", "each", "all", "location")
SCOPES, CERTAINTIES = ("macro", "mid", "micro"), ("high", "medium", "low")


def judge(line: Line, sample: Line) -> tuple[str, float | None]:
    """Say how the answer was found, and 1 where it is the true option."""
    letter, status = _read(line)
    return status, float(letter == sample["answer"]) if sample["answer"] else None


def _read(line: Line) -> tuple[str | None, str]:
    if why := absence(line):
        return None, why
    text = line["turns"][-1]["text"]
    answer = json.loads(text)["answer"] if text.startswith("{") else text
    if answer == ABSTENTION:
        return None, "abstained"
    return (answer, "last") if answer else (None, "none")


def points(one: Judged) -> float | None:
    """Say the points of an answer: 1, 0 where it is none, -1/(n - 1) where it is another of n options."""
    letter, _ = _read(one.line)
    if one.score is None or letter is None:
        return None if one.score is None else 0.0
    return 1.0 if one.score else -1 / (len(one.sample["options"]) - 1)


class Pair(NamedTuple):
    """Whether the first answer to a question was right, and the final one."""

    first: bool
    final: Judged


def _is_right_at_first(one: Judged) -> bool:
    return json.loads(one.line["turns"][0]["text"])["answer"] == one.sample["answer"]


class Trial:
    """The answers of one model under one condition in one repeat."""

    def __init__(self, asked: Iterable[Judged], locations: Collection[str]) -> None:
        self.locations = locations
        scored = [one for one in asked if one.score is not None]
        self.clues = [one for one in scored if one.line["protocol"] == "A0" and one.sample["level"] == "clue"]
        self.first = {one.sample["id"]: one for one in scored
                      if one.line["protocol"] == "A0" and one.sample["level"] == "conclusion"}  # fmt: skip
        self.final = {name: {one.sample["id"]: one for one in scored if one.line["protocol"] == name}
                      for name in ("AG", "AGC")}  # fmt: skip

    def pairs(self, protocol: str = "AG", difficulty: str | None = None) -> list[Pair]:
        """First and final answers to the same question: in AGC those of one chat."""
        finals = self.final[protocol]
        if protocol == "AGC":
            both = [Pair(_is_right_at_first(one), one) for one in finals.values() if one.line["turns"]]
        else:
            both = [Pair(bool(first.score), finals[name]) for name, first in self.first.items() if name in finals]
        return [pair for pair in both if difficulty in (None, pair.final.sample.get("difficulty", NO_DIFFICULTY))]

    def instances(self, rule: str) -> Iterator[tuple[str, bool, float]]:
        """Name, conclusion and share of right clues of what RCS and HI are taken over."""
        for image in {one.sample["image"] for one in self.clues}:
            clues = [one.score for one in self.clues if one.sample["image"] == image]
            share_of_clues = sum(score for score in clues if score is not None) / len(clues)
            asked = [one for one in self.first.values() if one.sample["image"] == image]
            if rule == "location":
                asked = [one for one in asked if one.sample["id"] in self.locations]
            rights = [bool(one.score) for one in asked]
            if rule == "each":
                yield from ((one.sample["id"], bool(one.score), share_of_clues) for one in asked)
            elif asked:
                yield image, all(rights) if rule == "all" else any(rights), share_of_clues


def _locations(samples: Sequence[Line]) -> frozenset[str]:
    """The first question of each image, in the order of the records, that asks for the place and has an answer."""
    first: dict[str, str] = {}
    for sample in samples:
        if sample.get("kind") == "location" and sample["answer"]:
            first.setdefault(sample["image"], sample["id"])
    return frozenset(first.values())


Metric = Callable[[Trial], tuple[float | None, set[str]]]
"""A number of a trial, and what it rests on."""


def _of(values: Mapping[str, float | None]) -> tuple[float | None, set[str]]:
    known = {name: value for name, value in values.items() if value is not None}
    return mean(known.values()), set(known)


def clue_points(**labels: object) -> Metric:
    """Mean points of the clue questions with these labels."""
    return lambda trial: _of({one.sample["id"]: points(one) for one in _labelled(trial.clues, labels)})


def clue_share(error: bool = False, **labels: object) -> Metric:
    """Share of right answers, or of others, to the clue questions with these labels."""
    return lambda trial: _of({one.sample["id"]: abs(error - one.score) for one in _labelled(trial.clues, labels)
                              if one.score is not None})  # fmt: skip


def _labelled(asked: Iterable[Judged], labels: Mapping[str, object]) -> list[Judged]:
    return [one for one in asked if all(_label(one.sample, name) == value for name, value in labels.items())]


def _label(sample: Line, name: str) -> object:
    return DIMENSION_OF.get(sample.get("domain", "")) if name == "dimension" else sample.get(name)


def colq(trial: Trial) -> tuple[float | None, set[str]]:
    """Mean points of the first answers to conclusion questions."""
    return _of({name: points(one) for name, one in trial.first.items()})


def raw_colq(trial: Trial) -> tuple[float | None, set[str]]:
    """Share of right first answers to conclusion questions."""
    return _of({name: one.score for name, one in trial.first.items()})


def supported(above: float, rule: str = "any") -> Metric:
    """Share of images whose conclusion is right, and more of whose clues than this share (at 1: all)."""
    return lambda trial: _of({name: float(right and (clues > above if above < 1 else clues == 1))
                              for name, right, clues in trial.instances(rule)})  # fmt: skip


def hallucinated(rule: str = "any") -> Metric:
    """Of the images whose conclusion is right, the share with too few right clues."""
    return lambda trial: _of({name: float(clues <= ENOUGH) for name, right, clues in trial.instances(rule) if right})


def concluded(rule: str) -> Metric:
    """Share of images whose conclusion is right."""
    return lambda trial: _of({name: float(right) for name, right, _ in trial.instances(rule)})


def rrs(protocol: str = "AG", difficulty: str | None = None) -> Metric:
    """Final answers that are right less those that are not, by weight, of pairs that have a difficulty."""

    def work(trial: Trial) -> tuple[float | None, set[str]]:
        pairs = [final for _, final in trial.pairs(protocol, difficulty) if "difficulty" in final.sample]
        weights = [WEIGHTS[one.sample["difficulty"]] for one in pairs]
        signs = [1 if one.score else -1 for one in pairs]
        value = sum(map(int.__mul__, weights, signs)) / sum(weights) if pairs else None
        return value, {one.sample["id"] for one in pairs}

    return work


def correction(protocol: str = "AG", difficulty: str | None = None) -> Metric:
    """Of the first answers that were not right, the share whose final one is."""
    return lambda trial: _of({final.sample["id"]: final.score for first, final in trial.pairs(protocol, difficulty)
                              if not first})  # fmt: skip


def over_repeats(trials: Sequence[Trial], metric: Metric) -> tuple[float | None, int]:
    """Average a number over the repeats that have it; it rests on as many as it rests on in one of them at most."""
    each = [metric(trial) for trial in trials]
    return mean(value for value, _ in each), max((len(on) for _, on in each), default=0)


def score(made: Made) -> Numbers:
    """Work out every number of the report."""
    samples = made.records
    numbers, found = Numbers(), cells(made.lines, samples, judge)
    add_cells(numbers, found, made, applies=_applies, accuracies=_accuracies, unreadable=UNREADABLE)
    _data_set(numbers, samples)
    models = sorted({model for model, *_ in found})
    locations = _locations(samples)
    summaries: dict[str, dict[str, Number]] = {}
    for model, condition in sorted({(cell[0], cell[2]) for cell in found}):
        asked = [one for cell, judged in found.items() if (cell[0], cell[2]) == (model, condition) for one in judged]
        repeats = sorted({one.line["repeat"] for one in asked if one.line["protocol"] != "AGC"})
        chats = sorted({one.line["repeat"] for one in asked if one.line["protocol"] == "AGC"})
        trials, in_chats = (
            [Trial((one for one in asked if one.line["repeat"] == repeat), locations) for repeat in numbered]
            for numbered in (repeats, chats)
        )
        row = {"model": model, "condition": condition}
        if condition != "V2":
            _add(numbers, "controls", row, _six(trials))
            continue
        summaries[model] = _table2(numbers, row, trials)
        _clue_tables(numbers, model, trials)
        _conclusion_tables(numbers, model, trials)
        for protocol, of_protocol in (("AG", trials), ("AGC", in_chats)):
            if any(trial.final[protocol] for trial in of_protocol):
                _golden_evidence(numbers, row | {"protocol": protocol}, of_protocol, protocol)
        # Repeats of several jobs may have one number, so they are counted, in the order of jobs.
        ordered = sorted(zip(repeats, trials, strict=True), key=lambda one: (_job_of(asked, one[0]), one[0]))
        _repeats(numbers, row, {at: trial for at, (_, trial) in enumerate(ordered)})
    _correlations(numbers, models, summaries)
    return numbers


def _job_of(asked: Iterable[Judged], repeat: int) -> str:
    """The job of a repeat's first answers, else of its final ones."""
    jobs = {one.line["protocol"]: one.line["job_id"] for one in asked if one.line["repeat"] == repeat}
    return jobs.get("A0") or jobs["AG"]


def _number(trials: Sequence[Trial], metric: Metric, rule: str, *, wilson: bool = False) -> Number:
    value, count = over_repeats(trials, metric)
    return share(value, count, rule)._replace(is_least=True) if wilson else Number(value, count, rule)


def _add(numbers: Numbers, table: str, row: Mapping[str, str], columns: Mapping[str, Number]) -> None:
    for column, number in columns.items():
        numbers.add(table, row, column, number)


def _six(trials: Sequence[Trial]) -> dict[str, Number]:
    found = {
        "clq": _number(trials, clue_points(), "mean points of clue questions"),
        "colq": _number(trials, colq, "mean points of conclusion questions under A0"),
        "rcs": _number(trials, supported(ENOUGH), "images whose conclusion and over 75 % of whose clues are right"),
        "hi": _number(trials, hallucinated(), "of images whose conclusion is right, those with 75 % or fewer"),
        "rrs": _number(trials, rrs(), "right less not right behind golden evidence, weighed 3, 2, 1"),
    }
    count = found["rcs"].count
    return found | {"avg": _average([found[name].known for name in ("clq", "colq", "rcs", "rrs")], found["hi"], count)}


def _average(parts: Sequence[float | None], loss: Number, count: int | None) -> Number:
    known = [part for part in (*parts, None if loss.known is None else 1 - loss.known) if part is not None]
    rule = "mean of the five, HI as 100 - HI"
    return Number(sum(known) / 5, count, rule) if len(known) == 5 else Number(None, 0, rule)


def _table2(numbers: Numbers, row: Mapping[str, str], trials: Sequence[Trial]) -> dict[str, Number]:
    six = _six(trials)
    found = six | {
        "ecs": _less(six["colq"], six["clq"], "CoLQ_Acc - CLQ_Acc", _answers(trials)),
        "raw_clq": _number(trials, clue_share(), "right clue questions", wilson=True),
        "raw_colq": _number(trials, raw_colq, "right conclusion questions", wilson=True),
    }
    model = row["model"]
    words = {"group": GROUPS.get(model, ""), "llm": BASES.get(model)}
    _add(numbers, "table2", row, found | {name: Number(text, None, "the catalogue's") for name, text in words.items()})
    gap = _less(six["colq"], six["rcs"], "CoLQ_Acc - RCS", six["rcs"].count)
    figure6 = {name: found[name] for name in ("colq", "rcs", "hi", "ecs")} | {"gap": gap}
    _add(numbers, "figure6", {"model": model}, figure6)
    return found


def _answers(trials: Sequence[Trial]) -> int:
    return max((len(clue_points()(trial)[1] | colq(trial)[1]) for trial in trials), default=0)


def _less(one: Number, other: Number, rule: str, count: int | None) -> Number:
    if one.known is None or other.known is None:
        return Number(None, 0, rule)
    return Number(one.known - other.known, count, rule)


def _clue_tables(numbers: Numbers, model: str, trials: Sequence[Trial]) -> None:
    row = {"model": model, "condition": "V2"}
    domains = {domain: _number(trials, clue_points(domain=domain), "mean points of the domain") for domain in DOMAINS}
    _add(numbers, "table3", row, domains)
    labels = {value: (name, value) for name, values in (("scope", SCOPES), ("certainty", CERTAINTIES))
              for value in values}  # fmt: skip
    for column, (name, value) in labels.items():
        right = _number(trials, clue_share(**{name: value}), "right ones of the label", wilson=True)
        numbers.add("table4", row, column, right)
    for scope in SCOPES:
        wrong = _number(trials, clue_share(True, scope=scope), "not right ones of the scope", wilson=True)
        numbers.add("figure3a", {"model": model}, f"scope_{scope}", wrong)
    for step in range(1, 7):
        wrong = _number(trials, clue_share(True, step=step), "not right ones of the step", wilson=True)
        numbers.add("figure3b", {"model": model}, f"step_{step}", wrong)
    six = _six(trials)
    grounded = six["hi"]._replace(value=None if six["hi"].known is None else 1 - six["hi"].known)
    dimensions = {name: _number(trials, clue_points(dimension=name), "mean points of the dimension")
                  for name in DIMENSIONS}  # fmt: skip
    profile = {name: six[name] for name in ("clq", "colq", "rcs", "rrs")} | {"grounded": grounded}
    _add(numbers, "figure3c", {"model": model}, profile | dimensions | domains)


def _conclusion_tables(numbers: Numbers, model: str, trials: Sequence[Trial]) -> None:
    row = {"model": model, "condition": "V2"}
    for rule in RULES:
        numbers.add("conclusion_rules", row, f"rcs_{rule}", _number(trials, supported(ENOUGH, rule), f"RCS by {rule}"))
        numbers.add("conclusion_rules", row, f"hi_{rule}", _number(trials, hallucinated(rule), f"HI by {rule}"))
        right = _number(trials, concluded(rule), f"right conclusions by {rule}")
        numbers.add("conclusion_rules", row, f"concluded_{rule}", right)
    curve = {above: _number(trials, supported(above / 100), f"supported by more than {above} %")
             for above in range(0, 101, 5)}  # fmt: skip
    _add(numbers, "figure7", {"model": model}, {f"above_{above}": number for above, number in curve.items()})
    values = [number.known for number in curve.values() if number.known is not None]
    area = math.fsum((left + right) / 40 for left, right in pairwise(values)) if values else None
    numbers.add("figure7", {"model": model}, "area", Number(area, curve[0].count, "trapezoids under the curve"))
    numbers.add("figure8", {"model": model}, "correction", _number(trials, correction(), "corrected of not right"))


def _golden_evidence(numbers: Numbers, row: Mapping[str, str], trials: Sequence[Trial], protocol: str) -> None:
    for difficulty in (*WEIGHTS, NO_DIFFICULTY, "all"):
        only = None if difficulty == "all" else difficulty
        pairs = [pair for trial in trials for pair in trial.pairs(protocol, only)]
        if difficulty == NO_DIFFICULTY and not pairs:
            continue
        at = row | {"difficulty": difficulty}
        outcomes = Counter((first, bool(final.score)) for first, final in pairs)
        for name, outcome in _OUTCOMES.items():
            numbers.add("golden_evidence", at, name, Number(outcomes[outcome], None, f"pairs that are {outcome}"))
        weight = sum(WEIGHTS.get(final.sample.get("difficulty", ""), 0) for _, final in pairs)
        numbers.add("golden_evidence", at, "weight", Number(weight, None, "3, 2, 1 for hard, medium, easy"))
        numbers.add("golden_evidence", at, "rrs", _number(trials, rrs(protocol, only), "RRS of these pairs"))
        numbers.add("golden_evidence", at, "correction", _number(trials, correction(protocol, only), "corrected"))
        alone = sum(len(trial.final[protocol]) - len(trial.pairs(protocol)) for trial in trials)
        numbers.add("golden_evidence", at, "alone", Number(None if only else alone, None, "final without first"))


_OUTCOMES = {"steadfast": (True, True), "corrected": (False, True), "rigid": (False, False), "confused": (True, False)}


def _repeats(numbers: Numbers, row: Mapping[str, str], trials: Mapping[int, Trial]) -> None:
    if len(trials) < 2:
        return
    each = {repeat: _six([trial]) for repeat, trial in trials.items()}
    for name in ("clq", "colq", "rcs", "hi", "rrs", "avg"):
        for repeat, six in each.items():
            value = six[name].value
            number = Number(value, int(value is not None), "within the repeat")
            numbers.add("repeats", row | {"repeat": str(repeat)}, name, number)
        known = [value for six in each.values() if (value := six[name].known) is not None]
        spread = deviation(known) if len(known) > 1 else None
        number = Number(spread, len(known) if spread is not None else 0, "standard deviation over repeats, n - 1")
        numbers.add("repeats", row | {"repeat": "deviation"}, name, number)


def _applies(sample: Line, protocol: str) -> bool:
    return protocol == "A0" or sample["level"] == "conclusion"


def _accuracies(judged: Sequence[Judged]) -> dict[str, Number]:
    levels = {level: accuracy(one for one in judged if one.sample["level"] == level) for level in LEVELS}
    dimensions = {f"clue/{name}": accuracy(one for one in judged if _label(one.sample, "dimension") == name)
                  for name in DIMENSIONS}  # fmt: skip
    return {"accuracy": accuracy(judged), **levels, **dimensions}


def _correlations(numbers: Numbers, models: Sequence[str], found: Mapping[str, Mapping[str, Number]]) -> None:
    columns = {name: {model: found[model][key].known for model in found}
               for name, key in (("CLQ_Acc", "clq"), ("CoLQ_Acc", "colq"), ("ECS", "ecs"))}  # fmt: skip
    columns["Params"] = {model: BILLIONS.get(model) for model in models}
    if len(found) < FEWEST:
        return
    for of in ("CLQ_Acc", "CoLQ_Acc", "ECS"):
        for name, other in columns.items():
            pairs = [(x, y) for model in found
                     if (x := columns[of][model]) is not None and (y := other[model]) is not None]  # fmt: skip
            value = _pearson(pairs) if len(pairs) >= FEWEST else None
            number = Number(value, len(pairs) if value is not None else 0, "Pearson's over models")
            numbers.add("figure5", {"of": of}, name, number)


def _pearson(pairs: Sequence[tuple[float, float]]) -> float | None:
    xs, ys = zip(*pairs, strict=True)
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = math.sqrt(sum((one - x) ** 2 for one in xs) * sum((one - y) ** 2 for one in ys))
    return sum((one - x) * (other - y) for one, other in pairs) / spread if spread else None


def _data_set(numbers: Numbers, samples: Sequence[Line]) -> None:
    clues = [sample for sample in samples if sample["level"] == "clue"]
    conclusions = [sample for sample in samples if sample["level"] == "conclusion"]
    images = len({sample["image"] for sample in samples})
    rows: list[tuple[str | dict[str, str], int | None, Number | None, float | None, int]] = [
        ("Images", images, None, None, 0),
        ("Questions", len(samples), None, len(samples) / images, images),
    ]
    for level, asked in (("clue", clues), ("conclusion", conclusions)):
        rows.append(({"level": level}, len(asked), _part(asked, samples), len(asked) / images, images))
    for difficulty in WEIGHTS:
        some = [one for one in conclusions if one.get("difficulty") == difficulty]
        rows.append(({"level": "conclusion", "difficulty": difficulty}, len(some), _part(some, conclusions), None, 0))
    for name, values in (("dimension", DIMENSIONS), ("domain", DOMAINS)):
        for value in values:
            some = [one for one in clues if _label(one, name) == value]
            rows.append(({"level": "clue", name: value}, len(some), _part(some, clues), None, 0))
    lengths = [len(sample["question"]) for sample in samples]
    options = [len(text) for sample in samples for text in sample["options"].values()]
    rows.append(("Characters a question", None, None, mean(lengths), len(lengths)))
    rows.append(("Characters an option", None, None, mean(options), len(options)))
    for row, count, part, average, base in rows:
        numbers.add("table1", row, "count", Number(count, None, "of the records"))
        numbers.add("table1", row, "share", part or Number(None, None, "no share"))
        has_mean = average is not None
        numbers.add("table1", row, "mean", Number(average, base if has_mean else None, "mean of the records"))


def _part(some: Sequence[Line], of: Sequence[Line]) -> Number:
    return Number(len(some) / len(of) if of else None, len(of), "share of the questions")
