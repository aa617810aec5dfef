"""What is wrong with knowledge."""

from gigavqa.construction.errors import BuildError


class KnowledgeError(BuildError):
    """A file of triples, or a table of properties, cannot be used."""


class BadFactError(ValueError):
    """One line, or one statement of it, is not used: the reason in one word, and what is wrong."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason
