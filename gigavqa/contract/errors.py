"""Errors of jobs. Every class's docstring states the fact; messages name the job."""


class JobsError(Exception):
    """A job could not be kept, queued or read as asked."""


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


class ResultsUnavailableError(JobsError, OSError):
    """The place of the Parquet parts is not reached now; they are read when it is back."""


class ResponseUnrecordableError(JobsError):
    """A response holds what could not be read again, or counted, if it were recorded."""


class TextMissingError(JobsError):
    """The responses of a job are in Parquet parts, and nobody told where these are."""
