"""A corpus is read whole, or every line that is wrong is named."""

import shutil
from pathlib import Path

import pytest

from gigavqa.retrieval.corpora import Corpora
from gigavqa.retrieval.documents import MAX_TEXT_CHARACTERS, corpus_digest
from gigavqa.retrieval.errors import CorpusInvalidError, CorpusNotFoundError, IndexUnusableError
from gigavqa.retrieval.index import open_index
from tests.retrieval.corpora import drawn_documents, write_corpus

BAD = {
    '{"title": "no id", "text": "x"}': "pages.jsonl:2: id: is missing",
    '{"id": "d-2"}': "pages.jsonl:3: text: is missing",
    '{"id": "", "text": "x"}': "pages.jsonl:4: id: is empty",
    '{"id": 5, "text": "x"}': "pages.jsonl:5: id: must be a text",
    '["d-5", "x"]': "pages.jsonl:6: must be an object",
    '{"id": "d-6", "text": "x"': "pages.jsonl:7: Invalid JSON",
    '{"id": "d-0", "text": "again"}': "pages.jsonl:8: d-0: the id is already used at pages.jsonl:1",
    '{"id": "d-8", "text": "\\ud800"}': "pages.jsonl:9: Invalid JSON",
    '{"id": "d-9", "text": "'
    + "x" * (MAX_TEXT_CHARACTERS + 1)
    + '"}': "pages.jsonl:10: text: String should have at most",
}


def test_every_bad_line_is_named_and_nothing_is_half_accepted(tmp_path: Path) -> None:
    """By file, line and field, all at once; no index is made of the lines that were good."""
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    lines = ['{"id": "d-0", "text": "good"}', *BAD, "", '{"id": "d-10", "text": "good"}']
    (corpus / "pages.jsonl").write_text("\n".join(lines))
    with pytest.raises(CorpusInvalidError) as raised:
        open_index(corpus, tmp_path / "indexes")
    told = [str(line) for line in raised.value.lines]
    assert len(told) == len(BAD)
    assert all(one.startswith(begin) for one, begin in zip(told, BAD.values(), strict=True)), told
    assert list((tmp_path / "indexes").iterdir()) == []


def test_bytes_that_are_no_text_are_a_bad_line(tmp_path: Path) -> None:
    """Whatever is in a file, reading it goes on behind the line."""
    corpus = write_corpus(tmp_path / "corpus", [{"id": "a", "text": "good"}])
    (corpus / "worse.jsonl").write_bytes(b'{"id": "b", "text": "\xff"}\n\x00\x01\n')
    with pytest.raises(CorpusInvalidError) as raised:
        open_index(corpus, tmp_path / "indexes")
    assert [(line.file, line.line) for line in raised.value.lines] == [("worse.jsonl", 1), ("worse.jsonl", 2)]


@pytest.mark.parametrize("content", [None, "", "\n\n"])
def test_a_corpus_without_documents_is_none(tmp_path: Path, content: str | None) -> None:
    """No file, an empty one, one of empty lines."""
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    if content is not None:
        (corpus / "pages.jsonl").write_text(content)
    with pytest.raises(CorpusNotFoundError, match=r"\.jsonl|holds no document"):
        open_index(corpus, tmp_path / "indexes")


def test_a_copy_has_the_same_digest_and_an_edit_another(tmp_path: Path) -> None:
    """Times and places are not content; a byte is, wherever it stands."""
    corpus = write_corpus(tmp_path / "corpus", drawn_documents(1, 20))
    copy = Path(shutil.copytree(corpus, tmp_path / "copy", copy_function=shutil.copyfile))
    assert corpus_digest(copy) == corpus_digest(corpus)
    page = copy / "pages.jsonl"
    page.write_text(page.read_text().replace("1911", "1912", 1))
    assert corpus_digest(copy) != corpus_digest(corpus)


@pytest.mark.parametrize("name", ["", "/etc", "../outside", "demo/../../outside", "way", "nowhere", "x" * 5000, "a\0b"])
def test_no_name_leads_out_of_the_data_root(tmp_path: Path, name: str) -> None:
    """A job names corpora as it names pictures: relative, through no link to elsewhere."""
    write_corpus(tmp_path / "outside", drawn_documents(1, 3))
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "way").symlink_to(tmp_path / "outside")
    with pytest.raises(CorpusNotFoundError):
        Corpora(tmp_path / "data", tmp_path / "indexes").open(name)


async def test_a_corpus_that_changed_is_another_source(tmp_path: Path) -> None:
    """Who holds the earlier one still has its answers; the files are read again only when they look different."""
    corpus = write_corpus(tmp_path / "data/demo/corpus", [{"id": "a", "text": "founded in 1911"}])
    corpora = Corpora(tmp_path / "data", tmp_path / "indexes")
    earlier = corpora.open("demo/corpus")
    assert corpora.open("demo/corpus") is earlier
    write_corpus(corpus, [{"id": "b", "text": "founded in the year 1912"}])
    later = corpora.open("demo/corpus")
    assert later.version == corpus_digest(corpus) != earlier.version
    found = [[page.id for page in await source.search("founded", 3)] for source in (earlier, later)]
    assert found == [["a"], ["b"]]


async def test_a_source_whose_index_was_damaged_is_opened_anew(tmp_path: Path) -> None:
    """It says so when it is searched; forgotten and opened again, it has an index that is sound."""
    write_corpus(tmp_path / "data/corpus", drawn_documents(1, 200))
    corpora = Corpora(tmp_path / "data", tmp_path / "indexes")
    (answer,) = await corpora.open("corpus").search("crane", 1)
    corpora.forget("corpus")
    damaged = corpora.open("corpus")
    (path,) = (tmp_path / "indexes").iterdir()
    path.write_bytes(path.read_bytes()[:8192] + b"\xff" * (path.stat().st_size - 8192))
    with pytest.raises(IndexUnusableError):
        await damaged.search("crane", 1)
    corpora.forget("corpus")
    assert await corpora.open("corpus").search("crane", 1) == (answer,)


def test_a_folder_that_takes_no_index_is_named(tmp_path: Path) -> None:
    """One sentence says where no index could be made."""
    corpus = write_corpus(tmp_path / "corpus", drawn_documents(1, 3))
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(IndexUnusableError, match=r"no index can be made in .*file"):
        open_index(corpus, tmp_path / "file")
