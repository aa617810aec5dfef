"""S0, direct question answering: question, options, and the form of the answer (section 4.3, appendix D.2)."""

from benchmarks.ultravr.protocols.base import Asking
from benchmarks.ultravr.protocols.parts import answer_form, join, task, version_of
from jobs.models import Turn


class DirectQuestion:
    """S0: one turn, nothing but the question."""

    version = version_of("s0")
    needs_steps = False
    needs_examples = False

    def turns(self, asking: Asking) -> tuple[Turn, ...]:
        """One turn: context, question, options, form of the answer."""
        return (Turn(parts=(join(asking.showing.context, task(asking.sample), answer_form(asking)),)),)
