"""Ask a sample: S0 to S5, each the turns of a chat (section 4.3, appendix D.2).

Every prompt of a sample begins with the same parts in the same order - what is shown, the question with its options,
the form of the answer - so that all protocols share one long prefix.
"""

from dataclasses import dataclass
from typing import Protocol as StructuralType

from gigavqa.benchmarks.ultravr.answers import FINAL_KEY
from gigavqa.benchmarks.ultravr.conditions import ConditionViews
from gigavqa.benchmarks.ultravr.examples import FewShotVersion
from gigavqa.benchmarks.ultravr.prompts import read_texts
from gigavqa.benchmarks.ultravr.samples import ReasoningStep, UltraVRSample
from gigavqa.benchmarks.ultravr.step_forms import answer_form_of, box_note, format_truth, step_label, write_trajectory
from gigavqa.contract.requests import Turn

_DIRECT = read_texts("s0")
_GENERIC = read_texts("s1")
_SCHEMA = read_texts("s2")
_FEW_SHOT = read_texts("s3")
_SEQUENTIAL = read_texts("sequential")


@dataclass(frozen=True)
class AskingContext:
    """A sample that is asked, what is shown of it, and the other samples whose trajectories may be told (S3).

    `forced` tells that an answer is required where nothing is shown.
    """

    sample: UltraVRSample
    showing: ConditionViews
    examples: tuple[UltraVRSample, ...] = ()
    forced: bool = False


class AskingProtocol(StructuralType):
    """One way of asking a sample (section 4.3)."""

    @property
    def version(self) -> str:
        """Version of the prompt texts that the turns are made of, but for the sentence on what is shown."""
        ...

    @property
    def needs_steps(self) -> bool:
        """Whether the sample's own step questions are asked, so that it must have some."""
        ...

    @property
    def needs_examples(self) -> bool:
        """Whether trajectories of other samples are told."""
        ...

    def turns(self, asking: AskingContext) -> tuple[Turn, ...]:
        """Write the turns of the chat without what they show; the showing's views come before the first text."""
        ...


def prompt_version(*names: str) -> str:
    """Version of a prompt made of the named files of texts."""
    return "+".join(read_texts(name)["version"] for name in names)


def join_paragraphs(*parts: str) -> str:
    """Put paragraphs together; empty ones are left out."""
    return "\n\n".join(part for part in parts if part)


def write_task(sample: UltraVRSample) -> str:
    """Question and options."""
    question = _DIRECT["question"].format(question=sample.question.strip())
    return join_paragraphs(question, _options(sample.options) if sample.options else "")


def answer_instruction(asking: AskingContext) -> str:
    """Return how the final answer is to be written; without an image, that abstaining is allowed (appendix D.1, V0).

    Where an answer is forced, that one is required.
    """
    options = asking.sample.options
    form = _DIRECT["answer_letter"].format(letters=list_letters(options)) if options else _DIRECT["answer_coordinate"]
    forced = _DIRECT["forced_letter" if options else "forced_coordinate"]
    blind = forced if asking.forced else _DIRECT["abstention"]
    return join_paragraphs(form, "" if asking.showing.views else blind)


def list_letters(options: dict[str, str]) -> str:
    """Return the options' letters as a sentence lists them: "A, B, C or D"."""
    letters = list(options)
    return f"{', '.join(letters[:-1])} or {letters[-1]}"


def _options(options: dict[str, str]) -> str:
    lines = [_DIRECT["option"].format(letter=letter, text=text) for letter, text in options.items()]
    return "\n".join([_DIRECT["options_heading"], *lines])


class DirectQuestion:
    """S0: one turn, nothing but the question."""

    version = prompt_version("s0")
    needs_steps = False
    needs_examples = False

    def turns(self, asking: AskingContext) -> tuple[Turn, ...]:
        """One turn: context, question, options, form of the answer."""
        return (
            Turn(
                parts=(join_paragraphs(asking.showing.context, write_task(asking.sample), answer_instruction(asking)),)
            ),
        )


class GenericReasoning:
    """S1: the prompt of S0 with a step-by-step instruction at its end, so that both share all that comes before."""

    version = prompt_version("s1", "s0")
    needs_steps = False
    needs_examples = False

    def turns(self, asking: AskingContext) -> tuple[Turn, ...]:
        """One turn: that of S0, then the instruction."""
        text = join_paragraphs(
            asking.showing.context, write_task(asking.sample), answer_instruction(asking), _GENERIC["instruction"]
        )
        return (Turn(parts=(text,)),)


class SchemaCompletion:
    """S2: the step questions and their forms, without an answer; the reply is read by `read_schema_reply`."""

    version = prompt_version("s2", "forms", "s0")
    needs_steps = True
    needs_examples = False

    def turns(self, asking: AskingContext) -> tuple[Turn, ...]:
        """One turn: context, question, options, steps, form of the JSON object."""
        sample = asking.sample
        steps = "\n".join([_SCHEMA["steps_heading"], *(_step_line(sample, step) for step in sample.steps)])
        schema = join_paragraphs(_SCHEMA["instruction"], steps, box_note(sample))
        return (
            Turn(parts=(join_paragraphs(asking.showing.context, write_task(sample), schema, _answer_object(asking)),)),
        )


def _step_line(sample: UltraVRSample, step: ReasoningStep) -> str:
    label = step_label(step)
    template = _SCHEMA["step" if label == step.step_id else "numbered_step"]
    return template.format(
        id=step.step_id, label=label, question=step.question.strip(), form=answer_form_of(sample, step)
    )


def _answer_object(asking: AskingContext) -> str:
    options = asking.sample.options
    final = _SCHEMA["final_letter"].format(letters=list_letters(options)) if options else _SCHEMA["final_coordinate"]
    keys = [*(step.step_id for step in asking.sample.steps), FINAL_KEY]
    skeleton = "{" + ", ".join(f'"{key}": ...' for key in keys) + "}"
    blind = "" if asking.showing.views else _SCHEMA["forced" if asking.forced else "abstention"]
    return join_paragraphs(_SCHEMA["object"].format(skeleton=skeleton, final=final), blind)


class FewShot:
    """S3: examples are told in words alone, and come first, so that all questions on an image share them.

    `words` names the texts whose sentence stands behind the examples, and whose version it is.
    """

    needs_steps = False
    needs_examples = True

    def __init__(self, words: str = "s3") -> None:
        self.version = prompt_version(words, "s0")
        self._now = read_texts(words)["now"]

    def turns(self, asking: AskingContext) -> tuple[Turn, ...]:
        """One turn: context, examples, question, options, form of the answer."""
        now = self._now if asking.examples else ""
        parts = (asking.showing.context, _examples(asking.examples), now, write_task(asking.sample))
        return (Turn(parts=(join_paragraphs(*parts, _FEW_SHOT["instruction"], answer_instruction(asking)),)),)


def _examples(examples: tuple[UltraVRSample, ...]) -> str:
    if not examples:
        return ""
    note = next(filter(None, map(box_note, examples)), "")
    told = (_example(number, sample) for number, sample in enumerate(examples, start=1))
    return join_paragraphs(_FEW_SHOT["introduction"], note, *told)


def _example(number: int, sample: UltraVRSample) -> str:
    heading = _FEW_SHOT["heading"].format(number=number)
    final = _FEW_SHOT["final"].format(answer=sample.answer)
    return join_paragraphs(heading, write_task(sample), write_trajectory(sample), final)


class SequentialQuestions:
    """S4: the question stands in the first turn, since steps speak of what it defines ("Person A", "the claims")."""

    version = prompt_version("sequential", "forms", "s0")
    needs_steps = True
    needs_examples = False

    def turns(self, asking: AskingContext) -> tuple[Turn, ...]:
        """Return a turn a step, and one for the final question."""
        sample = asking.sample
        texts = [_write_step(sample, step) for step in sample.steps]
        texts[0] = join_paragraphs(
            asking.showing.context, write_task(sample), _SEQUENTIAL["introduction"], box_note(sample), texts[0]
        )
        turns = [Turn(parts=(text,), asks=step.step_id) for text, step in zip(texts, sample.steps, strict=True)]
        return (*turns, Turn(parts=(join_paragraphs(_SEQUENTIAL["final"], answer_instruction(asking)),)))


def _write_step(sample: UltraVRSample, step: ReasoningStep) -> str:
    return _SEQUENTIAL["step"].format(
        label=step_label(step), question=step.question.strip(), form=answer_form_of(sample, step)
    )


class ForcedAnswers:
    """S5: every turn is known from the start, so that all of them can be asked at once."""

    version = SequentialQuestions.version
    needs_steps = True
    needs_examples = False
    _own = SequentialQuestions()

    def turns(self, asking: AskingContext) -> tuple[Turn, ...]:
        """Return the turns of S4; each step's is followed by its true answer."""
        *steps, final = self._own.turns(asking)
        truths = (format_truth(asking.sample, step) for step in asking.sample.steps)
        given = (turn.model_copy(update={"given": truth}) for turn, truth in zip(steps, truths, strict=True))
        return (*given, final)


PROTOCOLS: dict[str, AskingProtocol] = {
    "S0": DirectQuestion(),
    "S1": GenericReasoning(),
    "S2": SchemaCompletion(),
    "S3": FewShot(),
    "S4": SequentialQuestions(),
    "S5": ForcedAnswers(),
}

_EARLIER: dict[FewShotVersion, AskingProtocol] = {"s3/1": FewShot("s3-1")}


def protocol_of(name: str, few_shot: FewShotVersion) -> AskingProtocol:
    """Return a protocol by its name; S3 in the words of a version."""
    return _EARLIER.get(few_shot, PROTOCOLS[name]) if name == "S3" else PROTOCOLS[name]


EXAMPLE_PROTOCOLS = frozenset(name for name, protocol in PROTOCOLS.items() if protocol.needs_examples)
"""Protocols whose prompts tell trajectories of other samples."""
