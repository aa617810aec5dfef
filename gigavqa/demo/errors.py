"""Errors of the demo data set. Every class's docstring states the fact."""


class DemoError(Exception):
    """The demo data set could not be made."""


class DemoUnknownError(DemoError):
    """No data set is drawn for what was named."""


class LayoutError(DemoError):
    """A scene has no room left for an object that it must show."""


class RecordInvalidError(DemoError):
    """A record that was written breaks a check of the benchmark."""
