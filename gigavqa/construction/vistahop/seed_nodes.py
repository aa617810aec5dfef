"""Stage 2: what is known of a picture's entities; those of which nothing is known begin no chain."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from gigavqa.construction.calls.model_call import ModelCall
from gigavqa.construction.vistahop.dialogues import Dialogue, asked
from gigavqa.construction.vistahop.knowledge.knowledge_index import KnowledgeIndex, KnownEntity
from gigavqa.construction.vistahop.knowledge.pages import PAGE_CHARACTERS
from gigavqa.construction.vistahop.knowledge.relations import PropertyTable
from gigavqa.construction.vistahop.printed_prompts import printed_prompt

SEED_TYPES: Mapping[str, str] = {
    "person": "PERSON", "place": "PLACE", "event": "EVENT", "object": "OBJECT", "concept": "ENTITY",
}  # fmt: skip
"""Types of stage 2 as the prompt of stage 5 calls them."""

_MOST_PROPERTIES = 50


class NodeDetails(NamedTuple):
    """What a page tells of an entity."""

    description: str
    type: str
    properties: tuple[tuple[str, str], ...]
    related: tuple[str, ...] = ()


class SeedNode(NamedTuple):
    """An entity that can begin a chain, and where its properties come from: its page, or facts of the file."""

    entity: KnownEntity
    details: NodeDetails
    source: Literal["page", "facts"]


@dataclass(frozen=True)
class NodeCall:
    """What the beginning of an entity's page tells (table 12)."""

    entity: KnownEntity
    content: str

    def call(self, model: str) -> ModelCall:
        """Return the call."""
        values = {"entity_name": self.entity.name, "content": self.content[:PAGE_CHARACTERS]}
        return printed_prompt("node_details").call(model, values)

    def read(self, value: Any) -> NodeDetails:
        """Return the details; a property without a name or a plain value is none."""
        plain = [(str(name).strip(), _plain(told)) for name, told in value["properties"].items()]
        properties = tuple((name, told) for name, told in plain if name and told)[:_MOST_PROPERTIES]
        related = tuple(name.strip() for name in value["related_entities"] if name.strip())
        return NodeDetails(value["description"].strip(), value["entity_type"], properties, related)

    def by_rule(self) -> NodeDetails:
        """Return what the file says of the entity, without properties."""
        return NodeDetails(self.entity.description, "concept", ())


def seed_node(
    entity: KnownEntity, content: str, knowledge: KnowledgeIndex, table: PropertyTable
) -> Dialogue[SeedNode | None]:
    """Find what is known of an entity; `content` is its page, empty where there is none.

    Where the page tells no property, the file's facts stand in; None where there are none either.
    """
    details: NodeDetails | None = (yield from asked(NodeCall(entity, content))) if content.strip() else None
    if details and details.properties:
        return SeedNode(entity, details, "page")
    facts = [(table.label(name), value) for name, value in knowledge.values(entity.id)]
    facts += [(table.label(edge.property), edge.other.name) for edge in knowledge.edges(entity.id) if edge.outwards]
    if not facts:
        return None
    found = details or NodeDetails(entity.description, "concept", ())
    return SeedNode(entity, found._replace(properties=tuple(facts[:_MOST_PROPERTIES])), "facts")


def _plain(value: Any) -> str:
    """Return a text or a number as text; a list of such with commas between; empty for anything else."""
    if isinstance(value, list):
        return ", ".join(filter(None, map(_plain, value)))
    return str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
