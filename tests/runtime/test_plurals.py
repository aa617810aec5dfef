"""Numbers of things, and lists of many, in sentences."""

import pytest

from gigavqa.runtime.plurals import list_some


@pytest.mark.parametrize(
    ("names", "written"), [(["a"], "a"), (["a", "b"], "a, b"), (["a", "b", "c", "d"], "a, b and 2 more")]
)
def test_a_list_names_the_first_and_counts_the_rest(names: list[str], written: str) -> None:
    """Two are named here."""
    assert list_some(names, 2) == written
