"""Join answers: those of one repeat, first and final ones joined by question, job and repeat."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from gigavqa.benchmarks.atombench.asking import A0, AG, AGC
from gigavqa.benchmarks.atombench.judging import AnswerOutcome, AtomDetails
from gigavqa.benchmarks.atombench.samples import AtomSample
from gigavqa.evaluation.score_frame import ScoreFrame
from gigavqa.evaluation.scores import Scores

OutcomesByQuestion = Mapping[int, AnswerOutcome]
"""What answers count as, by their question's position in the data set."""
AtomBaseScores = Scores[AtomSample, AtomDetails]
_RepeatKey = tuple[str, int]


class AnswerPair(NamedTuple):
    """The first and the final answer to one conclusion question."""

    first: AnswerOutcome
    final: AnswerOutcome

    @property
    def kind(self) -> str:
        """The change of the answer once the true clues were told (Figure 8, equation 4)."""
        before, after = self.first == "right", self.final == "right"
        return _KINDS[before, after]


_KINDS = {
    (True, True): "steadfast",
    (False, True): "corrected",
    (False, False): "rigid",
    (True, False): "confused",
}
KINDS: tuple[str, ...] = tuple(_KINDS.values())


@dataclass(frozen=True)
class AtomRepeat:
    """One repeat of one model: its direct answers, and the pairs of first and final answers.

    `alone` holds the questions that have a final answer and no first one.
    """

    first: OutcomesByQuestion = field(default_factory=dict)
    pairs: Mapping[int, AnswerPair] = field(default_factory=dict)
    alone: frozenset[int] = frozenset()


def collect_repeats(scores: AtomBaseScores, model: str, condition: str) -> list[AtomRepeat]:
    """Return the repeats of a model under A0, each with AG's answers of the same job, else of the same repeat.

    They stand in the order of jobs and repeats; those of AG alone are among them.
    """
    direct = _join_jobs(_outcomes(scores.cell(model, A0, condition)))
    golden = _outcomes(scores.cell(model, AG, condition))
    partners = _match_repeats(direct, golden)
    found = {at: _make_repeat(first, golden.get(partners.get(at, at)), at[1], direct) for at, first in direct.items()}
    lonely = [at for at in golden if at not in partners.values()]
    found |= {at: _make_repeat({}, golden[at], at[1], direct) for at in lonely}
    return [found[at] for at in sorted(found)]


def collect_chat_repeats(scores: AtomBaseScores, model: str, condition: str) -> list[AtomRepeat]:
    """Return the repeats of a model under AGC, whose chats hold the first answers themselves."""
    return [_chat_repeat(_details(one)) for one in scores.cell(model, AGC, condition).answered.by_repeat().values()]


def _chat_repeat(chats: Mapping[int, AtomDetails]) -> AtomRepeat:
    """Return the trial of what is kept of each chat."""
    pairs = {at: AnswerPair(one.first, one.final) for at, one in chats.items() if one.first}
    return AtomRepeat(pairs=pairs, alone=frozenset(chats.keys() - pairs.keys()))


def _outcomes(replies: ScoreFrame[AtomDetails]) -> dict[_RepeatKey, dict[int, AnswerOutcome]]:
    """Final outcomes by job and repeat; of questions without a known answer there is none."""
    repeats = replies.answered.by_repeat()
    return {key: {at: one.final for at, one in _details(repeat).items()} for key, repeat in repeats.items()}


def _details(repeat: ScoreFrame[AtomDetails]) -> dict[int, AtomDetails]:
    """Return the details of a repeat's replies, by question."""
    detailed = repeat.detailed
    return dict(zip(detailed.sample.tolist(), detailed.details, strict=True))


def _join_jobs(rounds: Mapping[_RepeatKey, dict[int, AnswerOutcome]]) -> dict[_RepeatKey, dict[int, AnswerOutcome]]:
    """Jobs that asked different questions in the same repeat are one repeat: clues in one, conclusions in another."""
    joined: dict[_RepeatKey, dict[int, AnswerOutcome]] = {}
    for (job, repeat), outcomes in rounds.items():
        apart = (key for key, known in joined.items() if key[1] == repeat and known.keys().isdisjoint(outcomes))
        joined.setdefault(next(apart, (job, repeat)), {}).update(outcomes)
    return joined


def _match_repeats(
    direct: Mapping[_RepeatKey, OutcomesByQuestion], golden: Mapping[_RepeatKey, OutcomesByQuestion]
) -> dict[_RepeatKey, _RepeatKey]:
    """Return which repeat of AG stands beside which of A0: that of the same job, else one of the same number."""
    partners = {at: at for at in golden if at in direct}
    for at in (at for at in golden if at not in partners):
        free = (one for one in direct if one[1] == at[1] and one not in partners)
        if (one := next(free, None)) is not None:
            partners[one] = at
    return partners


def _make_repeat(
    first: OutcomesByQuestion,
    final: OutcomesByQuestion | None,
    repeat: int,
    direct: Mapping[_RepeatKey, OutcomesByQuestion],
) -> AtomRepeat:
    final = final or {}
    pairs = {
        at: AnswerPair(found, outcome)
        for at, outcome in final.items()
        if (found := _first_answer(at, first, repeat, direct))
    }
    return AtomRepeat(first, pairs, frozenset(final.keys() - pairs.keys()))


def _first_answer(
    at: int, own: OutcomesByQuestion, repeat: int, direct: Mapping[_RepeatKey, OutcomesByQuestion]
) -> AnswerOutcome | None:
    """Return the first answer to a question: of the trial itself, else of another job in the same repeat."""
    others = (outcomes[at] for (_, number), outcomes in direct.items() if number == repeat and at in outcomes)
    return own.get(at) or next(others, None)


def count_unpaired(trials: Sequence[AtomRepeat]) -> int:
    """Return how many final answers have no first one."""
    return sum(len(trial.alone) for trial in trials)
