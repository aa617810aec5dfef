"""`gigavqa ask`: from a folder of pictures and a file of questions to answers, a page and verdicts."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from gigavqa.cli.answers import AnswerFiles, AnswerScorer, show_answers, write_answers
from gigavqa.cli.arguments import (
    TITLE,
    ClosingOption,
    Condition,
    DecimalOption,
    DisplayOption,
    GatewayPortOption,
    JobOptions,
    JsonOption,
    RepeatsOption,
    ResubmitOption,
    SeedOption,
    SettingsOption,
    TitleOption,
    UrlOption,
    parse_pair,
    parse_sampling,
    parse_setting,
)
from gigavqa.cli.client import TerminalClient
from gigavqa.cli.completion import complete_models, complete_protocols
from gigavqa.cli.console import err, out, print_json
from gigavqa.cli.dataset_display import describe_kinds, describe_leaving_out, problem_lines, report_import
from gigavqa.cli.errors import ArgumentError
from gigavqa.cli.following import require_success
from gigavqa.cli.launch import service_for
from gigavqa.cli.lookup import catalogue, model_entry
from gigavqa.cli.progress import summary_lines, warning_lines
from gigavqa.cli.reporting import print_report_table
from gigavqa.client.asking import QuestionFile
from gigavqa.client.connection import DEFAULT_URL
from gigavqa.client.errors import QuestionsError
from gigavqa.contract.jobs import Job, JobSpec
from gigavqa.evaluation.capabilities import AnswerForms
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.records import RECORD_SUFFIXES
from gigavqa.evaluation.truth_checks import count_answer_kinds
from gigavqa.runtime.exit_statuses import ExitStatus
from gigavqa.runtime.home import Home
from gigavqa.runtime.plurals import count_noun

Pictures = Annotated[
    Path,
    typer.Argument(
        metavar="PICTURES", exists=True, help="The folder of pictures; left out where it is that of QUESTIONS."
    ),
]
Source = Annotated[
    Path | None,
    typer.Argument(
        metavar="QUESTIONS",
        exists=True,
        dir_okay=False,
        show_default=False,
        help="The file of questions: CSV, TSV, JSON, JSONL or Parquet, with or without the pictures in it.",
    ),
]
Models = Annotated[
    list[str],
    typer.Option("--model", "-m", metavar="MODEL", help="Whom to ask (repeatable).", autocompletion=complete_models),
]
Conditions = Annotated[
    list[Condition],
    typer.Option(
        "--condition",
        "-c",
        help="What is shown: V0 nothing, V0F nothing where an answer is required, V1 a thumbnail, V2 the full image, "
        "V3 the regions of the evidence, V4 both, V5 the images without evidence, V6 those with it (repeatable).",
    ),
]
Protocols = Annotated[
    list[str] | None,
    typer.Option(
        "--protocol",
        metavar="PROTOCOL",
        show_default=False,
        help="direct, step-by-step, or own (repeatable; own where there is a prompt.toml, else direct).",
        autocompletion=complete_protocols,
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option("--map", metavar="COLUMN=FIELD", help="What a column is: foto=image, label=answer (repeatable)."),
]
Limit = Annotated[int | None, typer.Option(min=1, help="Ask only so many questions, the first ones.")]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FOLDER", help="Where page and verdicts go; below GIGAVQA_HOME if omitted."),
]
Prompt = Annotated[
    Path | None,
    typer.Option(
        exists=True, dir_okay=False, help="A prompt.toml of your own; the one beside QUESTIONS is found without."
    ),
]
LeaveOut = Annotated[
    bool, typer.Option("--leave-out-bad", help="Ask the good questions beside bad ones, which are named.")
]


def ask(
    pictures: Pictures,
    model: Models,
    questions: Source = None,
    condition: Conditions = [Condition.V2],  # noqa: B006 - typer reads it, and nobody writes it
    protocol: Protocols = None,
    map: Columns = None,
    decimal: DecimalOption = None,
    limit: Limit = None,
    output: Output = None,
    prompt: Prompt = None,
    leave_out_bad: LeaveOut = False,
    set_: SettingsOption = None,
    option: JobOptions = None,
    repeats: RepeatsOption = 1,
    seed: SeedOption = 0,
    closing: ClosingOption = None,
    title: TitleOption = "",
    display: DisplayOption = "",
    json: JsonOption = False,
    again: ResubmitOption = False,
    port: GatewayPortOption = 0,
    url: UrlOption = DEFAULT_URL,
) -> None:
    """Ask your own questions about your own pictures, and write a page and every verdict.

    Questions and pictures become a data set of the data root, named after the file and its content, so that every other
    command knows them. A gateway that serves the models is used; without one, a service runs as long as this command.
    The same command again goes on where it was left, or shows what was answered.

    \b
    gigavqa ask pictures/ questions.csv -m qwen3-vl-8b
    gigavqa ask pictures/ questions.csv -m qwen3-vl-8b -c V0 -c V2 --protocol direct --protocol step-by-step
    gigavqa ask pictures/ questions.csv -m qwen3-vl-8b --map foto=image --map label=answer --limit 20 -o answers
    gigavqa ask scenes/ questions.csv -m qwen3-vl-8b --show "bands=4,3,2 stretch=percentile:2:98"
    gigavqa ask MMBench_DEV_EN.tsv -m qwen3-vl-8b --closing choice --set temperature=0 --json
    """
    asking: dict[str, Any] = {
        "sampling": parse_sampling(set_),
        "options": dict(parse_setting(text, "--option", "thumbnail=768") for text in option or ()),
        "repeats": repeats,
        "seed": seed,
        "metadata": {TITLE: title} if title else {},
    }
    columns = dict(parse_pair(text, "--map", "foto=image") for text in map or ())
    home = Home.from_environment()
    folder, source = _input_paths(pictures, questions)
    entries = [model_entry(name) for name in model]
    asked = QuestionFile(
        source,
        folder,
        conditions=[str(each) for each in condition],
        protocols=protocol or (),
        columns=columns,
        prompt=prompt,
        limit=limit,
        bad_left_out=leave_out_bad,
        data=home.data,
        decimal=decimal,
        closing=closing,
        title=title,
        show=display,
    )
    dataset = _dataset(asked)
    spec = asked.spec(dataset, [entry.id for entry in entries], **asking)
    with service_for(spec, model, home, url, port) as (gateway, is_own):
        job = _submit(gateway, spec, again=again)
        with _exit_on_interrupt(job, is_own=is_own):
            answers = AnswerScorer(dataset, catalogue())
            job = show_answers(gateway, job, answers)
            written = write_answers(gateway, job, answers, output or home.folder / "reports" / job.id)
            _print_json(job, written) if json else _print_answers(job, written)
            if not json:
                place = written.page.resolve().as_uri() if is_own else f"{gateway.url}/jobs/{job.id}"
                out.print(f"open      {place} in a browser", markup=False)
    require_success(job)


def _input_paths(pictures: Path, questions: Path | None) -> tuple[Path, Path]:
    """Return the folder of pictures and the file of questions."""
    folder, source = (pictures.parent, pictures) if questions is None else (pictures, questions)
    if folder.is_dir() and source.is_dir():
        found = sorted(path.name for path in source.iterdir() if path.suffix.lower() in RECORD_SUFFIXES)
        there = f"; there is {', '.join(found)}" if found else ""
        raise ArgumentError(f"no file of questions is named: gigavqa ask {pictures} QUESTIONS{there}")
    return folder, source


def _dataset(asked: QuestionFile) -> Dataset:
    """Return the data set of exactly these questions and pictures, made where it is not there."""
    try:
        dataset, made = asked.made()
    except QuestionsError as error:
        if not error.problems:
            raise
        lines = "".join(f"\n  {line}" for line in problem_lines(error.problems))
        remedy = "" if asked.bad_left_out else describe_leaving_out(error.others, "asks")
        raise ArgumentError(f"nothing asked: {count_noun(len(error.problems), 'problem')}{lines}{remedy}") from error
    if made:
        report_import(dataset.name, made)
    kinds = describe_kinds(count_answer_kinds(dataset.samples, AnswerForms.of(dataset.benchmark).answer_form))
    err.print(f"data set  {dataset.name}: {count_noun(len(dataset.samples), 'question')} ({kinds})")
    return dataset


def _submit(gateway: TerminalClient, spec: JobSpec, *, again: bool) -> Job:
    """Return the job of this specification: the earlier one, unless it is to be asked again or could not be."""
    job = gateway.submit_once(spec, again=again)
    if job.request_counts.completed:
        err.print(f"job       {job.id}, asked before; --again asks anew")
    else:
        err.print(f"job       {job.id}: {count_noun(job.request_counts.total, 'request')}")
    for line in warning_lines(job):
        err.print(line)
    return job


@contextmanager
def _exit_on_interrupt(job: Job, *, is_own: bool) -> Iterator[None]:
    """Say what Ctrl-C leaves behind and how to come back to it, and end with status 130 when it comes."""
    try:
        yield
    except KeyboardInterrupt:
        goes_on = f"job {job.id} keeps its answers" if is_own else f"job {job.id} goes on"
        err.print(f"{goes_on}; the same command within a day comes back to it")
        raise typer.Exit(ExitStatus.INTERRUPTED) from None


def _print_json(job: Job, written: AnswerFiles) -> None:
    """Print the job, its report, and where everything is."""
    print_json(
        {
            "job": job.model_dump(mode="json"),
            "report": written.report.model_dump(mode="json"),
            "page": str(written.page),
            "verdicts": [str(path) for path in written.verdicts],
        }
    )


def _print_answers(job: Job, written: AnswerFiles) -> None:
    """Print the accuracies, and say where everything is."""
    for line in summary_lines(job):
        err.print(line)
    print_report_table(written.report, "accuracy")
    if job.spec.closing:
        print_report_table(written.report, "closing")
    out.print(f"page      {written.page}")
    out.print(f"verdicts  {', '.join(map(str, written.verdicts))}")
    err.print(f"next      gigavqa dataset show {job.spec.dataset}; while a gateway runs: gigavqa report {job.id}")
