"""VistaHop's chains asked of a gateway: a run that its budget stops is taken up, and asks nothing twice."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gigavqa.construction.calls.budgets import CallBudget
from gigavqa.construction.calls.call_desk import CallDesk
from gigavqa.construction.vistahop.chain_search import ChainSearch, PictureChains
from gigavqa.construction.vistahop.dialogues import OpenDialogue, play_dialogues
from gigavqa.construction.vistahop.knowledge.knowledge_index import open_knowledge
from gigavqa.construction.vistahop.knowledge.relations import property_table
from tests.construction.calls.conftest import Service
from tests.construction.vistahop.triples import tsv
from tests.workers.examples import ENTRY

HOPS, PICTURES, AT_FIRST = 5, 2, 11


def reply(body: dict[str, Any], before: int) -> str:
    """All is good, in the form that the request's schema asks for; the first scores have none."""
    schema = body["response_format"]["json_schema"]["schema"]
    said = schema.get("items", schema)["properties"]
    if "entity_type" in said:
        return json.dumps([{"entity": each, "entity_type": "ORG", "confidence": 1} for each in said["entity"]["enum"]])
    if "indices" in said:
        return json.dumps({"indices": [1]})
    if "index" in said:
        return json.dumps([{"index": 1, "relation_type": "causal", "confidence": 0.95}])
    if "familiarity_scores" in said:
        (name,) = said["familiarity_scores"]["items"]["properties"]["entity"]["enum"]
        score = 7 if name.endswith("1") and before == 0 else 0.1
        return json.dumps({"familiarity_scores": [{"entity": name, "score": score}]})
    return json.dumps({"has_duplicates": False})


def test_a_search_that_a_budget_stops_goes_on_where_it_was_and_asks_nothing_twice(
    service: Service, open_desk: Callable[..., CallDesk], tmp_path: Path
) -> None:
    """Two pictures side by side; a score out of bounds is asked for again. Both ways end at the same bytes."""
    rows = [(f"p{n}v{at}", "P361", f"p{n}v{at + 1}") for n in range(PICTURES) for at in range(HOPS)]
    knowledge = open_knowledge(tsv(tmp_path / "facts.tsv", rows), tmp_path)
    asked: Counter[str] = Counter()

    def answer(_: str, __: int) -> str:
        messages = service.server.body["messages"]
        asked[json.dumps(messages)] += 1
        return reply(service.server.body, sum(one["role"] == "assistant" for one in messages))

    def searched(desk: CallDesk) -> dict[str, PictureChains | OpenDialogue]:
        seeds = {f"picture {n}": knowledge.entity(f"p{n}v0") for n in range(PICTURES)}
        work = [
            (name, ChainSearch(knowledge, property_table(), seed=0).of_picture([seed]))
            for name, seed in seeds.items()
            if seed
        ]
        return dict(play_dialogues(desk, work, lambda _: ENTRY.id))

    service.server.begin(answer)
    stopped = searched(open_desk(budget=CallBudget(calls=AT_FIRST)))
    assert all(isinstance(one, OpenDialogue) for one in stopped.values()) and asked.total() == AT_FIRST
    found = searched(open_desk())
    chains = [one.chains[0] for one in found.values() if isinstance(one, PictureChains)]
    assert [len(chain.hops) for chain in chains] == [HOPS] * PICTURES
    assert {hop.familiarity for chain in chains for hop in chain.hops} == {0.1}
    assert set(asked.values()) == {1}
    # Of each picture: types, choice, relations and familiarity at each hop, one complaint, and the duplicates.
    assert asked.total() == PICTURES * (4 * HOPS + 2)
    assert searched(open_desk()) == found and asked.total() == PICTURES * (4 * HOPS + 2)
