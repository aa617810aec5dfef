"""Works the tables of an UltraVR report out again, from the paper's equations 1 to 8 and docs/decisions."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tests.scorers.cells import Cell, Judged, accuracy, add_cells, by_sample, cells
from tests.scorers.numbers import Number, Numbers, mean, share
from tests.scorers.responses import ABSTENTION, Line, Made, absence
from tests.scorers.ultravr_data import LISTS, OPERATIONS, SCHEMAS, WITH_STEPS

DOMAINS = ("cctv", "rs", "wsi", "ad")
BUDGETS = {"qwen3-vl-8b": (16384, 4096), "gpt-5.5": (10000, 3200)}
"""Most visual tokens of a picture, and the side of the largest square that keeps its pixels."""
UNREADABLE = frozenset({"option_text", "ambiguous", "unfinished", "too_long", "overflowed", "none"})
WORDINGS = ("a red roof", "a blue wall", "a green door", "a grey lane")
CONDITIONS = ("V1", "V2", "V3", "V4")
PROTOCOLS = ("S0", "S1", "S2", "S3", "S4", "S5")
GAPS = {
    "table2": {"gap_res": ("V2", "V1"), "gap_access": ("V3", "V2"), "gap_aug": ("V4", "V2")},
    "table3": {"gap_text": ("S1", "S0"), "gap_schema": ("S2", "S0"), "gap_iter": ("S4", "S2"), "gap_GT": ("S5", "S4")},
}
OUTCOMES = (*OPERATIONS, "Final", "NoErr")


def read(line: Line) -> tuple[str | None, str]:
    """Read the final answer, and say how it was found."""
    if why := absence(line):
        return None, why
    text = line["turns"][-1]["text"]
    answer = json.loads(text)["final_answer"] if text.startswith("{") else text
    if answer in (ABSTENTION, "not sure"):
        return None, "abstained"
    if answer in WORDINGS:
        return None, "option_text"
    return (answer, "last") if answer else (None, "none")


def judge(line: Line, sample: Line) -> tuple[str, float | None]:
    """Say how the answer was found, and 1 where it is the true one."""
    letter, status = read(line)
    return status, float(letter == sample["answer"]) if sample["answer"] else None


class Step(NamedTuple):
    """A step of a chat: whose, which operation and format, how its answer was read, whether it is right, and its F1."""

    one: Judged
    operation: str
    form: str
    status: str
    is_right: bool
    overlap: float


_ABSENT = object()


def steps_of(one: Judged) -> list[Step]:
    """Judge the steps of a chat in their order."""
    said = _said(one.line)
    return [_step(one, step, said.get(step["step_id"], _ABSENT))
            for step in one.sample["reasoning_supervision"]["steps"]]  # fmt: skip


def _said(line: Line) -> dict[str, Any]:
    if line["protocol"] != "S2":
        return {turn["asks"]: json.loads(turn["text"]) for turn in line["turns"] if "asks" in turn}
    text = line["turns"][-1]["text"] if line["turns"] else ""
    return json.loads(text) if text.startswith("{") else {}


def _step(one: Judged, step: Line, said: Any) -> Step:
    truth, form = step["ground_truth"], step["answer_format"]
    if said is _ABSENT:
        status, is_right, overlap = "missing", False, 0.0
    elif said is None or said == []:
        is_right = truth is None or truth == []
        status, overlap = "blank", float(is_right)
    else:
        status, is_right = "parsed", _sorted(said) == _sorted(truth) and type(said) is type(truth)
        overlap = _f1(said, truth) if form in LISTS and truth else 0.0
    return Step(one, operation_of(one.sample, step), form, status, is_right, overlap)


def _sorted(value: Any) -> Any:
    return sorted(value) if isinstance(value, list) and value and isinstance(value[0], list) else value


def _f1(said: Sequence[Any], truth: Sequence[Any]) -> float:
    return 2 * sum(one in truth for one in said) / (len(said) + len(truth))


def operation_of(sample: Line, step: Line) -> str:
    """Say a step's operation: the record's own, else that of tables C.2 to C.5."""
    schema = SCHEMAS[sample["domain"], sample["category"]]
    of_table = next(name for name, ids in schema.items() if step["step_id"] in ids.split())
    return str(step.get("operation", of_table))


def macro(scores: Mapping[str, float], samples: Mapping[str, Line], rule: str) -> Number:
    """Average the domains' averages, over the domains that have any (equations 1 and 2)."""
    domains: dict[str, list[float]] = defaultdict(list)
    for name, value in scores.items():
        domains[samples[name]["domain"]].append(value)
    return Number(mean(mean(values) for values in domains.values()), len(scores), rule)


class _Scorer:
    def __init__(self, made: Made) -> None:
        self.samples = {one["id"]: one for one in made.records}
        self.numbers = Numbers()
        self.found = cells(made.lines, made.records, judge)
        self.forms = {step["answer_format"] for one in made.records for step in one["reasoning_supervision"]["steps"]}
        self.models = sorted({cell[0] for cell in self.found})

    def scores(self, model: str, protocol: str, condition: str) -> dict[str, float]:
        return by_sample(self.found.get((model, protocol, condition, None), []))

    def macro(self, model: str, protocol: str, condition: str) -> Number:
        return macro(self.scores(model, protocol, condition), self.samples, "mean over domains")

    def gap(self, more: Mapping[str, float], less: Mapping[str, float]) -> Number:
        both = {name: more[name] - less[name] for name in more if name in less}
        return macro(both, self.samples, "mean over domains of the gap over samples that both have")

    def by_category(self, judged: Sequence[Judged]) -> dict[str, Number]:
        categories = {f"{domain}/{category}": accuracy(one for one in judged if _kind(one.sample) == (domain, category))
                      for domain, category in SCHEMAS}  # fmt: skip
        domains = {domain: accuracy(one for one in judged if one.sample["domain"] == domain) for domain in DOMAINS}
        return categories | domains

    def accuracies(self, judged: Sequence[Judged]) -> dict[str, Number]:
        """Numbers of a cell."""
        return {"accuracy": macro(by_sample(judged), self.samples, "mean over domains")} | self.by_category(judged)

    def with_mean(self, table: str, rows: Sequence[tuple[dict[str, str], dict[str, Number]]], **keys: str) -> None:
        """Keep rows of models, and their mean where there are several."""
        for row, columns in rows:
            self.add(table, row, columns)
        if len(rows) > 1:
            self.add(table, {"model": "mean"} | keys, {
                name: _mean([columns[name] for _, columns in rows]) for name in rows[0][1]
            })  # fmt: skip

    def add(self, table: str, row: Mapping[str, str], columns: Mapping[str, Number]) -> None:
        for column, number in columns.items():
            self.numbers.add(table, row, column, number)

    def table1(self) -> None:
        rows = []
        for model in self._asked([("S0", "V2"), ("S0", "V0")]):
            direct, blind = (self.found.get((model, "S0", condition, None), []) for condition in ("V2", "V0"))
            tokens, side = BUDGETS.get(model, (None, None))
            rows.append(({"model": model}, {
                "macro": self.macro(model, "S0", "V2"),
                "text_only": self.macro(model, "S0", "V0"),
                "abstention": _rate(blind, {"abstained"}, "abstentions under V0"),
                "unreadable": _rate(direct, UNREADABLE, "answers under V2 without one clear answer"),
                "visual_gap": self.gap(self.scores(model, "S0", "V2"), self.scores(model, "S0", "V0")),
                **self.by_category(direct),
                "max_visual_tokens": Number(tokens, None, "the catalogue's"),
                "effective_resolution": Number(side, None, "the catalogue's"),
            }))  # fmt: skip
        self.with_mean("table1", rows)

    def comparison(self, table: str, columns: Mapping[str, tuple[str, str]]) -> None:
        rows = []
        models = self._asked([place for place in columns.values() if place != ("S0", "V2")])
        for model in models:
            scores = {name: self.scores(model, *cell) for name, cell in columns.items()}
            numbers = {name: self.macro(model, *cell) for name, cell in columns.items()}
            gaps = {gap: self.gap(scores[more], scores[less]) for gap, (more, less) in GAPS[table].items()}
            rows.append(({"model": model}, numbers | gaps))
        self.with_mean(table, rows)
        for protocol, condition in columns.values():
            keys = {"protocol": protocol, "condition": condition}
            found = [({"model": model} | keys, self.by_category(self.found[model, protocol, condition, None]))
                     for model in models if self.found.get((model, protocol, condition, None))]  # fmt: skip
            self.with_mean(f"{table}_categories", found, **keys)

    def _asked(self, places: Sequence[tuple[str, str]]) -> list[str]:
        return [model for model in self.models if any((model, *place, None) in self.found for place in places)]

    def process(self) -> None:
        for cell, judged in self.found.items():
            if cell[1] not in WITH_STEPS:
                continue
            scored = [one for one in judged if one.score is not None]
            steps = [step for one in scored for step in steps_of(one)]
            if not steps:
                continue
            self.steps(cell, steps)
            if cell[1] == "S4":
                self.first_errors(cell, scored)

    def steps(self, cell: Cell, steps: Sequence[Step]) -> None:
        row = _row(cell)
        by_operation = {name: _over_domains(steps, name) for name in OPERATIONS}
        statuses = Counter(step.status for step in steps)
        told = ", ".join(f"{status} {number}" for status, number in sorted(statuses.items()))
        self.add("steps", row, by_operation | {
            "converted": Number(0, None, "boxes of other conventions"),
            "statuses": Number(told, None, "how step answers were read"),
        })  # fmt: skip
        for domain in DOMAINS:
            some = [step for step in steps if step.one.sample["domain"] == domain]
            if some:
                columns = {name: _ratio([step for step in some if step.operation == name]) for name in OPERATIONS}
                self.add("steps_domains", row | {"domain": domain}, columns)
        for form in self.forms:
            some = [step for step in steps if step.form == form]
            right = mean(float(step.is_right) for step in some)
            self.numbers.add("steps_formats", row, form, share(right, len(some), "steps of the format that are right"))
            if form in LISTS:
                overlap = mean(step.overlap for step in some)
                self.numbers.add("steps_formats", row, f"{form} F1", share(overlap, len(some), "mean F1 of lists"))
        if cell[1:3] == ("S2", "V2"):
            self.errors(cell[0], by_operation)
        if cell[1:3] == ("S5", "V2"):
            self.add("figure2b", {"model": cell[0]}, by_operation)

    def errors(self, model: str, by_operation: Mapping[str, Number]) -> None:
        """Equation 6: errors less the mean error of the operations."""
        errors = {name: 1 - number.known for name, number in by_operation.items() if number.known is not None}
        average = mean(errors.values())
        count = sum(number.count or 0 for number in by_operation.values())
        self.numbers.add("figure2a", {"model": model}, "mean_error", Number(average, count, "mean over operations"))
        for name, number in by_operation.items():
            value = None if average is None or name not in errors else errors[name] - average
            self.numbers.add("figure2a", {"model": model}, name, number._replace(value=value, interval=None))

    def first_errors(self, cell: Cell, scored: Sequence[Judged]) -> None:
        outcomes = {(one.sample["id"], one.line["job_id"], one.line["request_id"]): _outcome(one) for one in scored}
        means: dict[str, dict[str, float]] = {}
        for outcome in OUTCOMES:
            each: dict[str, list[float]] = defaultdict(list)
            for (sample, *_), found in outcomes.items():
                each[sample].append(float(found == outcome))
            means[outcome] = {sample: sum(values) / len(values) for sample, values in each.items()}
        for outcome, scores in means.items():
            rule = "trajectories that fail so first, mean over domains"
            if cell[2] == "V2":
                self.numbers.add("figure2c", {"model": cell[0]}, outcome, macro(scores, self.samples, rule))
            for domain in DOMAINS:
                some = [value for name, value in scores.items() if self.samples[name]["domain"] == domain]
                if some:
                    number = share(mean(some), len(some), "trajectories of the domain that fail so first")
                    self.numbers.add("figure2c_domains", _row(cell) | {"domain": domain}, outcome, number)

    def annotated(self) -> None:
        counts = Counter((one["domain"], operation_of(one, step)) for one in self.samples.values() if one["answer"]
                         for step in one["reasoning_supervision"]["steps"])  # fmt: skip
        for domain in {domain for domain, _ in counts}:
            for operation in OPERATIONS:
                number = Number(counts[domain, operation] or None, None, "steps of questions with an answer")
                self.numbers.add("annotated_steps", {"domain": domain}, operation, number)


def _kind(sample: Line) -> tuple[str, str]:
    return sample["domain"], sample["category"]


def _row(cell: Cell) -> dict[str, str]:
    return {"model": cell[0], "protocol": cell[1], "condition": cell[2]}


def _mean(numbers: Sequence[Number]) -> Number:
    known = [number.known for number in numbers if number.known is not None and number.count is not None]
    if not known and numbers[0].count is None:
        return Number(None, None, "no mean of budgets")
    return Number(mean(known), len(known), "mean over models")


def _rate(judged: Sequence[Judged], statuses: Iterable[str], rule: str) -> Number:
    number = sum(one.status in set(statuses) for one in judged)
    return share(number / len(judged) if judged else None, len(judged), rule)


def _outcome(one: Judged) -> str:
    """Equation 7: the operation of the first wrong step, else whether the final answer is wrong."""
    wrong = next((step.operation for step in steps_of(one) if not step.is_right), None)
    return wrong or ("NoErr" if one.score else "Final")


def _by_step(steps: Sequence[Step], value: Callable[[Step], float]) -> dict[tuple[str, int], float]:
    each: dict[tuple[str, int], list[float]] = defaultdict(list)
    places: Counter[int] = Counter()
    for step in steps:
        each[step.one.sample["id"], places[id(step.one)]].append(value(step))
        places[id(step.one)] += 1
    return {key: sum(values) / len(values) for key, values in each.items()}


def _ratio(steps: Sequence[Step]) -> Number:
    """Equation 4: right steps of steps, each a mean over its repeats; its interval counts samples."""
    values = _by_step(steps, lambda step: float(step.is_right))
    trials = len({sample for sample, _ in values})
    rule = "right steps of the operation in the domain"
    return share(mean(values.values()), trials, rule)._replace(count=len(values))


def _over_domains(steps: Sequence[Step], operation: str) -> Number:
    """Equation 5: the mean over domains of equation 4."""
    ratios = [_ratio([step for step in steps if (step.one.sample["domain"], step.operation) == (domain, operation)])
              for domain in DOMAINS]  # fmt: skip
    known = [ratio for ratio in ratios if ratio.known is not None]
    count = sum(ratio.count or 0 for ratio in known)
    return Number(mean(ratio.known for ratio in known), count, "mean over domains of the share of right steps")


def _applies(sample: Line, protocol: str) -> bool:
    return True


def score(made: Made) -> Numbers:
    """Work out every number of the report."""
    scorer = _Scorer(made)
    add_cells(scorer.numbers, scorer.found, made, applies=_applies, accuracies=scorer.accuracies, unreadable=UNREADABLE)
    scorer.table1()
    scorer.comparison("table2", {condition: ("S0", condition) for condition in CONDITIONS})
    scorer.comparison("table3", {protocol: (protocol, "V2") for protocol in PROTOCOLS})
    scorer.process()
    scorer.annotated()
    return scorer.numbers
