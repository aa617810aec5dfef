"""S2, schema completion: all step answers and the final answer as JSON in one response (section 4.3)."""

from benchmarks.ultravr.forms import box_note, form_of, label_of
from benchmarks.ultravr.prompts.texts import read_texts
from benchmarks.ultravr.protocols.base import Asking
from benchmarks.ultravr.protocols.parts import join, letters_of, task, version_of
from benchmarks.ultravr.samples import Sample, Step
from benchmarks.ultravr.schema_reply import FINAL_KEY
from jobs.models import Turn

_TEXTS = read_texts("s2")


class SchemaCompletion:
    """S2: the step questions and their forms, without an answer; the reply is read by `parsing/schema_reply.py`."""

    version = version_of("s2", "forms", "s0")
    needs_steps = True
    needs_examples = False

    def turns(self, asking: Asking) -> tuple[Turn, ...]:
        """One turn: context, question, options, steps, form of the JSON object."""
        sample = asking.sample
        steps = "\n".join([_TEXTS["steps_heading"], *(_line(sample, step) for step in sample.steps)])
        schema = join(_TEXTS["instruction"], steps, box_note(sample))
        return (Turn(parts=(join(asking.showing.context, task(sample), schema, _object(asking)),)),)


def _line(sample: Sample, step: Step) -> str:
    label = label_of(step)
    template = _TEXTS["step" if label == step.step_id else "numbered_step"]
    return template.format(id=step.step_id, label=label, question=step.question.strip(), form=form_of(sample, step))


def _object(asking: Asking) -> str:
    options = asking.sample.options
    final = _TEXTS["final_letter"].format(letters=letters_of(options)) if options else _TEXTS["final_coordinate"]
    keys = [*(step.step_id for step in asking.sample.steps), FINAL_KEY]
    skeleton = "{" + ", ".join(f'"{key}": ...' for key in keys) + "}"
    abstention = "" if asking.showing.views else _TEXTS["abstention"]
    return join(_TEXTS["object"].format(skeleton=skeleton, final=final), abstention)
