"""Stage 3: chains from a picture's seeds, depth first over offline knowledge, within stated bounds (decision 22)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gigavqa.construction.vistahop.chain_questions import (
    ABSTRACT,
    FamiliarityQuestion,
    HopQuestion,
    RelationQuestion,
    TypeQuestion,
)
from gigavqa.construction.vistahop.chains import (
    LEAST_HOPS,
    ChainHop,
    EvidenceChain,
    chain_faults,
    ranked_chains,
    ranked_hops,
    verified_chains,
)
from gigavqa.construction.vistahop.dialogues import Dialogue, asked
from gigavqa.construction.vistahop.knowledge.knowledge_index import KnowledgeIndex, KnownEntity
from gigavqa.construction.vistahop.knowledge.neighbours import MOST_NEIGHBOURS, Neighbour, neighbours_of
from gigavqa.construction.vistahop.knowledge.relations import PropertyTable
from gigavqa.construction.vistahop.merging import merge_duplicates


@dataclass(frozen=True)
class ChainBounds:
    """Where the search stops. Those of a seed bound what it asks: four calls an entity that is looked around."""

    depth: int = 8
    """Hops at which a chain is complete; one that nothing extends before is complete from `least` hops on."""
    least: int = LEAST_HOPS
    neighbours: int = MOST_NEIGHBOURS
    chosen: int = 10
    confidence: float = 0.9
    familiarity: float = 0.4
    """Who is known as well as this, or better, is left out."""
    expansions: int = 40
    """Entities of which neighbours are asked for, of a seed."""
    completed: int = 20
    kept: int = 1
    """Chains of a seed that are kept, of those that were completed."""

    def __post_init__(self) -> None:
        """Refuse bounds within which there is no chain. Raises ValueError."""
        if not LEAST_HOPS <= self.least <= self.depth:
            raise ValueError(f"chains have {LEAST_HOPS} hops or more: least {self.least}, depth {self.depth}")


@dataclass(frozen=True)
class PictureChains:
    """The chains of a picture, and how many of what came in between, by name."""

    chains: tuple[EvidenceChain, ...]
    counts: Mapping[str, int]


class ChainSearch:
    """Searches the chains of one picture. `seed` draws among equal neighbours; `asks` is whether a model takes part.

    Without one nobody is too familiar, facts are true, and the first neighbours are chosen.
    """

    def __init__(
        self,
        knowledge: KnowledgeIndex,
        table: PropertyTable,
        *,
        seed: int,
        bounds: ChainBounds = ChainBounds(),
        asks: bool = True,
    ) -> None:
        self._knowledge = knowledge
        self._table = table
        self._seed = seed
        self._bounds = bounds
        self._asks = asks
        self._taken: set[str] = set()
        self.counts: Counter[str] = Counter()

    def of_picture(self, seeds: Sequence[KnownEntity]) -> Dialogue[PictureChains]:
        """Find the chains of a picture's seeds, one seed after the other; no entity is on two of them.

        An entity that was taken once is never taken again in the picture, whatever came of it; no seed is taken.
        """
        self._taken = {entity.id for entity in seeds}
        found: list[EvidenceChain] = []
        for entity in dict.fromkeys(seeds):
            completed = yield from self.completed_of(entity)
            found += yield from self._kept(completed)
        return PictureChains(verified_chains(found), dict(sorted(self.counts.items())))

    def completed_of(self, entity: KnownEntity) -> Dialogue[list[EvidenceChain]]:
        """Find the complete chains of a seed, before any is merged or left out, in the order of the search."""
        self._taken.add(entity.id)
        path = _SeedPaths(entity)
        yield from self._descend(path, ())
        return path.completed

    def _descend(self, paths: "_SeedPaths", hops: tuple[ChainHop, ...]) -> Dialogue[None]:
        bounds, went = self._bounds, False
        if len(hops) < bounds.depth and paths.expansions < bounds.expansions:
            paths.expansions += 1
            for hop in (yield from self._next_hops(hops[-1].target if hops else paths.seed)):
                if len(paths.completed) >= bounds.completed:
                    return
                if hop.target.id not in self._taken:
                    self._taken.add(hop.target.id)
                    went = True
                    yield from self._descend(paths, (*hops, hop))
        if not went:
            if len(hops) >= bounds.least:
                paths.completed.append(EvidenceChain(paths.seed, hops))
            self.counts["completed" if len(hops) >= bounds.least else "dead_ends"] += 1

    def _next_hops(self, current: KnownEntity) -> Dialogue[list[ChainHop]]:
        """Find where a chain may go from an entity, in the order in which that is tried."""
        pool = neighbours_of(
            self._knowledge,
            current.id,
            self._table,
            seed=self._seed,
            most=self._bounds.neighbours,
            without=self._taken,
        )
        self.counts["expansions"] += 1
        self.counts["neighbours"] += len(pool)
        pool = yield from self._concrete(pool)
        pool = yield from self._chosen(current, pool)
        hops = yield from self._related(current, pool)
        return ranked_hops((yield from self._obscure(hops)))

    def _concrete(self, pool: list[Neighbour]) -> Dialogue[list[Neighbour]]:
        if not pool:
            return pool
        types = yield from asked(TypeQuestion(tuple(one.entity for one in pool)))
        if types is None:
            self.counts["unread"] += len(pool)
            return []
        kept = [one for one, kind in zip(pool, types, strict=True) if kind not in (None, ABSTRACT)]
        self.counts["abstract"] += len(pool) - len(kept)
        return kept

    def _chosen(self, current: KnownEntity, pool: list[Neighbour]) -> Dialogue[list[Neighbour]]:
        if not pool:
            return pool
        told = tuple((self._table.label(name), value) for name, value in self._knowledge.values(current.id))
        places = yield from asked(HopQuestion(current, told, tuple(pool), self._bounds.chosen))
        if places is None:
            self.counts["unread"] += len(pool)
            return []
        kept = [pool[place] for place in places]
        self.counts["not_chosen"] += len(pool) - len(kept)
        return kept

    def _related(self, current: KnownEntity, pool: list[Neighbour]) -> Dialogue[list[ChainHop]]:
        if not pool:
            return []
        verdicts = yield from asked(RelationQuestion(current, tuple(pool)))
        if verdicts is None:
            self.counts["unread"] += len(pool)
            return []
        hops = [
            ChainHop(one.entity, one.property, one.outwards, verdict)
            for one, verdict in zip(pool, verdicts, strict=True)
            if verdict.relation and verdict.confidence >= self._bounds.confidence
        ]
        self.counts["not_related"] += len(pool) - len(hops)
        return hops

    def _obscure(self, hops: list[ChainHop]) -> Dialogue[list[ChainHop]]:
        if not hops or not self._asks:
            return hops
        scores = yield from asked(FamiliarityQuestion(tuple(hop.target for hop in hops)))
        if scores is None:
            self.counts["unread"] += len(hops)
            return []
        kept = [
            hop._replace(familiarity=score)
            for hop, score in zip(hops, scores, strict=True)
            if score is not None and score < self._bounds.familiarity
        ]
        self.counts["familiar"] += len(hops) - len(kept)
        return kept

    def _kept(self, completed: Sequence[EvidenceChain]) -> Dialogue[list[EvidenceChain]]:
        """Choose the best chains of a seed that share nothing but it, with near duplicates merged."""
        kept: list[EvidenceChain] = []
        used: set[str] = set()
        for chain in ranked_chains(completed):
            if len(kept) == self._bounds.kept:
                break
            if used & {hop.target.id for hop in chain.hops}:
                self.counts["overlapping"] += 1
                continue
            merged = yield from merge_duplicates(chain, self._knowledge, self._table, self._bounds.confidence)
            if merged is None or len(merged.hops) < self._bounds.least or chain_faults(merged):
                self.counts["lost_by_merging"] += 1
                continue
            kept.append(merged)
            used |= {hop.target.id for hop in chain.hops}
        self.counts["kept"] += len(kept)
        return kept


class _SeedPaths:
    """What the search of one seed has done so far."""

    def __init__(self, seed: KnownEntity) -> None:
        self.seed = seed
        self.expansions = 0
        self.completed: list[EvidenceChain] = []
