"""Checks that the drawn data set is what it says: chains can be walked, and signs are where their boxes are."""

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from PIL import Image

from gigavqa.demo.errors import RecordInvalidError
from gigavqa.demo.painting import Lettering
from gigavqa.demo.records import Record
from gigavqa.demo.vistahop.corpus import CorpusPage
from gigavqa.demo.vistahop.plan import PICTURES, World
from gigavqa.retrieval.index import open_index
from gigavqa.tiling.geometry import Region
from gigavqa.tiling.sources.source import open_source

TOP = 3
"""Among so many pages that a search finds a hop's has to be."""
_NEAR = 12
"""Mean difference from the drawn letters, of 255, up to which pixels show them; JPEG's noise lies below."""


def check_world(world: World, pages: Sequence[CorpusPage], corpus: Path, asked: Sequence[Record]) -> None:
    """Walk every chain through the corpus. Raises RecordInvalidError that names every hop and page that is wrong."""
    wrong = [*_lost_hops(world, pages, corpus), *_told_at_once(world, pages), *_short_cuts(pages, asked)]
    if wrong:
        raise RecordInvalidError("; ".join(wrong))


def _lost_hops(world: World, pages: Sequence[CorpusPage], corpus: Path) -> Iterator[str]:
    """Hops whose page is not among the first that a search for it finds."""
    ids = {page.fact: page.id for page in pages if page.fact}
    with tempfile.TemporaryDirectory() as folder:
        index = open_index(corpus, Path(folder))
        for fact in world.facts:
            found = [page.id for page in index.search(fact.query, TOP)]
            if ids[fact] not in found:
                yield f"'{fact.query}' finds {', '.join(found)}, and not {ids[fact]}"
        index.close()


def _told_at_once(world: World, pages: Sequence[CorpusPage]) -> Iterator[str]:
    """Pages that tell two hops, and hops that two pages tell."""
    tellers: dict[str, list[str]] = {}
    for page in pages:
        told = [fact for fact in world.facts if names(page, fact.subject) and all(names(page, o) for o in fact.objects)]
        if len(told) > 1:
            yield f"{page.id} tells {len(told)} hops"
        for fact in told:
            tellers.setdefault(fact.document, []).append(page.id)
    for fact in world.facts:
        if len(found := tellers.get(fact.document, [])) != 1:
            yield f"'{fact.query}' is told by {', '.join(found) or 'no page'}"


def _short_cuts(pages: Sequence[CorpusPage], asked: Sequence[Record]) -> Iterator[str]:
    """Pages that name both where a question begins and its answer."""
    for record in asked:
        begins = [hop["from"] for one in record.get("components", [record]) for hop in one["chain"][:1]]
        answers = [answer for answer in record["answers"] if answer not in (record.get("options") or {})]
        for page in pages:
            if any(names(page, seed) for seed in begins) and any(names(page, answer) for answer in answers):
                yield f"{page.id} names both ends of {record['id']}"


def names(page: CorpusPage, text: str) -> bool:
    """Return whether a page names something, as a word or words of its own."""
    said, text = f"{page.title}\n{page.text}".lower(), text.lower()
    return text in said and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", said) is not None


def check_signs(folder: Path, letterings: Mapping[str, Sequence[Lettering]]) -> None:
    """Look at every sign of pictures. Raises RecordInvalidError that names those that are not as they were drawn."""
    wrong = []
    for name, drawn in letterings.items():
        with open_source(folder / PICTURES[name].image) as source:
            for one in drawn:
                left, top, right, bottom = one.extent
                pixels = source.read(0, Region(left, top, right - left, bottom - top))
                if one.difference(Image.fromarray(pixels).convert("L")) > _NEAR:
                    wrong.append(f"{PICTURES[name].image}: {left},{top} does not show '{one.text}'")
    if wrong:
        raise RecordInvalidError("; ".join(wrong))
