"""Stage 5's loop: whether a question's text alone gives its answer away, round by round, with rewriting in between.

What can be decided by rule is: names that a question says, whether an answer is right, and what is left of a question
without one of its clues.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gigavqa.answers.abstention import abstains
from gigavqa.benchmarks.vistahop.rule_judge import is_right
from gigavqa.construction.vistahop.chains import EvidenceChain
from gigavqa.construction.vistahop.dialogues import Dialogue, asked
from gigavqa.construction.vistahop.knowledge.knowledge_index import KnowledgeIndex, KnownEntity
from gigavqa.construction.vistahop.names import bare_name, folded_text, told_names
from gigavqa.construction.vistahop.question_calls import JudgeCall, Judgment, RewriterCall, SolverAnswer, SolverCall

MOST_ROUNDS = 3
"""R_max of the paper: rounds of solver and judge; what is rewritten is kept only if a later round passes it."""

_REFERENCE = "in the image"
_PART = re.compile(r"\s*[,;]\s*")
_LEAST_WORDS, _LEAST_LETTERS = 3, 3


@dataclass(frozen=True)
class LeakageRound:
    """What one round found of a question; `redundant` are clues without which it was answered."""

    question: str
    faults: tuple[str, ...] = ()
    solved: SolverAnswer | None = None
    is_right: bool = False
    judgment: Judgment | None = None
    ablated: int = 0
    redundant: tuple[str, ...] = ()

    @property
    def is_shortcut(self) -> bool:
        """Whether its text alone gave the answer, by rule or by the judge, or leaks some of it to the judge."""
        judged = self.judgment
        return self.is_right or bool(judged and (judged.is_correct or judged.leaks or judged.leakage != "none"))

    @property
    def feedback(self) -> str:
        """What a rewriter is told; empty where the question passes."""
        told = [f"The question is not allowed as it is: {fault}." for fault in self.faults]
        if self.is_shortcut:
            said = self.judgment.feedback if self.judgment else ""
            told.append(said or "The answer can be told from the text of the question alone.")
        return " ".join([*told, *(f"The answer can be told even without the clue '{one}'." for one in self.redundant)])

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "question": self.question,
            "faults": list(self.faults),
            "solver": self.solved._asdict() if self.solved else None,
            "is_right": self.is_right,
            "judgment": self.judgment._asdict() if self.judgment else None,
            "ablated": self.ablated,
            "redundant": list(self.redundant),
        }


@dataclass(frozen=True)
class LeakageRecord:
    """What became of a question: kept as `question`, unresolved after all rounds, or not answered by a model."""

    outcome: Literal["kept", "unresolved", "unanswered"]
    question: str
    rounds: tuple[LeakageRound, ...]


def chain_names(chain: EvidenceChain, knowledge: KnowledgeIndex) -> tuple[str, ...]:
    """Return all names of a chain's entities, aliases included, which no question about it may say."""
    return tuple(dict.fromkeys(name for entity in chain.entities for name in entity_names(entity, knowledge)))


def entity_names(entity: KnownEntity, knowledge: KnowledgeIndex) -> tuple[str, ...]:
    """Return an entity's name, and its aliases in small letters; codes of one or two letters are words, too."""
    others = (name for name in knowledge.names(entity.id) if name != folded_text(entity.name))
    return (entity.name, *(name for name in others if len(bare_name(name)) >= _LEAST_LETTERS))


def visual_question_faults(question: str, names: Iterable[str]) -> list[str]:
    """Return what is wrong with a question about a picture, by rule: it names something, or speaks of no image."""
    faults = [f"it names '{name}'" for name in told_names(question, names)]
    return faults if _REFERENCE in folded_text(question) else [*faults, f"it does not say '{_REFERENCE}'"]


def clues_of(question: str, told: Sequence[str]) -> list[str]:
    """Return the clues of a question that can be taken out of it: those told that it says, else its parts.

    Parts stand between commas and semicolons. One without which fewer than three words are left is none; nor is one
    that speaks of the image, without which the question is no longer about it.
    """
    said = [clue for clue in dict.fromkeys(map(str.strip, told)) if clue and folded_text(clue) in folded_text(question)]
    parts = _PART.split(question.strip().rstrip("?")) if not said else []
    found = said or (parts if len(parts) > 1 else [])
    return [clue for clue in found if _REFERENCE not in folded_text(clue) and without_clue(question, clue)]


def without_clue(question: str, clue: str) -> str:
    """Return a question without a clue of it; empty where too little is left to be asked, or the clue is not in it."""
    words = r"\s+".join(map(re.escape, clue.split()))
    plain = " ".join(question.split())
    left, count = re.subn(rf"\s?[,;]?\s?{words}", "", plain, count=1, flags=re.IGNORECASE)
    left = left.strip(" ,;")
    return left if count and len(re.findall(r"\w+", left)) >= _LEAST_WORDS else ""


def verify_question(
    question: str,
    chain: EvidenceChain,
    *,
    names: Sequence[str],
    answers: Sequence[str],
    clues: Sequence[str] = (),
    most_rounds: int = MOST_ROUNDS,
) -> Dialogue[LeakageRecord]:
    """Play rounds until a question passes, or there were so many; after the last nothing is rewritten."""
    rounds: list[LeakageRound] = []
    while True:
        found = yield from _round(question, chain, names, answers, clues)
        if found is None:
            return LeakageRecord("unanswered", question, tuple(rounds))
        rounds.append(found)
        if not found.feedback:
            return LeakageRecord("kept", question, tuple(rounds))
        if len(rounds) == most_rounds:
            return LeakageRecord("unresolved", question, tuple(rounds))
        rewritten = yield from asked(RewriterCall(question, chain, found.feedback))
        if rewritten is None:
            return LeakageRecord("unanswered", question, tuple(rounds))
        question = rewritten


def _round(
    question: str, chain: EvidenceChain, names: Sequence[str], answers: Sequence[str], clues: Sequence[str]
) -> Dialogue[LeakageRound | None]:
    """Examine a question once; None where a model's answer is missing."""
    if faults := visual_question_faults(question, names):
        return LeakageRound(question, tuple(faults))
    solved: SolverAnswer | None = yield from asked(SolverCall(question))
    if solved is None:
        return None
    judgment = None
    if not _says_nothing(solved.answer):
        judgment = yield from asked(JudgeCall(question, chain.answer.name, solved))
        if judgment is None:
            return None
    found = LeakageRound(question, (), solved, is_right(solved.answer, answers), judgment)
    return found if found.is_shortcut else (yield from _ablation(found, answers, clues))


def _ablation(passed: LeakageRound, answers: Sequence[str], told: Sequence[str]) -> Dialogue[LeakageRound | None]:
    """Ask a question that passed without each of its clues, all together."""
    clues = clues_of(passed.question, told)
    if not clues:
        return passed
    solved = yield tuple(SolverCall(without_clue(passed.question, clue)) for clue in clues)
    if None in solved:
        return None
    redundant = tuple(
        clue for clue, one in zip(clues, solved, strict=True)
        if not _says_nothing(one.answer) and is_right(one.answer, answers)
    )  # fmt: skip
    return LeakageRound(passed.question, (), passed.solved, passed.is_right, passed.judgment, len(clues), redundant)


def _says_nothing(answer: str) -> bool:
    return not answer.strip() or abstains(answer)
