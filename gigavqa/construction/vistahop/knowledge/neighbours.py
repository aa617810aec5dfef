"""The neighbours of an entity that a model may choose from: at most 30, in an order that is stated (decision 22)."""

import hashlib
from collections.abc import Collection, Sequence
from itertools import zip_longest
from typing import NamedTuple

from gigavqa.construction.vistahop.knowledge.knowledge_index import KnowledgeEdge, KnowledgeIndex, KnownEntity
from gigavqa.construction.vistahop.knowledge.relations import PropertyTable, RelationKind

MOST_NEIGHBOURS = 30


class Neighbour(NamedTuple):
    """An entity one fact away; the fact is told from the other to this one where it is not `outwards`."""

    entity: KnownEntity
    property: str
    kind: RelationKind
    outwards: bool


def neighbours_of(
    knowledge: KnowledgeIndex,
    key: str,
    table: PropertyTable,
    *,
    seed: int,
    most: int = MOST_NEIGHBOURS,
    without: Collection[str] = (),
) -> list[Neighbour]:
    """Return the neighbours of an entity, each once, none of `without` and not itself.

    Properties take turns, in the table's order, facts of the entity before facts about it; within one the rarest
    entities come first, and equals are drawn by the seed. So no property fills the list.
    """
    taken = {key, *without}
    groups: dict[tuple[str, bool], list[KnowledgeEdge]] = {}
    for edge in knowledge.edges(key):
        if edge.other.id not in taken:
            groups.setdefault((edge.property, edge.outwards), []).append(edge)
    found: list[Neighbour] = []
    for turn in zip_longest(*(_drawn(group, seed, key) for group in _ordered(groups, table))):
        for edge in turn:
            kind = table.kind(edge.property) if edge else None
            if edge is None or kind is None or edge.other.id in taken:
                continue
            taken.add(edge.other.id)
            found.append(Neighbour(edge.other, edge.property, kind, edge.outwards))
            if len(found) == most:
                return found
    return found


def _ordered(
    groups: dict[tuple[str, bool], list[KnowledgeEdge]], table: PropertyTable
) -> Sequence[list[KnowledgeEdge]]:
    places = {name: place for place, (name, _) in enumerate(table.order())}
    return [groups[each] for each in sorted(groups, key=lambda one: (not one[1], places[one[0]]))]


def _drawn(group: Sequence[KnowledgeEdge], seed: int, key: str) -> list[KnowledgeEdge]:
    def place(edge: KnowledgeEdge) -> tuple[int, bytes, str]:
        drawn = hashlib.blake2b(f"{seed}\0{key}\0{edge.other.id}".encode("utf-8", "surrogatepass"), digest_size=8)
        return edge.other.frequency, drawn.digest(), edge.other.id

    return sorted(group, key=place)
