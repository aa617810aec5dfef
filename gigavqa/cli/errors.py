"""Errors of the command line, and the exit status that a script sees for each room's errors."""

from http import HTTPStatus

from gigavqa.backup.errors import BackupInvalidError
from gigavqa.catalogue.errors import CatalogueError
from gigavqa.client.errors import GatewayUnreachableError, GigavqaError, ProblemError, QuestionsError
from gigavqa.construction.errors import BuildBusyError, BuildError
from gigavqa.contract.errors import JobsError, KeyNotFoundError, ResultsUnavailableError
from gigavqa.demo.errors import DemoError, DemoUnknownError
from gigavqa.evaluation.errors import EvaluationError
from gigavqa.launcher.errors import LaunchError, PortTakenError
from gigavqa.load.errors import LoadError, LoadSettingsError
from gigavqa.retrieval.errors import RetrievalError
from gigavqa.runtime.errors import InstallationError, RestoreRefusedError, SettingsInvalidError
from gigavqa.runtime.exit_statuses import ExitStatus
from gigavqa.tiling.errors import TilingError
from gigavqa.workers.errors import WorkerError


class CommandError(Exception):
    """A command could not do what was asked; the message says why in one line."""

    exit_code = ExitStatus.FAILED


class ArgumentError(CommandError):
    """An argument names nothing that there is, or arguments do not go together."""

    exit_code = ExitStatus.WRONG_INPUT


class JobUnsuccessfulError(CommandError):
    """The job ended otherwise than completed, or some of its requests failed."""

    exit_code = ExitStatus.PARTLY


class GatewayUnusableError(CommandError):
    """A gateway of another machine cannot be asked: it does not answer, serve the models, or have the data set."""

    exit_code = ExitStatus.NOT_NOW


class JobOpenError(CommandError):
    """A job that is to be deleted has not ended, or one over a data set that is."""

    exit_code = ExitStatus.NOT_NOW


_TEMPORARY_STATUSES = {HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS}
"""Refusals that depend on what the gateway holds at the moment, and not on how it was asked."""

EXPECTED = (
    CommandError,
    BuildError,
    CatalogueError,
    DemoError,
    EvaluationError,
    GigavqaError,
    InstallationError,
    JobsError,
    LaunchError,
    LoadError,
    RetrievalError,
    TilingError,
    WorkerError,
    OSError,
    UnicodeDecodeError,
)
"""What a user can run into; everything else is a fault of the program."""

_INPUTS = (
    BackupInvalidError,
    BuildError,
    CatalogueError,
    DemoUnknownError,
    EvaluationError,
    KeyNotFoundError,
    LoadSettingsError,
    QuestionsError,
    RetrievalError,
    SettingsInvalidError,
    TilingError,
    UnicodeDecodeError,
)
_FILES = (FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError, PermissionError)


def exit_status(error: BaseException) -> ExitStatus:
    """Return the status that the program ends with because of an error."""
    if isinstance(error, CommandError):
        return error.exit_code
    if isinstance(error, GatewayUnreachableError):
        return ExitStatus.NO_GATEWAY
    if isinstance(error, (BuildBusyError, PortTakenError, RestoreRefusedError, ResultsUnavailableError)):
        return ExitStatus.NOT_NOW
    if isinstance(error, ProblemError):
        return (
            ExitStatus.NOT_NOW
            if error.status in _TEMPORARY_STATUSES or error.status >= HTTPStatus.INTERNAL_SERVER_ERROR
            else ExitStatus.WRONG_INPUT
        )
    return ExitStatus.WRONG_INPUT if isinstance(error, (*_INPUTS, *_FILES)) else ExitStatus.FAILED
