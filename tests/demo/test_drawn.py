"""The data sets that can be drawn are of benchmarks that are installed, and are asked by plans that these have."""

import pytest

from gigavqa.demo.drawn import ALL, benchmarks_drawn, drawn_of
from gigavqa.demo.errors import DemoUnknownError
from gigavqa.evaluation.installed import installed_benchmarks


def test_each_drawn_data_set_is_of_a_benchmark_and_has_its_plan() -> None:
    """A folder of this package that draws nothing is none of them."""
    for name in benchmarks_drawn():
        (drawn,) = drawn_of(name)
        assert drawn.plan in installed_benchmarks()[name].plans


def test_all_is_each_of_them_once() -> None:
    """Each under a name of its own, and in a folder of its own."""
    drawn = drawn_of(ALL)
    assert len(drawn) == len({one.name for one in drawn}) == len(benchmarks_drawn())


def test_a_data_set_that_nobody_draws_is_named_with_those_that_are() -> None:
    """So that the next attempt is right."""
    with pytest.raises(DemoUnknownError, match="no data set is drawn for 'sight'; there are ultravr,"):
        drawn_of("sight")
