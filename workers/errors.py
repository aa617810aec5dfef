"""Errors of a worker besides the engine's own errors (`gigavqa.workers.engines.engine`)."""

from gigavqa.runtime.errors import SettingsInvalidError


class WorkerError(Exception):
    """A worker cannot do what it was asked for."""


class CheckpointUnknownError(WorkerError, SettingsInvalidError):
    """No checkpoint of this name can be built from code."""


class ModelsAmbiguousError(WorkerError, SettingsInvalidError):
    """It is not said which of several models is meant."""


class EngineArgumentError(WorkerError, SettingsInvalidError):
    """An argument of the engine is none that it knows, or none that a command line may give."""


class EndpointError(WorkerError, SettingsInvalidError):
    """It is not said where, or with which key, a remote engine is to be asked."""


class EngineNotInstalledError(WorkerError, SettingsInvalidError):
    """The package of the engine is not installed in this environment."""


class EngineLostError(WorkerError):
    """The engine died and could not be started again, as often as it was tried."""
