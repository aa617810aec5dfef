"""Verdicts: what judging says of a reply, and their tally, which streams replies past and keeps no text of them."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import Any, Literal, NamedTuple

import numpy as np

from catalogue.entry import CatalogueEntry
from evaluation.answers.boxes import BoxFrame
from evaluation.answers.matching import BoxCorners
from evaluation.closing import ClosingForm, ClosingOutcome, ClosingReading, read_closing
from evaluation.judgements import case_of
from evaluation.metrics.intervals import Floats
from evaluation.replies import Provenance, Reply, ReplyRank
from evaluation.revisions import Revised
from evaluation.samples import Sample
from evaluation.work import WorkTally
from jobs.models import JUDGE, Cell, Usage

VerdictOutcome = Literal["right", "wrong", "partial", "abstained", "unreadable", "filtered", "failed", "unscored"]
"""What became of a reply: `unreadable` holds no single answer, `partial` earned a part of its score, `filtered` was
withheld or refused by who serves the model, `failed` is no answer of the model's, `unscored` awaits a truth or a
judge."""


class VerdictPart(NamedTuple):
    """What judging says of one judged part of a chat: the answer to a step, a hop, a sub-question.

    `value` is the answer as it was read, `text` as it was written (None where none was given). `tags` name what the
    part can be sorted by, such as its operation. Boxes are (x1, y1, x2, y2) in the unit square of the sample's first
    image.
    """

    name: str
    question: str
    truth: Any
    value: Any
    text: str | None
    status: str
    score: float
    tags: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    boxes: tuple[BoxCorners, ...] = ()
    true_boxes: tuple[BoxCorners, ...] = ()


class Verdict(NamedTuple):
    """What judging says of a reply.

    `value` is the final answer as it was read, None where there is no single one, and `status` how it was found. A
    `score` of 1 is right and of 0 wrong; None where nothing can be said yet. `rule` names by which rule of reading the
    value was found, where its reader tells. `kept` is what the benchmark's report
    needs beyond these: small, hashable, ordered; equal ones are kept once. `tags` name what the reply can be sorted by.
    `tell` makes the parts, for those who look closer.
    """

    value: str | None
    status: str
    score: float | None
    kept: tuple[Any, ...] = ()
    tags: tuple[tuple[str, str], ...] = ()
    tell: Callable[[], tuple[VerdictPart, ...]] = tuple
    rule: str = ""

    @property
    def outcome(self) -> VerdictOutcome:
        """What became of the reply, in one word."""
        if self.status == ABSTAINED:
            return "abstained"
        if self.status == FILTERED:
            return "filtered"
        if self.value is None:
            return "unreadable"
        if self.score is None:
            return "unscored"
        return "right" if self.score >= 1 else "wrong" if self.score <= 0 else "partial"


ABSTAINED = "abstained"
"""Parse status of a reply that says the question cannot be answered."""
FILTERED = "filtered"
"""Parse status of a reply that who serves the model withheld or refused."""

ReplyJudge = Callable[[Reply, BoxFrame], Verdict]
"""Judges any number of replies to one sample. It is not asked about failures."""


class CellKey(NamedTuple):
    """Which model was asked how, what it was shown, and how many rounds it had at most.

    `rounds` is 0 for chats without a loop, and where nobody recorded it.
    """

    model: str
    protocol: str
    condition: str
    rounds: int = 0

    @classmethod
    def of(cls, model: str, cell: Cell) -> "CellKey":
        """Return the cell of a plan, of one model."""
        return cls(model, cell.protocol, cell.condition, cell.rounds or 0)

    @property
    def cell(self) -> Cell:
        """The cell without its model."""
        # Not validated: what others recorded may have more rounds than are asked for here.
        fields = {"protocol": self.protocol, "condition": self.condition, "rounds": self.rounds or None}
        return Cell.model_construct(**fields)  # type: ignore[arg-type]

    @property
    def how(self) -> str:
        """How it was asked, for people: `search V2 n10`."""
        rounds = [f"n{self.rounds}"] if self.rounds else []
        return " ".join([self.protocol, self.condition, *rounds])

    @property
    def keys(self) -> dict[str, str]:
        """What programs know it by; without rounds where there are none."""
        return {name: str(value) for name, value in self._asdict().items() if name != "rounds" or value}

    def __str__(self) -> str:
        return f"{self.model} {self.how}"


class ScoreRow(NamedTuple):
    """What is kept of a reply and its verdict; `score` is NaN where there is none.

    `closed` is what its closing turn said; None where none was asked. `trait` is what the benchmark wants counted of
    it; None where that is nothing.
    """

    failure: str
    empty: bool
    created: float
    sample: int
    status: str
    outcome: VerdictOutcome
    score: float
    cut_off: bool
    overflowed: bool = False
    filtered: bool = False
    capped: bool = False
    repeat: int = 0
    kept: tuple[Any, ...] = ()
    closed: ClosingOutcome | None = None
    rule: str = ""
    trait: Any = None
    num_rasters: int = 0


def _row_rank(verdict: ScoreRow) -> ReplyRank:
    """`Reply.rank` of the reply that was judged."""
    return bool(verdict.failure), verdict.empty, verdict.created


@dataclass
class RepeatScores:
    """What answers in one repeat of a job scored, each with the position of its sample and what its verdict keeps."""

    samples: "array[int]" = field(default_factory=lambda: array("q"))
    scores: "array[float]" = field(default_factory=lambda: array("d"))
    kept: list[tuple[Any, ...]] = field(default_factory=list)

    def add(self, sample: int, score: float, kept: tuple[Any, ...] = ()) -> None:
        """Add one answer."""
        self.samples.append(sample)
        self.scores.append(score)
        self.kept.append(kept)

    def copy(self) -> "RepeatScores":
        """Return the same answers, to which others can be added."""
        return RepeatScores(self.samples[:], self.scores[:], self.kept[:])

    def means(self, num_samples: int) -> Floats:
        """Mean score of each sample, NaN where it has none."""
        total, asked = np.zeros(num_samples), np.zeros(num_samples)
        positions, scores = np.array(self.samples, dtype=np.intp), np.array(self.scores, dtype=np.float64)
        known = ~np.isnan(scores)
        positions, scores = positions[known], scores[known]
        # Fractions are added in one order, whatever the order in which they came, so that no digit depends on it.
        order = np.lexsort((scores, positions))
        np.add.at(asked, positions[order], 1)
        np.add.at(total, positions[order], scores[order])
        with np.errstate(invalid="ignore"):
            mean: Floats = total / asked
        return mean

    @property
    def by_sample(self) -> dict[int, tuple[Any, ...]]:
        """What the verdict on each sample keeps, by the sample's position and in that order."""
        return dict(sorted(zip(self.samples, self.kept, strict=True), key=itemgetter(0)))


@dataclass
class CellTally:
    """The verdicts of one cell: by the identity of the reply, or, of tallies that were merged, how many alike."""

    verdicts: dict[tuple[str, str], ScoreRow] = field(default_factory=dict)
    alike: Counter[ScoreRow] = field(default_factory=Counter)
    """Verdicts of merged tallies, their times and repeats left out."""
    rounds: dict[tuple[str, int], RepeatScores] = field(default_factory=dict)
    """Their answers by job and repeat."""
    duplicates: int = 0
    unknown: Counter[str] = field(default_factory=Counter)
    _copies: dict[tuple[str, str], set[ScoreRow]] = field(default_factory=dict)
    """The different verdicts on replies of which there are several copies."""

    def add(self, identity: tuple[str, str], verdict: ScoreRow) -> bool:
        """Count a verdict once, that of the copy which ranks first; tell whether no copy said the same before."""
        known = self.verdicts.setdefault(identity, verdict)
        if known is verdict:
            return True
        self.duplicates += 1
        copies = self._copies.setdefault(identity, {known})
        is_new = verdict not in copies
        copies.add(verdict)
        self.verdicts[identity] = min(known, verdict, key=_row_rank)
        return is_new

    @property
    def all(self) -> Iterator[ScoreRow]:
        """Every verdict that counts."""
        return chain(self.verdicts.values(), self.alike.elements())

    @property
    def answered(self) -> list[ScoreRow]:
        """Verdicts on replies that did not fail."""
        return [verdict for verdict in self.all if not verdict.failure]

    @property
    def traits(self) -> Counter[Any]:
        """What the benchmark wants counted of the replies, with how many there are of each."""
        return Counter(verdict.trait for verdict in self.all if verdict.trait is not None)

    @property
    def num_rasters(self) -> Counter[int]:
        """How many rasters the replies were shown, with how many replies were shown so many."""
        return Counter(verdict.num_rasters for verdict in self.all)

    def scores(self, num_samples: int) -> Floats:
        """Mean score of each sample over its repeats, NaN where it has none."""
        scores = RepeatScores()
        for verdict in self.answered:
            scores.add(verdict.sample, verdict.score)
        return scores.means(num_samples)

    def by_repeat(self) -> dict[tuple[str, int], RepeatScores]:
        """Return the answers of each repeat of each job, by job and repeat, in that order."""
        rounds = {key: one.copy() for key, one in self.rounds.items()}
        for (job_id, _), verdict in self.verdicts.items():
            if not verdict.failure:
                one = rounds.setdefault((job_id, verdict.repeat), RepeatScores())
                one.add(verdict.sample, verdict.score, verdict.kept)
        return dict(sorted(rounds.items()))

    def repeats(self, num_samples: int) -> list[Floats]:
        """Return the scores of each sample in each repeat of each job, by job and repeat."""
        return [one.means(num_samples) for one in self.by_repeat().values()]


class SampleJudges:
    """The judges of samples, made when first needed; `judge_of` makes a sample's, and `form_of` its closed form."""

    def __init__(
        self,
        samples: Sequence[Sample],
        judge_of: Callable[[Any], ReplyJudge],
        catalogue: Mapping[str, CatalogueEntry],
        read_judgement: Callable[[str], bool | None] = lambda text: None,
        form_of: Callable[[Any, str], ClosingForm | None] = lambda sample, protocol: None,
    ) -> None:
        self._samples = samples
        self._judge_of = judge_of
        self._read_judgement = read_judgement
        self._form_of = form_of
        self._catalogue = catalogue
        self._judges: dict[int, ReplyJudge] = {}
        self._forms: dict[tuple[int, str], ClosingForm | None] = {}
        self._positions = {sample.id: position for position, sample in enumerate(samples)}
        self.judged = 0
        """Replies that were judged."""

    def position(self, sample_id: str) -> int | None:
        """Return where a sample stands; None for one that the data set does not have."""
        return self._positions.get(sample_id)

    def judge(self, reply: Reply, position: int) -> Verdict | None:
        """Judge a reply to the sample at `position`; None for a failure, which says nothing about the model."""
        if reply.failed:
            return None
        self.judged += 1
        if reply.protocol == JUDGE:
            return self._judgement(reply)
        return self.of(position)(reply, self._frame(reply))

    def closing(self, reply: Reply, position: int, verdict: Verdict | None) -> ClosingReading | None:
        """Return what a reply's closing turn says beside the verdict on the free answer; None where none was asked."""
        if reply.closing is None or verdict is None or reply.protocol == JUDGE:
            return None
        sample, key = self._samples[position], (position, reply.protocol)
        if key not in self._forms:
            self._forms[key] = self._form_of(sample, reply.protocol)
        form = self._forms[key]
        abstained = verdict.outcome == "abstained"
        return read_closing(form, reply.closing, verdict.value, abstained=abstained, scored=sample.scored)

    def within(self, reply: Reply) -> Reply:
        """Return the reply, told whether it ended because the context of its model was full."""
        known = reply.model in self._catalogue
        return reply.within(self._catalogue[reply.model].max_model_len if known else None)

    def of(self, position: int) -> ReplyJudge:
        """Return the judge of the sample at `position`."""
        if position not in self._judges:
            self._judges[position] = self._judge_of(self._samples[position])
        return self._judges[position]

    def _judgement(self, reply: Reply) -> Verdict:
        """Return what a model that judges says itself.

        Yes, no, or nothing that can be read; it is neither right nor wrong.
        """
        said = None if reply.text is None else self._read_judgement(reply.text)
        status = "unreadable" if said is None else "yes" if said else "no"
        case = case_of(reply)
        tags = (("truth", case.truth), ("answer", case.answer)) if case else ()
        return Verdict(None if said is None else status, status, None, tags=tags)

    def _frame(self, reply: Reply) -> BoxFrame:
        known = reply.model in self._catalogue
        raster = reply.rasters[0].raster_size if reply.rasters else None
        return BoxFrame(self._catalogue[reply.model].box_convention if known else "unit", raster)


class ClosingTokens(NamedTuple):
    """Tokens of closing turns: of their prompts, those of them that came from the cache, and those decoded."""

    prompt: int = 0
    cached: int = 0
    decoded: int = 0

    @classmethod
    def of(cls, usage: Usage) -> "ClosingTokens":
        """Return those of one turn."""
        return cls(usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens)

    def plus(self, other: "ClosingTokens") -> "ClosingTokens":
        """Both together."""
        return ClosingTokens(*map(sum, zip(self, other, strict=True)))


class ShownRegion(NamedTuple):
    """A place of a picture, in level-0 pixels, as a model is shown it: natively, or at a size that was asked for."""

    model: str
    sizing: str
    image: str
    region: str


class Tally:
    """Verdicts of all cells over one data set, and what made them."""

    def __init__(
        self,
        samples: Sequence[Sample],
        judges: SampleJudges,
        replies: Iterable[Reply],
        trait: Callable[[Reply], Hashable] = lambda reply: None,
    ) -> None:
        self.samples = samples
        self.judges = judges
        self.cells: dict[CellKey, CellTally] = defaultdict(CellTally)
        self.provenance: dict[str, Counter[Provenance]] = defaultdict(Counter)
        self.prompts: dict[tuple[str, str], set[str]] = defaultdict(set)
        self.digests: dict[tuple[int, str], set[str]] = defaultdict(set)
        """Content digests of the pictures that samples showed, by the sample's position and the picture's name."""
        self.sizes: dict[ShownRegion, dict[tuple[int, int], str]] = defaultdict(dict)
        """Sizes at which each place of a picture was shown, in pixels, each with one of the cells that showed it so."""
        self.closing: dict[CellKey, ClosingTokens] = defaultdict(ClosingTokens)
        """What closing turns took, by cell; of a reply that was asked for again, both."""
        self.work = WorkTally()
        """What the replies took; of a reply that was asked for again, both."""
        self.revised: Counter[Revised] = Counter()
        """What became of verdicts on answers that other versions had read before."""
        self._trait = trait
        self._kept: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        for reply in replies:
            self.add(reply)

    def add(self, reply: Reply) -> None:
        """Judge a reply and count it; what answers no sample counts nothing.

        Of copies of one reply one verdict counts. What was done for them counts for each, but for one that is the same
        in all, recording time included: it is the same record again.
        """
        key = CellKey(reply.model, reply.protocol, reply.condition, reply.max_rounds or 0)
        cell, position = self.cells[key], self.judges.position(reply.sample_id)
        if position is None:
            cell.unknown[reply.sample_id] += 1
            return
        if not cell.add(reply.identity, self._judged(reply, position)):
            return
        self.work.add(reply.spent, reply.rasters, reply.created)
        if reply.closing:
            self.closing[key] = self.closing[key].plus(ClosingTokens.of(reply.closing.usage))
        for raster in reply.rasters:
            self.digests[position, raster.view.image].add(raster.digest)
            place = ShownRegion(reply.model, raster.view.sizing.partition(":")[0], raster.view.image, raster.region)
            self.note_size(place, (raster.raster_size.width, raster.raster_size.height), key.how)
        self.provenance[reply.model][reply.provenance] += 1
        if version := reply.provenance.prompt_version:
            self.prompts[reply.model, reply.protocol].add(version)

    def note_size(self, place: ShownRegion, size: tuple[int, int], how: str) -> None:
        """Note a size at which a place was shown; of the cells that showed it so the first by name is kept."""
        self.sizes[place][size] = min(self.sizes[place].get(size, how), how)

    def _judged(self, reply: Reply, position: int) -> ScoreRow:
        reply = self.judges.within(reply)
        verdict = self.judges.judge(reply, position)
        trait, shown = self._trait(reply), len(reply.rasters)
        if verdict is None:
            failure = reply.failure or "Failure"
            failed = ScoreRow(failure, False, reply.created, position, "", "failed", np.nan, False, repeat=reply.repeat)
            return failed._replace(trait=trait, num_rasters=shown)
        return ScoreRow(
            failure="",
            empty=reply.empty,
            created=reply.created,
            sample=position,
            status=verdict.status,
            outcome=verdict.outcome,
            score=np.nan if verdict.score is None else verdict.score,
            cut_off=reply.cut_off,
            overflowed=reply.overflowed,
            filtered=reply.filtered,
            capped=bool(reply.capped),
            repeat=reply.repeat,
            trait=trait,
            num_rasters=shown,
            kept=self._kept.setdefault(verdict.kept, verdict.kept),
            closed=reading.closed if (reading := self.judges.closing(reply, position, verdict)) else None,
            rule=verdict.rule if verdict.value is not None else "",
        )


@dataclass(frozen=True)
class Verdicts:
    """What a report is made of: the tally, how often each sample was asked in each cell, what models are called."""

    tally: Tally
    asked: Mapping[CellKey, Mapping[int, int]]
    catalogue: Mapping[str, CatalogueEntry]
    judges: tuple[str, ...] = ()
    """Names of the models that judged, of whom the first gave the scores; none where no model was asked."""

    @cached_property
    def cells(self) -> tuple[CellKey, ...]:
        """All cells in the report's order: those that were asked, then those of which there are replies.

        Cells that differ in their rounds alone stand together, fewer rounds first.
        """
        found = dict.fromkeys([*self.asked, *sorted(self.tally.cells)])
        places = list(dict.fromkeys(cell[:3] for cell in found))
        return tuple(sorted(found, key=lambda cell: (places.index(cell[:3]), cell.rounds)))

    @property
    def samples(self) -> Sequence[Sample]:
        """The samples of the data set."""
        return self.tally.samples

    @property
    def models(self) -> tuple[str, ...]:
        """The models in order."""
        return tuple(dict.fromkeys(cell.model for cell in self.cells))

    def models_asked(self, pairs: Iterable[tuple[str, str]]) -> list[str]:
        """Return the models that were asked any of the (protocol, condition) pairs."""
        wanted = list(pairs)
        return [model for model in self.models if any(CellKey(model, *pair) in self.cells for pair in wanted)]

    def cell(self, model: str, protocol: str, condition: str, rounds: int = 0) -> CellTally:
        """Return the verdicts of a cell; none where it was not asked."""
        return self.tally.cells.get(CellKey(model, protocol, condition, rounds), CellTally())

    def scores(self, model: str, protocol: str, condition: str, rounds: int = 0) -> Floats:
        """Mean score of each sample in a cell over its repeats, NaN where it has none."""
        return self.cell(model, protocol, condition, rounds).scores(len(self.samples))

    def title_of(self, model: str) -> str:
        """Return what tables call a model: the catalogue's title, else its own id."""
        return self.catalogue[model].title if model in self.catalogue else model
