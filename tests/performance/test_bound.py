"""The table of the bound sets the service beside its engine, and tells where the time went."""

from performance.bound import table


def _figures(seconds: float, **counted: float) -> dict[str, object]:
    totals = {"requests": 4, "turns": 6, "prefilled_tokens": 1000, "generated_tokens": 144}
    return {"seconds": seconds, "cpu": {"the engine's process": 2.5}, "counted": counted, **totals}


def test_every_way_is_told_as_a_ratio_to_the_engine_alone() -> None:
    """The engine's own column is 1, and the wall seconds stand beside the ratios that are made of them."""
    text = table({"cold": _figures(15.0), "warm": _figures(11.0), "engine alone": _figures(10.0)})
    assert "| wall seconds | 15.0 | 11.0 | 10.0 |" in text
    assert "| beside the engine alone | 1.50 | 1.10 | 1.00 |" in text


def test_work_that_only_a_service_does_has_no_figure_for_the_engine() -> None:
    """A count that a way does not have is a dash and not a nought; what nobody counts has no row."""
    text = table({"warm": _figures(11.0, renders=68, passes=5), "engine alone": _figures(10.0)})
    assert "| renders | 68 | - |" in text
    assert "| passes over files | 5 | - |" in text
    assert "ingests" not in text
