"""Composed grids: every cell is its source, byte for byte; what is drawn is drawn fairly; what is unsure is refused."""

import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gigavqa.benchmarks.ultravr.checks import check_sample
from gigavqa.benchmarks.ultravr.samples import UltraVRSample
from gigavqa.benchmarks.ultravr.wording import grid_wording
from gigavqa.construction.annotations import AnnotatedImage, Omissions
from gigavqa.construction.build_folder import digest_file
from gigavqa.construction.candidates import Candidate, Rejection
from gigavqa.construction.draws import stream
from gigavqa.construction.errors import BuildError
from gigavqa.construction.recipes.recipe import RecipeContext
from gigavqa.construction.ultravr.ad_anomaly import AnomalousCell
from gigavqa.construction.ultravr.defects import DefectTable
from gigavqa.construction.ultravr.grid_plans import GridPlan, GridPlanner, GridShape
from gigavqa.construction.ultravr.grids import GridDecoder, write_grid
from gigavqa.tiling.geometry import Region
from gigavqa.tiling.sources import open_source
from tests.benchmarks.ultravr.good_records import sample_from
from tests.construction.scenes import read
from tests.construction.ultravr.products import DEFECT, DEFECTS, SIZE, VIOLATED, draw_product

CONTEXT = RecipeContext({}, ())


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of pushpins: 99 normal pictures, two of each of three defects."""
    return draw_product(tmp_path_factory.mktemp("products"))


def _plans(product: Path, seed: int = 0, **shape: int) -> tuple[list[GridPlan], Omissions]:
    pictures, omissions = read(product, product.parent)
    folder = product.parent
    digest_of = lambda name: digest_file(folder / name)  # noqa: E731
    planner = GridPlanner(GridShape(**shape), DefectTable.read(), digest_of, omissions, seed)
    return planner.plan(pictures), omissions


def _cells(path: Path, rows: int = 10, columns: int = 10) -> dict[tuple[int, int], np.ndarray]:  # type: ignore[type-arg]
    width, height = SIZE
    with open_source(path) as grid:
        assert grid.size == (columns * width, rows * height)
        return {
            (row + 1, column + 1): grid.read(0, Region(column * width, row * height, width, height))
            for row in range(rows)
            for column in range(columns)
        }


def test_all_hundred_cells_are_their_sources_byte_for_byte(product: Path, tmp_path: Path) -> None:
    """Read back as everything is read that models are shown, row by row."""
    plan = _plans(product)[0][0]
    write_grid([product.parent / name for name in plan.sources], 10, 10, tmp_path / plan.image)
    for (cell, pixels), source in zip(_cells(tmp_path / plan.image).items(), plan.sources, strict=True):
        with Image.open(product.parent / source) as image:
            assert (pixels == np.asarray(image)).all(), (cell, source)


def test_one_cell_alone_is_anomalous_and_its_place_is_the_answer(product: Path, tmp_path: Path) -> None:
    """By a look at the pixels of every cell, in grids of both kinds; no cell holds what another one does."""
    for plan in _plans(product)[0]:
        write_grid([product.parent / name for name in plan.sources], 10, 10, tmp_path / plan.image)
        cells = _cells(tmp_path / plan.image)
        assert [cell for cell, pixels in cells.items() if pixels[DEFECT, 0, 2]] == [plan.cell]
        assert len({pixels.tobytes() for pixels in cells.values()}) == 100


def test_a_grid_has_rows_and_columns_as_asked(product: Path, tmp_path: Path) -> None:
    """And levels below, as large pictures have."""
    plan = _plans(product, rows=5, columns=7)[0][0]
    write_grid([product.parent / name for name in plan.sources], 5, 7, tmp_path / "grid.tif")
    assert len(_cells(tmp_path / "grid.tif", 5, 7)) == 35


def test_the_same_seed_gives_the_same_bytes_and_names_tell_nothing(product: Path, tmp_path: Path) -> None:
    """Names are of the pictures' content, whatever kind and cell; another seed gives other grids."""
    plans, again, other = _plans(product)[0], _plans(product)[0], _plans(product, seed=1)[0]
    assert plans == again
    assert {plan.image for plan in plans}.isdisjoint(plan.image for plan in other)
    assert all(re.fullmatch(r"grid-[0-9a-f]{16}\.tif", plan.image) for plan in plans)
    digests = set()
    for name in ("a.tif", "b.tif"):
        write_grid([product.parent / source for source in plans[0].sources], 10, 10, tmp_path / name)
        digests.add(digest_file(tmp_path / name))
    assert len(digests) == 1


def test_composition_names_source_and_digest_of_every_cell(product: Path) -> None:
    """So that anybody can compose the grid anew, and see that it is the same."""
    plan = _plans(product)[0][0]
    cells = plan.document()["cells"]
    assert [cell["source"] for cell in cells] == list(plan.sources)
    assert all(digest_file(product.parent / cell["source"]) == cell["digest"] for cell in cells)


def test_kinds_are_equal_and_each_anomaly_is_in_one_grid(product: Path) -> None:
    """Of three structural and one logical defect that folders hold, as many grids of each."""
    plans, omissions = _plans(product)
    assert Counter(plan.kind for plan in plans) == {"logical_anomaly": 2, "structural_anomaly": 2}
    assert len({plan.anomaly.image for plan in plans}) == len(plans)
    assert omissions.counts["unmapped"] == 2  # the colour of a pin is in no condition
    assert Counter(plan.kind for plan in _plans(product, most=1)[0]) == {"logical_anomaly": 1, "structural_anomaly": 1}


def test_another_anomaly_moves_no_grid(product: Path, tmp_path: Path) -> None:
    """Draws are of the anomaly's own stream."""
    shutil.copytree(product, tmp_path / "pushpins")
    before = {plan.image for plan in _plans(tmp_path / "pushpins")[0]}
    draw_product(tmp_path / "more", each=3)
    assert before == {plan.image for plan in _plans(product)[0]}
    for path in (tmp_path / "more" / "pushpins").rglob("008.png"):
        _add(path, tmp_path / "more" / "pushpins", tmp_path / "pushpins")
    assert before <= {plan.image for plan in _plans(tmp_path / "pushpins")[0]}


def _add(path: Path, source: Path, target: Path) -> None:
    place = target / path.relative_to(source)
    if "good" not in place.parts:
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place)


def test_every_cell_comes_as_often(product: Path) -> None:
    """Over 2,000 seeds, by a chi-square test of 100 cells at one in a thousand."""
    drawn = Counter(int(stream(seed, "cell", "an anomaly").integers(100)) for seed in range(20_000))
    assert sum((drawn[at] - 200) ** 2 / 200 for at in range(100)) < 149


def _resized(product: Path) -> None:
    Image.new("RGB", (SIZE[0], SIZE[1] + 1)).save(product / "train" / "good" / "000.png")


def _one_less(product: Path) -> None:
    (product / "train" / "good" / "000.png").unlink()


def _copied(product: Path) -> None:
    shutil.copy(product / "train" / "good" / "003.png", product / "train" / "good" / "000.png")


def _without_structural(product: Path) -> None:
    shutil.rmtree(product / "test" / "structural_anomalies")


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (_resized, "train/good/000.png is 64 x 49"),
        (_one_less, "needs 99 normal pictures, and there are 98"),
        (_copied, "needs 99 normal pictures, and there are 98"),
        (_without_structural, "0 of kind structural_anomaly can be used"),
    ],
)
def test_what_makes_no_grid_is_refused(spoil: Callable[[Path], None], told: str, product: Path, tmp_path: Path) -> None:
    """Mixed sizes, a normal picture too few, the same picture twice, a kind that no picture has."""
    shutil.copytree(product, tmp_path / "pushpins")
    spoil(tmp_path / "pushpins")
    with pytest.raises(BuildError, match=told):
        _plans(tmp_path / "pushpins")


def test_the_compositor_refuses_a_source_twice_and_another_size(product: Path, tmp_path: Path) -> None:
    """Whoever plans the grid, and nothing is left behind."""
    good = sorted((product / "train" / "good").glob("*.png"))
    Image.new("RGB", (10, 10)).save(tmp_path / "small.png")
    for cells, told in (
        ([good[0], good[0]], "two cells"),
        ([good[0], tmp_path / "small.png"], "small.png is 10 x 10"),
        (good[:3], "has 2 cells, not 3"),
    ):
        with pytest.raises(BuildError, match=told):
            write_grid(cells, 1, 2, tmp_path / "grid.tif")
    assert [path.name for path in tmp_path.iterdir()] == ["small.png"]


@pytest.mark.parametrize(("side", "usable"), [(24, True), (23, False)])
def test_a_mask_of_less_than_24_pixels_is_too_small(side: int, usable: bool, tmp_path: Path) -> None:
    """By the shorter side of its box."""
    product = draw_product(tmp_path, normal=4, mask=(side, 30))
    if usable:
        assert _plans(product, rows=1, columns=2)[0]
        return
    pictures, omissions = read(product, tmp_path)
    with pytest.raises(BuildError, match="0 of kind logical_anomaly"):
        GridPlanner(GridShape(1, 2), DefectTable.read(), str, omissions).plan(pictures)
    assert omissions.counts["too_small"] == 4


def test_a_users_table_says_what_ours_does_not(product: Path, tmp_path: Path) -> None:
    """Of a defect, or of one picture; what is wrong in it is named."""
    (tmp_path / "own.toml").write_text('[pushpins]\ncolor = ["S6"]\n"test/logical_anomalies/000.png" = ["S4", "S6"]\n')
    table = DefectTable.read(tmp_path / "own.toml")
    assert table.violated("pushpins", "pushpins/test/structural_anomalies/004.png", {"color"}) == (2,)
    assert table.violated("pushpins", "pushpins/test/logical_anomalies/000.png", {"missing_pushpin"}) == (0, 2)
    assert table.violated("pushpins", "test/logical_anomalies/001.png", {"missing_pushpin"}) == (0,)
    for wrong, told in (
        ('[pushpin]\ncolor = ["S6"]', "did you mean 'pushpins'"),
        ("[pushpins]\ncolor = 6", "S4 to S6"),
    ):
        (tmp_path / "own.toml").write_text(wrong)
        with pytest.raises(BuildError, match=told):
            DefectTable.read(tmp_path / "own.toml")


@pytest.mark.parametrize("name", DEFECTS)
def test_steps_say_which_conditions_a_cell_violates(name: str, tmp_path: Path) -> None:
    """Of all four products, by what people say of each defect."""
    product = draw_product(tmp_path, name, normal=24, each=1)
    plans = _plans(product, rows=5, columns=5)[0]
    assert len({plan.kind for plan in plans}) == 2
    for plan in plans:
        record = _record(plan)
        assert check_sample(record) == []
        assert record.domain == "ad"
        assert len(record.steps) == {"breakfast_box": 15, "juice_bottle": 14, "pushpins": 7, "screw_bag": 11}[name]
        denied = {step.question for step in record.steps if step.ground_truth is False}
        (defect,) = {mark.category for mark in plan.anomaly.annotations}
        assert denied == {f"Do all cells satisfy this condition: {text}?" for text in VIOLATED[defect]}


def _record(plan: GridPlan, recipe: AnomalousCell = AnomalousCell()) -> UltraVRSample:  # noqa: B008 - frozen
    (candidate,) = recipe.candidates(plan.annotated(), CONTEXT, stream(0, plan.image))
    assert isinstance(candidate, Candidate)
    text = recipe.word(candidate, CONTEXT, stream(0, candidate.id))
    return sample_from(recipe.record(candidate, text))


def test_an_anomaly_is_marked_where_it_lies_in_the_grid(product: Path) -> None:
    """Its mask's box, moved to the cell."""
    for plan in _plans(product)[0]:
        image = plan.annotated()
        row, column = plan.cell
        left, top = (column - 1) * SIZE[0], (row - 1) * SIZE[1]
        assert [tuple(mark.box) for mark in image.annotations] == [(left + 20, top + 10, left + 50, top + 36)]


def drawn_grid(seed: int) -> AnnotatedImage:
    """Return a grid whose cell is drawn, as one that was composed is annotated."""
    at = int(stream(seed, "cell", "x").integers(100))
    anomaly = AnnotatedImage(f"{seed}.png", *SIZE)
    cell = (at // 10 + 1, at % 10 + 1)
    return GridPlan("pushpins", "logical_anomaly", 10, 10, (), (str(seed),), cell, (0,), anomaly).annotated()


def test_choices_lie_in_one_quarter_and_each_is_right_as_often() -> None:
    """Over 4,000 drawn cells: by letter, by place among the four, and by quarter."""
    recipe = AnomalousCell("choices")
    letters, ranks, quarters = Counter[str](), Counter[int](), Counter[tuple[int, int]]()
    for seed in range(4_000):
        (candidate,) = recipe.candidates(drawn_grid(seed), CONTEXT, stream(seed, "choices"))
        assert isinstance(candidate, Candidate)
        text = recipe.word(candidate, CONTEXT, stream(seed, "words"))
        cells = [tuple(map(int, re.findall(r"\d+", str(option)))) for option in text.options]
        first = candidate.program["sheet"]
        assert all(0 <= row - first[0] < 5 and 0 <= column - first[1] < 5 for row, column in cells)
        right = text.options.index(str(text.answer))
        letters["ABCD"[right]] += 1
        ranks[sorted(cells).index(cells[right])] += 1
        quarters[first[0], first[1]] += 1
    for counts in (letters, ranks, quarters):
        assert len(counts) == 4
        assert max(counts.values()) < 1_110  # 4 standard deviations above 1,000


def test_choices_want_quarters(product: Path) -> None:
    """Of 5 x 7 cells no sheets of 5 x 5 are made."""
    plan = _plans(product, rows=5, columns=7)[0][0]
    (found,) = AnomalousCell("choices").candidates(plan.annotated(), CONTEXT, stream(0))
    assert isinstance(found, Rejection)
    assert found.reason == "no_quarters"
    assert check_sample(_record(plan)) == []


def test_other_pictures_are_no_grids(product: Path) -> None:
    """Of a picture that was not composed nothing is asked."""
    assert not list(AnomalousCell().candidates(AnnotatedImage("a.png", 10, 10), CONTEXT, stream(0)))
    assert grid_wording().products.keys() == DEFECTS.keys()


def test_a_grid_is_read_in_low_bands(product: Path) -> None:
    """A band of the pictures of one row of the grid is all that is held."""
    plan = _plans(product)[0][0]
    decoder = GridDecoder([product.parent / name for name in plan.sources], 10, 10)
    bands = [band.shape for band in decoder.bands(0, Region(0, 0, *decoder.levels[0].size))]
    assert sum(height for height, _, _ in bands) == 10 * SIZE[1]
    assert {(height, width) for height, width, _ in bands} == {(SIZE[1], 10 * SIZE[0])}


_COMPOSE = """
import sys
from pathlib import Path
from gigavqa.construction.ultravr.grids import GridDecoder, write_grid
from tests.peak_memory import peak_bytes
write_grid(sorted(Path(sys.argv[1]).glob("*.png")), 10, 10, Path(sys.argv[1]) / "grid.tif")
print(peak_bytes() >> 20)
"""


@pytest.mark.slow
def test_a_grid_of_the_papers_size_takes_less_than_400_mb(tmp_path: Path) -> None:
    """16,000 x 12,800 pixels, which are 614 MB, by a process of its own."""
    across, down = np.meshgrid(np.arange(1600), np.arange(1280))
    for at in range(100):
        pixels = np.stack([across % 251, down % 241, np.full_like(across, at)], axis=-1).astype(np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"{at:02}.png", compress_level=1)
    told = subprocess.run([sys.executable, "-c", _COMPOSE, tmp_path], capture_output=True, text=True, check=True).stdout
    with open_source(tmp_path / "grid.tif") as grid:
        assert grid.size == (16_000, 12_800)
    assert int(told) < 400
