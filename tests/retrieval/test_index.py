"""What a query finds: by a formula, the same on every machine, whatever a model writes."""

import json
import math
import random
import subprocess
import sys
from pathlib import Path

import pytest

from gigavqa.retrieval.errors import IndexUnusableError
from gigavqa.retrieval.index import INDEX_SUFFIX, Index, open_index
from gigavqa.retrieval.sources import MAX_HITS, write_result
from gigavqa.retrieval.terms import normalize_words, query_terms
from tests.retrieval.corpora import drawn_documents, write_corpus

QUERIES = ("when was Norrland founded", "Café 1911 港口", "crane crane quay", "город Ansel", "ledger")
ASK = """
import json, pathlib, sys
from gigavqa.retrieval.index import open_index
from gigavqa.retrieval.sources import write_result
index = open_index(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
pages = [index.search(query, 5) for query in json.loads(sys.argv[3])]
print(json.dumps([[[page.id for page in found], write_result("Norrland", found)] for found in pages]))
"""
PIECES = (
    *('"', "'", "*", "^", "(", ")", "{", "}", "[", "]", ":", "-", "+", ",", ";", "\\", "%", "\0", "\n", "\t"),
    *(" AND ", " OR ", " NOT ", " NEAR(", "NEAR/2", "title:", "{title text}:", "rowid", "--", "/*", "DROP TABLE words"),
    *(
        "\ud800",
        "\udfff",
        "\ufffe",
        "\u202e",
        "\u200d",
        "🏗️",
        "a\u0301" * 40,
        "İ",
        "ß",
        "ﬁ",
        "½",
        "Ⅷ",
        "ﷺ",
        "क्षि",
        "ไทย",
        "港",
    ),
)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A corpus of two hundred drawn documents."""
    return write_corpus(tmp_path / "corpus", drawn_documents(7, 200))


def bm25(documents: list[dict[str, str]], query: str) -> list[str]:
    """Ids by the formula (k1 1.2, b 0.75, a title's words twice), best first, of all that share a term."""
    fields = [(normalize_words(one["title"]).split(), normalize_words(one["text"]).split()) for one in documents]
    mean = sum(len(title) + len(text) for title, text in fields) / len(fields)
    scores = dict.fromkeys((one["id"] for one in documents), 0.0)
    for term in query_terms(query):
        counts = [
            [f" {' '.join(words)} ".replace(" ", "  ").count(f" {term.replace(' ', '  ')} ") for words in both]
            for both in fields
        ]
        having = sum(any(both) for both in counts)
        weight = max(1e-6, math.log((len(fields) - having + 0.5) / (having + 0.5)))
        for one, (title, text), (in_title, in_text) in zip(documents, fields, counts, strict=True):
            hits = 2 * in_title + in_text
            length = 0.25 + 0.75 * (len(title) + len(text)) / mean
            scores[one["id"]] += weight * hits * 2.2 / (hits + 1.2 * length)
    return sorted((key for key in scores if scores[key] > 0), key=lambda key: (-round(scores[key], 9), key))


@pytest.mark.parametrize("query", QUERIES)
def test_ranks_are_those_of_the_formula(corpus: Path, tmp_path: Path, query: str) -> None:
    """BM25 over words that were counted without SQLite, in every script of the corpus."""
    index = open_index(corpus, tmp_path / "indexes")
    found = [page.id for page in index.search(query, MAX_HITS)]
    assert found == bm25(drawn_documents(7, 200), query)[:MAX_HITS]
    assert len(found) == MAX_HITS


def test_equals_go_by_id(tmp_path: Path) -> None:
    """Wherever they stand in the files."""
    corpus = write_corpus(tmp_path / "corpus", ({"id": key, "text": "the same text"} for key in "dbca"))
    write_corpus(corpus, [{"id": "aa", "text": "the same text"}], "zz.jsonl")
    assert [page.id for page in open_index(corpus, tmp_path / "indexes").search("same", 4)] == ["a", "aa", "b", "c"]


def test_processes_that_start_together_find_the_same(corpus: Path, tmp_path: Path) -> None:
    """Four with other hash seeds, two of them making the same index at once; texts and order are one."""
    commands = [
        [sys.executable, "-c", ASK, str(corpus), str(tmp_path / f"indexes{at % 3}"), json.dumps(QUERIES)]
        for at in range(4)
    ]
    environments = [{"PYTHONPATH": ":".join(sys.path), "PYTHONHASHSEED": str(at)} for at in range(4)]
    running = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        for command, environment in zip(commands, environments, strict=True)
    ]
    answers = {process.communicate(timeout=120)[0] for process in running}
    assert len(answers) == 1
    assert all(ids for ids, _ in json.loads(answers.pop()))
    assert [len(list((tmp_path / f"indexes{at}").iterdir())) for at in range(3)] == [1, 1, 1]


def test_ten_thousand_mutated_queries_raise_nothing(tmp_path: Path) -> None:
    """None is read as syntax: what is found are the documents that hold one of the query's words, and no other."""
    documents = [{"id": word, "title": word, "text": f"a {word}"} for word in " ".join(QUERIES).split()[1:]]
    documents = list({one["id"]: one for one in documents}.values())
    index = open_index(write_corpus(tmp_path / "corpus", documents), tmp_path / "indexes")
    texts = {one["id"]: f" {normalize_words(one['text'])} " for one in documents}
    draw = random.Random(13)
    for number in range(10_000):
        query = _mutated(draw, draw.choice(QUERIES))
        found = {page.id for page in index.search(query, MAX_HITS)}
        asked = query_terms(query)
        assert found == {key for key, text in texts.items() if any(f" {one} " in text for one in asked)}, number
    assert index.search("x" * 1_000_000 + '"' * 1_000_000, 3) == ()
    assert len(query_terms(" ".join(map(str, range(2_000))))) == 64


def _mutated(draw: random.Random, query: str) -> str:
    for _ in range(draw.randint(1, 6)):
        at = draw.randint(0, len(query))
        kind = draw.randrange(4)
        if kind == 0:
            query = query[:at] + draw.choice(PIECES) + query[at:]
        elif kind == 1:
            query = query[:at] + chr(draw.randrange(0x110000)) + query[at:]
        elif kind == 2:
            query = query[:at] + query[at + draw.randint(1, 5) :]
        else:
            query = query[at:] + query[:at]
    return query


def test_a_corpus_that_changed_has_an_index_of_its_own(corpus: Path, tmp_path: Path) -> None:
    """It is made anew, beside the one that others may still read; nothing is made twice."""
    first = open_index(corpus, tmp_path / "indexes")
    assert open_index(corpus, tmp_path / "indexes").path == first.path
    write_corpus(corpus, [{"id": "new", "text": "a lighthouse"}], "more.jsonl")
    second = open_index(corpus, tmp_path / "indexes")
    assert (len(first), len(second)) == (200, 201)
    assert [index.search("lighthouse", 3) != () for index in (first, second)] == [False, True]


@pytest.mark.parametrize("place", [0, 100, 0.3, 0.6, 0.99])
def test_a_damaged_index_is_found_and_made_again(corpus: Path, tmp_path: Path, place: float) -> None:
    """One byte, wherever it is: its head, a page of words, the text of a document."""
    before = open_index(corpus, tmp_path / "indexes")
    answers = [before.search(query, 5) for query in QUERIES]
    path, sound = before.path, before.path.read_bytes()
    before.close()
    at = int(place * len(sound)) if 0 < place < 1 else int(place)
    path.write_bytes(sound[:at] + bytes([sound[at] ^ 0xFF]) + sound[at + 1 :])
    after = open_index(corpus, tmp_path / "indexes")
    assert [after.search(query, 5) for query in QUERIES] == answers
    assert [file.suffix for file in (tmp_path / "indexes").iterdir()] == [INDEX_SUFFIX]


def test_an_index_that_is_damaged_while_it_is_read_says_so(corpus: Path, tmp_path: Path) -> None:
    """With its file's name, and in this room's own words."""
    path = open_index(corpus, tmp_path / "indexes").path
    path.write_bytes(path.read_bytes()[:8192] + b"\xff" * (path.stat().st_size - 8192))
    with pytest.raises(IndexUnusableError, match=path.name):
        Index(path, "").search("crane", 3)


def test_an_index_is_read_where_nothing_can_be_written(corpus: Path, tmp_path: Path) -> None:
    """Such as one that came with an image; SQLite leaves no file beside it."""
    made = open_index(corpus, tmp_path / "indexes").path
    made.chmod(0o400)
    made.parent.chmod(0o500)
    try:
        assert open_index(corpus, tmp_path / "indexes").search("crane", 1)
        assert list(made.parent.iterdir()) == [made]
    finally:
        made.parent.chmod(0o700)


def test_a_result_is_a_function_of_query_and_pages(corpus: Path, tmp_path: Path) -> None:
    """Asked twice, in another order of queries, through another index."""
    one, other = (open_index(corpus, tmp_path / name) for name in ("one", "other"))
    written = {query: write_result(query, one.search(query, 3)) for query in QUERIES}
    assert {query: write_result(query, other.search(query, 3)) for query in reversed(QUERIES)} == written
