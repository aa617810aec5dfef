"""`gigavqa results`: every raw response of a job, as NDJSON, or its chats as people read them."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal, TextIO, cast

import typer

from gigavqa.cli.arguments import Condition, JobArgument, OutputOption, UrlOption
from gigavqa.cli.client import TerminalClient
from gigavqa.cli.completion import complete_models, complete_protocols
from gigavqa.cli.console import err, print_error
from gigavqa.cli.errors import ArgumentError
from gigavqa.client.calls import ResultFilter
from gigavqa.client.connection import DEFAULT_URL
from gigavqa.reports.writers.escaping import escape_controls_json
from gigavqa.runtime.exit_statuses import ExitStatus
from gigavqa.runtime.suggestions import did_you_mean


def results(
    job_id: JobArgument = "latest",
    output: OutputOption = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", metavar="MODEL", help="Only this model's.", autocompletion=complete_models),
    ] = None,
    protocol: Annotated[
        str | None, typer.Option(help="Only this protocol's, such as direct.", autocompletion=complete_protocols)
    ] = None,
    condition: Annotated[Condition | None, typer.Option("--condition", "-c", help="Only this condition's.")] = None,
    rounds: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only of chats that could have had so many rounds.")
    ] = None,
    sample: Annotated[str | None, typer.Option("--sample", "-s", metavar="ID", help="Only this sample's.")] = None,
    status: Annotated[Literal["ok", "failed"] | None, typer.Option(help="Only answers, or failures.")] = None,
    after: Annotated[str | None, typer.Option(metavar="CURSOR", help="Only those recorded behind this cursor.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many.")] = None,
    chat: Annotated[bool, typer.Option("--chat", help="Write chats for people: a few lines for each round.")] = False,
    url: UrlOption = DEFAULT_URL,
) -> None:
    """Write the raw responses of a job, one JSON object a line, in the order in which they were recorded.

    \b
    gigavqa results latest -o responses.ndjson
    gigavqa results latest --condition V2 | jq -r '.turns[-1].text'
    gigavqa results latest --status failed | jq .failure
    gigavqa results latest --sample vh-0007 --chat

    Ends with status 1 where responses that are recorded cannot be read; all others are written.
    """
    asked = {
        "model": model,
        "protocol": protocol,
        "condition": condition,
        "max_rounds": rounds,
        "sample_id": sample,
        "status": status,
    }
    filters = cast(ResultFilter, {name: value for name, value in asked.items() if value is not None})
    count = lost = 0
    with TerminalClient(url) as gateway, _open_output(output) as file:
        job = gateway.named(job_id)
        for line in gateway.result_lines(job, after=after, limit=limit, **filters):
            # Looked for as text first: few lines are worth reading as JSON.
            is_lost = '"unreadable"' in line and "unreadable" in json.loads(line)
            shown = escape_controls_json(line) if file.isatty() else line
            file.write((_describe_line(line, is_lost=is_lost) if chat else shown) + "\n")
            count += 1
            lost += is_lost
        if not count:
            _require_asked(gateway, job, model, protocol, sample)
            err.print("no response fits what was asked for" if filters or after else "the job has no response yet")
    if output:
        err.print(f"{count - lost} responses written to {output}")
    if lost:
        print_error(f"{lost} responses are recorded and cannot be read now; their lines say why (`unreadable`)")
        raise typer.Exit(ExitStatus.FAILED)


def _require_asked(
    gateway: TerminalClient, job_id: str, model: str | None, protocol: str | None, sample: str | None
) -> None:
    """Say of names of which there is no response which the job does not know. Raises ArgumentError, NotFoundError."""
    spec = gateway.job(job_id).spec
    protocols = sorted({cell.protocol for cell in spec.cells})
    for option, given, known in (("--model", model, spec.models), ("--protocol", protocol, protocols)):
        if given and known and given not in known:
            raise ArgumentError(
                f"{option} '{given}': the job does not ask it{did_you_mean(given, known) or ';'} it asks "
                f"{', '.join(known)}"
            )
    if sample:
        gateway.require_sample(spec.dataset, sample)


def _describe_line(line: str, *, is_lost: bool) -> str:
    # Half a second, which whoever wants the lines as they are need not wait for.
    from gigavqa.cli.chats import chat_lines  # noqa: PLC0415
    from gigavqa.contract.responses import UnreadableResponse  # noqa: PLC0415
    from gigavqa.contract.schema_versions import read_response  # noqa: PLC0415

    read = UnreadableResponse.model_validate_json(line, extra="ignore") if is_lost else read_response(line, "ignore")
    return "\n".join(chat_lines(read)) + "\n"


@contextmanager
def _open_output(output: Path | None) -> Iterator[TextIO]:
    if output is None:
        yield sys.stdout
        return
    with output.open("w", encoding="utf-8") as file:
        yield file
