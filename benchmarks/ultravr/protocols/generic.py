"""S1, generic step-by-step reasoning: S0 and one general instruction (section 4.3)."""

from benchmarks.ultravr.prompts.texts import read_texts
from benchmarks.ultravr.protocols.base import Asking
from benchmarks.ultravr.protocols.parts import answer_form, join, task, version_of
from jobs.models import Turn

_TEXTS = read_texts("s1")


class GenericReasoning:
    """S1: the prompt of S0 with a step-by-step instruction at its end, so that both share all that comes before."""

    version = version_of("s1", "s0")
    needs_steps = False
    needs_examples = False

    def turns(self, asking: Asking) -> tuple[Turn, ...]:
        """One turn: that of S0, then the instruction."""
        text = join(asking.showing.context, task(asking.sample), answer_form(asking), _TEXTS["instruction"])
        return (Turn(parts=(text,)),)
