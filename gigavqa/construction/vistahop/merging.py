"""Near duplicates beside each other on a chain become one; edges that this makes are verified anew."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from gigavqa.construction.vistahop.chain_questions import DuplicateQuestion, MergedEdgeQuestion
from gigavqa.construction.vistahop.chains import ChainHop, EvidenceChain, RelationVerdict
from gigavqa.construction.vistahop.dialogues import Dialogue, asked
from gigavqa.construction.vistahop.knowledge.knowledge_index import KnowledgeIndex, KnownEntity
from gigavqa.construction.vistahop.knowledge.neighbours import Neighbour
from gigavqa.construction.vistahop.knowledge.relations import PropertyTable
from gigavqa.construction.vistahop.names import bare_name

DuplicateGroup = tuple[tuple[int, ...], str]
"""Places of entities on a chain, 0 for the seed, and the name that they are to have together."""


def merge_duplicates(
    chain: EvidenceChain, knowledge: KnowledgeIndex, table: PropertyTable, least_confidence: float
) -> Dialogue[EvidenceChain | None]:
    """Return a chain whose near duplicates are one; None where an answer is missing, or a new edge does not hold."""
    told = yield from asked(DuplicateQuestion(chain))
    if told is None:
        return None
    kept = kept_places(chain, [*_same_names(chain, knowledge), *told])
    pairs = list(pairwise(kept))
    new = [pair for pair in pairs if pair[1] != pair[0] + 1]
    questions = tuple(_edge_question(chain, pair, knowledge, table) for pair in new)
    verdicts: Sequence[RelationVerdict | None] = (yield questions) if questions else ()
    if not all(_holds(verdict, least_confidence) for verdict in verdicts):
        return None
    verified = dict(zip(new, zip(questions, verdicts, strict=True), strict=True))
    hops = []
    for pair in pairs:
        hop = chain.hops[pair[1] - 1]
        if pair in verified:
            question, verdict = verified[pair]
            hop = _new_hop(hop, question.fact, verdict)
        hops.append(hop)
    return EvidenceChain(chain.seed, tuple(hops))


def kept_places(chain: EvidenceChain, groups: Iterable[DuplicateGroup]) -> list[int]:
    """Return the places of a chain that stay: of each run of adjacent duplicates one.

    That is the seed where it is among them, since the picture shows it; else the one that has the merged name, else the
    first. Of places that are not adjacent nothing is merged (note 3 of the printed prompt).
    """
    entities = chain.entities
    joined: set[int] = set()
    names: dict[int, set[str]] = {}
    for places, name in groups:
        for one, other in pairwise(sorted(set(places))):
            if other == one + 1:
                joined.add(other)
                for place in (one, other):
                    names.setdefault(place, set()).add(bare_name(name))
    kept, place = [], 0
    while place < len(entities):
        end = place + 1
        while end in joined:
            end += 1
        run = range(place, end)
        named = [each for each in run if bare_name(entities[each].name) in names.get(each, ())]
        kept.append(place if place == 0 or not named else named[0])
        place = end
    return kept


def _same_names(chain: EvidenceChain, knowledge: KnowledgeIndex) -> list[DuplicateGroup]:
    """Return neighbours on a chain that have a name in common, but for marks and spaces."""
    names = [_names(entity, knowledge) for entity in chain.entities]
    return [((place, place + 1), "") for place, (one, other) in enumerate(pairwise(names)) if one & other]


def _names(entity: KnownEntity, knowledge: KnowledgeIndex) -> set[str]:
    return {bare for name in (entity.name, *knowledge.names(entity.id)) if (bare := bare_name(name))}


def _edge_question(
    chain: EvidenceChain, pair: tuple[int, int], knowledge: KnowledgeIndex, table: PropertyTable
) -> MergedEdgeQuestion:
    source, target = chain.entities[pair[0]], chain.entities[pair[1]]
    relation = chain.hops[pair[1] - 1].verdict.relation
    assert relation is not None
    return MergedEdgeQuestion(source, target, relation, _fact(source, target, knowledge, table))


def _fact(
    source: KnownEntity, target: KnownEntity, knowledge: KnowledgeIndex, table: PropertyTable
) -> Neighbour | None:
    """Return the fact of two entities that stands first in the table's order, or none."""
    order = {name: place for place, (name, _) in enumerate(table.order())}
    found = [
        Neighbour(edge.other, edge.property, kind, edge.outwards)
        for edge in knowledge.edges(source.id)
        if edge.other.id == target.id and (kind := table.kind(edge.property))
    ]
    return min(found, key=lambda one: (not one.outwards, order[one.property]), default=None)


def _holds(verdict: RelationVerdict | None, least_confidence: float) -> bool:
    return verdict is not None and verdict.relation is not None and verdict.confidence >= least_confidence


def _new_hop(hop: ChainHop, fact: Neighbour | None, verdict: RelationVerdict | None) -> ChainHop:
    assert verdict is not None
    if fact is None:
        return hop._replace(verdict=verdict, property="", outwards=True)
    return hop._replace(verdict=verdict, property=fact.property, outwards=fact.outwards)
