"""Errors of a measurement. Every class's docstring states the fact."""


class LoadError(Exception):
    """A service could not be measured."""


class LoadSettingsError(LoadError):
    """What was to be measured, or sent, is none of what can be."""


class ServiceRefusedError(LoadError):
    """The service did not answer the request that is sent before all others; the message says what it said."""
