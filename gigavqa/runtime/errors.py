"""Errors of an installation: settings, folders, and the state store."""

from gigavqa.runtime.extras import install_advice


class InstallationError(Exception):
    """The installation could not be set up, found or used as asked."""


class SettingsInvalidError(InstallationError):
    """An argument, a variable or a line of the settings file does not say what it must say; the message names it."""


class TracesMissingError(SettingsInvalidError):
    """Traces are to be sent, and OpenTelemetry is not installed."""

    def __init__(self) -> None:
        super().__init__(f"--traces wants OpenTelemetry: {install_advice('traces')}")


class PluginInvalidError(InstallationError):
    """An entry point of an installed package cannot be used; the message names it."""


class StateStoreUnavailableError(InstallationError):
    """There is no server to use: the embedded one has no binary, or ended before it answered."""


class StateStoreRefusedError(StateStoreUnavailableError, SettingsInvalidError):
    """REDIS_URL names a server that refuses who asks, or that loses or keeps no jobs: waiting does not help."""


class FolderNotPrivateError(StateStoreUnavailableError):
    """A folder that must be this user's alone belongs to somebody else."""


class FolderUnwritableError(InstallationError):
    """The folder of the installation takes no files: its disk is full or read-only, or it is another user's."""


class RestoreRefusedError(InstallationError):
    """An installation runs, or holds something, where a backup should be restored."""
