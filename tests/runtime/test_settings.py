"""Settings of the gateway and of workers come from four places, and wrong ones are named where they stand."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from gigavqa.runtime.errors import SettingsInvalidError
from gigavqa.runtime.home import Home
from gigavqa.runtime.settings import ProcessSettings, SettingField
from gigavqa.service.settings import GatewaySettings
from gigavqa.viewer.settings import ViewerSettings
from gigavqa.workers.settings import WorkerSettings

KINDS: tuple[type[ProcessSettings], ...] = (GatewaySettings, WorkerSettings, ViewerSettings)
PAGE = (Path(__file__).parents[2] / "docs/operating.md").read_text(encoding="utf-8")
FILE = """
home = "/srv/gigavqa"
redis_url = "redis://state"
[gateway]
port = 9000
trusted_hosts = ["a.example.org", "b.example.org"]
[worker]
models = ["alpha", "beta"]
engine_args = ["compilation_config={\\"level\\": 1, \\"x\\": 2}"]
shift_seconds = 30
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A settings file of a whole installation."""
    path = tmp_path / "gigavqa.toml"
    path.write_text(FILE)
    return path


def run(kind: type[ProcessSettings], argv: Sequence[str], environ: Mapping[str, str]) -> tuple[int, str]:
    """The status and the last words of a process with these settings."""
    module = kind.program.rpartition(" ")[2]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIGAVQA_")}
    command = [sys.executable, "-m", module, *argv]
    ended = subprocess.run(command, env=clean | environ, capture_output=True, text=True, timeout=120, check=False)
    return ended.returncode, ended.stdout or ended.stderr


def test_arguments_go_before_variables_and_these_before_the_file(file: Path) -> None:
    """The same setting in one place more each time; the strongest that speaks is heard, and defaults last."""
    environ = {"GIGAVQA_CONFIG": str(file)}
    assert GatewaySettings.read([], {}).port == 8470
    assert GatewaySettings.read([], environ).port == 9000
    assert GatewaySettings.read([], environ | {"GIGAVQA_PORT": "9001"}).port == 9001
    assert GatewaySettings.read(["--port", "9002"], environ | {"GIGAVQA_PORT": "9001"}).port == 9002


def test_one_file_sets_every_process_of_an_installation(file: Path) -> None:
    """What all share stands above the tables, and commands that read no argument see it, too."""
    argv = ["--config", str(file)]
    gateway, worker = GatewaySettings.read(argv, {}), WorkerSettings.read(argv, {})
    home = Home.from_environment({"GIGAVQA_CONFIG": str(file)})
    for settings in (gateway, worker, home):
        assert (settings.data, settings.redis_url) == (Path("/srv/gigavqa/data"), "redis://state")
    assert gateway.trusted_hosts == ("a.example.org", "b.example.org")
    assert worker.models == ("alpha", "beta")
    assert worker.engine_args == ('compilation_config={"level": 1, "x": 2}',)


def test_a_variable_holds_several_models_and_several_engine_arguments() -> None:
    """As a pod has them: models with commas between, engine arguments on lines, for their values may be JSON."""
    environ = {
        "GIGAVQA_WORKER_MODELS": "alpha, beta",
        "GIGAVQA_WORKER_ENGINE_ARGS": "enforce_eager=true\ncompilation_config={'a': 1, 'b': 2}\n",
    }
    settings = WorkerSettings.read([], environ)
    assert settings.models == ("alpha", "beta")
    assert settings.engine_args == ("enforce_eager=true", "compilation_config={'a': 1, 'b': 2}")
    repeated = WorkerSettings.read(["--model", "gamma", "--model", "delta", "--no-previews"], environ)
    assert (repeated.models, repeated.previews) == (("gamma", "delta"), False)


@pytest.mark.parametrize(("shift", "interactive"), [("30", 30.0), ("600", 60.0)])
def test_an_interactive_shift_is_no_longer_than_a_shift(shift: str, interactive: float) -> None:
    """Unless the operator says so."""
    assert WorkerSettings.read(["--shift", shift], {}).interactive_shift_seconds == interactive
    assert WorkerSettings.read(["--shift", shift, "--interactive-shift", "90"], {}).interactive_shift_seconds == 90


def test_a_state_store_is_named_with_its_scheme() -> None:
    """And a wrong address is not repeated: a password may stand in it."""
    with pytest.raises(SettingsInvalidError, match=r"REDIS_URL: must begin with redis://.*") as caught:
        WorkerSettings.read([], {"REDIS_URL": ":secret@localhost:6379"})
    assert "secret" not in str(caught.value)


def test_wrong_values_are_named_where_they_stand(tmp_path: Path) -> None:
    """One line for all of them: an argument, a variable and a line of the file."""
    path = tmp_path / "gigavqa.toml"
    path.write_text("[worker]\nshift_seconds = 'long'\n")
    with pytest.raises(SettingsInvalidError) as caught:
        WorkerSettings.read(["--lease", "0", "--config", str(path)], {"GIGAVQA_WORKER_SPEED": "fast"})
    told = str(caught.value)
    assert [part.partition(": must")[0] for part in told.split("; ")] == [
        "GIGAVQA_WORKER_SPEED",
        "--lease",
        f"{path}: [worker] shift_seconds",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("hoem = '/srv'", "there is no setting 'hoem'; did you mean 'home'"),
        ("[gatway]\nport = 1", "there is no setting 'gatway'; did you mean 'gateway'"),
        ("[gateway]\nprot = 1", "[gateway]: there is no setting 'prot'; did you mean 'port'"),
        ("gateway = 1", "'gateway' is to be a table, [gateway]"),
        ("home = ", "cannot be read: Invalid value (at end of document)"),
    ],
)
def test_what_the_file_should_not_have_is_an_error(tmp_path: Path, text: str, told: str) -> None:
    """A setting that is silently not applied would be found out by its absence."""
    path = tmp_path / "gigavqa.toml"
    path.write_text(text)
    with pytest.raises(SettingsInvalidError) as caught:
        GatewaySettings.read([], {"GIGAVQA_CONFIG": str(path)})
    assert told in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """Whoever names one wants it read."""
    with pytest.raises(SettingsInvalidError, match=r"none\.toml cannot be read"):
        Home.from_environment({"GIGAVQA_CONFIG": str(tmp_path / "none.toml")})


def test_making_settings_reads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only who asks for the environment gets it."""
    monkeypatch.setenv("GIGAVQA_PORT", "1")
    assert GatewaySettings().port == 8470


@pytest.mark.parametrize("kind", KINDS)
def test_wrong_settings_end_a_process_with_one_line(kind: type[ProcessSettings]) -> None:
    """Status 2, for a wrong value and for what is no argument."""
    status, told = run(kind, [], {"GIGAVQA_CONFIG": "/nowhere.toml"})
    assert (status, told.count("\n")) == (2, 1)
    assert "/nowhere.toml cannot be read" in told
    status, told = run(kind, ["--prot", "1"], {})
    assert (status, told.count("\n")) == (2, 1)
    assert "--prot" in told


def test_a_worker_of_no_model_says_where_one_is_named() -> None:
    """Status 2, before anything starts."""
    status, told = run(WorkerSettings, [], {})
    assert status == 2
    assert "GIGAVQA_WORKER_MODELS" in told


@pytest.mark.parametrize("kind", KINDS)
def test_help_lists_every_setting(kind: type[ProcessSettings]) -> None:
    """With its argument, its variable and its default."""
    status, told = run(kind, ["--help"], {"COLUMNS": "10000"})
    assert status == 0
    for place in kind.places():
        assert place.argument in told
        assert f"{place.field.description} ({place.variable}; default: {place.default})" in told


def rows(kind: type[ProcessSettings]) -> list[str]:
    """The settings as the page has them, without those that every process has."""
    return [row(place) for place in kind.places() if not place.is_shared or kind is GatewaySettings]


def row(place: SettingField) -> str:
    """One line of the table."""
    return f"| `{place.variable}` | `{place.argument}` | {place.default} | {place.field.description} |"


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_has_every_setting(kind: type[ProcessSettings]) -> None:
    """Line by line, as the fields say it."""
    lines = PAGE.splitlines()
    assert [line for line in rows(kind) if line not in lines] == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_name_in_the_file_follows_from_the_variable(kind: type[ProcessSettings]) -> None:
    """As the page says, so that it need not list both."""
    prefix = {"worker": "gigavqa_worker_", "viewer": "gigavqa_viewer_"}.get(kind.table, "gigavqa_")
    for place in kind.places():
        name = place.variable.lower()
        assert place.key in {name.removeprefix(prefix), name.removeprefix("gigavqa_")}
