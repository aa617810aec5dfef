"""What stops a build, as sentences that name file, record, field and remedy."""


class BuildError(ValueError):
    """A build cannot be made, or cannot go on, as it is asked for."""


class AnnotationFileError(BuildError):
    """An annotation file as a whole cannot be read: nothing of it is used."""


class BuildBusyError(BuildError):
    """Another process builds in the same folder."""


class MarkError(ValueError):
    """One mark of a file is not used: the reason in one word, and what is wrong with which field."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason
