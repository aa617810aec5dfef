"""A model as the judge: what it is asked about an answer, how, and what its reply says."""

import re
from collections.abc import Mapping, Sequence

from gigavqa.benchmarks.vistahop.answers import matches_truth
from gigavqa.benchmarks.vistahop.asking import VistaHopOptions
from gigavqa.benchmarks.vistahop.prompts import read_texts
from gigavqa.benchmarks.vistahop.samples import VistaHopSample
from gigavqa.contract.requests import Turn
from gigavqa.evaluation.benchmark import Chat, Scene
from gigavqa.evaluation.judgements import JudgeCase
from gigavqa.tiling.views import View

PROMPTS: Mapping[str, str] = {
    "vistahop-judge/3": "the text, then the picture, as the authors ask",
    "vistahop-judge/4": "the picture, then the text, so that all answers about a picture share its prefill",
    "vistahop-judge/1": "as 3, with principles of an earlier release: either name of a person is enough",
    "vistahop-judge/2": "as 4, with those principles",
}
DECODING: Mapping[str, float | int] = {
    "temperature": 0.0, "repetition_penalty": 1.0, "presence_penalty": 0.0, "max_tokens": 8192,
}  # fmt: skip
_LONGEST = 20_000
"""Characters of an answer that a judge is shown; four thousand tokens have fewer."""
_VERDICT = re.compile(r"<judge>\s*(yes|no)\s*</judge>", re.IGNORECASE)
_FILLED = re.compile(r"\{(question|truth|answer)\}")


def list_cases(sample: VistaHopSample, answer: str) -> Sequence[JudgeCase]:
    """That an answer means one of the truths, each in turn; nothing where it is empty, or one of them to the word."""
    if not answer or matches_truth(answer, sample.answers):
        return ()
    return tuple(JudgeCase(sample.id, truth, answer[:_LONGEST]) for truth in dict.fromkeys(sample.answers))


def ask_judge(case: JudgeCase, question: str, prompt: str, scene: Scene) -> Chat:
    """Ask about one truth and one answer; neither thoughts nor results of tools are shown."""
    texts = read_texts("judge")
    told = {"question": question, "truth": case.truth, "answer": case.answer}
    text = _FILLED.sub(lambda found: told[found[1]], texts["question"].strip())
    view = View(image=scene.images[0], sizing=(scene.shared or VistaHopOptions()).sizing())
    how = texts["prompts"][prompt]
    parts = (text, view) if how["picture"] == "behind" else (view, text)
    return Chat((), (Turn(parts=parts),), prompt, system=texts[how["system"]].strip())


def read_judgement(text: str) -> bool | None:
    """Return what the first verdict that stands between its tags says; None where there is none."""
    found = _VERDICT.search(text)
    return found[1].lower() == "yes" if found else None
