"""Stage 2: what a page tells of an entity, facts of the file where it tells none, and who begins no chain."""

from typing import Any

import pytest

from gigavqa.construction.vistahop.dialogues import play_by_rule
from gigavqa.construction.vistahop.knowledge.knowledge_index import KnowledgeIndex, KnownEntity, open_knowledge
from gigavqa.construction.vistahop.knowledge.relations import property_table
from gigavqa.construction.vistahop.seed_nodes import SeedNode, seed_node
from tests.construction.vistahop.scripted import play
from tests.construction.vistahop.triples import tsv

TABLE = property_table()
PAGE = "Norrland Works builds cranes. " * 100


@pytest.fixture(scope="module")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeIndex:
    """A firm with two facts, and a group about which there is one alone."""
    folder = tmp_path_factory.mktemp("nodes")
    rows = [("n", "P463", "g", "Norrland Works", "Group"), ("n", "P571", "1911", "Norrland Works", "", "value")]
    return open_knowledge(tsv(folder / "facts.tsv", rows), folder)


def known(knowledge: KnowledgeIndex, key: str) -> KnownEntity:
    """An entity that is there."""
    found = knowledge.entity(key)
    assert found
    return found


def found(knowledge: KnowledgeIndex, key: str, properties: Any, content: str = PAGE) -> SeedNode | None:
    """The node of an entity whose page is read so."""
    reply = {"description": "A firm.", "entity_type": "object", "properties": properties, "related_entities": [" a "]}
    dialogue = seed_node(known(knowledge, key), content, knowledge, TABLE)
    return play(dialogue, lambda _: None if properties is None else reply)  # type: ignore[no-any-return]


def test_a_page_tells_properties_of_which_plain_ones_count(knowledge: KnowledgeIndex) -> None:
    """Texts, numbers and lists of them; 1,500 characters of the page are shown."""
    properties = {"founded": 1911, "makes": ["cranes", "hoists"], "x": "", "y": {"z": 1}, "": "a", "t": True}
    told = found(knowledge, "n", properties)
    assert told and told.source == "page" and told.details.related == ("a",)
    assert told.details.properties == (("founded", "1911"), ("makes", "cranes, hoists"))
    asked = next(seed_node(known(knowledge, "n"), PAGE, knowledge, TABLE))[0].call("m").text
    assert PAGE[:1500] in asked and PAGE[:1501] not in asked


@pytest.mark.parametrize(("properties", "content"), [({}, PAGE), (None, PAGE), ({"a": "b"}, " ")])
def test_facts_stand_in_where_a_page_tells_nothing_and_who_has_neither_is_no_seed(
    knowledge: KnowledgeIndex, properties: Any, content: str
) -> None:
    """An empty reply, an unread one, and no page at all."""
    told = found(knowledge, "n", properties, content)
    assert told and told.source == "facts"
    assert told.details.properties == (("inception", "1911"), ("member of", "Group"))
    assert found(knowledge, "g", properties, content) is None


def test_without_a_model_the_file_alone_tells(knowledge: KnowledgeIndex) -> None:
    """A page is not read by rule."""
    told = play_by_rule(seed_node(known(knowledge, "n"), PAGE, knowledge, TABLE))
    assert told and told.source == "facts"
