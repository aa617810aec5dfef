"""The signs, pages and questions of VistaHop's demo: what is asked can be read in a zoom, and walked in the corpus."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tifffile import TiffFile

from gigavqa.benchmarks.vistahop.samples import Anchor, VistaHopSample
from gigavqa.benchmarks.vistahop.taxonomy import ANCHOR_KINDS, ANSWER_TYPES, CATEGORIES, FORMS
from gigavqa.catalogue.load import load_catalogue
from gigavqa.demo.errors import RecordInvalidError
from gigavqa.demo.vistahop.checking import check_signs, check_world
from gigavqa.demo.vistahop.corpus import CorpusPage, write_pages
from gigavqa.demo.vistahop.dataset import build_dataset, paint_picture
from gigavqa.demo.vistahop.plan import PICTURES, SIGNS, Fact, World, plan_world
from gigavqa.demo.vistahop.scenes import SHOWN, draw_scene
from gigavqa.evaluation.datasets import load_dataset
from gigavqa.tiling.geometry import Region, Size
from gigavqa.tiling.headers import read_header
from gigavqa.tiling.sources.source import open_source
from gigavqa.tiling.views import View, fit_area, plan_view
from tests.demo.conftest import HOP_SCALE as SCALE
from tests.demo.conftest import SEED

DARK = 140
"""Grey below which a pixel belongs to letters; boards are light."""


@pytest.fixture(scope="module")
def samples(hop_folder: Path) -> dict[str, VistaHopSample]:
    """The questions by their ids, as anybody loads them."""
    return {sample.id: sample for sample in load_dataset(hop_folder).samples if isinstance(sample, VistaHopSample)}


def test_every_kind_of_question_is_asked(samples: dict[str, VistaHopSample]) -> None:
    """Levels, categories, types of answers, kinds of anchors and forms; and what is odd about single questions."""
    found = samples.values()
    assert Counter(one.level for one in found) == {"L1": 2, "L2": 8, "L3": 6}
    for kinds, labels in (
        (CATEGORIES, {one.category for one in found}),
        (ANSWER_TYPES, {one.answer_type for one in found}),
        (ANCHOR_KINDS, {anchor.kind for one in found for anchor in one.all_anchors}),
        (FORMS, {one.form for one in found}),
    ):
        assert set(kinds) == labels
    assert sum(len(one.answers) > 1 for one in found) == 2
    assert [one.id for one in found if not one.scored] == ["street-larger"]
    assert [one.id for one in found if one.options] == ["hall-plant"]
    assert [one.id for one in found if not one.hits] == ["fair-device"]
    assert Counter(len(one.images) for one in found)[6] == 4, "a picture with five thumbnails, asked about four times"


def test_large_pictures_are_pyramids_beyond_a_gigapixel(hop_folder: Path) -> None:
    """At full size; the scale of this test makes them smaller, and nothing else."""
    assert all(
        40_000 <= one.size.width <= 60_000 and one.size.area > 1e9 for one in PICTURES.values() if not one.is_flat
    )
    assert all(one.size.area == 9_000_000 for one in PICTURES.values() if one.is_flat)
    for picture in PICTURES.values():
        assert read_header(hop_folder / picture.image).size == picture.scaled(SCALE)
        if not picture.is_flat:
            with TiffFile(hop_folder / picture.image) as file:
                width = picture.scaled(SCALE).width
                assert [page.shape[1] for page in file.pages] == [width, width // 2, width // 4, width // 8]


@pytest.mark.parametrize("scale", [1.0, SCALE])
@pytest.mark.parametrize("name", [name for name, one in PICTURES.items() if not one.is_flat])
def test_letters_are_two_to_six_pixels_high_in_what_is_shown_at_first(name: str, scale: float) -> None:
    """Of all ten signs, whatever the picture's size."""
    scene = draw_scene(plan_world(SEED)[0], name, scale)
    shown = fit_area(scene.size, *SHOWN)
    heights = [one.mask.height * shown.height / scene.size.height for one in scene.letterings]
    assert len(heights) == SIGNS and min(heights) >= 2 and max(heights) <= 6


def anchors_of(samples: dict[str, VistaHopSample]) -> Iterator[tuple[str, Anchor]]:
    """Pictures and anchors."""
    for one in samples.values():
        yield from ((one.images[0], anchor) for anchor in one.all_anchors)


def test_letters_are_drawn_where_anchors_say(hop_folder: Path, samples: dict[str, VistaHopSample]) -> None:
    """The dark pixels on the board around a box fill the box, and reach nowhere beyond it."""
    for image, anchor in anchors_of(samples):
        assert anchor.box
        with open_source(hop_folder / image) as source:
            width, height = source.size
            x1, y1, x2, y2 = (round(part * side) for part, side in zip(anchor.box, (width, height) * 2, strict=True))
            margin = (y2 - y1) // 3
            around = Region(x1 - margin, y1 - margin, x2 - x1 + 2 * margin, y2 - y1 + 2 * margin)
            dark = source.read(0, around).mean(axis=2) < DARK
        rows, columns = np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))
        found = columns[0], rows[0], columns[-1] + 1, rows[-1] + 1
        wanted = margin, margin, margin + x2 - x1, margin + y2 - y1
        assert np.abs(np.subtract(found, wanted)).max() <= 2, anchor.label


def test_a_zoom_shows_letters_large_enough(hop_folder: Path, samples: dict[str, VistaHopSample]) -> None:
    """Of the demo's small model too: its picture of an anchor and of as much around it has letters of 24 pixels."""
    budget = load_catalogue()["demo-qwen3-vl"].visual_budget
    for image, anchor in anchors_of(samples):
        assert anchor.box
        size = read_header(hop_folder / image).size
        x1, y1, x2, y2 = (part * side for part, side in zip(anchor.box, (*size, *size), strict=True))
        region = Region(round(x1), round(y1 - (y2 - y1)), round(x2 - x1), round(3 * (y2 - y1)))
        planned = plan_view(size, View(image=image, region=str(region), sizing="fit:32:65536:8294400:28"), budget)
        assert planned.plan.raster.height / 3 >= 24


def test_a_sign_that_is_not_drawn_is_named(tmp_path: Path) -> None:
    """The look at signs can fail: a look-alike of the sign is no such sign."""
    (tmp_path / "images").mkdir()
    (tmp_path / "thumbs").mkdir()
    paint_picture("market", tmp_path, SEED)
    world, _ = plan_world(SEED)
    first, *others = draw_scene(world, "market").letterings
    alike = draw_scene(world, "yard").letterings[0]
    alike.x, alike.y = first.x, first.y
    check_signs(tmp_path, {"market": [first, *others]})
    with pytest.raises(RecordInvalidError, match=f"does not show '{alike.text}'"):
        check_signs(tmp_path, {"market": [alike, *others]})


@pytest.fixture(scope="module")
def made() -> tuple[World, tuple[CorpusPage, ...]]:
    """The world and its pages."""
    world, maker = plan_world(SEED)
    return world, write_pages(world, maker)


def checked(
    folder: Path, world: World, pages: tuple[CorpusPage, ...], asked: list[dict[str, object]] | None = None
) -> None:
    """Write the pages, and check them."""
    lines = (json.dumps({"id": page.id, "title": page.title, "text": page.text}) for page in pages)
    (folder / "pages.jsonl").write_text("\n".join(lines))
    check_world(world, pages, folder, asked or [])


def test_each_fact_stands_in_one_page_with_two_distractors_beside(made: tuple[World, tuple[CorpusPage, ...]]) -> None:
    """Some pages are long; names and years of distractors are nobody else's."""
    world, pages = made
    assert len(pages) == 3 * len(world.facts) and 120 <= len(pages) <= 150
    assert sum(len(page.text) >= 30_000 for page in pages) >= 5
    assert len({fact.object for fact in world.facts}) == len(world.facts)


def test_chains_that_cannot_be_walked_are_named(made: tuple[World, tuple[CorpusPage, ...]], tmp_path: Path) -> None:
    """A page that is lost, one that tells a second hop, one that tells a hop again, and one with both ends."""
    world, pages = made
    checked(tmp_path, world, pages)
    told = [page for page in pages if page.fact]
    one, other = told[0], told[-1]
    assert one.fact and other.fact

    def tell(page: CorpusPage, *facts: Fact) -> tuple[CorpusPage, ...]:
        text = " ".join([page.text, *(fact.relation.told.format(a=fact.subject, b=fact.object) for fact in facts)])
        return tuple(page._replace(text=text) if known is page else known for known in pages)

    for changed, message in (
        (tuple(page._replace(text="Nothing.", title="") if page is one else page for page in pages), "and not d-"),
        (tell(one, other.fact), f"{one.id} tells 2 hops"),
        (tell(next(page for page in pages if not page.fact), one.fact), f"'{one.fact.query}' is told by d-"),
    ):
        with pytest.raises(RecordInvalidError, match=message):
            checked(tmp_path, world, changed)
    ends = {"id": "short", "answers": [one.fact.object], "chain": [{"from": one.fact.subject}]}
    with pytest.raises(RecordInvalidError, match=f"{one.id} names both ends of short"):
        checked(tmp_path, world, pages, [ends])


def test_look_alikes_differ_in_one_letter(made: tuple[World, tuple[CorpusPage, ...]]) -> None:
    """Two of each sign that begins a chain hang in the same picture."""
    world, _ = made
    for chain in world.chains.values():
        texts = [sign.text for sign in world.signs[chain.way.picture]]
        alike = world.look_alikes[chain.sign.text]
        assert len(alike) == 2 and {*alike} <= {*texts}
        for text in alike:
            assert sum(a != b for a, b in zip(text, chain.sign.text, strict=True)) == 1


def test_fused_truths_follow_from_their_chains(samples: dict[str, VistaHopSample]) -> None:
    """Worked out again from what the components say."""
    values = {name: [str(part.value) for part in one.components] for name, one in samples.items() if one.components}
    mark, engine = map(int, values["harbour-years"])
    assert samples["harbour-years"].answers == (str(abs(mark - engine)),)
    assert samples["street-sum"].answers == (str(sum(map(int, values["street-sum"]))),)
    towns = [part.chain[-1].start for part in samples["harbour-earlier"].components]
    assert samples["harbour-earlier"].answers == (towns[mark > engine],)
    fair = samples["fair-by-year"]
    even = int(values["fair-by-year"][0]) % 2 == 0
    assert fair.answers == (values["fair-by-year"][1] if even else fair.components[0].chain[-1].start,)
    (guild,) = samples["hall-guild"].answers
    assert all(guild in value for value in values["hall-guild"])


@pytest.mark.parametrize("seed", range(4))
def test_any_seed_makes_a_world_that_can_be_walked(seed: int, tmp_path: Path) -> None:
    """The pages of other seeds meet the same conditions, and the names are others."""
    world, maker = plan_world(seed)
    checked(tmp_path, world, write_pages(world, maker))
    assert not {fact.object for fact in world.facts} & {fact.object for fact in plan_world(seed + 1)[0].facts}


def test_the_same_seed_gives_the_same_bytes(hop_folder: Path, tmp_path: Path) -> None:
    """Pictures, pages and records; a complete data set is not drawn again."""
    for name in ("images", "thumbs"):
        (tmp_path / name).mkdir()
    paint_picture("hall", tmp_path, SEED, SCALE)
    for name in ("images/hall.tif", "thumbs/hall-1.jpg"):
        assert (tmp_path / name).read_bytes() == (hop_folder / name).read_bytes()
    said: list[str] = []
    build_dataset(hop_folder, seed=SEED, scale=SCALE, progress=said.append)
    assert said == [f"{hop_folder.name}: complete"]


def test_small_pictures_are_as_large_as_ever(hop_folder: Path) -> None:
    """The scale leaves them alone."""
    assert read_header(hop_folder / "images/yard.jpg").size == Size(3_750, 2_400)
