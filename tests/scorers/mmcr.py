"""Works the tables of an MMCR report out again, from docs/mmcr.md."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from tests.scorers.cells import Judged, accuracy, add_cells, cells
from tests.scorers.mmcr_data import CROSS, ERRORS, LETTERS, REFUSAL, TYPES, shown
from tests.scorers.numbers import Number, Numbers, deviation, mean, share
from tests.scorers.responses import Line, Made, counted, is_outgrown

UNMATCHED = frozenset({"refused", "unmatched"})


class Read(NamedTuple):
    """What a reader finds in a reply: the letter as it was shown, and how."""

    letter: str | None
    status: str


def matched(line: Line, sample: Line) -> Read:
    """Match a reply by the paper's two rules."""
    return _read(line, sample, is_careful=False)


def careful(line: Line, sample: Line) -> Read:
    """Read a reply as the house does, which takes a letter in quotes, too."""
    return _read(line, sample, is_careful=True)


def _read(line: Line, sample: Line, *, is_careful: bool) -> Read:
    if is_outgrown(line):
        return Read(None, "unmatched")
    last = line["turns"][-1]
    if last["finish_reason"] == "content_filter":
        return Read(None, "filtered")
    text = last["text"].rpartition("nswer: ")[2]
    if text in sample["options"]:
        return Read(text, "option")
    if text.strip('"') in sample["options"] and is_careful:
        return Read(text.strip('"'), "option")
    if (original := _letter_of(text, sample)) is not None:
        return Read("".join(sample["options"])[_order(line, sample).index(original)], "text")
    return Read(None, "refused" if text == REFUSAL else "unmatched")


def _letter_of(text: str, sample: Line) -> str | None:
    return next((letter for letter, wording in sample["options"].items() if wording == text), None)


def _order(line: Line, sample: Line) -> str:
    return shown(sample, int(line["protocol"][1]))


Reader = Callable[[Line, Line], Read]


def original(line: Line, sample: Line, reader: Reader) -> str | None:
    """Say which option of the original order a reply chooses."""
    letter = reader(line, sample).letter
    return None if letter is None else _order(line, sample)[list(sample["options"]).index(letter)]


def judge(line: Line, sample: Line) -> tuple[str, float | None]:
    """Say how the answer was found, and 1 where it is the true option."""
    is_right = original(line, sample, matched) == sample["answer"]
    return matched(line, sample).status, float(is_right) if sample["answer"] else None


class Family:
    """The replies of one model under one condition to one family of prompts, as a reader reads them."""

    def __init__(self, replies: Iterable[Judged], reader: Reader) -> None:
        self.replies = [one for one in replies if one.sample["answer"]]
        self.reader = reader
        self.whole = self._whole()

    def _whole(self) -> dict[tuple[str, int], list[Judged]]:
        """The replies of a sample and repeat, of those that have all rotations."""
        found: dict[tuple[str, int], list[Judged]] = defaultdict(list)
        for one in self.replies:
            found[one.sample["id"], one.line["repeat"]].append(one)
        return {key: some for key, some in found.items() if len(some) == len(some[0].sample["options"])}

    def is_right(self, one: Judged) -> bool:
        """Whether a reply chooses the true option."""
        return original(one.line, one.sample, self.reader) == one.sample["answer"]

    def is_consistent(self, some: Iterable[Judged]) -> bool:
        """Whether replies choose one and the same option."""
        chosen = {original(one.line, one.sample, self.reader) for one in some}
        return len(chosen) == 1 and None not in chosen

    def over_rotations(self, value: Callable[[Sequence[Judged]], float], repeat: int | None = None) -> dict[str, float]:
        """Take a number of every whole repeat of a sample, and average it over these."""
        each: dict[str, list[float]] = defaultdict(list)
        for (sample, number), some in self.whole.items():
            if repeat in (None, number):
                each[sample].append(value(some))
        return {sample: sum(values) / len(values) for sample, values in each.items()}

    def circular(self, repeat: int | None = None) -> dict[str, float]:
        """Whether all rotations are right, by sample."""
        return self.over_rotations(lambda some: float(all(map(self.is_right, some))), repeat)

    def plain(self) -> dict[str, float]:
        """Whether rotation 0 is right, by sample."""
        found: dict[str, list[float]] = defaultdict(list)
        for one in self.replies:
            if one.line["protocol"][1] == "0":
                found[one.sample["id"]].append(float(self.is_right(one)))
        return {sample: sum(values) / len(values) for sample, values in found.items()}


def _share(scores: Mapping[str, float], some: Iterable[str] | None, rule: str) -> Number:
    chosen = {key: value for key, value in scores.items() if some is None or key in set(some)}
    return share(mean(chosen.values()), len(chosen), rule)._replace(is_least=True)


def _gap(more: Mapping[str, float], less: Mapping[str, float], some: Iterable[str] | None, rule: str) -> Number:
    both = [key for key in more if key in less and (some is None or key in set(some))]
    return Number(mean(more[key] - less[key] for key in both), len(both), rule)


class _Scorer:
    def __init__(self, made: Made) -> None:
        self.samples = made.records
        self.numbers = Numbers()
        self.shown = counted(made.lines, [one["id"] for one in made.records])
        self.found = cells(made.lines, made.records, judge)
        self.labels = {(one["sample_id"], one["model"]): one["category"]
                       for one in map(json.loads, made.beside.get("errors.jsonl", "").splitlines())}  # fmt: skip
        self.types = {name: [one["id"] for one in made.records if one["type"] == name] for name in TYPES}
        self.sources = {
            "cross": [one["id"] for one in made.records if one["type"] in CROSS],
            "single": [one["id"] for one in made.records if one["type"] not in CROSS],
        }
        subjects = dict.fromkeys(one.get("subject", "") for one in made.records)
        self.subjects = {f"subject{at}": [one["id"] for one in made.records if one.get("subject", "") == name]
                         for at, name in enumerate(subjects)}  # fmt: skip

    def families(self, reader: Reader) -> dict[tuple[str, str, str], Family]:
        replies: dict[tuple[str, str, str], list[Judged]] = defaultdict(list)
        for (model, protocol, condition, _), judged in self.found.items():
            replies[model, condition, protocol[0]] += judged
        return {key: Family(some, reader) for key, some in replies.items()}

    def accuracies(self, table: str, row: Mapping[str, str], family: Family) -> None:
        circular = family.circular()
        by_source = {name: _share(circular, some, f"circular of {name}") for name, some in self.sources.items()}
        cross, single = by_source["cross"], by_source["single"]
        gap = Number(None, 0, "cross less single")
        if cross.known is not None and single.known is not None:
            gap = Number(cross.known - single.known, len(circular), "cross less single")
        columns = {
            "circular": _share(circular, None, "right in all rotations of a repeat, averaged over repeats"),
            **by_source, "gap": gap, "plain": _share(family.plain(), None, "rotation 0"),
            **{name: _share(circular, some, f"circular of {name}") for name, some in self.types.items()},
        }  # fmt: skip
        self.add(table, row, columns)

    def add(self, table: str, row: Mapping[str, str], columns: Mapping[str, Number]) -> None:
        for column, number in columns.items():
            self.numbers.add(table, row, column, number)

    def by_reader(self, reader: Reader, name: str, suffix: str) -> None:
        families = self.families(reader)
        for (model, condition, family), found in families.items():
            row = {"model": model, "condition": condition, "matcher": name}
            if family == "N":
                self.accuracies(f"main{suffix}", row, found)
                if len(self.subjects) < 2:
                    continue
                subjects = {key: _share(found.circular(), some, "circular of the subject")
                            for key, some in self.subjects.items()}  # fmt: skip
                self.add(f"subject_accuracy{suffix}", row, subjects)
            elif (model, condition, "N") in families:
                self.chain(suffix, row | {"protocol": family}, families[model, condition, "N"], found)

    def chain(self, suffix: str, row: Mapping[str, str], without: Family, chain: Family) -> None:
        parts = {"": (without.circular(), chain.circular(), None), "plain_": (without.plain(), chain.plain(), None)}
        parts |= {f"{name}_": (*parts[""][:2], some) for name, some in self.sources.items()}
        types = {f"{name}_": (*parts[""][:2], some) for name, some in self.types.items()}
        for table, columns in ((f"cot{suffix}", parts), (f"cot_types{suffix}", types)):
            for name, (less, more, some) in columns.items():
                self.numbers.add(table, row, f"{name}without", _share(less, some, "without a chain of thought"))
                self.numbers.add(table, row, f"{name}with", _share(more, some, "with one"))
                self.numbers.add(table, row, f"{name}gap", _gap(more, less, some, "over samples that have both"))

    def by_family(self, matcher: str) -> None:
        careful_ones = self.families(careful)
        for key, family in self.families(matched).items():
            model, condition, name = key
            row = {"model": model, "condition": condition, "matcher": matcher, "protocol": name}
            self.consistency(row, family, key)
            self.readers({"model": model, "condition": condition, "protocol": name}, family, careful_ones[key])
            if name == "N":
                self.errors({"model": model, "condition": condition, "matcher": matcher}, family)

    def consistency(self, row: Mapping[str, str], family: Family, key: tuple[str, str, str]) -> None:
        rotations = family.over_rotations(lambda some: sum(map(family.is_right, some)) / len(some))
        consistent = family.over_rotations(lambda some: float(family.is_consistent(some)))
        statuses = Counter(matched(one.line, one.sample).status for one in family.replies)
        total = statuses.total()
        unmatched = total - statuses["option"] - statuses["text"]
        each = [mean(family.circular(repeat).values()) for repeat in sorted({repeat for _, repeat in family.whole})]
        self.add("consistency", row, {
            "circular": _share(family.circular(), None, "right in all rotations"),
            "mean": _share(rotations, None, "mean over rotations"),
            "plain": _share(family.plain(), None, "rotation 0"),
            "repeats": Number(_spread([one for one in each if one is not None]), None, "circular, over repeats"),
            "consistent": _share(consistent, None, "the same option in all rotations"),
            "excess": self.excess(family),
            "unmatched": share(unmatched / total if total else None, total, "replies without an option"),
            "refused": share(statuses["refused"] / total if total else None, total, "replies that say so"),
            **self.seen(key),
        })  # fmt: skip

    def excess(self, family: Family) -> Number:
        answered = [one for one in family.replies if matched(one.line, one.sample).letter]
        letters = Counter(matched(one.line, one.sample).letter for one in answered)
        even = {letter: sum(1 / len(one.sample["options"]) for one in answered if letter in one.sample["options"])
                for letter in LETTERS}  # fmt: skip
        excess = [(letters[letter] - even[letter]) / len(answered) for letter in LETTERS] if answered else []
        return Number(max(excess, default=None), len(answered), "largest excess of a letter over an even share")

    def seen(self, key: tuple[str, str, str]) -> dict[str, Number]:
        rasters = [line["rasters"] for line in self.shown if _family_of(line) == key]
        pages = [len(some) for some in rasters if some]
        tokens = [sum(one["visual_tokens"] for one in some) for some in rasters if some]
        return {
            "pages": Number(_range(pages), None, "pages of a prompt"),
            "tokens": Number(_range(tokens), None, "visual tokens of a prompt"),
        }

    def readers(self, row: Mapping[str, str], family: Family, careful_one: Family) -> None:
        pairs = [(original(one.line, one.sample, matched), original(one.line, one.sample, careful))
                 for one in family.replies]  # fmt: skip
        counts = {
            "same": sum(one == other is not None for one, other in pairs),
            "other": sum(one != other and None not in (one, other) for one, other in pairs),
            "only_matcher": sum(other is None is not one for one, other in pairs),
            "only_careful": sum(one is None is not other for one, other in pairs),
            "neither": sum(one is None is other for one, other in pairs),
        }
        self.add("matchers", row, {
            "matcher circular": _share(family.circular(), None, "right in all rotations by the matcher"),
            "matcher plain": _share(family.plain(), None, "rotation 0 by the matcher"),
            "careful circular": _share(careful_one.circular(), None, "right in all rotations by the careful reader"),
            "careful plain": _share(careful_one.plain(), None, "rotation 0 by the careful reader"),
            **{name: Number(count, None, f"replies: {name}") for name, count in counts.items()},
        })  # fmt: skip

    def errors(self, row: Mapping[str, str], family: Family) -> None:
        cases = [one for one in family.replies if one.line["protocol"] == "N0" and not family.is_right(one)]
        found = sum(original(one.line, one.sample, careful) == one.sample["answer"] for one in cases)
        rate = share(found / len(cases) if cases else None, len(cases), "errors that the careful reader reads rightly")
        matching = {
            "matching": Number(found, None, "matching errors"),
            "cases": Number(len(cases), None, "wrong to N0"),
        }
        self.add("table_s1", row, matching | {"rate": rate})
        if not cases:
            return
        model = row["model"]
        has_labels = any(other == model for _, other in self.labels)
        counts = Counter(self.labels.get((one.sample["id"], model), "not annotated") for one in cases)
        for name in (*ERRORS, "not annotated"):
            others = {"matching": found, "not annotated": len(cases) - found}
            count = counts[name] if has_labels else others.get(name)
            part = share(None if count is None or not cases else count / len(cases), len(cases), "share of error cases")
            self.numbers.add("errors", row, f"{name} count", Number(count, None, "labelled error cases"))
            self.numbers.add(
                "errors", row, f"{name} share", part if count is not None else Number(None, 0, "no labels")
            )

    def rotations(self, matcher: str) -> None:
        scored = [one for some in self.found.values() for one in some if one.score is not None]
        told = {"option", "text", "refused", "unmatched"} | {one.status for one in scored}
        for (model, protocol, condition, _), judged in self.found.items():
            row = {"model": model, "condition": condition, "matcher": matcher, "protocol": protocol}
            scored = [one for one in judged if one.score is not None]
            if not scored:
                continue
            reads = [matched(one.line, one.sample) for one in scored]
            letters = Counter(read.letter for read in reads if read.letter)
            statuses = Counter(read.status for read in reads)
            total = letters.total()
            self.numbers.add("rotations", row, "accuracy", accuracy(judged)._replace(is_least=True))
            for letter in LETTERS:
                part = share(letters[letter] / total if total else None, total, "share of the letters answered")
                self.numbers.add("rotations", row, letter, part)
            for status in told:
                count = Number(statuses[status], None, "replies by how their answer was found")
                self.numbers.add("rotations", row, status, count)

    def questions(self) -> None:
        for table, groups in (("questions_by_type", self._numbered()), ("questions_by_subject", self.subjects)):
            for column, some in groups.items():
                part = Number(len(some) / len(self.samples), len(some), "share of the questions")
                self.numbers.add(table, {"dataset": "loaded"}, column, part)

    def _numbered(self) -> dict[str, list[str]]:
        return {f"type{at}": self.types[name] for at, name in enumerate(TYPES)}


def _family_of(line: Line) -> tuple[str, str, str]:
    return line["model"], line["condition"], line["protocol"][0]


def _spread(values: Sequence[float]) -> str | None:
    if len(values) < 2:
        return None
    return f"{100 * sum(values) / len(values):.2f} ± {100 * deviation(values):.2f} (k={len(values)})"


def _range(values: Sequence[int]) -> str | None:
    if not values:
        return None
    least, most = min(values), max(values)
    return str(least) if least == most else f"{least} to {most} (mean {sum(values) / len(values):.1f})"


def score(made: Made) -> Numbers:
    """Work out every number of the report."""
    scorer = _Scorer(made)
    add_cells(scorer.numbers, scorer.found, made, applies=_applies, accuracies=_accuracies, unreadable=UNMATCHED)
    scorer.by_reader(matched, "mmcr-matching/2", "")
    scorer.by_reader(careful, "careful", "_careful")
    scorer.by_family("mmcr-matching/2")
    scorer.rotations("mmcr-matching/2")
    scorer.questions()
    return scorer.numbers


def _applies(sample: Line, protocol: str) -> bool:
    return int(protocol[1]) < len(sample["options"])


def _accuracies(judged: Sequence[Judged]) -> dict[str, Number]:
    by_type = {name: accuracy(one for one in judged if one.sample["type"] == name) for name in TYPES}
    return {"accuracy": accuracy(judged), **by_type}
