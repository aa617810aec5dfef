"""docs/api.md keeps up with the code."""

from pathlib import Path

import pytest

from service.errors import BODY_MALFORMED, INTERNAL, PROBLEM_KINDS, REFUSED_WRITE, REQUEST_INVALID
from service.operations.instrumentation import Instrumentation

PAGE = (Path(__file__).parents[2] / "docs/api.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "slug",
    sorted({kind.slug for kind in (*PROBLEM_KINDS.values(), REQUEST_INVALID, BODY_MALFORMED, REFUSED_WRITE, INTERNAL)}),
)
def test_every_problem_is_documented(slug: str) -> None:
    """A client can look each type up."""
    assert f"`{slug}`" in PAGE


def test_every_metric_is_documented() -> None:
    """Each metric of the gateway's own is in the table."""
    names = {family.name for family in Instrumentation().registry.collect() if family.name.startswith("gigavqa_")}
    assert names
    assert [name for name in sorted(names) if f"`{name}`" not in PAGE and f"`{name}_total`" not in PAGE] == []
