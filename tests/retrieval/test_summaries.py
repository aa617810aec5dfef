"""What a model is shown of pages: the sentences nearest to its query, bounded, in any script."""

import random

import pytest

from gigavqa.retrieval.sentences import MAX_SENTENCE_CHARACTERS, nearest_sentences, split_sentences
from gigavqa.retrieval.sources import MAX_RESULT_CHARACTERS, SearchHit, write_result
from gigavqa.retrieval.terms import query_terms

FIRM = (
    "Norrland Works makes cranes. It was founded in 1911 by Dr. A. Ansel. Its yard lies at Quay 4! "
    "Who owns it? Nobody knows. Its mark is a blue heron. A fire in 1911 took the mill."
)


def page(text: str, title: str = "Norrland Works", snippet: str = "") -> SearchHit:
    """A page of this text."""
    return SearchHit("d-1", title, snippet, "https://pages.invalid/1", text)


def test_the_five_nearest_sentences_stand_in_the_order_of_the_page() -> None:
    """Those that share most different words of the query, the earlier of equals; under the title."""
    told = write_result("which firm was founded in 1911, and by whom? its mark, a heron", [page(FIRM)])
    assert told == (
        "Norrland Works\nNorrland Works makes cranes. It was founded in 1911 by Dr. A. Ansel. Its yard lies at Quay 4! "
        "Its mark is a blue heron. A fire in 1911 took the mill."
    )
    assert nearest_sentences(query_terms("1911"), FIRM, 1) == ["It was founded in 1911 by Dr. A. Ansel."]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("“Is it old?” he asked. It is.", ["“Is it old?” he asked.", "It is."]),
        ("It is 3.5 m wide. E.g. here. Then", ["It is 3.5 m wide.", "E.g. here.", "Then"]),
        ("港口建于1911年。它很大！“是吗？”他问。", ["港口建于1911年。", "它很大！", "“是吗？”", "他问。"]),
        ("यह एक बंदरगाह है। यह बड़ा है।", ["यह एक बंदरगाह है।", "यह बड़ा है।"]),
        ("هل هو قديم؟ نعم. بني عام 1911.", ["هل هو قديم؟", "نعم.", "بني عام 1911."]),
        ("Порт основан в 1911 г. Он велик.", ["Порт основан в 1911 г. Он велик."]),
        ("A heading\n\nA line\nthat goes on. End", ["A heading", "A line that goes on.", "End"]),
        ("", []),
        (" \n\n . ", ["."]),
    ],
)
def test_sentences_end_where_their_script_says(text: str, parts: list[str]) -> None:
    """With and without spaces behind a stop; a heading is a sentence, an initial ends none."""
    assert list(split_sentences(text)) == parts


@pytest.mark.parametrize(
    ("query", "text", "best"),
    [
        ("哪一年建于港口", "它很大。港口建于1911年。很远。", "港口建于1911年。"),
        ("CAFÉ ANSEL", "A mill. The cafe of Ansel. A café.", "The cafe of Ansel."),
        ("बंदरगाह कब बना", "यह बड़ा है। बंदरगाह 1911 में बना। और।", "बंदरगाह 1911 में बना।"),
        ("когда основан порт", "Он велик. Порт основан давно. Да.", "Порт основан давно."),
        ("ท่าเรือ", "มันใหญ่มาก\n\nท่าเรือสร้างในปี 1911", "ท่าเรือสร้างในปี 1911"),
    ],
)
def test_words_are_told_apart_in_every_script(query: str, text: str, best: str) -> None:
    """Case and accents do not matter; scripts without spaces are compared by pairs of characters."""
    assert nearest_sentences(query_terms(query), text, 1) == [best]


def test_a_page_without_a_text_is_summed_up_by_its_snippet() -> None:
    """As of sources that fetch no page; without a title its address stands there."""
    assert write_result("x", [page("", "", "Founded in 1911.")]) == "https://pages.invalid/1\nFounded in 1911."
    assert write_result("x", []) == ""


def test_pages_as_they_are_have_title_snippet_link_and_text() -> None:
    """Page after page, with an empty line between them."""
    told = write_result("x", [page("Text.", "One", "Snippet."), page("", "Two")], "none")
    assert told == "One\nSnippet.\nhttps://pages.invalid/1\nText.\n\nTwo\nhttps://pages.invalid/1"


def test_a_result_is_bounded_and_says_what_is_missing() -> None:
    """Twenty pages of 30,000 characters are 600,000; a model is shown 30,000 and a line."""
    told = write_result("x", [page("word " * 6_000)] * 20, "none")
    text, _, last = told.rpartition("\n")
    assert len(text) <= MAX_RESULT_CHARACTERS
    assert last.startswith("[cut off after 30000 of ")


@pytest.mark.parametrize(
    "unit",
    ["a", "word ", ". ", ".", "。", "\n", "\n \n", ' "', '."', "A. ", "港", "e\u0301", "ก็", "\u0301", "\ud800", "?)"],
)
def test_a_page_of_one_thing_is_summed_up_in_one_pass(unit: str) -> None:
    """100,000 characters of it; no sentence is longer than it may be."""
    found = nearest_sentences(query_terms("word 港口 a"), (unit * 100_000)[:100_000], 5)
    assert all(len(sentence) <= MAX_SENTENCE_CHARACTERS for sentence in found)


def test_what_a_drawn_page_is_summed_up_as_is_of_it() -> None:
    """Whatever characters it has: at most five sentences, each of the page's own words, in its order."""
    draw = random.Random(5)
    for _ in range(300):
        text = "".join(
            chr(draw.choice((32, 46, 10, draw.randrange(0x3000), draw.randrange(0x110000)))) for _ in range(400)
        )
        found, rest = nearest_sentences(query_terms(text[:50]), text, 5), " ".join(text.split())
        assert len(found) <= 5
        for sentence in found:
            before, stands, rest = rest.partition(sentence)
            assert stands, (text, before)
