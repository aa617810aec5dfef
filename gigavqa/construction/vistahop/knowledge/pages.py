"""The pages of a corpus that tell of entities, joined by their titles."""

from gigavqa.construction.vistahop.knowledge.knowledge_index import KnownEntity
from gigavqa.retrieval.index import Index

PAGE_CHARACTERS = 1500
"""Of a page, as much as the prompt of stage 2 shows."""

_MOST_HITS = 10


def page_of(entity: KnownEntity, corpus: Index) -> tuple[str, str] | None:
    """Return the id and the beginning of an entity's page: the best document that is titled as the entity is called.

    The title of its page in the file of triples goes before its name. None where no title is that; a page about
    something else that only mentions it is none. Raises IndexUnusableError.
    """
    for title in dict.fromkeys(name for name in (entity.page, entity.name) if name):
        for hit in corpus.search(title, _MOST_HITS):
            if _folded(hit.title) == _folded(title):
                return hit.id, hit.text[:PAGE_CHARACTERS]
    return None


def _folded(title: str) -> str:
    return " ".join(title.replace("_", " ").casefold().split())
