"""S5, sequential with given answers: S4, but earlier answers in the history are the ground truth (section 4.3)."""

from benchmarks.ultravr.protocols.base import Asking
from benchmarks.ultravr.protocols.sequential import OwnAnswers
from benchmarks.ultravr.trajectories import write_truth
from jobs.models import Turn


class GivenAnswers:
    """S5: every turn is known from the start, so that all of them can be asked at once."""

    version = OwnAnswers.version
    needs_steps = True
    needs_examples = False
    _own = OwnAnswers()

    def turns(self, asking: Asking) -> tuple[Turn, ...]:
        """The turns of S4; each step's is followed by its true answer."""
        *steps, final = self._own.turns(asking)
        truths = (write_truth(asking.sample, step) for step in asking.sample.steps)
        given = (turn.model_copy(update={"given": truth}) for turn, truth in zip(steps, truths, strict=True))
        return (*given, final)
