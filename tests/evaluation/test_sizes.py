"""Large data sets take as much work an item as small ones."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gigavqa.evaluation.image_lookup import ImageLookup
from tests.work import growth

LINEAR = 1.3
"""Of work that grows with the number of items; quadratic work over four times as many is near 4."""


@pytest.mark.parametrize("stem", ["slide-{}.0123456789.png", "other-{}.png", "{}/picture.png"])
def test_finding_pictures_by_the_beginning_of_names_or_not_at_all_is_linear(tmp_path: Path, stem: str) -> None:
    def look_up(number: int) -> Callable[[], object]:
        pictures = tmp_path / str(number)
        for at in range(number):
            path = pictures / stem.format(f"{at:04}")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        found = ImageLookup(pictures, tmp_path / "draft", check_image=lambda path: None)
        return lambda: [
            found.find(f"elsewhere/slide-{at:04}.png") and found.by_stem.get(f"slide-{at:04}") for at in range(number)
        ]

    assert growth(look_up, 50, 200) < LINEAR


def test_pictures_of_one_name_in_many_folders_are_counted_once(tmp_path: Path) -> None:
    def look_up(number: int) -> Callable[[], object]:
        for at in range(number):
            (tmp_path / f"{number}/{at:04}").mkdir(parents=True)
            (tmp_path / f"{number}/{at:04}/slide.png").touch()
        found = ImageLookup(tmp_path / str(number), tmp_path / "draft", check_image=lambda path: None)
        return lambda: [found.find("elsewhere/slide.png") for _ in range(number)]

    assert growth(look_up, 50, 200) < LINEAR
