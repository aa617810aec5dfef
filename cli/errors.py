"""What can go wrong at the command line beyond what the other rooms name. `exit_code` is what a script sees."""


class CommandError(Exception):
    """A command could not do what was asked; the message says why in one line."""

    exit_code = 1


class ArgumentError(CommandError):
    """Arguments are each valid and do not go together."""

    exit_code = 2


class GatewayUnreachableError(CommandError):
    """No gateway answers at the address."""

    exit_code = 3


class ProblemError(CommandError):
    """The gateway refused the request with a problem document (RFC 9457)."""

    exit_code = 4


class JobUnsuccessfulError(CommandError):
    """The job ended otherwise than completed, or some of its requests failed."""

    exit_code = 5


class PortTakenError(CommandError):
    """Another program listens on the port."""


class ProcessFailedError(CommandError):
    """A process of the service ended before it was ready, or again and again; the message names its log."""


class PackageMissingError(CommandError):
    """The command needs packages of an extra that is not installed."""
