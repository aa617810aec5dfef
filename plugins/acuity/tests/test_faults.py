"""Faults put in on purpose between the file and an ideal observer: the report names each of them, and no other.

Pictures are drawn, written and rendered by the real code; what is recorded is what a service says that suspects
nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gigavqa.contract.requests import Condition
from gigavqa.contract.responses import Response
from gigavqa.demo.pyramids import TILE as DRAWN_TILE
from gigavqa.evaluation.benchmark import CONDITIONS
from gigavqa.reports.report import Report, build_report
from gigavqa.tiling import levels
from gigavqa.tiling.geometry import Size, resolve_region
from gigavqa.tiling.rendering import render
from gigavqa.tiling.sources import Level
from gigavqa.tiling.sources.base import Pixels
from gigavqa.tiling.views import View
from gigavqa_acuity.chart.dataset import paint_picture
from gigavqa_acuity.chart.plan import plan_chart, records
from gigavqa_acuity.faults import CHANNELS, COARSE, MIRRORED, NEIGHBOUR, OFF_TILE, PALE, THUMBNAIL
from gigavqa_acuity.metrics import TILE
from gigavqa_acuity.samples import AcuitySample
from plugins.acuity.tests.observer import Observer
from plugins.acuity.tests.signs import BUDGET, answered, chart, record_of, views_of
from plugins.acuity.tests.signs import THUMBNAIL as THUMBNAIL_SIDE
from tests.reports.tables import caveats_of, table_of, value_of, values_of

Show = Callable[[AcuitySample, View], Pixels]
"""Gives what is shown of a sign in a view's place."""
pytestmark = pytest.mark.slow

SIDE = 4096
PICTURES = 64


@dataclass(frozen=True)
class Service:
    """Shows views of drawn pictures to the observer; every fault is one thing that it does otherwise."""

    folder: Path
    signs: Sequence[AcuitySample]
    known: dict[View, Pixels]

    def shown(self, view: View) -> Pixels:
        """The raster of a view, rendered once."""
        if view not in self.known:
            self.known[view] = render(self.folder / view.image, view, BUDGET).pixels
        return self.known[view]

    def report(
        self, show: Show, conditions: Sequence[Condition] = ("V1", "V2", "V3"), *, normalized: bool = True
    ) -> Report:
        """The report of an observer's answers."""
        observer, found = Observer(normalized=normalized), list[Response]()
        for condition in conditions:
            for sign in self.signs:
                views, prompt = views_of(sign, condition, SIDE)
                letter = observer.answer(prompt, [show(sign, view) for view in views])
                found.append(answered(sign, condition, letter, [record_of(view, SIDE) for view in views]))
        return build_report(chart(self.signs), found, {})


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Service:
    """The chart with 64 pictures of 4,096 pixels, painted once for all tests."""
    folder = tmp_path_factory.mktemp("chart")
    (folder / "images").mkdir()
    planned = plan_chart(7, PICTURES, SIDE)
    for one in planned:
        paint_picture(one, folder)
    return Service(folder, [AcuitySample.model_validate(record) for one in planned for record in records(one)], {})


def faults_of(report: Report) -> dict[str, str]:
    """The fault that is named under each condition that has one."""
    rows = table_of(report, "symptoms").rows
    return {row.keys["condition"]: row.keys["fault"] for row in rows if row.keys["fault"] != "none"}


def test_a_tile_is_one_of_the_drawn_files() -> None:
    """What the report takes for a tile is what is drawn."""
    assert TILE == DRAWN_TILE


def test_a_sound_service_fits_no_fault(service: Service) -> None:
    """At chance without a picture, all but perfect with the evidence, and one threshold whatever is shown."""
    report = service.report(lambda _, view: service.shown(view), CONDITIONS)
    assert faults_of(report) == {}
    assert values_of(report, "summary")["faults"] == "none"
    assert not any("fault" in text for text in caveats_of(report))
    blind = value_of(report, "accuracy", "V0")
    assert (blind.low or 0) < 0.25 < (blind.high or 0)
    assert (value_of(report, "accuracy", "V3").value or 0) > 0.9
    for gap in ("visual", "access", "resolution"):
        assert (value_of(report, "accuracy", gap).low or 0) > 0


def test_swapped_channels(service: Service) -> None:
    """Blue comes first, as some libraries have it."""
    report = service.report(lambda _, view: service.shown(view)[..., ::-1])
    assert set(faults_of(report).values()) == {CHANNELS}
    assert value_of(report, "symptoms", "red_blue", condition="V3").value == 1.0


def test_mirrored_pictures(service: Service) -> None:
    """Columns come in reverse."""
    report = service.report(lambda _, view: service.shown(view)[:, ::-1])
    assert set(faults_of(report).values()) == {MIRRORED}
    assert value_of(report, "symptoms", "left_right", condition="V3").value == 1.0
    assert value_of(report, "symptoms", "up_down", condition="V3").value == 0.0


def test_regions_off_by_a_tile(service: Service) -> None:
    """Regions are read from the tile beside theirs: what is smaller than a tile is another place altogether."""

    def beside(_: AcuitySample, view: View) -> Pixels:
        if view.region == "full":
            return service.shown(view)
        x, y, width, height = resolve_region(view.region, Size(SIDE, SIDE))
        x = x + TILE if x + TILE + width <= SIDE else max(0, x - TILE)
        return service.shown(view.model_copy(update={"region": f"{x},{y},{width},{height}"}))

    report = service.report(beside)
    assert faults_of(report) == {"V3": OFF_TILE}


def test_a_level_too_coarse(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every view is read a level further up, of a quarter of the side; a full image has no such level here."""
    choose = levels.choose_level

    def too_coarse(levels: tuple[Level, ...], region: Size, target: Size, oversampling: int) -> int:
        return min(choose(levels, region, target, oversampling) + 1, len(levels) - 1)

    monkeypatch.setattr(levels, "choose_level", too_coarse)
    anew = replace(service, known={})
    report = anew.report(lambda _, view: anew.shown(view))
    assert faults_of(report) == {"V3": COARSE}
    moved = value_of(report, "symptoms", "moved", condition="V3")
    assert (moved.low or 0) < 4 < (moved.high or 0)


def test_no_normalization(service: Service) -> None:
    """Pixels are given from 0 to 1, where the observer takes them for -1 to 1: all that it sees is pale."""
    report = service.report(lambda _, view: service.shown(view), normalized=False)
    assert set(faults_of(report).values()) == {PALE}
    assert "V3" in faults_of(report)


def test_a_thumbnail_for_the_full_image(service: Service) -> None:
    """V2 is given V1's raster, enlarged; V4 has its evidence beside that."""

    def small(_: AcuitySample, view: View) -> Pixels:
        if view.region != "full" or view.sizing != "native":
            return service.shown(view)
        thumbnail = service.shown(View(image=view.image, sizing=f"longest:{THUMBNAIL_SIDE}"))
        return np.asarray(
            Image.fromarray(thumbnail).resize(record_of(view, SIDE).raster_size, Image.Resampling.BICUBIC)
        )

    report = service.report(small)
    assert faults_of(report) == {"V2": THUMBNAIL}
    moved = value_of(report, "symptoms", "moved", condition="V2")
    assert (moved.low or 0) < 3 < (moved.high or 0)


def test_the_region_of_a_neighbour(service: Service) -> None:
    """What is shown of a region is that of the next picture."""
    names = list(dict.fromkeys(sign.images[0] for sign in service.signs))
    evidence = {sign.images[0]: sign.evidence for sign in service.signs}

    def next_one(sign: AcuitySample, view: View) -> Pixels:
        if view.region == "full":
            return service.shown(view)
        other = names[(names.index(sign.images[0]) + 1) % len(names)]
        return service.shown(View(image=other, region=evidence[other]))

    report = service.report(next_one)
    assert faults_of(report)["V3"] == NEIGHBOUR
    assert set(faults_of(report).values()) == {NEIGHBOUR}
