"""Errors of backups."""

from gigavqa.runtime.errors import InstallationError, StateStoreUnavailableError


class SnapshotRefusedError(StateStoreUnavailableError):
    """The state store does not send its whole state, as it would to a replica."""


class BackupInvalidError(InstallationError):
    """A folder is no backup, or not all of one: something of it is gone or was changed."""
