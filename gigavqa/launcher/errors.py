"""Errors of starting a machine's processes; wrong arguments are a `SettingsInvalidError`."""

from gigavqa.runtime.errors import SettingsInvalidError


class LaunchError(Exception):
    """A process could not be started, or did not stay."""


class PortTakenError(LaunchError):
    """Another program listens on the port."""


class ProcessFailedError(LaunchError):
    """A process of the service ended before it was ready, or again and again; the message names its log."""


class ExtraMissingError(LaunchError, SettingsInvalidError):
    """A package of an extra that is not installed is needed."""


class DevicesTooFewError(LaunchError, SettingsInvalidError):
    """The machine shows fewer GPUs than the workers need."""


class DevicesTooSmallError(LaunchError, SettingsInvalidError):
    """GPUs have less memory than the entry of a model asks for."""


class DevicesUnusableError(LaunchError):
    """There is no GPU, the driver does not list them, or workers cannot take them as they are."""
