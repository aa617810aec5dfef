"""A tally: judges replies as they stream past, each once, and keeps what scores and reports need, and no text."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NamedTuple

from gigavqa.contract.responses import Usage
from gigavqa.evaluation.likelihoods import LikelihoodTally
from gigavqa.evaluation.outcome_changes import OutcomeChange
from gigavqa.evaluation.replies import Provenance, Reply, ReplyRank
from gigavqa.evaluation.reply_costs import WorkTally
from gigavqa.evaluation.sample_judges import JudgedReply, SampleJudges
from gigavqa.evaluation.samples import Sample
from gigavqa.evaluation.score_frame import NO_SCORE, CellKey, ReplyScore, ScoreFrame
from gigavqa.evaluation.short_keys import short_key


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
        """Return the sum of both."""
        return ClosingTokens(*map(sum, zip(self, other, strict=True)))


class ShownRegion(NamedTuple):
    """A place of a picture, in level-0 pixels, as a model is shown it: natively, or at a size that was asked for."""

    model: str
    sizing: str
    image: str
    region: str


class ScoreRows:
    """Rows of a score frame in the making: of copies of one reply that which ranks first, and equal scores once."""

    def __init__(self) -> None:
        self.duplicates: Counter[CellKey] = Counter()
        """Further copies of replies."""
        self._cells: dict[CellKey, int] = {}
        self._jobs: dict[str, int] = {}
        self._scores: dict[ReplyScore, int] = {}
        self._listed: list[ReplyScore] = []
        self._cell, self._job, self._repeat, self._sample, self._score = (array("i") for _ in range(5))
        self._created = array("d")
        self._known: dict[bytes, int] = {}
        """The row of each reply, by a key of its cell and identity."""
        self._copies: dict[bytes, set[tuple[ReplyRank, int, int]]] = {}
        """What copies said, of replies of which there are several."""

    def add_cell(self, key: CellKey) -> int:
        """Return the number of a cell, of which there need be no row."""
        return self._cells.setdefault(key, len(self._cells))

    def add(self, key: CellKey, reply: Reply, sample: int, score: ReplyScore) -> bool:
        """Add a reply's score once, that of the copy which ranks first; tell whether no copy said the same before."""
        cell, created = self.add_cell(key), reply.created
        identity = short_key(str(cell), *reply.identity)
        row = self._known.setdefault(identity, len(self._cell))
        if row == len(self._cell):
            self._append(cell, reply, sample, self._number(score))
            return True
        self.duplicates[key] += 1
        standing = self._listed[self._score[row]]
        first, rank = _rank(standing, self._created[row]), _rank(score, created)
        copy = (rank, reply.repeat, self._number(score))
        copies = self._copies.setdefault(identity, {(first, self._repeat[row], self._score[row])})
        is_new = copy not in copies
        copies.add(copy)
        if rank < first:
            self._created[row] = created
            self._repeat[row], self._score[row] = copy[1:]
        return is_new

    def extend(
        self,
        job: str,
        cells: Sequence[CellKey],
        scores: Sequence[ReplyScore],
        rows: Sequence[Sequence[int]],
        created: float = 0.0,
    ) -> None:
        """Add rows of a job of which there are no copies: columns of cell, repeat, sample and score, by number."""
        cell, repeat, sample, score = rows
        self._cell.extend(map([*map(self.add_cell, cells)].__getitem__, cell))
        self._job.extend([self._jobs.setdefault(job, len(self._jobs))] * len(cell))
        self._created.extend([created] * len(cell))
        self._repeat.extend(repeat)
        self._sample.extend(sample)
        self._score.extend(map([*map(self._number, scores)].__getitem__, score))

    def _append(self, cell: int, reply: Reply, sample: int, score: int) -> None:
        self._cell.append(cell)
        self._job.append(self._jobs.setdefault(reply.job_id, len(self._jobs)))
        self._created.append(reply.created)
        self._repeat.append(reply.repeat)
        self._sample.append(sample)
        self._score.append(score)

    def forget_copies(self) -> None:
        """Keep no longer what tells copies from other replies, which takes more than the rows: there come no more."""
        self._known.clear()
        self._copies.clear()

    @property
    def models(self) -> list[str]:
        """The models of all cells, sorted."""
        return sorted({cell.model for cell in self._cells})

    def frame(self) -> ScoreFrame[Any]:
        """Return the frame of all rows until now."""
        columns = (self._cell, self._job, self._repeat, self._sample, self._score)
        return ScoreFrame.of([*self._cells], [*self._jobs], [*self._listed], columns)

    def _number(self, score: ReplyScore) -> int:
        number = self._scores.setdefault(score, len(self._listed))
        if number == len(self._listed):
            self._listed.append(score)
        return number


def _rank(score: ReplyScore, created: float) -> ReplyRank:
    """`Reply.rank` of the reply that was judged."""
    return bool(score.failure), score.empty, created


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
        self.rows = ScoreRows()
        self.unknown: dict[CellKey, Counter[str]] = defaultdict(Counter)
        """Replies to samples that the data set has not, by sample."""
        self.provenance: dict[str, Counter[Provenance]] = defaultdict(Counter)
        self.prompts: dict[tuple[str, str], set[str]] = defaultdict(set)
        self.digests: dict[tuple[int, str], set[str]] = defaultdict(set)
        """Content digests of the pictures that samples showed, by the sample's position and the picture's name."""
        self.sizes: dict[ShownRegion, dict[tuple[int, int], str]] = defaultdict(dict)
        """Sizes at which each place of a picture was shown, in pixels, each with one of the cells that showed it so."""
        self.closing: dict[CellKey, ClosingTokens] = defaultdict(ClosingTokens)
        """What closing turns took, by cell; of a reply that was asked for again, both."""
        self.likelihoods = LikelihoodTally()
        """How likely answers are that were given."""
        self.work = WorkTally()
        """What the replies took; of a reply that was asked for again, both."""
        self.revised: Counter[OutcomeChange] = Counter()
        """What became of verdicts on answers that other versions had read before."""
        self._trait = trait
        for reply in replies:
            self.add(reply)

    def add(self, reply: Reply) -> None:
        """Judge a reply and count it."""
        self.add_judged(reply, self.judges.judge_whole(reply))

    def add_judged(self, reply: Reply, judged: JudgedReply | None) -> None:
        """Count a reply that was judged; what answers no sample counts nothing.

        Of copies of one reply one verdict counts. What was done for them counts for each, but for one that is the same
        in all, recording time included: it is the same record again.
        """
        key = CellKey(reply.model, reply.protocol, reply.condition, reply.max_rounds or 0)
        self.rows.add_cell(key)
        if judged is None:
            self.unknown[key][reply.sample_id] += 1
            return
        position = judged.position
        if not self.rows.add(key, reply, position, self._score(judged)):
            return
        self.likelihoods.add(reply, position)
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

    def frame(self) -> ScoreFrame[Any]:
        """Return the scores of all replies until now."""
        return self.rows.frame()

    def _score(self, judged: JudgedReply) -> ReplyScore:
        reply, verdict, closing = judged.reply, judged.verdict, judged.closing
        trait, shown = self._trait(reply), len(reply.rasters)
        if verdict is None:
            failure = reply.failure or "Failure"
            return ReplyScore(status="", outcome="failed", failure=failure, trait=trait, num_rasters=shown)
        return ReplyScore(
            status=verdict.status,
            outcome=verdict.outcome,
            score=NO_SCORE if verdict.score is None else float(verdict.score),
            empty=reply.empty,
            cut_off=reply.cut_off,
            overflowed=reply.overflowed,
            filtered=reply.filtered,
            capped=bool(reply.capped),
            rule=verdict.rule if verdict.value is not None else "",
            closing=closing.closed if closing else None,
            trait=trait,
            num_rasters=shown,
            details=verdict.details,
        )
