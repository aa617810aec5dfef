"""Offline knowledge: what is read of files of triples, what is left out and counted, and the order of neighbours."""

import gzip
import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from gigavqa.construction.vistahop.knowledge.errors import KnowledgeError
from gigavqa.construction.vistahop.knowledge.knowledge_index import KnowledgeIndex, KnownEntity, open_knowledge
from gigavqa.construction.vistahop.knowledge.neighbours import MOST_NEIGHBOURS, neighbours_of
from gigavqa.construction.vistahop.knowledge.pages import page_of
from gigavqa.construction.vistahop.knowledge.relations import RELATION_KINDS, property_table
from gigavqa.retrieval.index import open_index
from tests.construction.vistahop.triples import HEAD, dump, entity, item, statement, time, tsv

TABLE = property_table()


def names(knowledge: KnowledgeIndex, key: str, seed: int = 0) -> list[str]:
    """What an entity's neighbours are called, in their order."""
    return [each.entity.name for each in neighbours_of(knowledge, key, TABLE, seed=seed)]


def test_a_dump_is_read_by_the_best_rank_with_names_aliases_pages_and_values(tmp_path: Path) -> None:
    """Deprecated statements, and normal ones beside a preferred one, are no facts; dates are as precise as they are."""
    path = dump(
        tmp_path / "subset.json",
        [
            item(
                "Q1",
                "Ansel Hoist",
                {
                    "P112": ["Q2", statement(entity("Q3"), "deprecated")],
                    "P159": [statement(entity("Q4"), "preferred"), "Q5"],
                    "P571": [statement(time("+1911-00-00T00:00:00Z", 9))],
                    "P1128": [statement({"type": "quantity", "value": {"amount": "+120", "unit": "1"}})],
                    "P856": [statement({"type": "string", "value": "http://x"}, datatype="url")],
                },
                aliases={"en": [{"language": "en", "value": "Hoists of Ansel"}]},
                sitelinks={"enwiki": {"title": "Ansel Hoist (company)"}},
            ),
            *(item(f"Q{each}", f"thing {each}", {}) for each in range(2, 6)),
        ],
    )
    knowledge = open_knowledge(path, tmp_path)
    assert names(knowledge, "Q1") == ["thing 2", "thing 4"]
    assert knowledge.values("Q1") == [("P1128", "120"), ("P571", "1911")]
    (found,) = knowledge.find("  hoists OF ansel ")
    assert found == KnownEntity("Q1", "Ansel Hoist", "", "Ansel Hoist (company)", 4)
    assert neighbours_of(knowledge, "Q4", TABLE, seed=0)[0].outwards is False
    assert knowledge.summary["left_out"] == {}


def test_what_is_left_out_is_counted_by_reason_and_told_by_line(tmp_path: Path) -> None:
    """Bad lines lose nothing that is good."""
    good = item("Q1", "one", {"P361": ["Q2"]})
    bad_claims = {
        "P571": [statement(time("-0044-03-15T00:00:00Z", 11)), statement(time("+1900-00-00T00:00:00Z", 7))],
        "P2048": [statement({"type": "quantity", "value": {"amount": "+3", "unit": "http://x/Q11573"}})],
        "P17": [{"mainsnak": {"snaktype": "somevalue"}, "rank": "normal"}, {"rank": "normal"}],
    }
    path = dump(
        tmp_path / "subset.json",
        [
            good,
            item("Q2", "two", bad_claims),
            '{"broken',
            '"text"',
            item("X9", "nine", {}),
            {**good, "type": "property"},
        ],
    )
    knowledge = open_knowledge(path, tmp_path)
    assert knowledge.summary["facts"] == 1
    assert knowledge.summary["left_out"] == {
        "id": 1, "json": 2, "no-item": 1, "no-value": 1, "statement": 1, "time": 2, "unit": 1,
    }  # fmt: skip
    assert "line 4: is no JSON object" in " ".join(knowledge.summary["sentences"])
    assert "line 6: id: 'X9' is none of an item, such as Q42" in knowledge.summary["sentences"]


@pytest.mark.parametrize("suffix", ["tsv", "csv", "jsonl", "tsv.gz"])
def test_a_plain_table_tells_the_same_in_each_form(tmp_path: Path, suffix: str) -> None:
    """Properties by id, label or kind; repeated facts, those of oneself and unknown properties are counted."""
    rows = [
        ("a", "P361", "b", "Crane, old", "Port"),
        ("a", "part of", "b", "Crane, old", "Port"),
        ("b", "spatial", "c", "Port", "Town"),
        ("b", "P17", "b", "Port", "Port"),
        ("b", "likes", "c", "Port", "Town"),
        ("b", "P571", "1911", "Port", "", "value"),
    ]
    path = tmp_path / f"facts.{suffix}"
    if suffix == "jsonl":
        columns = HEAD.split()
        path.write_text("".join(json.dumps(dict(zip(columns, row, strict=False))) + "\n" for row in rows))
    elif suffix == "csv":
        quoted = "".join(",".join(f'"{cell}"' for cell in [*row, *[""] * (6 - len(row))]) + "\n" for row in rows)
        path.write_text(HEAD.replace("\t", ",") + quoted)
    else:
        content = tsv(tmp_path / "plain", rows).read_bytes()
        path.write_bytes(gzip.compress(content) if suffix.endswith("gz") else content)
    knowledge = open_knowledge(path, tmp_path)
    assert names(knowledge, "a") == ["Port"] and names(knowledge, "b") == ["Town", "Crane, old"]
    assert knowledge.values("b") == [("P571", "1911")]
    told = knowledge.summary
    assert (told["facts"], told["repeated"], told["of_themselves"]) == (3, 1, 1)
    assert (told["unknown_properties"], told["unknown_facts"]) == ({"likes": 1}, 1)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.tsv", "", "a.tsv is empty; its first line names columns: subject, property, object"),
        ("a.tsv", "subject\tobject\nx\ty\n", "a.tsv:1 has no column 'property'"),
        ("a.csv", "subject,property,object,object\n", "a.csv:1 has two columns 'object'"),
        (
            "a.tsv",
            HEAD + "x\tknows\ty\t\t\t\n",
            "a.tsv tells no fact that can be used: it holds none of a known property",
        ),
        ("a.xml", "<x/>", "a.xml is no file of triples: they end in .json or .jsonl"),
        ("a.tsv.gz", "not packed", "a.tsv.gz cannot be read: Not a gzipped file"),
    ],
)
def test_a_file_of_none_is_refused_with_a_sentence(tmp_path: Path, name: str, content: str, told: str) -> None:
    """That names the file and what helps; nothing of an index stays."""
    (tmp_path / name).write_text(content)
    with pytest.raises(KnowledgeError, match=told.replace("(", r"\(")):
        open_knowledge(tmp_path / name, tmp_path / "indexes")
    assert list((tmp_path / "indexes").iterdir()) == []


def test_neighbours_take_turns_by_property_and_the_rarest_come_first(tmp_path: Path) -> None:
    """A hub's thousand facts of one property fill no list; each entity stands once; the same seed gives the same."""
    hub = [(f"t{each}", "P17", "hub") for each in range(1000)]
    rare = [("hub", "P36", "capital"), ("hub", "P30", "continent"), ("p1", "P27", "hub"), ("p2", "P27", "hub")]
    known = [("x", "P47", "p1"), ("capital", "P17", "hub")]
    knowledge = open_knowledge(tsv(tmp_path / "f.tsv", [*hub, *rare, *known]), tmp_path)
    found = names(knowledge, "hub")
    assert found[:2] == ["continent", "capital"], "facts of the hub before facts about it, in the table's order"
    assert found[2].startswith("t") and found[3] == "p2", "then by turns; p1 is more frequent than p2"
    assert len(found) == len(set(found)) == MOST_NEIGHBOURS
    assert names(knowledge, "hub") == found != names(knowledge, "hub", seed=1)
    without = neighbours_of(knowledge, "hub", TABLE, seed=0, without={"continent", "capital"})
    assert {"continent", "capital"}.isdisjoint(each.entity.name for each in without)


def test_the_order_of_lines_changes_no_neighbour(tmp_path: Path) -> None:
    """Two hundred random graphs' worth of edges, cycles among them, shuffled."""
    dice = random.Random(5)
    properties = ["P361", "P17", "P50", "P155"]
    rows = [(f"n{dice.randrange(60)}", dice.choice(properties), f"n{dice.randrange(60)}") for _ in range(600)]
    one = open_knowledge(tsv(tmp_path / "one.tsv", rows), tmp_path)
    two = open_knowledge(tsv(tmp_path / "two.tsv", dice.sample(rows, len(rows))), tmp_path)
    for key in (f"n{each}" for each in range(60)):
        assert neighbours_of(one, key, TABLE, seed=3) == neighbours_of(two, key, TABLE, seed=3)
    degrees = Counter(end for row in {row for row in rows if row[0] != row[2]} for end in (row[0], row[2]))
    assert {key: one.entity(key).frequency for key in degrees} == degrees  # type: ignore[union-attr]


def test_the_table_has_each_property_once_and_all_eight_kinds(tmp_path: Path) -> None:
    """A file of one's own adds to it, and is refused where it is none."""
    assert {kind for _, kind in TABLE.order()} == set(RELATION_KINDS)
    own = tmp_path / "own.toml"
    own.write_text('[causal]\nP9999 = "repaired by"\n')
    assert TABLE.changed(own).kind("repaired BY") == "causal" and TABLE.kind("repaired by") is None
    own.write_text('[friendly]\nP1 = "x"\n')
    with pytest.raises(KnowledgeError, match=r"\[friendly\] is no kind of relation: part_whole"):
        TABLE.changed(own)


def test_an_entity_has_the_page_that_is_titled_as_it_is_called(tmp_path: Path) -> None:
    """Cut to what the prompt shows; a page that only mentions it is none."""
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    pages = [
        {"id": "d1", "title": "ansel hoist", "text": "Ansel Hoist is a firm. " * 100},
        {"id": "d2", "title": "Harbours", "text": "Norrland Works, Norrland Works, Norrland Works."},
    ]
    (corpus / "pages.jsonl").write_text("".join(json.dumps(page) + "\n" for page in pages))
    index = open_index(corpus, tmp_path / "indexes")
    found = page_of(KnownEntity("Q1", "Ansel Hoist", "", "", 1), index)
    assert found is not None and (found[0], len(found[1])) == ("d1", 1500)
    assert page_of(KnownEntity("Q2", "Norrland Works", "", "", 1), index) is None


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_million_lines_are_indexed_within_a_bounded_memory(tmp_path: Path) -> None:
    """In a process of its own; a hub of a hundred thousand facts is asked as fast as any."""
    path = tmp_path / "million.tsv"
    with path.open("w") as file:
        file.write("subject\tproperty\tobject\n")
        for number in range(1_000_000):
            other = "hub" if number % 10 == 0 else f"e{(number * 7919 + number // 399_989) % 399_989}"
            file.write(f"e{number % 399_989}\tP{(17, 361, 50, 155)[number % 4]}\t{other}\n")
    told = subprocess.run(
        [sys.executable, "-c", MEASURED, str(path), str(tmp_path)], check=True, capture_output=True, text=True
    ).stdout.split()
    assert int(told[0]) > 900_000
    assert int(told[1]) < 400, f"{told[1]} MiB"
    assert float(told[2]) < 0.5


MEASURED = """
import sys, time
from pathlib import Path
from gigavqa.construction.vistahop.knowledge.knowledge_index import open_knowledge
from gigavqa.construction.vistahop.knowledge.neighbours import neighbours_of
from gigavqa.construction.vistahop.knowledge.relations import property_table
from tests.peak_memory import peak_bytes
began = time.monotonic()
knowledge = open_knowledge(Path(sys.argv[1]), Path(sys.argv[2]))
made = time.monotonic() - began
began = time.process_time()
assert len(neighbours_of(knowledge, "hub", property_table(), seed=0)) == 30
asked = time.process_time() - began
peak = peak_bytes() >> 20
print(knowledge.summary["facts"], peak, f"{asked:.4f}", f"{made:.1f}", knowledge.path.stat().st_size)
"""
