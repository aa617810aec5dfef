"""What stage 3 asks, by its printed prompts: types of entities, next hops, relations, familiarity, and duplicates.

Answers stand by the places or names that were asked for. What a reply says of others, or says in two ways, is none.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gigavqa.construction.calls.model_call import ModelCall
from gigavqa.construction.vistahop.chains import EvidenceChain, RelationVerdict
from gigavqa.construction.vistahop.knowledge.knowledge_index import KnownEntity
from gigavqa.construction.vistahop.knowledge.neighbours import Neighbour
from gigavqa.construction.vistahop.knowledge.relations import RELATION_KINDS, RelationKind
from gigavqa.construction.vistahop.printed_prompts import PromptName, printed_prompt

ABSTRACT = "ABSTRACT"
NO_VERDICT = RelationVerdict(None, 0.0)


@dataclass(frozen=True)
class TypeQuestion:
    """Which of some entities are concrete. Answered by the type of each, by name; None of whom nothing was said."""

    entities: tuple[KnownEntity, ...]

    def call(self, model: str) -> ModelCall:
        """Return the call."""
        values = {"n": len(self.entities), "entities_list": _entity_lines(self.entities)}
        return printed_prompt("entity_types").call(model, values, schema=_of_names("entity_types", self.entities))

    def read(self, value: Any) -> tuple[str | None, ...]:
        """Return types in the order of the entities. Who is abstract to any of a reply's lines is abstract."""
        told: dict[str, str] = {}
        for one in value:
            if told.get(one["entity"]) != ABSTRACT:
                told[one["entity"]] = one["entity_type"]
        return tuple(told.get(entity.name) for entity in self.entities)

    def by_rule(self) -> tuple[str | None, ...]:
        """Return that all are concrete: the file of triples has named entities alone."""
        return ("OTHER",) * len(self.entities)


@dataclass(frozen=True)
class HopQuestion:
    """Which neighbours a chain may go to. Answered by their places, from 0, at most `most`."""

    current: KnownEntity
    properties: tuple[tuple[str, str], ...]
    neighbours: tuple[Neighbour, ...]
    most: int

    def call(self, model: str) -> ModelCall:
        """Return the call."""
        lines = [
            f"{place}. {_line(one.entity)} [{one.kind}, freq {one.entity.frequency}]"
            for place, one in enumerate(self.neighbours, 1)
        ]
        values = {
            "current_entity": _line(self.current),
            "props_text": "; ".join(f"{name}: {value}" for name, value in self.properties) or "none",
            "top_k": self.most,
            "cand_lines": "\n" + "\n".join(lines),
        }
        schema = _schema("next_hops")
        indices = schema["properties"]["indices"]
        indices["maxItems"], indices["items"]["maximum"] = self.most, len(self.neighbours)
        return printed_prompt("next_hops").call(model, values, schema=schema)

    def read(self, value: Any) -> tuple[int, ...]:
        """Return the places in the neighbours' own order."""
        return tuple(sorted(place - 1 for place in value["indices"]))

    def by_rule(self) -> tuple[int, ...]:
        """Return the first in their stated order."""
        return tuple(range(min(self.most, len(self.neighbours))))


@dataclass(frozen=True)
class RelationQuestion:
    """Whether and how an entity and each of its neighbours are related. Answered by a verdict each."""

    source: KnownEntity
    neighbours: tuple[Neighbour, ...]

    def call(self, model: str) -> ModelCall:
        """Return the call; A is the one of which the fact is told."""
        lines = []
        for place, one in enumerate(self.neighbours, 1):
            pair = (self.source, one.entity) if one.outwards else (one.entity, self.source)
            lines.append(f"{place}. A: {_line(pair[0])} | B: {_line(pair[1])}")
        schema = _schema("relations")
        schema["items"]["properties"]["index"]["maximum"] = len(self.neighbours)
        values = {"seed_info": f"{_line(self.source)}\n", "pairs_list": "\n".join(lines)}
        return printed_prompt("relations").call(model, values, schema=schema)

    def read(self, value: Any) -> tuple[RelationVerdict, ...]:
        """Return verdicts in the neighbours' order; a pair of which two things are said has no relation."""
        told: dict[int, RelationVerdict] = {}
        for one in value:
            verdict = _verdict(one)
            place = one["index"] - 1
            told[place] = verdict if told.get(place, verdict) == verdict else NO_VERDICT
        return tuple(told.get(place, NO_VERDICT) for place in range(len(self.neighbours)))

    def by_rule(self) -> tuple[RelationVerdict, ...]:
        """Return that the facts are true, by the table's kinds."""
        return tuple(RelationVerdict(one.kind, 1.0) for one in self.neighbours)


@dataclass(frozen=True)
class MergedEdgeQuestion:
    """Whether two entities that became adjacent are related; `fact` is theirs in the file, if it has one."""

    source: KnownEntity
    target: KnownEntity
    relation: RelationKind
    fact: Neighbour | None

    def call(self, model: str) -> ModelCall:
        """Return the call."""
        values = {
            "relation_type": self.relation,
            "source_entity": _line(self.source),
            "target_entity": _line(self.target),
        }
        return printed_prompt("relation").call(model, values)

    def read(self, value: Any) -> RelationVerdict:
        """Return the verdict."""
        return _verdict(value) if value["has_relation"] else NO_VERDICT

    def by_rule(self) -> RelationVerdict:
        """Return that a fact is true, and that there is no relation without one."""
        return RelationVerdict(self.fact.kind, 1.0) if self.fact else NO_VERDICT


@dataclass(frozen=True)
class FamiliarityQuestion:
    """How well people know some entities. Answered by a score each, of 1; None of whom nothing was said."""

    entities: tuple[KnownEntity, ...]

    def call(self, model: str) -> ModelCall:
        """Return the call."""
        schema = _of_names("familiarity", self.entities)
        return printed_prompt("familiarity").call(model, {"entities_list": _entity_lines(self.entities)}, schema=schema)

    def read(self, value: Any) -> tuple[float | None, ...]:
        """Return scores in the entities' order; of several scores of a name the highest counts."""
        told: dict[str, float] = {}
        for one in value["familiarity_scores"]:
            told[one["entity"]] = max(float(one["score"]), told.get(one["entity"], 0.0))
        return tuple(told.get(entity.name) for entity in self.entities)


@dataclass(frozen=True)
class DuplicateQuestion:
    """Which adjacent entities of a chain are one. Answered by groups: the places of each, and its merged name."""

    chain: EvidenceChain

    def call(self, model: str) -> ModelCall:
        """Return the call."""
        values = {
            "seed_entity": _line(self.chain.seed),
            "entities_in_chain": " -> ".join(entity.name for entity in self.chain.entities),
        }
        return printed_prompt("duplicates").call(model, values)

    def read(self, value: Any) -> tuple[tuple[tuple[int, ...], str], ...]:
        """Return groups of places, from 0 for the seed; names that the chain has not are passed over."""
        if not value["has_duplicates"]:
            return ()
        places: dict[str, list[int]] = {}
        for place, entity in enumerate(self.chain.entities):
            places.setdefault(entity.name, []).append(place)
        groups = []
        for group in value.get("duplicate_groups", ()):
            found = sorted({place for name in group["nodes"] for place in places.get(name, ())})
            groups.append((tuple(found), str(group["merged_name"])))
        return tuple(groups)

    def by_rule(self) -> tuple[tuple[tuple[int, ...], str], ...]:
        """Return none: what names show is merged whoever is asked."""
        return ()


def _verdict(told: Mapping[str, Any]) -> RelationVerdict:
    kind = next((known for known in RELATION_KINDS if known == told["relation_type"]), None)
    return RelationVerdict(kind, float(told["confidence"]), str(told.get("evidence", "")))


def _line(entity: KnownEntity) -> str:
    return f"{entity.name} ({entity.description})" if entity.description else entity.name


def _entity_lines(entities: Sequence[KnownEntity]) -> str:
    return "\n" + "\n".join(f"- {_line(entity)}" for entity in entities)


def _schema(name: PromptName) -> dict[str, Any]:
    return copy.deepcopy(dict(printed_prompt(name).schema or {}))


def _of_names(name: PromptName, entities: Sequence[KnownEntity]) -> dict[str, Any]:
    """Return a prompt's schema that allows no other entities than those that are asked about."""
    schema = _schema(name)
    items = schema["items"] if "items" in schema else schema["properties"]["familiarity_scores"]["items"]
    items["properties"]["entity"] = {"enum": sorted({entity.name for entity in entities})}
    return schema
