"""gigavqa for programs: `Client` and `AsyncClient` of a gateway, what they give, and what they raise."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gigavqa.client.asking import ImageQuestion, QuestionFile
    from gigavqa.client.asynchronous import AsyncClient
    from gigavqa.client.client import Client
    from gigavqa.client.errors import (
        BusyError,
        ConflictError,
        GatewayFailedError,
        GatewayUnreachableError,
        GigavqaError,
        KeyRefusedError,
        NotFoundError,
        PackageMissingError,
        ProblemError,
        QuestionsError,
        RefusedError,
    )
    from gigavqa.contract.jobs import Cell, Job, JobSpec, JobStatus, JobSummary
    from gigavqa.contract.responses import Response, UnreadableResponse

__all__ = [
    "AsyncClient",
    "BusyError",
    "Cell",
    "Client",
    "ConflictError",
    "GatewayFailedError",
    "GatewayUnreachableError",
    "GigavqaError",
    "ImageQuestion",
    "Job",
    "JobSpec",
    "JobStatus",
    "JobSummary",
    "KeyRefusedError",
    "NotFoundError",
    "PackageMissingError",
    "ProblemError",
    "QuestionFile",
    "QuestionsError",
    "RefusedError",
    "Response",
    "UnreadableResponse",
]
_PLACES = (
    "gigavqa.client.errors",
    "gigavqa.client.client",
    "gigavqa.client.asynchronous",
    "gigavqa.client.asking",
    "gigavqa.contract.jobs",
    "gigavqa.contract.requests",
    "gigavqa.contract.responses",
)


def __getattr__(name: str) -> Any:
    # Found when it is asked for: a command line that only prints its help loads no HTTP client.
    if name in __all__:
        for place in _PLACES:
            module = import_module(place)
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module 'gigavqa' has no attribute '{name}'")
