"""The statuses that commands and processes end with: one table, which docs/commands.md shows."""

from enum import IntEnum


class ExitStatus(IntEnum):
    """Why a process ended, for the script or the supervisor that started it."""

    meaning: str

    DONE = 0, "all went well"
    FAILED = 1, "something failed"
    WRONG_INPUT = 2, "wrong input or settings, named with the remedy; starting again does not help"
    NO_GATEWAY = 3, "no gateway answers"
    NOT_NOW = 4, "not possible now"
    PARTLY = 5, "a job without full success"
    INTERRUPTED = 130, "Ctrl-C"
    TERMINATED = 143, "a worker with `--idle-seconds` that was told to end before it was idle"

    def __new__(cls, number: int, meaning: str) -> "ExitStatus":
        """Make a member that says what it means."""
        status = int.__new__(cls, number)
        status._value_ = number
        status.meaning = meaning
        return status
