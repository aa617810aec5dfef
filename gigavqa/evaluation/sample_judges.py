"""The judges of a data set's samples, made when first needed, and what else judging takes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from cachetools import LRUCache

from gigavqa.answers.boxes import BoxFrame
from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.contract.jobs import JUDGE, LIKELIHOOD
from gigavqa.evaluation.capabilities import AnswerForms, judgement_reader
from gigavqa.evaluation.closing_turns import ClosingForm, ClosingReading, read_closing
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.judgements import case_of
from gigavqa.evaluation.likelihoods import likelihood_verdict
from gigavqa.evaluation.replies import Reply
from gigavqa.evaluation.samples import Sample
from gigavqa.evaluation.verdicts import ReplyJudge, Verdict

_KEPT = 4096


class JudgedReply(NamedTuple):
    """A reply to the sample at `position`, with the verdict on it, None for a failure, and on its closing turn."""

    reply: Reply
    position: int
    verdict: Verdict[Any] | None
    closing: ClosingReading | None


class SampleJudges:
    """The judges of samples, made when needed; `judge_of` makes a sample's, and `form_of` its closed form.

    `positions` say where samples stand, where somebody knows. The last few thousand judges are kept.
    """

    def __init__(
        self,
        samples: Sequence[Sample],
        judge_of: Callable[[Any], ReplyJudge[Any]],
        catalogue: Mapping[str, CatalogueEntry],
        read_judgement: Callable[[str], bool | None] = lambda text: None,
        form_of: Callable[[Any, str], ClosingForm | None] = lambda sample, protocol: None,
        *,
        positions: Mapping[str, int] | None = None,
    ) -> None:
        self._samples = samples
        self._judge_of = judge_of
        self._read_judgement = read_judgement
        self._form_of = form_of
        self._catalogue = catalogue
        self._judges = LRUCache[int, ReplyJudge[Any]](_KEPT)
        self._forms = LRUCache[tuple[int, str], tuple[ClosingForm | None, bool]](_KEPT)
        self._positions = positions or {sample.id: position for position, sample in enumerate(samples)}
        self.judged = 0
        """Replies that were judged."""

    @classmethod
    def of_dataset(cls, dataset: Dataset, catalogue: Mapping[str, CatalogueEntry]) -> "SampleJudges":
        """Return the judges of a data set's samples, by its benchmark."""
        benchmark = dataset.benchmark
        closed_form = AnswerForms.of(benchmark).closed_form
        read_judgement = judgement_reader(benchmark)
        return cls(
            dataset.samples, benchmark.judge, catalogue, read_judgement, closed_form, positions=dataset.positions
        )

    def position(self, sample_id: str) -> int | None:
        """Return where a sample stands; None for one that the data set does not have."""
        return self._positions.get(sample_id)

    def judge_whole(self, reply: Reply) -> JudgedReply | None:
        """Judge a reply and its closing turn; None where it answers no sample of the data set."""
        if (position := self.position(reply.sample_id)) is None:
            return None
        reply = self.within(reply)
        verdict = self.judge(reply, position)
        return JudgedReply(reply, position, verdict, self.closing(reply, position, verdict))

    def judge(self, reply: Reply, position: int) -> Verdict[Any] | None:
        """Judge a reply to the sample at `position`; None for a failure, which says nothing about the model."""
        if reply.failed:
            return None
        self.judged += 1
        if reply.protocol == JUDGE:
            return self._judgement(reply)
        if reply.protocol == LIKELIHOOD:
            return likelihood_verdict(reply)
        return self.of(position)(reply, self._frame(reply))

    def closing(self, reply: Reply, position: int, verdict: Verdict[Any] | None) -> ClosingReading | None:
        """Return what a reply's closing turn says beside the verdict on the free answer; None where none was asked."""
        if reply.closing is None or verdict is None or reply.protocol == JUDGE:
            return None
        key = (position, reply.protocol)
        if key not in self._forms:
            sample = self._samples[position]
            self._forms[key] = self._form_of(sample, reply.protocol), sample.scored
        form, scored = self._forms[key]
        abstained = verdict.outcome == "abstained"
        return read_closing(form, reply.closing, verdict.value, abstained=abstained, scored=scored)

    def within(self, reply: Reply) -> Reply:
        """Return the reply, told whether it ended because the context of its model was full."""
        known = reply.model in self._catalogue
        return reply.within(self._catalogue[reply.model].max_model_len if known else None)

    def of(self, position: int) -> ReplyJudge[Any]:
        """Return the judge of the sample at `position`."""
        if position not in self._judges:
            self._judges[position] = self._judge_of(self._samples[position])
        return self._judges[position]

    def _judgement(self, reply: Reply) -> Verdict[Any]:
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
