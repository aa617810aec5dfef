"""The eye chart: an independent reader finds in its pictures what its samples say, and nothing else tells it."""

import json
import math
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from openslide import OpenSlide
from PIL import Image

from gigavqa.demo.painting import ScenePainter
from gigavqa.evaluation.datasets import load_dataset
from gigavqa.tiling.geometry import Region, Size
from gigavqa_acuity.chart.dataset import build_dataset, paint_picture
from gigavqa_acuity.chart.pictures import SMALLEST, draw_picture
from gigavqa_acuity.chart.plan import BLOCK, ChartItem, plan_chart, records
from gigavqa_acuity.chart.scenes import draw_scene
from gigavqa_acuity.samples import AcuitySample, Optotype
from gigavqa_acuity.taxonomy import DIRECTIONS, LETTERS, SCENES, SceneKind

pytestmark = pytest.mark.slow

SEED = 7
SIDE, SEAM = 32768, 4096
COLOURED = 60
"""Difference between channels that no grey thing has."""
GAP = 1 / 5
"""Of the diameter."""
READABLE = 8
"""Pixels from which on the reader tells the direction of a gap."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixteen pictures of the full size, with rings of all sizes."""
    folder = tmp_path_factory.mktemp("chart") / "data" / "chart"
    return build_dataset(folder, seed=SEED, pictures=BLOCK, progress=lambda _: None)


@pytest.fixture(scope="module")
def signs(folder: Path) -> list[AcuitySample]:
    """The samples, as anybody loads them."""
    return [sample for sample in load_dataset(folder).samples if isinstance(sample, AcuitySample)]


@pytest.fixture(scope="module")
def chart() -> list[ChartItem]:
    """The plan of the whole chart."""
    return plan_chart(SEED)


@pytest.fixture(scope="module")
def rings(signs: list[AcuitySample]) -> list[AcuitySample]:
    """One sample of every picture."""
    return [sign for sign in signs if sign.attribute == "direction"]


def colour_in(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """How far each pixel is from grey."""
    red, green, blue = np.moveaxis(pixels, 2, 0)
    highest, lowest = np.maximum(np.maximum(red, green), blue), np.minimum(np.minimum(red, green), blue)
    return np.asarray(highest - lowest, np.uint8)


class Reader:
    """Reads a part of a picture by OpenSlide, at the finest level at which it has at most 1,024 pixels a side."""

    def __init__(self, path: Path, region: Region) -> None:
        with OpenSlide(str(path)) as slide:
            wanted = max(1.0, region.width / 1024)
            level = next(
                at for at, down in reversed([*enumerate(slide.level_downsamples)]) if down <= wanted or at == 0
            )
            self.down = slide.level_downsamples[level]
            size = (round(region.width / self.down), round(region.height / self.down))
            self.image = slide.read_region((region.x, region.y), level, size).convert("RGB")
        self.pixels = np.asarray(self.image)
        self.region = region

    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of all that has a colour, in pixels of the whole picture."""
        rows, columns = (np.flatnonzero((colour_in(self.pixels) > COLOURED).any(axis=axis)) for axis in (1, 0))
        x, y, down = self.region.x, self.region.y, self.down
        return x + columns[0] * down, y + rows[0] * down, x + (columns[-1] + 1) * down, y + (rows[-1] + 1) * down

    def colour(self) -> str:
        """The name of the strongest colour: which channels are high, and which are low."""
        red, green, blue = self.pixels.reshape(-1, 3)[colour_in(self.pixels).argmax()].tolist()
        if min(red, green) > 2 * blue:
            return "yellow"
        return {red: "red", green: "green", blue: "blue"}[max(red, green, blue)]

    def direction(self) -> str:
        """Where, of the four middles of a ring's sides, its stroke is missing."""
        x1, y1, x2, _ = self.box()
        side, left, top = (x2 - x1) / self.down, (x1 - self.region.x) / self.down, (y1 - self.region.y) / self.down
        near, far = (0.02, 0.18), (0.82, 0.98)
        middle = (0.44, 0.56)
        places = {"up": (middle, near), "right": (far, middle), "down": (middle, far), "left": (near, middle)}
        shown = {}
        for name, (across, down) in places.items():
            part = (left + across[0] * side, top + down[0] * side, left + across[1] * side, top + down[1] * side)
            shown[name] = colour_in(np.asarray(self.image.resize((1, 1), Image.Resampling.BOX, part))).item()
        return min(shown, key=shown.__getitem__)


def region_of(sign: AcuitySample) -> Region:
    """The evidence of a sign."""
    return Region(*map(int, sign.evidence.split(",")))


def test_rings_are_what_and_where_samples_say(folder: Path, rings: list[AcuitySample]) -> None:
    """Colour, place and size of every one, and the gap's direction of those that are large enough to be read."""
    read = Counter[str]()
    for sign in rings:
        ring, reader = sign.optotype, Reader(folder / sign.images[0], region_of(sign))
        edges = (ring.x, ring.y, ring.x + ring.diameter, ring.y + ring.diameter)
        flat = ring.diameter * (1 - math.sqrt(1 - GAP**2)) / 2  # what the gap cuts off its side
        wrong = max(abs(one - other) for one, other in zip(reader.box(), edges, strict=True))
        assert wrong <= reader.down + flat, sign.id
        assert reader.colour() == ring.colour, sign.id
        if ring.diameter >= READABLE:
            assert reader.direction() == ring.direction, sign.id
            read[ring.direction] += 1
    assert min(read[direction] for direction in DIRECTIONS) >= 3


def window(reader: Reader, ring: Optotype, margin: float) -> tuple[slice, slice]:
    """Rows and columns of what a reader read that lie within a margin around a ring, in pixels of the picture."""
    first = (
        (at - margin - start) / reader.down for at, start in ((ring.y, reader.region.y), (ring.x, reader.region.x))
    )
    wide = (ring.diameter + 2 * margin) / reader.down
    rows, columns = (slice(max(0, math.floor(at)), max(1, math.ceil(at + wide))) for at in first)
    return rows, columns


def test_nothing_but_the_ring_has_a_colour(folder: Path, rings: list[AcuitySample]) -> None:
    """In all of every picture, reduced as it is stored, and in every region at its own level."""
    for sign in rings:
        for region in (Region(0, 0, SIDE, SIDE), region_of(sign)):
            reader = Reader(folder / sign.images[0], region)
            colour = colour_in(reader.pixels)
            colour[window(reader, sign.optotype, reader.down)] = 0
            assert colour.max() < COLOURED / 2, sign.id


def test_the_ground_around_a_ring_is_plain(folder: Path, rings: list[AcuitySample]) -> None:
    """A quarter of its diameter beyond its box at least, as far as the picture and the region reach."""
    for sign in rings:
        ring, reader = sign.optotype, Reader(folder / sign.images[0], region_of(sign))
        around = np.zeros(reader.pixels.shape[:2], bool)
        around[window(reader, ring, 0.25 * ring.diameter - reader.down)] = True
        around[window(reader, ring, 2 * reader.down)] = False
        beside = reader.pixels[around]
        assert len(beside) or ring.diameter < 16, sign.id
        assert not len(beside) or np.ptp(beside, axis=0).max() <= 2, (
            sign.id
        )  # OpenSlide moves parts by less than a pixel


def test_everything_is_asked_equally_often(chart: list[ChartItem]) -> None:
    """Any two of kind, place, colour, direction and letter; and each letter with each true word."""
    asked = [record for planned in chart for record in records(planned)]
    assert len(asked) == 256 and len({record["id"] for record in asked}) == 256
    for attribute in ("colour", "direction"):
        rows = [
            {
                "kind": record["scene"],
                "place": record["place"],
                "colour": record["optotype"]["colour"],
                "direction": record["optotype"]["direction"],
                "letter": record["answer"],
            }
            for record in asked
            if record["attribute"] == attribute
        ]
        for one, other in combinations(rows[0], 2):
            assert set(Counter((row[one], row[other]) for row in rows).values()) == {8}, (one, other)


def test_a_wrong_option_stands_anywhere(chart: list[ChartItem]) -> None:
    """Each word has each letter about as often as any other, so that no order is learnt."""
    for attribute in ("colour", "direction"):
        seen = Counter((letter, word) for one in chart for letter, word in one.options[attribute].items())
        assert len(seen) == len(LETTERS) ** 2 and 20 <= min(seen.values()) <= max(seen.values()) <= 45


def test_sizes_are_spread_evenly(chart: list[ChartItem]) -> None:
    """Two rings each of 2 to 5 pixels; of all others equally many between any two powers of two."""
    sizes = [int(planned.picture.optotype.diameter) for planned in chart]
    assert sorted(size for size in sizes if size < 8) == [2, 2, 3, 3, 4, 4, 5, 5]
    octaves = Counter(int(np.log2(size)) for size in sizes if size >= SMALLEST)
    assert set(octaves) == set(range(4, 14)) and max(sizes) > 15000
    assert set(octaves.values()) <= {11, 12, 13}


def test_files_say_nothing_of_what_they_show(chart: list[ChartItem]) -> None:
    """Their names are numbers, and their order is none of size."""
    assert [planned.image for planned in chart] == [f"images/{number:03}.tif" for number in range(1, 129)]
    sizes = np.log([planned.picture.optotype.diameter for planned in chart])
    assert abs(np.corrcoef(np.arange(128), sizes)[0, 1]) < 0.25


def test_rings_stand_at_the_places_that_they_are_said_to(chart: list[ChartItem]) -> None:
    """Evidence of edges and corners touches borders; seams are crossed; elsewhere small rings cross none."""
    for planned in [*chart, *plan_chart(1)]:
        ring, region = planned.picture.optotype, planned.evidence
        borders = [start in (0, SIDE - region.width) for start in (region.x, region.y)]
        seams = [at // SEAM != (at + ring.diameter - 1) // SEAM for at in (ring.x, ring.y)]
        if planned.picture.place == "corner":
            assert all(borders)
        elif planned.picture.place == "edge":
            assert any(borders)
        elif planned.picture.place == "seam":
            assert any(seams)
        if planned.picture.place != "seam" and ring.diameter < SEAM / 4:
            assert not any(seams)
        if planned.picture.place in ("centre", "seam") and ring.diameter < SEAM / 4:
            assert not any(borders)


def test_evidence_is_a_square_of_two_to_four_diameters(chart: list[ChartItem]) -> None:
    """And 32 pixels at least; it holds the ring, not always in its middle, and lies within the picture."""
    places = []
    for planned in chart:
        ring, (x, y, wide, high) = planned.picture.optotype, planned.evidence
        assert wide == high and max(32, 2 * ring.diameter - 1) <= wide <= max(32, 4 * ring.diameter + 1)
        assert 0 <= x <= ring.x and ring.x + ring.diameter <= x + wide <= SIDE
        assert 0 <= y <= ring.y and ring.y + ring.diameter <= y + high <= SIDE
        places.append((ring.x - x) / (wide - ring.diameter))
    assert np.std(places) > 0.2


@pytest.mark.parametrize("kind", SCENES)
def test_only_the_ring_itself_depends_on_the_answers(kind: SceneKind) -> None:
    """With another colour and gap everything beyond the ring's box is the same, pixel by pixel."""
    painted = []
    for colour, direction in (("red", "up"), ("yellow", "left")):
        picture = draw_picture(np.random.default_rng(3), 96, kind=kind, place="centre", side=1024)
        ring = picture.optotype.model_copy(update={"colour": colour, "direction": direction})
        picture = picture._replace(optotype=ring)
        painted.append(np.asarray(ScenePainter(draw_scene(picture, 5)).part(0, 0, Size(1024, 1024))))
    differ = (painted[0] != painted[1]).any(axis=2)
    rows, columns = np.flatnonzero(differ.any(axis=1)), np.flatnonzero(differ.any(axis=0))
    assert ring.y <= rows[0] and rows[-1] < ring.y + 96
    assert ring.x <= columns[0] and columns[-1] < ring.x + 96


def test_the_same_seed_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    """Pictures and records; a complete data set is not drawn again, and another seed gives another chart."""
    planned = plan_chart(SEED, BLOCK)
    (tmp_path / "images").mkdir()
    for one in planned[:2]:
        paint_picture(one, tmp_path)
        assert (tmp_path / one.image).read_bytes() == (folder / one.image).read_bytes()
    lines = (folder / "samples" / "signs.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [record for one in planned for record in records(one)]
    assert plan_chart(SEED + 1, BLOCK) != planned
    said: list[str] = []
    build_dataset(folder, seed=SEED, pictures=BLOCK, progress=said.append)
    assert said == [f"{folder.name}: complete"]
