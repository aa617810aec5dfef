"""What stages 4 and 5 ask, by their printed prompts: about one question each, so that no answer hangs on another."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from gigavqa.construction.calls.errors import ReplyFaultError
from gigavqa.construction.calls.model_call import ModelCall
from gigavqa.construction.vistahop.chains import EvidenceChain
from gigavqa.construction.vistahop.printed_prompts import PromptName, printed_prompt

_NUMBER = 1
"""The one question of a batch."""

_JUDGED = re.compile(r"original_index\s*=\s*\d+\W+solve_result\s*=\s*(correct|incorrect)\b", re.IGNORECASE)
_SAID = ("leakage_detected", "leakage_type", "model_issue", "leakage_reason", "judge_feedback")
_FLAGS = {"true": True, "false": False}


class QuestionWording(NamedTuple):
    """A question of stage 4, its clues, and the steps to its answer."""

    question: str
    clues: tuple[str, ...]
    steps: tuple[str, ...]


class SolverAnswer(NamedTuple):
    """What was answered to a question's text alone, how surely, and by which clues."""

    answer: str
    confidence: float | None
    clues: str


class Judgment(NamedTuple):
    """What a judge says of an answer to a question's text alone."""

    is_correct: bool
    leaks: bool
    leakage: str
    is_model_issue: bool
    feedback: str


@dataclass(frozen=True)
class WordingCall:
    """The question of a chain (table 20): towards its answer, from the end to the seed, in which nothing is named."""

    chain: EvidenceChain

    def call(self, model: str) -> ModelCall:
        """Return the call."""
        answer = self.chain.answer
        values = {
            "reasoning_chain_desc": chain_text(self.chain),
            "start_info": f"\nSeed entity: {self.chain.seed.name}",
            "end_info": f"\nFinal answer entity: {answer.name}",
        }
        return printed_prompt("text_question").call(model, values)

    def read(self, value: Any) -> QuestionWording:
        """Return the wording."""
        return QuestionWording(value["question"].strip(), tuple(value["constraints"]), tuple(value["reasoning_path"]))


@dataclass(frozen=True)
class VisualReferenceCall:
    """A question in which the seed is what the picture shows (table 24)."""

    question: str
    chain: EvidenceChain
    seed_type: str
    seed_description: str

    def call(self, model: str) -> ModelCall:
        """Return the call."""
        asked = {
            "original_index": _NUMBER,
            "question": self.question,
            "answer": self.chain.answer.name,
            "root_entity": self.chain.seed.name,
            "root_entity_type": self.seed_type,
            "root_visual_description": self.seed_description,
        }
        return _single("visual_question", "transformed_questions", model, {"questions_json": _json([asked])})

    def read(self, value: Any) -> str:
        """Return the question."""
        return str(value["transformed_questions"][0]["vqa_question"]).strip()


@dataclass(frozen=True)
class SimplificationCall:
    """A question in plain words (table 25)."""

    question: str

    def call(self, model: str) -> ModelCall:
        """Return the call."""
        asked = {"original_index": _NUMBER, "question": self.question}
        return _single("simplification", "simplified_questions", model, {"questions_json": _json([asked])})

    def read(self, value: Any) -> str:
        """Return the question."""
        return str(value["simplified_questions"][0]["simplified_question"]).strip()


@dataclass(frozen=True)
class SolverCall:
    """A question, put to somebody who sees neither picture nor chain (table 21)."""

    question: str

    def call(self, model: str) -> ModelCall:
        """Return the call."""
        asked = {"original_index": _NUMBER, "question": self.question}
        return _single("solver", "solves", model, {"batch_json": _json([asked])})

    def read(self, value: Any) -> SolverAnswer:
        """Return the answer."""
        told = value["solves"][0]
        return SolverAnswer(
            str(told["solver_answer"]).strip(), told.get("solver_confidence"), str(told.get("used_text_clues", ""))
        )


@dataclass(frozen=True)
class JudgeCall:
    """Whether an answer to a question's text is right, and what gave it away (table 22)."""

    question: str
    answer: str
    solved: SolverAnswer

    def call(self, model: str) -> ModelCall:
        """Return the call; the list of questions stands below the print, which has no place for it."""
        asked = {
            "index": _NUMBER,
            "question": self.question,
            "answer": self.answer,
            "solver_answer": self.solved.answer,
            "solver_confidence": self.solved.confidence,
            "used_text_clues": self.solved.clues,
        }
        return printed_prompt("judge").call(model, {"batch_size": 1}, beneath=_json([asked]))

    @staticmethod
    def reader(text: Any) -> Judgment:
        """Read a judgment in the printed Markdown. Raises ReplyFaultError, which has the judge asked again."""
        head = _JUDGED.search(text)
        said = _said(text[head.end() :] if head else "")
        leaks = _FLAGS.get(said.get("leakage_detected", "").casefold())
        if head is None or leaks is None:
            raise ReplyFaultError(
                "judgment",
                "Your judgment lacks 'original_index=..., solve_result=correct/incorrect' or 'leakage_detected: "
                "true/false'. Use the Markdown format above.",
            )
        leakage = said.get("leakage_type", "none").casefold() or "none"
        feedback = said.get("judge_feedback", "") or said.get("leakage_reason", "")
        return Judgment(
            head[1].casefold() == "correct", leaks, leakage, _FLAGS.get(said.get("model_issue", "")) or False, feedback
        )

    def read(self, value: Any) -> Judgment:
        """Return the judgment."""
        return value  # type: ignore[no-any-return]


@dataclass(frozen=True)
class RewriterCall:
    """A question that gives its answer away, to be asked otherwise (table 23)."""

    question: str
    chain: EvidenceChain
    feedback: str

    def call(self, model: str) -> ModelCall:
        """Return the call."""
        asked = {
            "original_index": _NUMBER,
            "question": self.question,
            "answer": self.chain.answer.name,
            "evidence_chain": chain_text(self.chain),
            "judge_feedback": self.feedback,
        }
        return _single("rewriter", "rewrites", model, {"batch_json": _json([asked])})

    def read(self, value: Any) -> str:
        """Return the question."""
        return str(value["rewrites"][0]["rewritten_question"]).strip()


def chain_text(chain: EvidenceChain) -> str:
    """Return a chain in one line, as prompts show it."""
    return chain.seed.name + "".join(f" --{hop.verdict.relation}--> {hop.target.name}" for hop in chain.hops)


def _said(text: str) -> dict[str, str]:
    """Return what a judgment says under each of the printed words; text goes on over lines up to the next one."""
    said: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        word, colon, rest = line.partition(":")
        name = word.strip(" \t-*`_").casefold()
        if colon and name in _SAID:
            lines = said.setdefault(name, [])
            lines.append(rest.strip(" \t*`"))
        elif line.lstrip().startswith("#"):
            break
        else:
            lines.append(line)
    return {name: " ".join(" ".join(lines).split()) for name, lines in said.items()}


def _single(name: PromptName, field: str, model: str, values: Mapping[str, object]) -> ModelCall:
    """Return a call about one question, whose answer has one line."""
    prompt = printed_prompt(name)
    schema = dict(prompt.schema or {})
    line = {**schema["properties"][field], "minItems": 1, "maxItems": 1}
    return prompt.call(model, values, schema={**schema, "properties": {**schema["properties"], field: line}})


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
