"""The interface of a search: a source of pages, and the text that is made of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from gigavqa.retrieval.sentences import nearest_sentences
from gigavqa.retrieval.terms import query_terms

MAX_HITS = 20
"""Pages of one search, however many are asked for."""

MAX_RESULT_CHARACTERS = 30_000
"""Characters of a search's result; what is behind them is cut off, and the result says so."""

_MOST_SNIPPET = 200
_MOST_SENTENCES = 5


@dataclass(frozen=True)
class SearchHit:
    """One page that was found.

    `id` names it in records: a document's id, or the address. `text` is the whole page, or nothing where the source
    gives snippets alone.
    """

    id: str
    title: str
    snippet: str
    link: str
    text: str


SummarizerName = Literal["none", "extractive/1"]


class SearchSource(Protocol):
    """Somewhere to look. Any number of searches may go on at once."""

    @property
    def version(self) -> str:
        """The version of the source's answers: a corpus' digest, or what the operator calls it."""
        ...

    @property
    def summarizer(self) -> str:
        """The name, without white space, of the way its pages become the text that a model is shown."""
        ...

    async def search(self, query: str, top_k: int) -> tuple[SearchHit, ...]:
        """Return the best pages, best first, `MAX_HITS` at most; none where nothing fits. Raises RetrievalError.

        `query` may hold anything that a model writes, of any length.
        """
        ...

    async def write(self, query: str, pages: Sequence[SearchHit]) -> str:
        """The text that a model is shown of pages that were found, as `truncate_result` has it. Raises RetrievalError.

        Without pages it is empty, and may be so with them, where nothing could be made of them.
        """
        ...


def write_result(query: str, pages: Sequence[SearchHit], summarizer: SummarizerName = "extractive/1") -> str:
    """Return the text that a model is shown of pages, at most `MAX_RESULT_CHARACTERS` characters and a line that says
    what is missing.

    It goes into a template of the caller's as it is. Without pages it is empty.
    """
    return truncate_result(SUMMARIZERS[summarizer](query, pages))


def truncate_result(text: str) -> str:
    """Return a text of at most `MAX_RESULT_CHARACTERS` characters, and a line that says what is missing."""
    if len(text) <= MAX_RESULT_CHARACTERS:
        return text
    return f"{text[:MAX_RESULT_CHARACTERS].rstrip()}\n[cut off after {MAX_RESULT_CHARACTERS} of {len(text)} characters]"


def make_snippet(asked: tuple[str, ...], text: str) -> str:
    """Return the beginning of the sentence that is nearest to a query's terms, 200 characters at most."""
    return "".join(nearest_sentences(asked, text, 1))[:_MOST_SNIPPET]


def _list_hits(_query: str, pages: Sequence[SearchHit]) -> str:
    return _join_blocks([page.title, page.snippet, page.link, page.text] for page in pages)


def _summarize_extractively(query: str, pages: Sequence[SearchHit]) -> str:
    """Of each page the five sentences nearest to the query, in the page's order, under its title."""
    asked = query_terms(query)
    return _join_blocks(
        [page.title or page.link, " ".join(nearest_sentences(asked, page.text or page.snippet, _MOST_SENTENCES))]
        for page in pages
    )


def _join_blocks(blocks: Iterable[Sequence[str]]) -> str:
    return "\n\n".join("\n".join(filter(None, lines)) for lines in blocks)


SUMMARIZERS: Mapping[SummarizerName, Callable[[str, Sequence[SearchHit]], str]] = {
    "none": _list_hits,
    "extractive/1": _summarize_extractively,
}
