"""What stops a build, as sentences that name file, record, field and remedy."""


class BuildError(ValueError):
    """A build cannot be made, or cannot go on, as it is asked for."""


class AnnotationFileError(BuildError):
    """An annotation file as a whole cannot be read: nothing of it is used."""


class BuildBusyError(BuildError):
    """Another process builds in the same folder."""
