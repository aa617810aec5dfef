"""S3, few-shot: complete trajectories of other samples stand before the question (section 4.3)."""

from benchmarks.ultravr.forms import box_note
from benchmarks.ultravr.prompts.texts import read_texts
from benchmarks.ultravr.protocols.base import Asking
from benchmarks.ultravr.protocols.parts import answer_form, join, task, version_of
from benchmarks.ultravr.samples import Sample
from benchmarks.ultravr.trajectories import tell_steps
from jobs.models import Turn

_TEXTS = read_texts("s3")


class FewShot:
    """S3: examples are told in words alone, and come first, so that all questions on an image share them."""

    version = version_of("s3", "s0")
    needs_steps = False
    needs_examples = True

    def turns(self, asking: Asking) -> tuple[Turn, ...]:
        """One turn: context, examples, question, options, form of the answer."""
        now = _TEXTS["now"] if asking.examples else ""
        parts = (asking.showing.context, _examples(asking.examples), now, task(asking.sample))
        return (Turn(parts=(join(*parts, _TEXTS["instruction"], answer_form(asking)),)),)


def _examples(examples: tuple[Sample, ...]) -> str:
    if not examples:
        return ""
    note = next(filter(None, map(box_note, examples)), "")
    told = (_example(number, sample) for number, sample in enumerate(examples, start=1))
    return join(_TEXTS["introduction"], note, *told)


def _example(number: int, sample: Sample) -> str:
    heading = _TEXTS["heading"].format(number=number)
    final = _TEXTS["final"].format(answer=sample.answer)
    return join(heading, task(sample), tell_steps(sample), final)
