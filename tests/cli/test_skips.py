"""The end of a run of the tests says what was skipped, and how to get it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.skips import skipped_line

REPOSITORY = Path(__file__).parents[2]


@pytest.mark.slow
def test_a_machine_without_a_browser_is_told_how_to_get_one() -> None:
    """The line before the last one, below the list of what was skipped."""
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/reports/test_page_in_a_browser.py"],
        cwd=REPOSITORY,
        env=os.environ | {"PATH": "/nowhere"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    line = run.stdout.strip().splitlines()[-2]
    assert re.fullmatch(r"\d+ skipped: chromium is not installed; apt-get install chromium", line), run.stdout


def test_everything_that_is_missing_stands_in_one_line() -> None:
    """Programs of Debian in one command, the engine in another; what nothing can be done about is only told."""
    reasons = [
        *["redis-server is not installed on this machine"] * 3,
        "no chromium on PATH: apt-get install chromium",
        "vllm is not installed",
        "peak memory is read from /proc",
    ]
    assert skipped_line(reasons) == (
        "6 skipped: redis-server and chromium and the engine are not installed, peak memory is read from /proc; "
        "apt-get install redis-server chromium; GIGAVQA_EXTRA=cpu make setup"
    )


def test_a_run_that_skips_nothing_says_nothing() -> None:
    """No line at all."""
    assert not skipped_line([])
