"""Ask a question: directly (A0), behind golden evidence (AG), or both in one chat (AGC). Appendix E.

Every prompt begins with what is shown, so that all questions about a picture share its prefix; but that of AG begins
with the role, as printed.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from gigavqa.benchmarks.atombench.evidence import numbered_evidence
from gigavqa.benchmarks.atombench.judging import FIRST_ANSWER
from gigavqa.benchmarks.atombench.prompts import read_texts
from gigavqa.benchmarks.atombench.samples import AtomSample
from gigavqa.contract.requests import Condition, Turn
from gigavqa.evaluation.benchmark import FORCED, Chat, Scene
from gigavqa.tiling.views import View

EvidenceVersion = Literal["ag/3", "ag/2", "ag/1"]
A0, AG, AGC = "A0", "AG", "AGC"
PROTOCOLS = {A0: "directly", AG: "behind golden evidence", AGC: "directly, then behind golden evidence in one chat"}
EVIDENCE_PROTOCOLS = frozenset({AG, AGC})
"""Protocols that tell the true answers to the picture's clue questions; they ask conclusion questions alone."""

DECODING = {"temperature": 0.0, "top_p": 1.0, "top_k": -1, "repetition_penalty": 1.0, "max_tokens": 8192}
"""The paper prints none: greedy, and long enough for a model that thinks."""


class AtomOptions(BaseModel):
    """The options that a job may set: the words of golden evidence, by version."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ag: EvidenceVersion = Field(
        default="ag/3", description="the words that golden evidence is told in (AG), by version"
    )


def ask(
    sample: AtomSample,
    protocol: str,
    condition: Condition,
    scene: Scene,
    clues: Sequence[AtomSample],
    *,
    words: EvidenceVersion = "ag/3",
) -> Chat:
    """Write the turns of a protocol with what the condition shows; `clues` are the golden evidence, where told."""
    shown, views = read_texts("conditions")["V0" if condition == FORCED else condition], scene.views(condition)
    instructed = "forced" if condition == FORCED else "instruction"
    if protocol == A0:
        return Chat(views, (_turn(shown, *_direct_texts(sample, instructed)),), _prompt_version("a0"))
    details: dict[str, JsonValue] = {"clues": [clue.id for clue in clues]}
    if protocol == AG and words != "ag/1":
        small = (f"\n\n{shown}",) if condition == "V1" and words == "ag/3" else ()
        pictures = (*views, *small) or (shown,)
        version = _prompt_version("ag") if words == "ag/3" else words
        return Chat((), (_template_turn(sample, clues, pictures, instructed),), version, details)
    evidence = _evidence_texts(sample, clues, instructed)
    first = (_turn(shown, *_direct_texts(sample, instructed), asks=FIRST_ANSWER),) if protocol == AGC else ()
    final = _turn(*evidence) if protocol == AGC else _turn(shown, *evidence)
    return Chat(views, (*first, final), _prompt_version("ag-1", "a0"), details)


def _template_turn(
    sample: AtomSample, clues: Sequence[AtomSample], shown: Sequence[View | str], instructed: str
) -> Turn:
    """Return the printed template in its order: what is shown stands between role and evidence."""
    texts = read_texts("ag")
    choices = " ".join(_listed_choices(sample))
    evidence = "\n\n".join((texts["evidence_heading"], texts["evidence"], numbered_evidence(clues)))
    asked = (texts["task_heading"], sample.question, texts["task"].format(choices=choices), texts[instructed])
    behind = "\n\n".join((evidence, *asked, texts["form_heading"], texts["form"]))
    return Turn(parts=(f"{texts['role_heading']}\n\n{texts['role']}\n\n", *shown, f"\n\n{behind}"))


def _prompt_version(*names: str) -> str:
    return "+".join(read_texts(name)["version"] for name in (*names, "conditions"))


def _turn(*paragraphs: str, asks: str | None = None) -> Turn:
    return Turn(parts=("\n\n".join(paragraphs),), asks=asks)


def _direct_texts(sample: AtomSample, instructed: str) -> tuple[str, ...]:
    texts = read_texts("a0")
    return sample.question, _choices(sample), texts[instructed], texts["form"]


def _evidence_texts(sample: AtomSample, clues: Sequence[AtomSample], instructed: str) -> tuple[str, ...]:
    texts = read_texts("ag-1")
    evidence = "\n".join((texts["evidence"], numbered_evidence(clues)))
    question = (texts["task_heading"], texts["task"], sample.question, _choices(sample))
    return texts["role"], texts["evidence_heading"], evidence, *question, texts[instructed], read_texts("a0")["form"]


def _choices(sample: AtomSample) -> str:
    return read_texts("a0")["choices"].format(choices=" ".join(_listed_choices(sample)))


def _listed_choices(sample: AtomSample) -> Iterator[str]:
    choice = read_texts("a0")["choice"]
    yield from (choice.format(letter=letter, text=text) for letter, text in (sample.options or {}).items())
