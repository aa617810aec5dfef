"""Whether the question and the steps of a record have the fixed words of appendix F."""

from collections.abc import Iterator

from gigavqa.benchmarks.ultravr.samples import UltraVRSample
from gigavqa.benchmarks.ultravr.wording import TaskWording, read_slots, shown, slide_wording, task_wording


def check_texts(sample: UltraVRSample) -> Iterator[str]:
    """Steps ask what their template asks, all of one record about the same; AD's words are free.

    The question of WSI is free too: the paper's own example of a record departs from its templates.
    """
    if sample.domain == "ad":
        return
    if sample.domain == "wsi":
        yield from _check_steps(sample, slide_wording("T1"), {})
        return
    wording = task_wording(sample.domain, sample.category)
    known: dict[str, str] = {}
    yield from _check_steps(sample, wording, known)
    found = (read_slots(sample.question, form, known, wording.patterns) for form in wording.questions)
    if all(slots is None for slots in found):
        yield f'the question must read "{shown(wording.questions[0], known)}", as its steps do'


def _check_steps(sample: UltraVRSample, wording: TaskWording, known: dict[str, str]) -> Iterator[str]:
    """Yield what differs, and collect in `known` what the slots hold."""
    for step in sample.steps:
        template = wording.steps[step.step_id]
        found = read_slots(step.question, template, known, wording.patterns)
        if found is None:
            yield f'step {step.step_id} asks "{step.question}", but must ask "{shown(template, known)}"'
        else:
            known |= found
