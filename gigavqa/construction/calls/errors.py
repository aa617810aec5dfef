"""What stops calls, and what is wrong with a reply."""

from gigavqa.construction.errors import BuildError


class CallInvalidError(BuildError):
    """A call is none that can be asked."""


class CallLogError(BuildError):
    """The record of a stage's calls cannot be read as it is."""


class BudgetInvalidError(BuildError):
    """A budget cannot be kept as it is given."""


class BatchRefusedError(BuildError):
    """The gateway refused all calls of a batch together."""


class ReplyFaultError(ValueError):
    """A reply cannot be read: the reason in one word, and what the model is told of it."""

    def __init__(self, reason: str, complaint: str) -> None:
        super().__init__(complaint)
        self.reason = reason
        self.complaint = complaint
