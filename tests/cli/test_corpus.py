"""An operator looks at what a query finds, before any model asks."""

import pytest

from tests.cli.installation import Installation
from tests.retrieval.corpora import write_corpus

PAGES = (
    {"id": "d-1", "title": "Norrland Works", "text": "It makes cranes. It was founded in 1911 [by] :100: Ansel."},
    {"id": "d-2", "title": "Quay 4", "text": "A quay of the port. Norrland lies behind it."},
)


@pytest.mark.slow
def test_a_corpus_is_made_searchable_and_searched(installation: Installation) -> None:
    """By its name below the data root or as a folder; once made, the index is the same."""
    folder = write_corpus(installation.home / "data/tiny/corpus", PAGES)
    built = installation.json("corpus", "build", "tiny/corpus", "--json")
    assert (built["documents"], installation.json("corpus", "build", str(folder), "--json")) == (2, built)
    assert (installation.home / "indexes").samefile(built["index"].rpartition("/")[0])
    told = installation.ok("corpus", "search", "tiny/corpus", "who founded Norrland Works?", "-k", "1")
    assert told.splitlines()[1].split()[:3] == ["d-1", "Norrland", "Works"]
    assert told.endswith("\n\nNorrland Works\nIt makes cranes. It was founded in 1911 [by] :100: Ansel.\n")
    found = installation.json("corpus", "search", "tiny/corpus", 'norrland "OR(', "--summarizer", "none", "--json")
    assert [page["id"] for page in found["pages"]] == ["d-1", "d-2"]
    assert found["result"].endswith("Quay 4\nNorrland lies behind it.\nA quay of the port. Norrland lies behind it.")
    assert installation.ok("corpus", "search", "tiny/corpus", "zeppelin") == "no page has any of these words\n"


def test_a_corpus_with_bad_lines_is_named_line_by_line(installation: Installation) -> None:
    """The status is 2, and so where there is no corpus."""
    write_corpus(installation.home / "data/tiny/corpus", [*PAGES, {"id": "d-1", "text": "again"}, {"id": "d-3"}])
    run = installation.run("corpus", "build", "tiny/corpus")
    assert run.returncode == 2
    assert "pages.jsonl:3: d-1: the id is already used at pages.jsonl:1\npages.jsonl:4: text: is missing" in run.stderr
    missing = installation.run("corpus", "search", "nowhere", "x")
    assert (missing.returncode, "nowhere is no corpus: it needs files that end in .jsonl" in missing.stderr) == (
        2,
        True,
    )
