"""The entry in `gigavqa --help` of the command that this package brings; its module is imported when it is called."""

from gigavqa.cli.lazy import CommandEntry

ACUITY = CommandEntry(
    module="gigavqa_acuity.command",
    panel="Plugins",
    help="Ask a model an eye chart, and say what it can see",
)
