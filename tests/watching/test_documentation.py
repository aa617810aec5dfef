"""docs/watching.md has every metric, in the program's own words, and none that there is not."""

import re

import pytest

from tests.watching import metrics
from tests.watching.programs import DEPLOY

PAGE = (DEPLOY.parent / "docs" / "watching.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("title", "rows"),
    [
        ("Of the gateway", metrics.of_the_gateway),
        ("Of workers", metrics.of_workers),
        ("Of the viewer", metrics.of_the_viewer),
    ],
)
async def test_the_table_is_what_is_exposed(title: str, rows: metrics.Rows) -> None:
    """Row by row."""
    section = PAGE.partition(f"### {title}\n")[2].partition("\n#")[0]
    assert re.findall(r"^\| `.*\|$", section, re.MULTILINE) == rows()
