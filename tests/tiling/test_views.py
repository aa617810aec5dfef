"""A view declares what to look at."""

import pytest
from pydantic import ValidationError

from tiling.geometry import Size
from tiling.views import View


@pytest.mark.parametrize(
    ("sizing", "size"),
    [
        ("native", (26753, 15052)),
        ("longest:1024", (1024, 576)),
        ("longest:30000", (26753, 15052)),
        ("longest:1", (1, 1)),
    ],
)
def test_sizing_says_how_large_the_region_is_before_the_models_preprocessing(
    sizing: str, size: tuple[int, int]
) -> None:
    """The model's own size, or an external downsampling that never enlarges."""
    assert View(image="plaza.jpg", sizing=sizing).downsampled(Size(26753, 15052)) == size


@pytest.mark.parametrize("sizing", ["", "longest:0", "longest:-5", "longest:1.5", "longest", "Native"])
def test_an_unknown_sizing_is_refused(sizing: str) -> None:
    """When the view is made, not when it is rendered."""
    with pytest.raises(ValidationError, match="sizing"):
        View(image="plaza.jpg", sizing=sizing)
