"""How a question is asked: directly (A0), behind golden evidence (AG), or both in one chat (AGC). Appendix E.

Every prompt begins with what is shown, so that all questions about a picture share its prefix.
"""

from collections.abc import Sequence

from benchmarks.atombench.evidence import listed
from benchmarks.atombench.judging import FIRST
from benchmarks.atombench.prompts import read_texts
from benchmarks.atombench.samples import Sample
from evaluation.benchmark import Chat, Scene
from jobs.models import Condition, Turn

A0, AG, AGC = "A0", "AG", "AGC"
PROTOCOLS = {A0: "directly", AG: "behind golden evidence", AGC: "directly, then behind golden evidence in one chat"}
TELLS_EVIDENCE = frozenset({AG, AGC})
"""Protocols that tell the true answers to the picture's clue questions; they ask conclusion questions alone."""

DECODING = {"temperature": 0.0, "top_p": 1.0, "top_k": -1, "repetition_penalty": 1.0, "max_tokens": 8192}
"""The paper prints none: greedy, and long enough for a model that thinks."""


def ask(sample: Sample, protocol: str, condition: Condition, scene: Scene, clues: Sequence[Sample]) -> Chat:
    """Write the turns of a protocol behind what the condition shows; `clues` are the golden evidence, where told."""
    shown = read_texts("conditions")[condition]
    if protocol == A0:
        return Chat(scene.views(condition), (_turn(shown, *_direct(sample)),), _version("a0"))
    evidence = _with_evidence(sample, clues)
    first = (_turn(shown, *_direct(sample), asks=FIRST),) if protocol == AGC else ()
    final = _turn(*evidence) if protocol == AGC else _turn(shown, *evidence)
    return Chat(scene.views(condition), (*first, final), _version("ag", "a0"), {"clues": [clue.id for clue in clues]})


def _version(*names: str) -> str:
    return "+".join(read_texts(name)["version"] for name in (*names, "conditions"))


def _turn(*paragraphs: str, asks: str | None = None) -> Turn:
    return Turn(parts=("\n\n".join(paragraphs),), asks=asks)


def _direct(sample: Sample) -> tuple[str, ...]:
    texts = read_texts("a0")
    return sample.question, _choices(sample), texts["instruction"], texts["form"]


def _with_evidence(sample: Sample, clues: Sequence[Sample]) -> tuple[str, ...]:
    texts = read_texts("ag")
    evidence = "\n".join((texts["evidence"], listed(clues)))
    question = (texts["task_heading"], texts["task"], sample.question, _choices(sample))
    return texts["role"], texts["evidence_heading"], evidence, *question, texts["instruction"], read_texts("a0")["form"]


def _choices(sample: Sample) -> str:
    texts = read_texts("a0")
    options = (sample.options or {}).items()
    return texts["choices"].format(
        choices=" ".join(texts["choice"].format(letter=letter, text=text) for letter, text in options)
    )
