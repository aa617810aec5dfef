"""Evidence chains (equation 1): from what a picture shows, hop by hop, to an answer; and how they are ranked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from gigavqa.construction.vistahop.knowledge.knowledge_index import KnownEntity
from gigavqa.construction.vistahop.knowledge.relations import RelationKind

LEAST_HOPS = 5
"""k of equation 1."""

_ENTITY_WEIGHT, _RELATION_WEIGHT = Fraction(6, 10), Fraction(4, 10)
"""Alpha and beta of equation 2."""


class RelationVerdict(NamedTuple):
    """What was found of a pair of entities: the kind of their relation, or none, and how sure that is, of 1."""

    relation: RelationKind | None
    confidence: float
    evidence: str = ""


class ChainHop(NamedTuple):
    """A hop to `target` by a verified relation.

    `property` is that of the fact, which is told from the target backwards where it is not `outwards`; it is empty
    where a merged edge rests on a verdict alone. `familiarity` is None where no model was asked.
    """

    target: KnownEntity
    property: str
    outwards: bool
    verdict: RelationVerdict
    familiarity: float | None = None

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "entity": self.target.id,
            "name": self.target.name,
            "frequency": self.target.frequency,
            "property": self.property,
            "outwards": self.outwards,
            **self.verdict._asdict(),
            "familiarity": self.familiarity,
        }


@dataclass(frozen=True)
class EvidenceChain:
    """A seed and the hops from it; the last target is the answer."""

    seed: KnownEntity
    hops: tuple[ChainHop, ...]

    @property
    def entities(self) -> tuple[KnownEntity, ...]:
        """The seed and all targets, in their order."""
        return (self.seed, *(hop.target for hop in self.hops))

    @property
    def answer(self) -> KnownEntity:
        """The entity in which the chain ends."""
        return self.entities[-1]

    def document(self) -> dict[str, Any]:
        """Return it as JSON: seed, hops with relations, confidence and familiarity, their number, and its score."""
        return {
            "seed": {"entity": self.seed.id, "name": self.seed.name, "frequency": self.seed.frequency},
            "hops": [hop.document() for hop in self.hops],
            "hop_count": len(self.hops),
            "diversity": float(diversity(self)),
        }


def chain_faults(chain: EvidenceChain) -> list[str]:
    """Return why something is no chain of equation 1; empty where it is one."""
    faults = []
    if len(chain.hops) < LEAST_HOPS:
        faults.append(f"it has {len(chain.hops)} hops; at least {LEAST_HOPS}")
    ids = [entity.id for entity in chain.entities]
    faults += [f"'{one}' stands in it twice" for one in dict.fromkeys(ids) if ids.count(one) > 1]
    return faults + [f"the hop to '{hop.target.id}' has no relation" for hop in chain.hops if not hop.verdict.relation]


def diversity(chain: EvidenceChain) -> Fraction:
    """Return the score of equation 2, of 1, exactly: |c| is the number of hops. Raises ValueError for no hop."""
    if not chain.hops:
        raise ValueError("a chain without a hop has no diversity")
    length = len(chain.hops)
    entities = Fraction(len({entity.id for entity in chain.entities}), length)
    relations = Fraction(len({hop.verdict.relation for hop in chain.hops}), length)
    return _ENTITY_WEIGHT * min(Fraction(1), entities) + _RELATION_WEIGHT * min(Fraction(1), relations)


def ranked_chains(chains: Iterable[EvidenceChain]) -> list[EvidenceChain]:
    """Return chains by equation 2, the most diverse first; equals stay in their order."""
    return sorted(chains, key=diversity, reverse=True)


def verified_chains(chains: Iterable[EvidenceChain]) -> tuple[EvidenceChain, ...]:
    """Return the set of equation 3: chains without faults, each sequence of entities once, in their order."""
    found: dict[tuple[str, ...], EvidenceChain] = {}
    for chain in chains:
        if not chain_faults(chain):
            found.setdefault(tuple(entity.id for entity in chain.entities), chain)
    return tuple(found.values())


def ranked_hops(hops: Sequence[ChainHop]) -> list[ChainHop]:
    """Return hops in the order in which they are tried: the obscure before the known, the sure before the unsure."""
    return sorted(
        hops,
        key=lambda hop: (hop.familiarity or 0.0, -hop.verdict.confidence, hop.target.frequency, hop.target.id),
    )
