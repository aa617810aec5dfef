"""`gigavqa up` says what is wrong before it starts anything."""

import resource
import socket
from dataclasses import replace
from pathlib import Path

import pytest
import tomli_w

from gigavqa.catalogue.load import load_catalogue
from gigavqa.launcher import preflight
from gigavqa.launcher.errors import ExtraMissingError, PortTakenError
from gigavqa.launcher.preflight import free_port, require_modules, viewer_port
from gigavqa.runtime.errors import FolderUnwritableError
from gigavqa.runtime.private_files import require_writable
from tests.cli.installation import MODEL, Installation


def started_nothing(installation: Installation) -> bool:
    """Whether neither a server nor a process that logs was started."""
    return not (installation.home / "logs").exists() and not (installation.home / "server").exists()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--engine", "nonsense"), "vllm, remote, simulated"),
        (("--endpoint", "http://127.0.0.1:9/v1"), "--endpoint is for --engine remote"),
        (("--engine", "remote"), "needs the address of a server: --endpoint http://HOST:PORT/v1"),
        (("--engine", "remote", "--endpoint", "http://me:secret@x"), "--api-key-env names a variable with a key"),
        (
            ("--engine", "remote", "--endpoint", "x", "--api-key-env", "NO_KEY"),
            "--endpoint: is to be an address such as",
        ),
        (
            ("--engine", "remote", "--endpoint", "http://x", "--api-key-env", "NO_KEY"),
            "NO_KEY: the variable",
        ),
        (("-m", "gpt-4.1"), "no engine here can load gpt-4.1"),
        (("--engine-arg", "gpu_memory_utilisation=0.8"), "did you mean 'gpu_memory_utilization'"),
        (("--engine-arg", "max_model_len=10"), "models add"),
        (("--engine-arg", "seed"), "NAME=VALUE"),
        (("--engine", "simulated", "--engine-arg", "seed=1"), "--engine-arg is for vLLM"),
    ],
)
def test_an_engine_that_cannot_be_is_refused_first(
    installation: Installation, arguments: tuple[str, ...], named: str
) -> None:
    """Status 2, one sentence with the choices, and nothing runs."""
    run = installation.run("up", "-m", MODEL, "--port", "0", *arguments)
    assert run.returncode == 2
    assert named in run.stderr
    assert started_nothing(installation)


def test_other_machines_are_let_in_by_name_only(installation: Installation) -> None:
    """Status 2 and what to say; said, the next check is reached."""
    arguments = ("up", "-m", MODEL, "--port", "0", "--host", "0.0.0.0")
    run = installation.run(*arguments)
    assert run.returncode == 2
    assert "--allow-unauthenticated" in run.stderr
    assert started_nothing(installation)
    assert "did you mean" in installation.run(*arguments, "--allow-unauthenticated", "--engine-arg", "sed=1").stderr


def test_weights_that_are_gone_are_named(installation: Installation, tmp_path: Path) -> None:
    """An entry whose folder is no more."""
    entry = load_catalogue()[MODEL].model_dump(mode="json", exclude_none=True)
    (installation.home / "catalogue").mkdir()
    text = tomli_w.dumps(entry | {"id": "gone", "weights": str(tmp_path / "gone")})
    (installation.home / "catalogue" / "gone.toml").write_text(text)
    run = installation.run("up", "-m", "gone", "--port", "0")
    assert run.returncode == 2
    assert str(tmp_path / "gone") in run.stderr
    assert started_nothing(installation)


def test_weights_that_nobody_can_fetch_are_one_sentence(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a network the sentence names the cache, the token and the way without either."""
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    for model in ("qwen3-vl-8b", "Qwen/Qwen9-VL"):
        run = replace(installation).run("up", "-m", model, "--port", "0")
        assert run.returncode == 2
        assert all(word in run.stderr for word in ("HF_HOME", "HF_TOKEN", "folder"))
        assert run.stderr.count("\n") == 1
    assert started_nothing(installation)


def test_a_missing_package_is_named_with_its_extra() -> None:
    """The line can be typed."""
    with pytest.raises(ExtraMissingError, match=r"no_such_module.*pip install '\.\[gateway\]'"):
        require_modules("gateway", ["json", "no_such_module"])


def test_a_viewer_whose_port_is_taken_goes_elsewhere_unless_it_was_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does it take the gateway's, which has not begun to listen."""
    host = "127.0.0.1"
    with socket.create_server((host, 0)) as listening:
        taken = listening.getsockname()[1]
        monkeypatch.setattr(preflight, "VIEWER_PORT", taken)
        assert viewer_port(host, None, 1) not in {0, taken}
        with pytest.raises(PortTakenError, match=rf"{taken} .* a viewer runs there .* `--viewer-port 0`"):
            viewer_port(host, taken, 1)
    free = free_port(host)
    monkeypatch.setattr(preflight, "VIEWER_PORT", free)
    assert viewer_port(host, None, 1) == viewer_port(host, free, 1) == free
    assert viewer_port(host, None, free) not in {0, free}


def test_a_home_that_cannot_be_written_to_is_named(installation: Installation) -> None:
    """With what to do, before anything is started."""
    file = installation.home / "file"
    file.touch()
    run = replace(installation, home=file / "home").run("up", "-m", MODEL, "--port", "0", "--engine", "simulated")
    assert run.returncode == 1
    assert f"{file}/home cannot be written to (Not a directory): " in run.stderr and "GIGAVQA_HOME" in run.stderr


def test_a_home_without_room_is_named(tmp_path: Path) -> None:
    """And nothing of the attempt stays there, nor of one that has room."""
    require_writable(tmp_path / "home")
    bound = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, bound[1]))
    try:
        with pytest.raises(FolderUnwritableError, match=f"{tmp_path}/home cannot be written to .*: make room there"):
            require_writable(tmp_path / "home")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, bound)
    assert list((tmp_path / "home").iterdir()) == []
