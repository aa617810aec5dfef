"""Judging by models: a benchmark whose answers a model may be asked about, where words alone do not settle them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic

from gigavqa.evaluation.capabilities.capability import Capability, OfferSampleT
from gigavqa.evaluation.chats import Chat, Scene
from gigavqa.evaluation.judgements import JudgeCase, Panel
from gigavqa.evaluation.replies import Reply

if TYPE_CHECKING:
    from gigavqa.evaluation.benchmark import Benchmark


class ModelJudging(Capability, ABC, Generic[OfferSampleT]):
    """Has models judge replies, by jobs of their own; reports join what they said to all replies of a case."""

    judge_prompts: Mapping[str, str]
    """Prompts by which a model can judge, with a few words on each; the first is used when a job names none."""
    judge_decoding: Mapping[str, float | int] = {}
    """What a model that judges decodes by, over its own decoding; a job's own sampling goes before."""

    @abstractmethod
    def cases(self, sample: OfferSampleT, reply: Reply) -> Sequence[JudgeCase]:
        """Return the cases of a reply for a model to judge: nothing where it is right or wrong without. One Yes makes
        the reply right.

        They follow from the sample and the stored reply alone.
        """

    @abstractmethod
    def ask_judge(self, sample: OfferSampleT, case: JudgeCase, prompt: str, scene: Scene) -> Chat:
        """Ask a model to judge a case, by one of `judge_prompts`."""

    @abstractmethod
    def read_judgement(self, text: str) -> bool | None:
        """Return whether a judge's reply says Yes or No; None where that cannot be read."""

    @abstractmethod
    def judged_with(self, panel: Panel) -> "Benchmark[Any, Any]":
        """Return the benchmark as it judges by what models said of cases: its scores are those of the first judge.

        A reply that was not judged, or not readably, has no score then.
        """


def judgement_reader(benchmark: object) -> Callable[[str], bool | None]:
    """Return what reads judges' replies of a benchmark; of one that no model judges, none can be read."""
    judging = ModelJudging.found_in(benchmark)
    return judging.read_judgement if judging else lambda text: None
