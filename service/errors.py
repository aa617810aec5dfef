"""Errors of the gateway, and the one table from an error's class to its problem document (RFC 9457)."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from gigavqa.catalogue.errors import CatalogueError, ModelUnknownError
from gigavqa.contract.errors import (
    IdempotencyConflictError,
    JobActiveError,
    JobNotFoundError,
    JobNotRetryableError,
    JobTooLargeError,
    KeyInvalidError,
    QueueFullError,
    QuotaExceededError,
    ResultsUnavailableError,
    TextMissingError,
)
from gigavqa.evaluation.errors import (
    AnnotationInvalidError,
    DatasetInvalidError,
    EvaluationError,
    JudgesMixedError,
    ReviewRefusedError,
)
from gigavqa.runtime.errors import StateStoreUnavailableError
from gigavqa.store.connection import is_state_store_down

MAX_FINDINGS = 100
"""Most findings of one problem document; a data set of a million bad records is known to be bad by then."""


class ProblemFinding(BaseModel):
    """One thing that is wrong, and where: a field of the body, a line of a file, a sample, an image."""

    model_config = ConfigDict(frozen=True)

    detail: str = Field(examples=["answer 'E' is not one of the options A, B, C, D"])
    pointer: str | None = Field(default=None, description="JSON pointer into the body", examples=["#/models/0"])
    parameter: str | None = Field(default=None, description="name of the query parameter, path part or header")
    file: str | None = Field(default=None, examples=["samples/slides.jsonl"])
    line: int | None = Field(default=None, examples=[17])
    sample: str | None = Field(default=None, description="id of the sample", examples=["slide-0007"])
    image: str | None = Field(default=None, description="path relative to the data root")
    requests: int | None = Field(default=None, description="how many requests of the job it concerns", examples=[92])


class ServiceError(Exception):
    """The gateway refuses what was asked; `findings` name every thing that is wrong."""

    def __init__(self, message: str, findings: Sequence[ProblemFinding] = ()) -> None:
        super().__init__(message)
        self.findings = tuple(findings)


class DatasetNotFoundError(ServiceError):
    """No folder of the data root is a data set of this name."""


class DatasetExistsError(ServiceError):
    """The data root has something of this name already."""


class DatasetInUseError(ServiceError):
    """Jobs that have not ended ask the data set."""


class DataRootUnwritableError(ServiceError):
    """The gateway may not write into its data root, or has no room there."""


class ImportInvalidError(ServiceError):
    """No data set can be made as asked; each finding names the field."""


class SampleNotFoundError(ServiceError):
    """The data set has no sample of this id."""


class SampleChangedError(ServiceError):
    """The sample is no longer the one that was seen."""


class ViewerMissingError(ServiceError):
    """No viewer is known that draws the pictures."""


class PreviewNotFoundError(ServiceError):
    """No worker kept a small picture of the raster, or the job was not shown it."""


class SubmissionInvalidError(ServiceError):
    """The job cannot be run as asked; nothing of it was accepted."""


class DatasetChangedError(ServiceError):
    """The data set is no longer the one that the job was submitted with."""


class DatasetsDifferError(ServiceError):
    """The jobs of one report are over different data sets."""


class BodyTooLargeError(ServiceError):
    """The body has more bytes than the gateway accepts."""


class BodyTimeoutError(ServiceError):
    """The body did not arrive in time."""


class MediaTypeUnsupportedError(ServiceError):
    """The body is not declared as what it must be: JSON nearly everywhere."""


class ChatInvalidError(ServiceError):
    """The chat cannot be had as asked; each finding names the part of the body."""


class ContextTooSmallError(ServiceError):
    """The chat is longer than the model's context."""


class ModelUnservedError(ServiceError):
    """No worker serves the model now; `retry_after` is in seconds, None where nothing says that one will."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class AnswerFailedError(ServiceError):
    """The chat was played, and no answer came of it."""


class FileMissingError(ServiceError):
    """There is no file of this id."""


class BatchMissingError(ServiceError):
    """There is no batch of this id."""


class FileInvalidError(ServiceError):
    """The file cannot be taken as it was sent."""


class BatchInvalidError(ServiceError):
    """The batch cannot be had as asked."""


class BatchEndedError(ServiceError):
    """The batch has ended, so nothing of it can be cancelled."""


class HostInvalidError(ServiceError):
    """The request names no host, or several: whoever stands before this gateway may have read another one."""


class ProxyUnexpectedError(ServiceError):
    """A proxy brings a request from elsewhere, and nobody is asked for a key."""


class HostUntrustedError(ServiceError):
    """The request names a host that this gateway is not called by."""


class ForeignOriginError(ServiceError):
    """A page of another site asks for a change."""


class RoleMissingError(ServiceError):
    """The key's role does not have this in it."""


class RateExceededError(ServiceError):
    """The key has had its requests of this minute; `retry_after` is in seconds."""

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class JobOfAnotherError(JobNotFoundError):
    """The job is somebody else's, who is not told of: the answer is that there is none."""


class ProblemKind(NamedTuple):
    """The fixed part of a problem document for a class of errors; `slug` ends its type URI."""

    status: HTTPStatus
    slug: str
    title: str

    @property
    def type(self) -> str:
        """The type URI."""
        return f"urn:gigavqa:problem:{self.slug}"


REQUEST_INVALID = ProblemKind(HTTPStatus.UNPROCESSABLE_ENTITY, "request-invalid", "The request is malformed")
BODY_MALFORMED = ProblemKind(HTTPStatus.BAD_REQUEST, "body-malformed", "The body is not JSON")
REFUSED_WRITE = ProblemKind(
    HTTPStatus.SERVICE_UNAVAILABLE, "server-refuses-writes", "The state store refuses to write for now"
)
INTERNAL = ProblemKind(HTTPStatus.INTERNAL_SERVER_ERROR, "internal", "The gateway failed; the log has the request's id")

_SERVER_UNAVAILABLE = ProblemKind(
    HTTPStatus.SERVICE_UNAVAILABLE, "server-unavailable", "The state store does not answer"
)
_RECORDS_WRONG = ProblemKind(HTTPStatus.UNPROCESSABLE_ENTITY, "dataset-invalid", "Records are wrong")

PROBLEM_KINDS: dict[type[Exception], ProblemKind] = {
    JobNotFoundError: ProblemKind(HTTPStatus.NOT_FOUND, "job-not-found", "No such job"),
    ModelUnknownError: ProblemKind(HTTPStatus.NOT_FOUND, "model-not-found", "No such model in the catalogue"),
    DatasetNotFoundError: ProblemKind(HTTPStatus.NOT_FOUND, "dataset-not-found", "No such data set"),
    SampleNotFoundError: ProblemKind(HTTPStatus.NOT_FOUND, "sample-not-found", "No such sample"),
    SampleChangedError: ProblemKind(HTTPStatus.CONFLICT, "sample-changed", "The sample changed since it was seen"),
    ReviewRefusedError: ProblemKind(
        HTTPStatus.UNPROCESSABLE_ENTITY, "review-refused", "The verdict cannot be taken as it is"
    ),
    DatasetExistsError: ProblemKind(HTTPStatus.CONFLICT, "dataset-exists", "The name is taken"),
    DatasetInUseError: ProblemKind(HTTPStatus.CONFLICT, "dataset-in-use", "Jobs ask the data set"),
    DataRootUnwritableError: ProblemKind(
        HTTPStatus.CONFLICT, "data-root-unwritable", "The gateway cannot write into its data root"
    ),
    ImportInvalidError: ProblemKind(
        HTTPStatus.UNPROCESSABLE_ENTITY, "import-invalid", "The data set cannot be made as asked"
    ),
    ViewerMissingError: ProblemKind(HTTPStatus.NOT_FOUND, "viewer-missing", "No viewer is known"),
    PreviewNotFoundError: ProblemKind(HTTPStatus.NOT_FOUND, "preview-not-found", "No such preview"),
    IdempotencyConflictError: ProblemKind(
        HTTPStatus.CONFLICT, "idempotency-conflict", "The idempotency key belongs to another job"
    ),
    JobActiveError: ProblemKind(HTTPStatus.CONFLICT, "job-active", "The job is not final"),
    JobNotRetryableError: ProblemKind(HTTPStatus.CONFLICT, "job-state-conflict", "The job does not allow this now"),
    DatasetChangedError: ProblemKind(
        HTTPStatus.CONFLICT, "dataset-changed", "The data set changed since the job was submitted"
    ),
    DatasetsDifferError: ProblemKind(
        HTTPStatus.UNPROCESSABLE_ENTITY, "datasets-differ", "The jobs are over different data sets"
    ),
    BodyTooLargeError: ProblemKind(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "body-too-large", "The body is too large"),
    BodyTimeoutError: ProblemKind(HTTPStatus.REQUEST_TIMEOUT, "body-timeout", "The body took too long"),
    MediaTypeUnsupportedError: ProblemKind(
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "media-type-unsupported", "The body is not declared as what it must be"
    ),
    ChatInvalidError: ProblemKind(HTTPStatus.BAD_REQUEST, "chat-invalid", "The chat cannot be had as asked"),
    ContextTooSmallError: ProblemKind(
        HTTPStatus.BAD_REQUEST, "context-length-exceeded", "The chat is longer than the model's context"
    ),
    ModelUnservedError: ProblemKind(HTTPStatus.SERVICE_UNAVAILABLE, "model-unserved", "No worker serves the model now"),
    AnswerFailedError: ProblemKind(HTTPStatus.INTERNAL_SERVER_ERROR, "answer-failed", "No answer came of the chat"),
    FileMissingError: ProblemKind(HTTPStatus.NOT_FOUND, "file-not-found", "No such file"),
    BatchMissingError: ProblemKind(HTTPStatus.NOT_FOUND, "batch-not-found", "No such batch"),
    FileInvalidError: ProblemKind(HTTPStatus.BAD_REQUEST, "file-invalid", "The file cannot be taken"),
    BatchInvalidError: ProblemKind(HTTPStatus.BAD_REQUEST, "batch-invalid", "The batch cannot be had as asked"),
    BatchEndedError: ProblemKind(HTTPStatus.CONFLICT, "batch-ended", "The batch has ended"),
    HostInvalidError: ProblemKind(HTTPStatus.BAD_REQUEST, "host-invalid", "The request names one host"),
    HostUntrustedError: ProblemKind(
        HTTPStatus.MISDIRECTED_REQUEST, "host-untrusted", "The gateway is not called by this name"
    ),
    ProxyUnexpectedError: ProblemKind(
        HTTPStatus.FORBIDDEN, "proxy-unexpected", "A proxy stands before a gateway that asks for no keys"
    ),
    ForeignOriginError: ProblemKind(HTTPStatus.FORBIDDEN, "foreign-origin", "Another site may not change anything"),
    KeyInvalidError: ProblemKind(HTTPStatus.UNAUTHORIZED, "invalid-api-key", "A valid key is needed"),
    RoleMissingError: ProblemKind(HTTPStatus.FORBIDDEN, "role-missing", "The key's role does not allow this"),
    RateExceededError: ProblemKind(HTTPStatus.TOO_MANY_REQUESTS, "rate-exceeded", "The key's rate is exceeded"),
    QuotaExceededError: ProblemKind(HTTPStatus.TOO_MANY_REQUESTS, "quota-exceeded", "The key's quota is used up"),
    SubmissionInvalidError: ProblemKind(HTTPStatus.UNPROCESSABLE_ENTITY, "submission-invalid", "The job cannot be run"),
    DatasetInvalidError: _RECORDS_WRONG,
    AnnotationInvalidError: _RECORDS_WRONG,
    JudgesMixedError: ProblemKind(
        HTTPStatus.UNPROCESSABLE_ENTITY, "judges-mixed", "A job that judges is named among those that are judged"
    ),
    EvaluationError: ProblemKind(HTTPStatus.UNPROCESSABLE_ENTITY, "submission-invalid", "The job cannot be run"),
    JobTooLargeError: ProblemKind(
        HTTPStatus.UNPROCESSABLE_ENTITY, "job-too-large", "The job exceeds the queue's capacity"
    ),
    TextMissingError: ProblemKind(
        HTTPStatus.INTERNAL_SERVER_ERROR, "text-missing", "A recorded response's text cannot be read"
    ),
    ResultsUnavailableError: ProblemKind(
        HTTPStatus.SERVICE_UNAVAILABLE, "results-unavailable", "The results store is not reached"
    ),
    CatalogueError: ProblemKind(HTTPStatus.INTERNAL_SERVER_ERROR, "catalogue-invalid", "The catalogue cannot be read"),
    QueueFullError: ProblemKind(HTTPStatus.TOO_MANY_REQUESTS, "queue-full", "The queue is full"),
    StateStoreUnavailableError: _SERVER_UNAVAILABLE,
    RedisConnectionError: _SERVER_UNAVAILABLE,
    RedisTimeoutError: _SERVER_UNAVAILABLE,
}


def problem_kind(error: Exception) -> ProblemKind:
    """Find the entry of the error's class or of its nearest base that has one."""
    for base in type(error).__mro__:
        if base in PROBLEM_KINDS:
            return PROBLEM_KINDS[base]
    return REFUSED_WRITE if is_state_store_down(error) else INTERNAL
