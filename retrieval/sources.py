"""What a search is: a source that is asked for pages, and the text that is made of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from retrieval.sentences import nearest
from retrieval.words import terms

MOST_PAGES = 20
"""Pages of one search, however many are asked for."""

MOST_RESULT = 30_000
"""Characters of a search's result; what is behind them is cut off, and the result says so."""

_MOST_SNIPPET = 200
_MOST_SENTENCES = 5


@dataclass(frozen=True)
class Page:
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


class Source(Protocol):
    """Somewhere to look. Any number of searches may go on at once."""

    @property
    def version(self) -> str:
        """What the answers depend on: a corpus' digest, or what the operator calls it."""
        ...

    @property
    def summarizer(self) -> str:
        """How its pages become the text that a model is shown: a name without white space."""
        ...

    async def search(self, query: str, top_k: int) -> tuple[Page, ...]:
        """The best pages, best first, `MOST_PAGES` at most; none where nothing fits. Raises RetrievalError.

        `query` may hold anything that a model writes, of any length.
        """
        ...

    async def write(self, query: str, pages: Sequence[Page]) -> str:
        """The text that a model is shown of pages that were found, as `cut_off` has it. Raises RetrievalError.

        Without pages it is empty, and may be so with them, where nothing could be made of them.
        """
        ...


def write_result(query: str, pages: Sequence[Page], summarizer: SummarizerName = "extractive/1") -> str:
    """The text that a model is shown of pages, at most `MOST_RESULT` characters and a line that says what is missing.

    It goes into a template of the caller's as it is. Without pages it is empty.
    """
    return cut_off(SUMMARIZERS[summarizer](query, pages))


def cut_off(text: str) -> str:
    """A text of at most `MOST_RESULT` characters, and a line that says what is missing."""
    if len(text) <= MOST_RESULT:
        return text
    return f"{text[:MOST_RESULT].rstrip()}\n[cut off after {MOST_RESULT} of {len(text)} characters]"


def snippet_of(asked: tuple[str, ...], text: str) -> str:
    """The beginning of the sentence that is nearest to a query's terms, 200 characters at most."""
    return "".join(nearest(asked, text, 1))[:_MOST_SNIPPET]


def _as_they_are(_query: str, pages: Sequence[Page]) -> str:
    return _joined([page.title, page.snippet, page.link, page.text] for page in pages)


def _extractive(query: str, pages: Sequence[Page]) -> str:
    """Of each page the five sentences nearest to the query, in the page's order, under its title."""
    asked = terms(query)
    return _joined(
        [page.title or page.link, " ".join(nearest(asked, page.text or page.snippet, _MOST_SENTENCES))]
        for page in pages
    )


def _joined(blocks: Iterable[Sequence[str]]) -> str:
    return "\n\n".join("\n".join(filter(None, lines)) for lines in blocks)


SUMMARIZERS: Mapping[SummarizerName, Callable[[str, Sequence[Page]], str]] = {
    "none": _as_they_are,
    "extractive/1": _extractive,
}
