"""Equations 1 to 3 by hand: what a chain is, its diversity, and the set of verified chains."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

from gigavqa.construction.vistahop.chains import (
    ChainHop,
    EvidenceChain,
    RelationVerdict,
    chain_faults,
    diversity,
    ranked_chains,
    ranked_hops,
    verified_chains,
)
from gigavqa.construction.vistahop.knowledge.relations import RelationKind
from tests.construction.vistahop.scripted import entity


def hop(
    key: str, relation: RelationKind | None = "causal", confidence: float = 1.0, familiarity: float | None = None,
    frequency: int = 1,
) -> ChainHop:  # fmt: skip
    """A hop to an entity."""
    return ChainHop(entity(key, frequency=frequency), "P50", True, RelationVerdict(relation, confidence), familiarity)


def chain(keys: str, relations: Sequence[Any] | None = None) -> EvidenceChain:
    """A chain along one-letter entities."""
    kinds: Sequence[Any] = relations or ["causal"] * (len(keys) - 1)
    return EvidenceChain(entity(keys[0]), tuple(hop(key, kind) for key, kind in zip(keys[1:], kinds, strict=True)))


def test_equation_1_wants_five_hops_each_with_a_relation_and_no_entity_twice() -> None:
    """A chain of six entities has five hops."""
    assert chain_faults(chain("abcdef")) == []
    assert chain_faults(chain("abcde")) == ["it has 4 hops; at least 5"]
    assert chain_faults(chain("abcdea")) == ["'a' stands in it twice"]
    assert chain_faults(chain("abcdef", ["causal"] * 4 + [None])) == ["the hop to 'f' has no relation"]


@pytest.mark.parametrize(
    ("keys", "relations", "score"),
    [
        # 6 entities and 3 kinds over 5 hops: 0.6 x min(1, 6/5) + 0.4 x 3/5
        ("abcdef", ["causal", "spatial", "causal", "temporal", "causal"], Fraction(84, 100)),
        # 1 kind over 5 hops: 0.6 + 0.4 / 5
        ("abcdef", ["causal"] * 5, Fraction(68, 100)),
        # 5 kinds
        ("abcdef", ["causal", "spatial", "part_whole", "temporal", "comparative"], Fraction(1)),
        # 3 entities, repeated, over 6 hops: 0.6 x 3/6 + 0.4 x 2/6
        ("abcabca", ["causal", "spatial"] * 3, Fraction(3, 10) + Fraction(4, 30)),
    ],
)
def test_equation_2_by_hand(keys: str, relations: list[RelationKind | None], score: Fraction) -> None:
    """Alpha is 0.6, beta 0.4, and a share is never more than one."""
    assert diversity(chain(keys, relations)) == score


def test_equation_2_orders_chains_and_equals_stay_as_they_were_found() -> None:
    """A chain without a hop has no score."""
    plain, other, mixed = chain("abcdef"), chain("aghijk"), chain("almnop", ["causal", "spatial"] * 2 + ["causal"])
    assert ranked_chains([plain, other, mixed]) == [mixed, plain, other]
    with pytest.raises(ValueError, match="without a hop"):
        diversity(chain("a"))


def test_equation_3_is_a_set_of_chains_without_faults() -> None:
    """The same entities in the same order count once, whatever their relations."""
    good, same, short = chain("abcdef"), chain("abcdef", ["spatial"] * 5), chain("abc")
    assert verified_chains([good, short, same, chain("abcdeg")]) == (good, chain("abcdeg"))


def test_hops_are_ranked_by_familiarity_then_confidence_then_frequency_then_id() -> None:
    """The obscure, the sure and the rare come first."""
    in_order = [
        hop("d", familiarity=0.0, confidence=0.9, frequency=9),
        hop("c", familiarity=0.1, confidence=0.95, frequency=9),
        hop("e", familiarity=0.1, confidence=0.9, frequency=1),
        hop("a", familiarity=0.1, confidence=0.9, frequency=2),
        hop("b", familiarity=0.1, confidence=0.9, frequency=2),
    ]
    assert ranked_hops(list(reversed(in_order))) == in_order


def test_a_chain_is_written_with_all_that_it_rests_on() -> None:
    """Seed, hops with relation, confidence and familiarity, hop count and score."""
    told = chain("abcdef").document()
    assert (told["seed"]["entity"], told["hop_count"], told["diversity"]) == ("a", 5, 0.68)
    assert told["hops"][4] == {
        "entity": "f", "name": "f", "frequency": 1, "property": "P50", "outwards": True, "relation": "causal",
        "confidence": 1.0, "evidence": "", "familiarity": None,
    }  # fmt: skip
