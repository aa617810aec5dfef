"""The parts that prompts are made of: what is shown, the question with its options, and the form of the answer.

Every prompt of a sample begins with the same parts in the same order, so that all protocols share one long prefix.
"""

from benchmarks.ultravr.conditions import CONTEXT_VERSION
from benchmarks.ultravr.prompts.texts import read_texts
from benchmarks.ultravr.protocols.base import Asking
from benchmarks.ultravr.samples import Sample

_TEXTS = read_texts("s0")


def version_of(*names: str) -> str:
    """Version of a prompt made of the named files of texts and of the context."""
    return "+".join([*(read_texts(name)["version"] for name in names), CONTEXT_VERSION])


def join(*parts: str) -> str:
    """Put paragraphs together; empty ones are left out."""
    return "\n\n".join(part for part in parts if part)


def task(sample: Sample) -> str:
    """Question and options."""
    question = _TEXTS["question"].format(question=sample.question.strip())
    return join(question, _options(sample.options) if sample.options else "")


def answer_form(asking: Asking) -> str:
    """How the final answer is to be written; without an image, that abstaining is allowed (appendix D.1, V0)."""
    options = asking.sample.options
    form = _TEXTS["answer_letter"].format(letters=letters_of(options)) if options else _TEXTS["answer_coordinate"]
    return join(form, "" if asking.showing.views else _TEXTS["abstention"])


def letters_of(options: dict[str, str]) -> str:
    """The options' letters as a sentence lists them: "A, B, C or D"."""
    letters = list(options)
    return f"{', '.join(letters[:-1])} or {letters[-1]}"


def _options(options: dict[str, str]) -> str:
    lines = [_TEXTS["option"].format(letter=letter, text=text) for letter, text in options.items()]
    return "\n".join([_TEXTS["options_heading"], *lines])
