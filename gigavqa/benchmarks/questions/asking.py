"""Asks a question: what each condition shows of it, and what each protocol says.

`direct` and `step-by-step` are the benchmark's own. A file `prompt.toml` beside a data set's `dataset.toml` brings a
protocol `own`: it changes what it names of the direct prompt's texts, with a version of its own.
"""

import string
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from gigavqa.benchmarks.questions.prompts import read_texts
from gigavqa.benchmarks.questions.samples import Question
from gigavqa.contract.requests import Condition
from gigavqa.evaluation.benchmark import FORCED, Scene
from gigavqa.evaluation.errors import EvidenceMissingError
from gigavqa.tiling.errors import RegionError
from gigavqa.tiling.geometry import canonical_region
from gigavqa.tiling.views import View

DIRECT, STEPS, CUSTOM = "direct", "step-by-step", "own"
TEMPLATE = "prompt.toml"
_SLOTS = {
    "prompt": {"shown", "hint", "question", "options", "form", "category", "letters", "id"},
    "hint": {"hint"},
    "options_heading": set(),
    "option": {"letter", "text"},
    "abstention": set(),
    "forced": set(),
    "form": {"letters"},
}
"""The texts of a template, and the placeholders that each may have."""


@dataclass(frozen=True)
class PromptTemplate:
    """The texts of one prompt; `form` says how each kind of answer is to be written."""

    version: str
    prompt: str
    hint: str
    options_heading: str
    option: str
    abstention: str
    forced: str
    form: Mapping[str, str]

    def text(self, question: Question, shown: str, condition: Condition) -> str:
        """Write the prompt behind the pictures of a condition. Empty paragraphs are left out."""
        letters = list(question.options or ())
        joint = "and" if question.kind == "choices" else "or"
        listed = f"{', '.join(letters[:-1])} {joint} {letters[-1]}" if letters else ""
        form = self.form[question.kind].format(letters=listed)
        blind = {"V0": self.abstention, FORCED: self.forced}.get(condition, "")
        slots = {
            "shown": shown,
            "hint": self.hint.format(hint=question.hint) if question.hint else "",
            "question": question.question,
            "options": "\n".join(self._options(question)),
            "form": "\n\n".join(filter(None, (form, blind))),
            "category": question.category,
            "letters": listed,
            "id": question.id,
        }
        paragraphs = (paragraph.format(**slots).strip() for paragraph in self.prompt.split("\n\n"))
        return "\n\n".join(filter(None, paragraphs))

    def _options(self, question: Question) -> Iterator[str]:
        if question.options:
            yield from filter(None, [self.options_heading])
            yield from (self.option.format(letter=letter, text=text) for letter, text in question.options.items())


@cache
def direct_template() -> PromptTemplate:
    """Return the benchmark's own prompt."""
    return PromptTemplate(**read_texts(DIRECT))


def read_template(text: str) -> PromptTemplate:
    """Read a `prompt.toml`; what it leaves out is the direct prompt's. Raises ValueError naming all that is wrong."""
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{TEMPLATE}: is not TOML: {error}") from error
    if wrong := list(_check_template(given)):
        raise ValueError(f"{TEMPLATE}: {'; '.join(wrong)}")
    direct = direct_template()
    forms = {**direct.form, **given.get("form", {})}
    texts = {name: given.get(name, getattr(direct, name)) for name in _SLOTS if name != "form"}
    return PromptTemplate(version=f"own {given['version']}", form=forms, **texts)


def _check_template(given: Mapping[str, Any]) -> Iterator[str]:
    if not isinstance(given.get("version"), str) or not given["version"]:
        yield 'version: is missing; a text such as "mine/1", to be changed with every change of the prompt'
    if unknown := sorted(set(given) - {*_SLOTS, "version"}):
        yield f"{', '.join(unknown)}: there is no such text; there are version, {', '.join(_SLOTS)}"
    forms = given.get("form", {})
    known = direct_template().form
    if not isinstance(forms, dict) or set(forms) - set(known):
        yield f"form: must be a table of texts for {', '.join(known)}"
        forms = {}
    for name, slots in _SLOTS.items():
        if name in given and name != "form":
            yield from _check_text(name, given[name], slots)
    for kind, text in forms.items():
        yield from _check_text(f"form.{kind}", text, _SLOTS["form"])
    if isinstance(given.get("prompt"), str) and "{question}" not in given["prompt"]:
        yield "prompt: has no {question}"


def _check_text(place: str, text: Any, slots: set[str]) -> Iterator[str]:
    if not isinstance(text, str):
        yield f"{place}: must be a text"
        return
    try:
        named = {name for _, name, form, conversion in string.Formatter().parse(text) if name is not None}
    except ValueError as error:
        yield f"{place}: {error}; a brace that is meant as such is written twice"
        return
    if unknown := sorted(named - slots):
        there = f"there are {', '.join(f'{{{slot}}}' for slot in sorted(slots))}" if slots else "it has none"
        yield f"{place}: there is no {', '.join(f'{{{name}}}' for name in unknown)}; {there}"


def show_condition(question: Question, scene: Scene, condition: Condition) -> tuple[tuple[View, ...], str]:
    """Return the views of a condition in order, and the sentence that says what they are.

    Raises EvidenceMissingError.
    """
    views = scene.views(condition, lambda: local_views(question, scene), lambda: evidence_images(question))
    count = len(scene.images) if condition == "V4" else len(views)
    name = _CONDITION_TEXTS[condition]
    if count > 1:
        name = "fulls_and_local" if condition == "V4" else f"{name}s"
    return views, read_texts("conditions")[name].format(count=count)


_CONDITION_TEXTS = {
    "V0": "text_only",
    "V0F": "text_only",
    "V1": "thumbnail",
    "V2": "full",
    "V3": "local",
    "V4": "full_and_local",
    "V5": "full",
    "V6": "full",
}


def evidence_images(question: Question) -> tuple[int, ...]:
    """Return which images hold the evidence, counted from 0."""
    return tuple(one.image for one in question.evidence)


def local_views(question: Question, scene: Scene) -> tuple[View, ...]:
    """Crops of the regions that the question is about, at their original resolution. Raises EvidenceMissingError."""
    if not question.evidence:
        raise EvidenceMissingError(describe_missing_evidence(question))
    try:
        places = ((scene.images[one.image], one.region) for one in question.evidence)
        return tuple(View(image=at, region=canonical_region(text, scene.size_of(at))) for at, text in places)
    except RegionError as error:
        raise EvidenceMissingError(f"sample '{question.id}': evidence: {error}") from error


def describe_missing_evidence(question: Question) -> str:
    """Say what keeps a question from V3 and V4."""
    return f"sample '{question.id}' has no evidence, which V3 and V4 show; columns `boxes` or `regions` name it"
