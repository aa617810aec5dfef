"""Threads beside the engine give way to it."""

import os
import subprocess
import sys

import pytest

GIVEN_WAY = """
import os
from gigavqa.tiling.decode_threads import lower_priority
lower_priority()
print(os.getpriority(os.PRIO_PROCESS, 0))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only on Linux has each thread a niceness of its own")
def test_a_process_that_gives_way_already_takes_nothing_back() -> None:
    """To take it back is refused to all but root, and would cost whoever began it under `nice`."""
    command = ["nice", "-n", str(15 - os.nice(0)), sys.executable, "-c", GIVEN_WAY]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert int(ended.stdout) >= 15
