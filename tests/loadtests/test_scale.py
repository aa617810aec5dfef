"""What grows is found, and what merely warms up is not."""

from collections.abc import Callable
from pathlib import Path

import pytest

from loadtests import scale


def _weights(file: Path, gateway: Callable[[int], float]) -> Path:
    rows = [f"{second},1.0,{gateway(second):.1f},{second / 2}" for second in range(100)]
    file.write_text("\n".join(["seconds,load,gateway MiB,gateway CPU s", *rows]))
    return file


def test_a_process_that_warms_up_and_stays_has_kept_what_is_required(tmp_path: Path) -> None:
    """Growth within the first fifth is no steady growth."""
    file = _weights(tmp_path / "weights.csv", lambda second: 100 + min(second, 10))
    assert [verdict.kept for verdict in scale.judge_usage(file, 0.5)] == [True, True]


@pytest.mark.parametrize(
    ("most_mib", "most_slope", "kept"), [(105, 0.5, [False, False]), (200, 0.5, [True, False]), (105, None, [False])]
)
def test_a_process_that_grows_is_named(
    tmp_path: Path, most_mib: float, most_slope: float | None, kept: list[bool]
) -> None:
    """0.1 MiB a second is 10 MiB in the end, and 6 MiB a minute on the way."""
    file = _weights(tmp_path / "weights.csv", lambda second: 100 + 0.1 * second)
    assert [verdict.kept for verdict in scale.judge_usage(file, most_slope, most_mib)] == kept


def test_the_busy_share_of_a_core_is_told(tmp_path: Path) -> None:
    """Half a CPU second a second."""
    of, load = scale.read(_weights(tmp_path / "weights.csv", lambda _: 100.0))
    assert (of["gateway"].busy, load) == (pytest.approx(0.5), 1.0)
