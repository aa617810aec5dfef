"""Stages 4 and 5 of a chain: its question in words (equation 4), then about the picture (equation 5), and verified."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from gigavqa.construction.vistahop.chains import EvidenceChain
from gigavqa.construction.vistahop.dialogues import Dialogue, asked
from gigavqa.construction.vistahop.knowledge.knowledge_index import KnowledgeIndex
from gigavqa.construction.vistahop.leakage import (
    LeakageRecord,
    chain_names,
    entity_names,
    verify_question,
    visual_question_faults,
)
from gigavqa.construction.vistahop.picture_entities import VisualEntity
from gigavqa.construction.vistahop.question_calls import (
    QuestionWording,
    SimplificationCall,
    VisualReferenceCall,
    WordingCall,
)


class TextItem(NamedTuple):
    """A triple of equation 4: a question about the end of a chain, its answer, and the chain."""

    question: str
    answer: str
    chain: EvidenceChain


@dataclass(frozen=True)
class VisualItem:
    """An item of equation 5: picture, question, answer, path of reasoning, and in chain and rounds its metadata."""

    picture: str
    question: str
    answers: tuple[str, ...]
    steps: tuple[str, ...]
    chain: EvidenceChain
    seed: VisualEntity
    leakage: LeakageRecord

    def record(self) -> dict[str, Any]:
        """Return it as a record of VistaHop's data sets."""
        entities = self.chain.entities
        return {
            "images": [self.picture],
            "question": self.question,
            "answers": list(self.answers),
            "hops": len(self.chain.hops),
            "form": "single",
            "anchors": [{"label": self.seed.name}],
            "chain": [
                {"from": start.name, "relation": hop.verdict.relation, "to": hop.target.name}
                for start, hop in zip(entities, self.chain.hops, strict=False)
            ],
        }

    def metadata(self) -> dict[str, Any]:
        """Return M of equation 5: hops and relation types, the source entity, and what generated and verified it."""
        return {
            "hop_count": len(self.chain.hops),
            "relation_types": [hop.verdict.relation for hop in self.chain.hops],
            "source_entity": {"entity": self.seed.entity.id, "name": self.seed.name, "looks": self.seed.description},
            "reasoning_path": list(self.steps),
            "evidence_chain": self.chain.document(),
            "rounds": [one.document() for one in self.leakage.rounds],
        }


class LostItem(NamedTuple):
    """A chain that became no item: a reply that could not be read, or a question that still gives its answer away."""

    chain: EvidenceChain
    reason: Literal["unanswered", "unresolved"]
    leakage: LeakageRecord | None = None


class LeakageShares(NamedTuple):
    """Table 7's first three rows, as counts of questions: they went into the loop, and what it found of them."""

    questions: int
    shortcuts: int
    unresolved: int
    redundant: int


def text_item(chain: EvidenceChain, wording: QuestionWording) -> TextItem:
    """Return the triple of equation 4: the answer is the canonical name of the chain's end."""
    return TextItem(wording.question, chain.answer.name, chain)


def text_item_faults(item: TextItem, knowledge: KnowledgeIndex) -> list[str]:
    """Return which names a text question says that it must not: all of its chain but the seed's."""
    seed = set(entity_names(item.chain.seed, knowledge))
    names = [name for name in chain_names(item.chain, knowledge) if name not in seed]
    return visual_question_faults(f"{item.question} in the image", names)


def visual_item(
    chain: EvidenceChain, picture: str, seed: VisualEntity, knowledge: KnowledgeIndex, *, seed_type: str = "ENTITY"
) -> Dialogue[VisualItem | LostItem]:
    """Make the item of a chain, whose seed is what the picture shows."""
    wording: QuestionWording | None = yield from asked(WordingCall(chain))
    if wording is None:
        return LostItem(chain, "unanswered")
    item = text_item(chain, wording)
    question = yield from asked(VisualReferenceCall(item.question, chain, seed_type, seed.description))
    if question is None:
        return LostItem(chain, "unanswered")
    names = chain_names(chain, knowledge)
    question = yield from _simplified(question, names)
    answers = entity_names(chain.answer, knowledge)
    leakage = yield from verify_question(question, chain, names=names, answers=answers, clues=wording.clues)
    if leakage.outcome != "kept":
        return LostItem(chain, leakage.outcome, leakage)
    return VisualItem(picture, leakage.question, answers, wording.steps, chain, seed, leakage)


def leakage_shares(outcomes: Iterable[VisualItem | LostItem]) -> LeakageShares:
    """Count what the loop found, of the questions that it was asked about."""
    records = [one.leakage for one in outcomes if one.leakage and one.leakage.rounds]
    return LeakageShares(
        len(records),
        sum(any(each.is_shortcut for each in one.rounds) for one in records),
        sum(one.outcome == "unresolved" for one in records),
        sum(any(each.redundant for each in one.rounds) for one in records),
    )


def _simplified(question: str, names: Sequence[str]) -> Dialogue[str]:
    """Return a question in plain words; as it was where these have a fault that it has not."""
    simple = yield from asked(SimplificationCall(question))
    before = set(visual_question_faults(question, names))
    if simple is None or set(visual_question_faults(simple, names)) - before:
        return question
    return str(simple)
