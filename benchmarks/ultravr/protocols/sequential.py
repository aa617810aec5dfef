"""S4, sequential: one step a turn, each on top of the model's own earlier answers, then the question (section 4.3)."""

from benchmarks.ultravr.forms import box_note, form_of, label_of
from benchmarks.ultravr.prompts.texts import read_texts
from benchmarks.ultravr.protocols.base import Asking
from benchmarks.ultravr.protocols.parts import answer_form, join, task, version_of
from benchmarks.ultravr.samples import Sample, Step
from jobs.models import Turn

_TEXTS = read_texts("sequential")


class OwnAnswers:
    """S4: the question stands in the first turn, since steps speak of what it defines ("Person A", "the claims")."""

    version = version_of("sequential", "forms", "s0")
    needs_steps = True
    needs_examples = False

    def turns(self, asking: Asking) -> tuple[Turn, ...]:
        """A turn a step, and one for the final question."""
        sample = asking.sample
        texts = [_ask(sample, step) for step in sample.steps]
        texts[0] = join(asking.showing.context, task(sample), _TEXTS["introduction"], box_note(sample), texts[0])
        turns = [Turn(parts=(text,), asks=step.step_id) for text, step in zip(texts, sample.steps, strict=True)]
        return (*turns, Turn(parts=(join(_TEXTS["final"], answer_form(asking)),)))


def _ask(sample: Sample, step: Step) -> str:
    return _TEXTS["step"].format(label=label_of(step), question=step.question.strip(), form=form_of(sample, step))
