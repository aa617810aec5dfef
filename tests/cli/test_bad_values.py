"""Every value that an option or argument cannot have is refused in one sentence: which, what was given, what may be."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperArgument, TyperOption

from gigavqa.cli import app
from tests.cli.command_tree import TREE, NamedCommand
from tests.cli.conftest import MODEL
from tests.cli.installation import Installation

Refused = Callable[[list[str]], str]
FORMS = {
    "NAME=VALUE": "nonsense",
    "COLUMN=FIELD": "nonsense",
    "CELL": "S0-V2",
    "WHEN": "yesterday",
    "WxH": "big",
    "X,Y,W,H": "one",
    "ROW,COL": "1-1",
    "ROWSxCOLS": "two",
    "BENCHMARK": "no-such-benchmark",
}
"""What no option of this form takes."""

LONG = "n" * 5000

GOOD = {
    "MODEL": MODEL,
    "DATASET": "tiny",
    "SAMPLE": "cctv-0001",
    "WxH": "100x100",
    "IMAGE": "tiny/images/plaza.png",
    "IMAGE...": "tiny/images/plaza.png",
    "CHECKPOINT": MODEL,
    "QUERY": "heron",
    "NAME": "street",
    "OUT": "new",
}
FOREIGN = ("Value error", "Input should", "validation error", "pydantic", "Traceback", "a fault of gigavqa")
BESIDE = {
    "place": ("--condition", "V3"),
    "region": ("--condition", "V3"),
    "grid": ("--condition", "V3", "--place", "1,1"),
}
"""What goes with an option, without which it is not looked at."""


def wrong_values(parameter: Any) -> Iterator[str]:
    """Values that a parameter cannot have, by its type or form."""
    described = parameter.type_descriptor
    info = described.parameter_info
    if described.choices:
        yield "nonsense"
    elif described.annotation in {int, float}:
        yield "many"
        yield from (str(bound) for bound in (info.min and info.min - 1, info.max and info.max + 1) if bound)
        yield from ["-1"] if info.min == 0 else []
        yield from ["0"] if info.min == 1 else []
    elif getattr(info, "exists", False):
        yield "/no/such/place"
    elif parameter.metavar in FORMS:
        yield FORMS[parameter.metavar]


CASES = [
    pytest.param(named, parameter, value, id=f"{named} {parameter.name} {value}")
    for named in TREE
    for parameter in named.command.params
    if isinstance(parameter, TyperArgument | TyperOption)
    if not (parameter.hidden or getattr(parameter, "is_flag", False))
    for value in wrong_values(parameter)
]


def arguments(named: NamedCommand, tested: Any, value: str, place: Path) -> list[str]:
    """The command with what it must have, and one wrong value."""
    words = list(named.words)
    for parameter in named.command.params:
        if parameter is not tested and not parameter.required:
            continue
        metavar = str(parameter.metavar or "")
        given = value if parameter is tested else GOOD.get(metavar, str(place.parent if metavar == "FOLDER" else place))
        words += [given] if isinstance(parameter, TyperArgument) else [f"{max(parameter.opts, key=len)}={given}"]
    return [*words, *BESIDE.get(str(tested.name), ())] + (["tiny/images/plaza.png"] if tested.name in BESIDE else [])


@pytest.fixture
def printed(installation: Installation, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Refused:
    """Run a command in this process, which is to end with status 2, and return what it says on standard error."""
    for name, told in installation.environment.items():
        monkeypatch.setenv(name, told)

    def run(words: list[str]) -> str:
        monkeypatch.setattr(sys, "argv", ["gigavqa", *words])
        with pytest.raises(SystemExit) as ended:
            app.main()
        assert ended.value.code == 2
        return capsys.readouterr().err

    return run


@pytest.mark.parametrize(("named", "parameter", "value"), CASES)
def test_a_wrong_value_is_refused_in_a_sentence(
    tmp_path: Path, printed: Refused, named: NamedCommand, parameter: Any, value: str
) -> None:
    """One line, before anything is begun, with status 2."""
    place = tmp_path / "records.jsonl"
    place.write_text("")
    said = printed(arguments(named, parameter, value, place))
    name = max(parameter.opts, key=len) if isinstance(parameter, TyperOption) else ""
    assert said.count("\n") == 1
    assert said.startswith("error: ")
    assert name in said
    assert f"'{value}'" in said
    assert [word for word in FOREIGN if word in said] == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["submit", "-d", "tiny"], "--model is missing: Catalogue id of a model"),
        (["submit", "--nope"], "no such option: --nope"),
        (["doctor", "--port"], "option '--port' requires an argument"),
        (["sumbit"], "no such command 'sumbit'. Did you mean 'submit'?"),
        (["dataset", "nope"], "no such command 'nope'; `gigavqa dataset --help` says more"),
        (["jobs", "--status", "complete"], "did you mean 'completed'"),
    ],
)
def test_what_cannot_be_read_is_one_sentence_too(printed: Refused, words: list[str], said: str) -> None:
    """No box, no line of usage: what is wrong, and where more is said."""
    told = printed(words)
    assert said in told
    assert told.count("\n") == 1


def test_a_variable_is_named_where_the_value_came_from_it(printed: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody finds an option that he has not written."""
    monkeypatch.setenv("GIGAVQA_ALLOW_UNAUTHENTICATED", "perhaps")
    told = printed(["up", "-m", MODEL])
    assert told.startswith("error: GIGAVQA_ALLOW_UNAUTHENTICATED 'perhaps' is neither true nor false; ")


@pytest.mark.parametrize(
    "words",
    [
        ["dataset", "show", LONG],
        ["dataset", "check", LONG],
        ["dataset", "delete", LONG],
        ["dataset", "import", "pyproject.toml", LONG],
        ["score", LONG, "pyproject.toml"],
        ["plan", "qwen3-vl-8b", LONG],
        ["prompt", "a", "--protocol", "S0", "-d", LONG],
    ],
)
def test_a_name_that_no_data_set_can_have_is_no_fault_of_files(installation: Installation, words: list[str]) -> None:
    """Of 5,000 characters, as of a variable that holds something else."""
    run = installation.run(*words)
    assert run.returncode == 2, run.stderr
    assert run.stderr.count("\n") == 1
    assert "data set" in run.stderr
    assert "Errno" not in run.stderr
    assert len(run.stderr) < 1000
