"""Works the tables of a VistaHop report out again, from docs/vistahop.md."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations

from tests.scorers.cells import Cell, Judged, accuracy, add_cells, by_sample, cells
from tests.scorers.numbers import Number, Numbers, mean, share
from tests.scorers.responses import Line, Made, counted, is_failed
from tests.scorers.vistahop_data import FAILURES, SIDE

RULES = "rules/2"
COUNTED = frozenset({"ok", "not_run"})
STRICT = frozenset({"bad_arguments", "bad_box"})
"""Calls by which the authors' program loses a sample."""
PAPERS = 10
SETTINGS = ("direct", "search", "search_crop")
LEVELS = ("L1", "L2", "L3")
LEAST_PIXELS = 24
UNREADABLE = frozenset({"empty", "rounds", "context"})

Verdict = float | None
"""1 or 0; -1 is a verdict that cannot be read, None one that is missing."""


def answer_of(line: Line) -> tuple[str | None, str]:
    """Read the answer of a chat, and say how it was found; none where it has none."""
    if line.get("stop", "answered") != "answered":
        return None, line["stop"]
    last = line["turns"][-1]
    if last["finish_reason"] == "content_filter":
        return None, "filtered"
    text = last["text"]
    if not text:
        return None, "empty"
    if found := re.search("<answer>(.*)</answer>", text):
        return found[1], "tag"
    return text, "unfinished" if text.startswith("<thinking>") else "whole"


def level_of(sample: Line) -> str:
    """Say the level of a question by its hops: L1 below 5, L2 below 10, L3 from there."""
    hops = sample.get("hops")
    return "" if hops is None else LEVELS[(hops >= 5) + (hops >= 10)]


class Panel:
    """Who judges chats: rules, models and people."""

    def __init__(self, made: Made) -> None:
        self.said: dict[str, dict[tuple[str, str, str], Verdict]] = {}
        for lines in made.judges:
            name = f"{lines[0]['model']} by {lines[0]['prompt_version']}" if lines else ""
            self.said[name] = {(line["sample_id"], line["details"]["truth"], line["details"]["answer"]):
                               _judgement(line["turns"][-1]["text"]) for line in lines}  # fmt: skip
        self.people: dict[str, dict[tuple[str, str], Verdict]] = defaultdict(dict)
        for line in map(json.loads, made.beside.get("judgements.jsonl", "").splitlines()):
            self.people[f"annotator {line['annotator']}"][line["job"], line["request"]] = float(line["correct"])

    @property
    def first(self) -> str:
        """The judge that gives the scores."""
        return next(iter(self.said), RULES)

    def names(self, chats: Iterable[Judged]) -> list[str]:
        """All judges of these chats: people only where they said something of one."""
        known = [(one.line["job_id"], one.line["request_id"]) for one in chats]
        return [
            RULES,
            *self.said,
            *sorted(name for name, said in self.people.items() if any(at in said for at in known)),
        ]

    def verdict(self, name: str, line: Line, sample: Line) -> Verdict:
        """Say what a judge says of a chat."""
        if name in self.people:
            return self.people[name].get((line["job_id"], line["request_id"]))
        answer, _ = answer_of(line)
        if not sample["answers"]:
            return None
        if answer is None or name == RULES or answer in sample["answers"]:
            return float(answer in sample["answers"])
        return _joined([self.said[name].get((sample["id"], truth, answer)) for truth in sample["answers"]])


def _joined(each: Sequence[Verdict]) -> Verdict:
    """Join what a model said of an answer truth by truth: one Yes is enough."""
    if 1.0 in each:
        return 1.0
    return None if None in each else -1.0 if -1.0 in each else 0.0


def _judgement(text: str) -> Verdict:
    return {"<judge>Yes</judge>": 1.0, "<judge>No</judge>": 0.0}.get(text, -1.0)


def _known(verdict: Verdict) -> float | None:
    return verdict if verdict in (0.0, 1.0) else None


class _Scorer:
    def __init__(self, made: Made) -> None:
        self.samples, self.numbers, self.panel = made.records, Numbers(), Panel(made)
        self.cells = cells(made.lines, made.records, self.judge)
        self.found = {cell: judged for cell, judged in self.cells.items() if judged}
        self.failures = {(line["job"], line["request"]): line["type"]
                         for line in map(json.loads, made.beside.get("failures.jsonl", "").splitlines())}  # fmt: skip
        self.failed = Counter(
            (line["model"], line["protocol"], line["condition"], line.get("max_rounds"))
            for line in counted(made.lines, [one["id"] for one in made.records]) if is_failed(line)
        )  # fmt: skip

    def judge(self, line: Line, sample: Line) -> tuple[str, float | None]:
        """Say how the answer was found, and what the first judge says."""
        score = _known(self.panel.verdict(self.panel.first, line, sample)) if sample["answers"] else None
        return answer_of(line)[1], score

    def add(self, table: str, row: Mapping[str, str], columns: Mapping[str, Number]) -> None:
        for column, number in columns.items():
            self.numbers.add(table, row, column, number)

    def shown(self, model: str, setting: str) -> Cell | None:
        """The cell that stands for a setting in Table 4: N = 10, else the fewest rounds that there are."""
        found = [cell for cell in self.found if (cell[0], cell[1], cell[2]) == (model, setting, "V2")]
        papers = [cell for cell in found if cell[3] in (None, PAPERS)]
        return next(iter(papers or sorted(found, key=lambda cell: cell[3] or 0)), None)

    def table4(self) -> None:
        means: dict[str, list[dict[str, Number]]] = defaultdict(list)
        for model in sorted({cell[0] for cell in self.found}):
            before: Cell | None = None
            for setting in SETTINGS:
                cell = self.shown(model, setting)
                if cell is not None:
                    judged = self.found[cell]
                    row = self.answers(judged) | self.process(cell) | {"gain": self.gain(before, cell)}
                    self.add("table4", _row(cell), row | {"chats": _count(len(judged), "chats")})
                    if cell[3] in (None, PAPERS):
                        means[setting].append(row)
                before = cell
        for setting, rows in means.items():
            if len(rows) > 1:
                averages = {column: _average([row[column] for row in rows]) for column in rows[0]}
                self.add("table4", {"model": "mean", "protocol": setting}, averages | {"chats": _count(None, "none")})

    def gain(self, before: Cell | None, cell: Cell) -> Number:
        """Gain over the row of the setting before, if it had as many rounds, over the samples that both have."""
        rule = "P@1 less that of the setting before, over samples that both have"
        if before is None or before[3] not in (None, cell[3]):
            return Number(None, None, rule)
        more, less = by_sample(self.found[cell]), by_sample(self.found[before])
        both = [sample for sample in more if sample in less]
        return Number(mean(more[sample] - less[sample] for sample in both), len(both), rule)

    def answers(self, judged: Sequence[Judged]) -> dict[str, Number]:
        rule = "mean over samples of the mean over their repeats"
        levels = {level: accuracy((one for one in judged if level_of(one.sample) == level), rule) for level in LEVELS}
        return {"p1": accuracy(judged, rule), **levels}

    def process(self, cell: Cell) -> dict[str, Number]:
        """Calls, rounds and utilization of the chats of a cell."""
        judged, rounds = self.found[cell], cell[3]
        calls, played = [_calls(one.line) for one in judged], [len(one.line["turns"]) for one in judged]
        count = len(judged)
        if rounds is None:
            fixed = {"calls": 0.0, "rounds": 1.0, "utilization": 0.0}
            return {name: Number(value if count else None, count, "without tools") for name, value in fixed.items()}
        average = mean(calls)
        return {
            "calls": Number(average, count, "counted calls of a chat"),
            "rounds": Number(mean(played), count, "answers of a chat"),
            "utilization": Number(None if average is None else average / rounds, count, "Calls / N"),
        }

    def table5(self) -> None:
        for cell in self.found:
            several = len({other[3] for other in self.found if other[:3] == cell[:3]}) > 1
            if cell[1:3] == ("search_crop", "V2") and several:
                chats = {"chats": _count(len(self.found[cell]), "chats")}
                self.add("table5", _row(cell), self.answers(self.found[cell]) | self.process(cell) | chats)
            if cell[1:3] == ("direct", "V0"):
                self.add("text_only", _row(cell), self.answers(self.found[cell]))

    def chats(self) -> None:
        told = {_stop(one.line) for judged in self.found.values() for one in judged} | {*_STOPS}
        for cell, judged in self.found.items():
            count = len(judged)
            stops = Counter(_stop(one.line) for one in judged)
            statuses = Counter(one.status for one in judged)
            strict = [one._replace(score=0.0) if one.score is not None and _statuses(one.line) & STRICT else one
                      for one in judged]  # fmt: skip
            later = [turn["usage"] for one in judged for turn in one.line["turns"][1:]]
            read = sum(usage["prompt_tokens"] for usage in later)
            reuse = sum(usage["cached_tokens"] for usage in later) / read if read else None
            self.add("process", _row(cell), {
                **{stop: share(stops[stop] / count if count else None, count, "chats that ended so") for stop in told},
                **{status: _count(statuses[status], "answers found so") for status in _STATUSES},
                "cut_off": _count(sum(_is_cut(one.line) for one in judged), "answers cut off"),
                "strict": accuracy(strict, "P@1, chats with such calls being wrong"),
                "reuse": Number(reuse, len(later), "cached tokens of later rounds' prompts"),
                "failed": _count(self.failed[cell], "requests that failed"),
                "chats": _count(count, "chats"),
            })  # fmt: skip
            if cell[3] is not None:
                seen = [value for one in judged if (value := _seen(one)) is not None]
                documents = [value for one in judged if (value := _documents(one)) is not None]
                self.add("evidence", _row(cell), {
                    "anchor": Number(mean(seen), len(seen), "chats that saw an anchor"),
                    "documents": Number(mean(documents), len(documents), "share of the chain's documents"),
                })  # fmt: skip
                self.calls(cell, judged)

    def calls(self, cell: Cell, judged: Sequence[Judged]) -> None:
        calls = Counter((_tool(turn["call"]), turn["call"]["status"])
                        for one in judged for turn in one.line["turns"] if "call" in turn)  # fmt: skip
        total = calls.total()
        for (tool, status), number in calls.items():
            row = _row(cell) | {"tool": tool, "status": status}
            part = share(number / total, total, "share of the cell's calls")
            self.add("calls", row, {"calls": _count(number, "calls"), "share": part})

    def table9(self) -> None:
        for cell, judged in self.found.items():
            if cell[1] != "search_crop":
                continue
            wrong = [one for one in judged if one.score == 0.0]
            people = [kind for one in wrong if (kind := self.failures.get(_place(one.line)))]
            for source, kinds in (("people", people), ("rules of ours", [self.failure(one) for one in wrong])):
                counts, total = Counter(kinds), len(kinds)
                if total:
                    shares = {kind: share(counts[kind] / total, total, f"incorrect chats that fail by {kind}")
                              for kind in (*FAILURES, "unlabelled")}  # fmt: skip
                    self.add("table9", _row(cell) | {"source": source}, shares | {"chats": _count(total, "chats")})

    def failure(self, one: Judged) -> str:
        """What an incorrect chat fails by: the first of our rules that holds."""
        if _seen(one) == 0.0:
            return "anchor"
        if not all(set(hop["documents"]) & _found(one.line) for hop in one.sample["chain"]):
            return "drift"
        if one.line["stop"] != "answered":
            return "planning"
        if one.sample.get("form", "single") != "single":
            return "fusion"
        said = {_known(self.panel.verdict(name, one.line, one.sample)) for name in self.everybody}
        return "boundary" if {0.0, 1.0} <= said else "unlabelled"

    @property
    def everybody(self) -> list[str]:
        return self.panel.names(one for judged in self.found.values() for one in judged)

    def judges(self) -> None:
        everybody = self.everybody
        if len(everybody) < 2:
            return
        for cell, judged in self.found.items():
            scored = [one for one in judged if one.sample["answers"]]
            for name in self.panel.names(judged):
                verdicts = [self.panel.verdict(name, one.line, one.sample) for one in scored]
                by_name = [one._replace(score=_known(verdict)) for one, verdict in zip(scored, verdicts, strict=True)]
                if name not in self.panel.said and set(verdicts) <= {None}:
                    continue
                self.add("by_judge", _row(cell) | {"judge": name}, {
                    **self.answers(by_name),
                    "judged": _count(sum(_known(one) is not None for one in verdicts), "chats with a verdict"),
                    "unreadable": _count(verdicts.count(-1.0), "verdicts that cannot be read"),
                    "missing": _count(verdicts.count(None), "chats without a verdict"),
                })  # fmt: skip
        chats = [one for judged in self.found.values() for one in judged]
        said = {name: [self.panel.verdict(name, one.line, one.sample) for one in chats] for name in everybody}
        for one, other in combinations(everybody, 2):
            self.agreement({"judge": one, "other": other}, [*zip(said[one], said[other], strict=True)])
        people = [name for name in everybody if name in self.panel.people]
        if len(people) > 1:
            for one in (name for name in everybody if name not in self.panel.people):
                pairs = [pair for name in people for pair in zip(said[one], said[name], strict=True)]
                self.agreement({"judge": "all annotators", "other": one}, pairs)

    def agreement(self, row: Mapping[str, str], pairs: Sequence[tuple[Verdict, Verdict]]) -> None:
        both = [pair for pair in pairs if not {None, -1.0} & set(pair)]
        same = mean(float(one == other) for one, other in both)
        unreadable = sum(-1.0 in pair and None not in pair for pair in pairs)
        if not both and not unreadable:
            return
        self.add("judges", row, {
            "agreement": share(same, len(both), "chats of which both say the same"),
            "kappa": _kappa(both),
            "both": _count(len(both), "chats that both judged"),
            "unreadable": _count(unreadable, "pairs with a verdict that cannot be read"),
        })  # fmt: skip

    def strata(self) -> None:
        for dimension, names in _strata(self.samples).items():
            for name, some in names.items():
                ids = {one["id"] for one in some}
                hops = [one["hops"] for one in some if "hops" in one]
                self.add("composition", {"dimension": dimension, "name": name}, {
                    "samples": _count(len(some), "samples"),
                    "pictures": _count(len({one["images"][0] for one in some}), "pictures"),
                    "hops": Number(mean(hops), len(hops), "mean of those that are known"),
                })  # fmt: skip
                for model in sorted({cell[0] for cell in self.found}):
                    shown = {setting: cell for setting in SETTINGS if (cell := self.shown(model, setting)) is not None}
                    if not shown:
                        continue
                    columns = {setting: accuracy(one for one in self.found[cell] if one.sample["id"] in ids)
                               for setting, cell in shown.items()}  # fmt: skip
                    absent = {setting: Number(None, 0, "not asked") for setting in SETTINGS if setting not in shown}
                    row = {"model": model, "dimension": dimension, "name": name}
                    self.add("strata", row, columns | absent | {"samples": _count(len(some), "samples")})


_STOPS = ("answered", "rounds", "context")
_STATUSES = ("tag", "whole", "unfinished", "empty")


def _row(cell: Cell) -> dict[str, str]:
    model, protocol, condition, rounds = cell
    return {"model": model, "protocol": protocol, "condition": condition, "rounds": str(rounds or 1)}


def _count(number: int | None, rule: str) -> Number:
    return Number(number, None, rule)


def _average(numbers: Sequence[Number]) -> Number:
    known = [number.known for number in numbers if number.known is not None]
    return Number(mean(known), len(known), "mean over models of rows with N = 10")


def _place(line: Line) -> tuple[str, str]:
    return line["job_id"], line["request_id"]


def _stop(line: Line) -> str:
    return "filtered" if answer_of(line)[1] == "filtered" else line.get("stop", "answered")


def _statuses(line: Line) -> set[str]:
    return {turn["call"]["status"] for turn in line["turns"] if "call" in turn}


def _calls(line: Line) -> int:
    return sum(turn["call"]["status"] in COUNTED for turn in line["turns"] if "call" in turn)


def _is_cut(line: Line) -> bool:
    return line["turns"][-1]["finish_reason"] == "length"


def _tool(call: Line) -> str:
    return "none" if call["status"] in ("unknown_tool", "malformed", "bad_arguments") else call["name"]


def _found(line: Line) -> set[str]:
    return {document for turn in line["turns"] if "call" in turn for document in turn["call"].get("documents", ())}


def _documents(one: Judged) -> float | None:
    wanted = {document for hop in one.sample["chain"] for document in hop["documents"]}
    return len(wanted & _found(one.line)) / len(wanted) if wanted else None


def _seen(one: Judged) -> float | None:
    """Whether a crop covers half of an anchor's box and shows its shorter side with enough pixels."""
    boxes = [anchor["box"] for anchor in one.sample["anchors"] if "box" in anchor]
    if not boxes:
        return None
    crops = [raster for raster in one.line["rasters"] if raster["key"] != "first"]
    return float(any(_shows(crop, box) for crop in crops for box in boxes))


def _shows(crop: Line, box: Sequence[float]) -> bool:
    x, y, width, height = map(int, crop["region"].split(","))
    x1, y1, x2, y2 = (side * SIDE for side in box)
    wide = max(0.0, min(x2, x + width) - max(x1, x))
    high = max(0.0, min(y2, y + height) - max(y1, y))
    across, down = crop["raster_size"][0] / width, crop["raster_size"][1] / height
    pixels = min((x2 - x1) * across, (y2 - y1) * down)
    return wide * high >= (x2 - x1) * (y2 - y1) / 2 and pixels >= LEAST_PIXELS


def _kappa(pairs: Sequence[tuple[Verdict, Verdict]]) -> Number:
    """Cohen's kappa of two judges."""
    rule, count = "Cohen's kappa", len(pairs)
    if not count:
        return Number(None, 0, rule)
    same = sum(one == other for one, other in pairs) / count
    yes, other_yes = (sum(pair[at] == 1.0 for pair in pairs) / count for at in (0, 1))
    chance = yes * other_yes + (1 - yes) * (1 - other_yes)
    return Number((same - chance) / (1 - chance), count, rule) if chance < 1 else Number(None, 0, rule)


def _strata(samples: Sequence[Line]) -> dict[str, dict[str, list[Line]]]:
    """Sort questions by level, answer type, the first kind of an anchor, form, category, scenario and hops."""
    names: dict[str, Callable[[Line], str]] = {
        "level": level_of,
        "answer type": lambda one: one.get("answer_type", ""),
        "anchor": lambda one: next((anchor["kind"] for anchor in one["anchors"] if "kind" in anchor), ""),
        "form": lambda one: one.get("form", ""),
        "category": lambda one: one.get("category", ""),
        "scenario": lambda one: one.get("scenario", ""),
        "hops": lambda one: str(one.get("hops", "")),
    }
    found: dict[str, dict[str, list[Line]]] = {}
    for dimension, name_of in names.items():
        groups: dict[str, list[Line]] = defaultdict(list)
        for sample in samples:
            groups[name_of(sample)].append(sample)
        found[dimension] = {name: some for name, some in groups.items() if name}
    return found


def score(made: Made) -> Numbers:
    """Work out every number of the report."""
    scorer = _Scorer(made)
    add_cells(scorer.numbers, scorer.cells, made, applies=_applies, accuracies=_accuracies, unreadable=UNREADABLE)
    scorer.table4()
    scorer.table5()
    scorer.chats()
    scorer.table9()
    scorer.judges()
    scorer.strata()
    return scorer.numbers


def _applies(sample: Line, protocol: str) -> bool:
    return True


def _accuracies(judged: Sequence[Judged]) -> dict[str, Number]:
    levels = {level: accuracy(one for one in judged if level_of(one.sample) == level) for level in LEVELS}
    return {"accuracy": accuracy(judged), **levels}
