"""Chats with searches and zooms go on while their workers are killed, as `make chaos` has it with many more."""

import pytest

from loadtests.chaos.rounds import rounds

pytestmark = pytest.mark.slow


def test_chats_of_ten_rounds_outlive_their_workers() -> None:
    """Each comes once, with all its rounds; what was asked for twice was interrupted by a kill, and shown once."""
    outcome = rounds(12, kill_seconds=0.1, most_kills=3)
    assert outcome.sound, (outcome.row(), outcome.missed, outcome.why)
    assert outcome.hurt["SIGKILL worker"] > 0
    assert any("120 rounds; 60 searches" in note for note in outcome.notes), outcome.notes
