"""Stage 3 against a second search over the plain triples, and against all simple paths; its rules one by one."""

import json
import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gigavqa.construction.vistahop.chain_questions import (
    DuplicateQuestion,
    FamiliarityQuestion,
    HopQuestion,
    MergedEdgeQuestion,
    RelationQuestion,
    TypeQuestion,
)
from gigavqa.construction.vistahop.chain_search import ChainBounds, ChainSearch, PictureChains
from gigavqa.construction.vistahop.chains import EvidenceChain, chain_faults
from gigavqa.construction.vistahop.dialogues import play_by_rule
from gigavqa.construction.vistahop.knowledge.knowledge_index import KnowledgeIndex, open_knowledge
from gigavqa.construction.vistahop.knowledge.relations import property_table
from tests.construction.vistahop.scripted import play
from tests.construction.vistahop.triples import tsv

TABLE = property_table()
PROPERTIES = ["P361", "P463", "P50", "P155", "P131", "likes"]


class World(NamedTuple):
    """A small graph, and what a model says of it."""

    knowledge: KnowledgeIndex
    links: dict[str, set[str]]
    frequency: dict[str, int]
    familiarity: dict[str, float]
    abstract: set[str]
    confidence: dict[frozenset[str], float]


def drawn_world(folder: Path, seed: int) -> World:
    """Draw a graph with a hub, a cycle, facts of oneself and unknown properties; at most 16 entities."""
    draw = random.Random(seed)
    keys = [f"e{number:02}" for number in range(draw.randint(8, 16))]
    pairs = {(draw.choice(keys), draw.choice(keys)) for _ in range(draw.randint(14, 40))}
    pairs |= {(keys[0], key) for key in keys[1 : draw.randint(2, 12)]} | set(pairwise(keys[:8]))
    rows = [(one, draw.choice(PROPERTIES), other) for one, other in sorted(pairs)]
    used = [(one, other) for one, name, other in rows if name != "likes" and one != other]
    links: dict[str, set[str]] = {key: set() for key in keys}
    for one, other in used:
        links[one].add(other)
        links[other].add(one)
    known = [row for row in rows if row[1] != "likes"] or [(keys[0], "P361", keys[1])]
    return World(
        open_knowledge(tsv(folder / f"w{seed}.tsv", rows if known else known), folder),
        links,
        {key: sum(key in pair for pair in used) for key in keys},
        {key: draw.choice([0.0, 0.1, 0.1, 0.2, 0.3, 0.3, 0.39, 0.4]) for key in keys},
        {key for key in keys if draw.random() < 0.06},
        {frozenset(pair): draw.choice([1.0, 1.0, 0.95, 0.95, 0.9, 0.9, 0.9, 0.89]) for pair in used},
    )


def reply(world: World) -> Callable[[Any], Any]:
    """What the model says: all neighbours are chosen, as far as they may be."""

    def answer(question: Any) -> Any:
        match question:
            case TypeQuestion():
                return [
                    {"entity": one.name, "entity_type": "ABSTRACT" if one.id in world.abstract else "ORG",
                     "confidence": 1} for one in question.entities
                ]  # fmt: skip
            case HopQuestion():
                return {"indices": list(range(1, min(question.most, len(question.neighbours)) + 1))}
            case RelationQuestion():
                pairs = [frozenset((question.source.id, one.entity.id)) for one in question.neighbours]
                return [
                    {"index": place, "relation_type": "causal", "confidence": world.confidence[pair]}
                    for place, pair in enumerate(pairs, 1)
                ]
            case FamiliarityQuestion():
                scores = [{"entity": one.name, "score": world.familiarity[one.id]} for one in question.entities]
                return {"familiarity_scores": scores}
            case _:
                return {"has_duplicates": False}

    return answer


def allowed(world: World, key: str) -> list[str]:
    """Where a chain may go from an entity, in rank order: reckoned from the triples alone."""
    passed = [
        (world.familiarity[other], -world.confidence[frozenset((key, other))], world.frequency[other], other)
        for other in world.links[key]
        if other not in world.abstract
        and world.familiarity[other] < 0.4
        and world.confidence[frozenset((key, other))] >= 0.9
    ]
    return [other for *_, other in sorted(passed)]


def expected(world: World, seed: str, taken: set[str], depth: int) -> list[list[str]]:
    """The complete chains of a seed by a search of our own, with a stack in place of calls."""
    complete, stack, went = [], [([seed], iter(allowed(world, seed)))], [False]
    while stack:
        path, left = stack[-1]
        following = next((each for each in left if each not in taken), None) if len(path) <= depth else None
        if following is None:
            stack.pop()
            if not went.pop() and len(path) > 5:
                complete.append(path)
            continue
        taken.add(following)
        went[-1] = True
        went.append(False)
        stack.append(([*path, following], iter(allowed(world, following))))
    return complete


def ids(chain: EvidenceChain) -> list[str]:
    """The ids along a chain."""
    return [entity.id for entity in chain.entities]


def search(world: World, **bounds: Any) -> ChainSearch:
    """A search with a model; bounds that small graphs do not reach."""
    most = {"chosen": 30, "expansions": 1000, "completed": 1000, **bounds}
    return ChainSearch(world.knowledge, TABLE, seed=1, bounds=ChainBounds(**most))


def test_complete_chains_are_those_of_a_second_search_and_are_simple_paths_that_nothing_extends(
    tmp_path: Path,
) -> None:
    """Sixty random graphs, with cycles, hubs and properties that nobody knows."""
    complete = 0
    for seed in range(60):
        world = drawn_world(tmp_path, seed)
        if not (start := world.knowledge.entity("e00")):
            continue
        depth = 5 + seed % 4
        found = play(search(world, depth=depth).completed_of(start), reply(world))
        assert [ids(chain) for chain in found] == expected(world, "e00", {"e00"}, depth), seed
        for chain in found:
            path = ids(chain)
            assert not chain_faults(chain) and len(path) <= depth + 1
            assert all(other in allowed(world, one) for one, other in pairwise(path))
        complete += len(found)
        world.knowledge.close()
    assert complete > 60, "the graphs have chains to find"


def test_a_picture_has_no_entity_on_two_chains_whatever_its_seeds(tmp_path: Path) -> None:
    """Nor is a seed passed through; what is kept of a seed is its best chain by equation 2."""
    kept = 0
    for seed in range(20):
        world = drawn_world(tmp_path, seed)
        seeds = [one for key in ("e00", "e03", "e05") if (one := world.knowledge.entity(key))]
        found: PictureChains = play(search(world, kept=3).of_picture(seeds), reply(world))
        inner = [key for chain in found.chains for key in ids(chain)[1:]]
        assert len(inner) == len(set(inner)) and not set(inner) & {one.id for one in seeds}
        assert found.counts.get("kept", 0) == len(found.chains)
        kept += len(found.chains)
    assert kept > 5, "there are chains to keep"


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeIndex:
    """One way of nine hops, from v0 to v9; and twelve leaves at v1."""
    folder = tmp_path_factory.mktemp("line")
    rows = [(f"v{place}", "P361", f"v{place + 1}") for place in range(9)]
    return open_knowledge(
        tsv(folder / "line.tsv", [*rows, *((f"leaf{each}", "P50", "v1") for each in range(12))]), folder
    )


def of_line(line: KnowledgeIndex, script: Callable[[Any], Any] | None = None, **bounds: Any) -> PictureChains:
    """The chains of v0; without a script, by rule."""
    start = line.entity("v0")
    assert start
    dialogue = ChainSearch(line, TABLE, seed=0, bounds=ChainBounds(**bounds), asks=script is not None)
    return play_by_rule(dialogue.of_picture([start])) if script is None else play(dialogue.of_picture([start]), script)


def plain(question: Any) -> Any:
    """A model that finds all good."""
    match question:
        case TypeQuestion():
            return [typed(e.name, "ORG") for e in question.entities]
        case HopQuestion():
            return {"indices": list(range(1, min(10, len(question.neighbours)) + 1))}
        case RelationQuestion():
            places = range(1, len(question.neighbours) + 1)
            return [{"index": place, "relation_type": "spatial", "confidence": 0.9} for place in places]
        case FamiliarityQuestion():
            return {"familiarity_scores": [{"entity": e.name, "score": 0.1} for e in question.entities]}
        case MergedEdgeQuestion():
            return {"has_relation": True, "relation_type": "causal", "confidence": 0.9}
        case DuplicateQuestion():
            return {"has_duplicates": False}


@pytest.mark.parametrize("depth", [5, 7, 8])
def test_a_chain_ends_at_the_depth_and_an_earlier_end_counts_from_five_hops(line: KnowledgeIndex, depth: int) -> None:
    """Without a model: facts are true by the table's kinds, and nobody's familiarity is known."""
    (chain,) = of_line(line, depth=depth).chains
    assert ids(chain) == [f"v{place}" for place in range(depth + 1)]
    assert {hop.verdict.relation for hop in chain.hops} == {"part_whole"}
    assert {hop.familiarity for hop in chain.hops} == {None}
    assert ids(of_line(line, depth=20).chains[0])[-1] == "v9"


def typed(name: str, kind: str) -> dict[str, Any]:
    """What is said of an entity's type."""
    return {"entity": name, "entity_type": kind, "confidence": 1}


def related(kind: str, confidence: float) -> dict[str, Any]:
    """What is said of the first pair."""
    return {"index": 1, "relation_type": kind, "confidence": confidence}


@pytest.mark.parametrize(
    ("kind", "wrong", "count"),
    [
        (TypeQuestion, lambda q: [typed(q.entities[0].name, "ABSTRACT")], "abstract"),
        (TypeQuestion, lambda q: [], "abstract"),
        (HopQuestion, lambda q: {"indices": []}, "not_chosen"),
        (RelationQuestion, lambda q: [related("none", 1)], "not_related"),
        (RelationQuestion, lambda q: [related("causal", 0.8999)], "not_related"),
        (RelationQuestion, lambda q: [related("none", 1), related("causal", 1)], "not_related"),
        (FamiliarityQuestion, lambda q: {"familiarity_scores": [{"entity": "v3", "score": 0.4}]}, "familiar"),
        (FamiliarityQuestion, lambda q: {"familiarity_scores": []}, "familiar"),
        (FamiliarityQuestion, lambda q: None, "unread"),
        (TypeQuestion, lambda q: None, "unread"),
        (HopQuestion, lambda q: None, "unread"),
        (RelationQuestion, lambda q: None, "unread"),
    ],
)  # fmt: skip
def test_one_answer_against_it_ends_a_chain_and_is_counted(
    line: KnowledgeIndex, kind: type, wrong: Callable[[Any], Any], count: str
) -> None:
    """At v3: so there are no five hops. What was not answered, or answered in two ways, is not used."""

    def script(question: Any) -> Any:
        targets = getattr(question, "entities", None) or [one.entity for one in getattr(question, "neighbours", ())]
        return wrong(question) if isinstance(question, kind) and [e.id for e in targets] == ["v3"] else plain(question)

    found = of_line(line, script)
    assert found.chains == () and found.counts[count] >= 1
    assert len(of_line(line, plain).chains) == 1


def test_bounds_hold_what_a_seed_asks(line: KnowledgeIndex) -> None:
    """Entities that are looked around, and neighbours that are chosen."""
    asked: list[Any] = []

    def script(question: Any) -> Any:
        asked.append(question)
        return plain(question)

    assert of_line(line, script, expansions=3).counts["expansions"] == 3
    assert max(len(each.neighbours) for each in asked if isinstance(each, RelationQuestion)) == 10
    assert len(of_line(line, script, neighbours=4).chains) == 1


@pytest.mark.parametrize(
    ("names", "nodes", "way"),
    [
        (["v3", "v4"], "v4", [0, 1, 2, 4, 5, 6, 7, 8]),
        (["v3", "v4"], "something else", [0, 1, 2, 3, 5, 6, 7, 8]),
        (["v0", "v1"], "v1", [0, 2, 3, 4, 5, 6, 7, 8]),
        (["v4", "v5", "v6"], "v5", [0, 1, 2, 3, 5, 7, 8]),
        (["v7", "v8"], "V8", [0, 1, 2, 3, 4, 5, 6, 8]),
        (["v2", "v4"], "v2", list(range(9))),
        (["v2", "nobody"], "v2", list(range(9))),
    ],
)
def test_adjacent_duplicates_become_one_and_the_edges_this_makes_are_verified(
    line: KnowledgeIndex, names: list[str], nodes: str, way: list[int]
) -> None:
    """The seed stays; what is not adjacent, or not on the chain, is not merged."""
    asked: list[tuple[str, str]] = []

    def script(question: Any) -> Any:
        if isinstance(question, DuplicateQuestion):
            return {"has_duplicates": True, "duplicate_groups": [{"nodes": names, "merged_name": nodes}]}
        if isinstance(question, MergedEdgeQuestion):
            asked.append((question.source.id, question.target.id))
        return plain(question)

    (chain,) = of_line(line, script).chains
    assert ids(chain) == [f"v{place}" for place in way]
    new = [(f"v{one}", f"v{other}") for one, other in pairwise(way) if other != one + 1]
    assert asked == new
    assert [hop.property for hop in chain.hops].count("") == len(new), "no fact of the file says so"


@pytest.mark.parametrize(("confidence", "kept"), [(0.9, 1), (0.89, 0)])
def test_a_merged_edge_is_verified_as_surely_as_any(line: KnowledgeIndex, confidence: float, kept: int) -> None:
    """At 0.9 it holds; and where six hops are wanted, a chain of five that is left is lost."""

    def script(question: Any) -> Any:
        if isinstance(question, DuplicateQuestion):
            return {"has_duplicates": True, "duplicate_groups": [{"nodes": ["v3", "v4"], "merged_name": "v3"}]}
        if isinstance(question, MergedEdgeQuestion):
            return {"has_relation": True, "relation_type": "causal", "confidence": confidence}
        return plain(question)

    assert len(of_line(line, script).chains) == kept
    assert of_line(line, script, least=6, depth=6).chains == ()


def test_of_a_seeds_chains_the_most_diverse_is_kept_though_it_was_found_later(tmp_path: Path) -> None:
    """The way over a is searched first, since its first entity is the rarer one; that over b has more kinds."""
    plain_way = [("s" if not at else f"a{at}", "P361", f"a{at + 1}") for at in range(5)]
    kinds = ["P361", "P50", "P155", "P131", "P463"]
    mixed_way = [("s" if not at else f"b{at}", kind, f"b{at + 1}") for at, kind in enumerate(kinds)]
    path = tsv(tmp_path / "ways.tsv", [*plain_way, *mixed_way, ("b1", "P571", "1911", "", "", "value")])
    knowledge = open_knowledge(path, tmp_path)
    start = knowledge.entity("s")
    assert start
    search = ChainSearch(knowledge, TABLE, seed=0, asks=False)
    assert [ids(one)[1] for one in play_by_rule(search.completed_of(start))] == ["a1", "b1"]
    (chain,) = play_by_rule(ChainSearch(knowledge, TABLE, seed=0, asks=False).of_picture([start])).chains
    assert ids(chain) == ["s", "b1", "b2", "b3", "b4", "b5"]


def test_a_merged_edge_that_does_not_hold_and_a_chain_that_becomes_short_are_lost(line: KnowledgeIndex) -> None:
    """They are counted; without a model only a fact of the file holds."""

    def script(question: Any) -> Any:
        if isinstance(question, DuplicateQuestion):
            return {"has_duplicates": True, "duplicate_groups": [{"nodes": ["v3", "v4"], "merged_name": "v3"}]}
        if isinstance(question, MergedEdgeQuestion):
            return {"has_relation": False, "relation_type": "none", "confidence": 1}
        return plain(question)

    assert of_line(line, script).counts["lost_by_merging"] == 1
    short = of_line(line, lambda q: plain(q) if isinstance(q, MergedEdgeQuestion) else script(q), depth=5)
    assert short.chains == () and short.counts["lost_by_merging"] == 1


def test_names_that_differ_in_marks_alone_are_merged_by_rule(tmp_path: Path) -> None:
    """Where the file has a fact between what becomes adjacent, the chain goes on over it."""
    names = {"v3": "Norrland Works", "v4": "Norrland-Works"}
    rows = [(f"v{p}", "P361", f"v{p + 1}", names.get(f"v{p}", ""), names.get(f"v{p + 1}", "")) for p in range(7)]
    knowledge = open_knowledge(tsv(tmp_path / "a.tsv", rows), tmp_path)
    assert of_line(knowledge).counts["lost_by_merging"] == 1
    more = open_knowledge(tsv(tmp_path / "b.tsv", [*rows, ("v5", "P50", "v3", "", "Norrland Works")]), tmp_path)
    (chain,) = of_line(more).chains
    assert ids(chain) == ["v0", "v1", "v2", "v3", "v5", "v6", "v7"]
    assert (chain.hops[3].property, chain.hops[3].outwards) == ("P50", False)


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    """Another order of lines changes nothing; another seed may draw others among equals."""
    rows = [("s", "P361", f"a{each}") for each in range(40)]
    rows += [(f"{'abcdef'[p]}{e}", "P361", f"{'abcdef'[p + 1]}{e}") for e in range(40) for p in range(5)]
    told = []
    for name, order, seed in (("x", rows, 1), ("y", rows[::-1], 1), ("z", rows, 2)):
        knowledge = open_knowledge(tsv(tmp_path / f"{name}.tsv", order), tmp_path)
        start = knowledge.entity("s")
        assert start
        found = play_by_rule(ChainSearch(knowledge, TABLE, seed=seed, asks=False).of_picture([start]))
        told.append(json.dumps([chain.document() for chain in found.chains]))
    assert told[0] == told[1] != told[2]


def test_bounds_without_a_chain_are_refused() -> None:
    """Fewer hops than equation 1 wants, or a depth below them."""
    with pytest.raises(ValueError, match="5 hops or more: least 4, depth 8"):
        ChainBounds(least=4)
