"""What can go wrong with a job. Every class's docstring states the fact; messages name the job."""


class JobsError(Exception):
    """A job could not be kept, queued or read as asked."""


class SettingsInvalidError(JobsError):
    """An argument, a variable or a line of the settings file does not say what it must say; the message names it."""


class TracesMissingError(SettingsInvalidError):
    """Traces are to be sent, and OpenTelemetry is not installed."""

    def __init__(self) -> None:
        super().__init__("--traces wants OpenTelemetry: pip install 'gigavqa[traces]'")


class StateStoreUnavailableError(JobsError):
    """There is no server to use: the embedded one has no binary, or ended before it answered."""


class StateStoreEvictsError(StateStoreUnavailableError):
    """The server drops keys when its memory is full, so it would lose jobs without a word."""


class JobNotFoundError(JobsError):
    """There is no job of this id."""


class JobActiveError(JobsError):
    """The job has not reached a final status, so it cannot be deleted."""


class JobNotRetryableError(JobsError):
    """No request of the job can be asked again now: it runs, it failed as a whole, or all are answered."""


class IdempotencyConflictError(JobsError):
    """The idempotency key was used before with another job specification."""


class QueueFullError(JobsError):
    """The job's requests would exceed the number that may be outstanding at once; `retry_after` is in seconds."""

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class QuotaExceededError(QueueFullError):
    """The owner or the key has as much as it may have of something at once; `retry_after` is in seconds."""


class KeyInvalidError(JobsError):
    """The API key is missing, unknown, expired or revoked."""


class KeyNotFoundError(JobsError):
    """There is no API key of this id."""


class JobTooLargeError(JobsError):
    """The job has more requests than the queue may ever hold at once, so waiting does not help."""


class PartUnreadableError(JobsError):
    """A Parquet part is gone, or is not what was written: cut short, changed, or kept from its reader."""


class ResponseUnrecordableError(JobsError):
    """A response holds what could not be read again, or counted, if it were recorded."""


class TextMissingError(JobsError):
    """The responses of a job are in Parquet parts, and nobody told where these are."""


class FolderNotPrivateError(StateStoreUnavailableError):
    """A folder that must be this user's alone belongs to somebody else."""


class SnapshotRefusedError(StateStoreUnavailableError):
    """The server does not send its whole state, as it would to a replica."""


class BackupInvalidError(JobsError):
    """A folder is no backup, or not all of one: something of it is gone or was changed."""


class RestoreRefusedError(JobsError):
    """An installation runs, or holds something, where a backup should be restored."""
