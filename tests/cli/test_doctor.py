"""The doctor tells a working installation from a broken one."""

import asyncio
import json
import os
import socket
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
import redis

from gigavqa.cli.checks import Diagnosis, faults, hardware, software, state
from gigavqa.cli.commands.doctor import check_one
from gigavqa.launcher import driver
from gigavqa.runtime.embedded_store import start_store
from gigavqa.runtime.errors import StateStoreUnavailableError
from gigavqa.store.reachability import require_answer
from tests.cli.installation import Installation
from tests.waiting import wait_until
from tests.workers.remote_server import Elsewhere, serving

SOFTWARE = {"Python", "libvips", "OpenSlide", "PyTorch", "vLLM", "attention", "server"}
CHECKS = SOFTWARE | {"CPU", "GPU", "models", "data root", "images elsewhere", "disk", "endpoint", "port", "repairs"}
CHECKS |= {"results", "/dev/shm"}


@pytest.mark.slow
def test_doctor_looks_at_every_part(installation: Installation) -> None:
    """Each finding that is not ok says what to do."""
    run = installation.run("doctor", "--json", "--port", "0", timeout=200)
    findings = json.loads(run.stdout)
    assert {finding["name"] for finding in findings} == CHECKS
    assert [finding for finding in findings if finding["status"] != "ok" and not finding["advice"]] == []
    assert run.returncode == any(finding["status"] == "fail" for finding in findings)


def test_the_operator_sees_which_addresses_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """And which hosts may be private, since errors tell neither to whoever asks for an image."""
    monkeypatch.setenv("GIGAVQA_REMOTE_IMAGES", "https://tiles.example.org/,s3://lab/")
    monkeypatch.setenv("GIGAVQA_REMOTE_PRIVATE_HOSTS", "tiles.example.org")
    told = state.remote_images().found
    assert told == "https://tiles.example.org/, s3://lab/; at private addresses too: tiles.example.org"
    monkeypatch.setenv("GIGAVQA_REMOTE_IMAGES", "")
    assert state.remote_images().found.startswith("GIGAVQA_REMOTE_IMAGES lists none")


def test_each_finding_is_printed_before_the_next_check(capsys: pytest.CaptureFixture[str]) -> None:
    """With its advice, and letter by letter, whatever brackets and colons it has."""
    check_one(lambda: Diagnosis("disk", "warn", "3 GB at [home] :100:", "free some"), say=True)

    def next_check() -> Diagnosis:
        first, second = capsys.readouterr().out.splitlines()
        assert first.split() == ["warn", "disk", "3", "GB", "at", "[home]", ":100:"]
        assert second.strip() == "free some"
        return Diagnosis("port", "ok", "8470 is free")

    check_one(next_check, say=True)
    assert capsys.readouterr().out.split() == ["ok", "port", "8470", "is", "free"]


def test_one_process_imports_the_engine_and_tells_how_far_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    """A vLLM that cannot be imported says nothing against PyTorch; what packages print of themselves is passed over."""
    monkeypatch.setattr(software, "_IMPORTS", "print('PyTorch 2.13')\nprint('INFO ...')\nimport no_such_engine")
    with software.EngineImports() as engine:
        torch, vllm = engine.torch(), engine.vllm()
    assert (torch.status, torch.found) == ("ok", "2.13")
    assert (vllm.status, vllm.found) == ("fail", "ModuleNotFoundError: No module named 'no_such_engine'")
    assert vllm.advice


def test_a_check_that_stumbles_hides_none_of_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    """It is a finding itself."""

    def disk() -> Diagnosis:
        raise ZeroDivisionError("no bytes")

    finding = check_one(disk, say=True)
    assert (finding.name, finding.status) == ("disk", "fail")
    assert "ZeroDivisionError('no bytes')" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ('echo "couldn\'t communicate with the NVIDIA driver" >&2; exit 9', "couldn't communicate"),
        ("sleep 60", "has not answered"),
        ("echo 0, what", "in a way that is not understood"),
    ],
)
def test_a_driver_that_is_out_of_order_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, told: str
) -> None:
    """Of the GPUs, with what to do; what else asks it points there."""
    (tmp_path / "nvidia-smi").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(driver, "ANSWER_SECONDS", 0.5)
    found = [check() for check in (hardware.gpu, faults.repairs, hardware.models)]
    assert [each.status for each in found] == ["fail", "warn", "warn"]
    assert told in found[0].found
    assert all(each.advice for each in found)


def test_a_driver_that_hangs_is_waited_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By all checks together, which say the same of it; and what its script started has ended."""
    (tmp_path / "nvidia-smi").write_text(f"#!/bin/sh\nsleep 60 &\necho $! >> {tmp_path}/started\nwait\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(driver, "ANSWER_SECONDS", 0.5)
    found = [check().found for check in (hardware.gpu, hardware.models)]
    assert all("nvidia-smi has not answered for 0.5 s" in each for each in found)
    (started,) = (tmp_path / "started").read_text().split()
    wait_until(lambda: not _runs(int(started)), what="the end of what the driver's script started")


def _runs(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def test_a_home_that_cannot_be_written_to_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever room its disk has."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("GIGAVQA_HOME", str(tmp_path / "file" / "home"))
    finding = hardware.disk()
    assert (finding.status, finding.found) == ("fail", f"{tmp_path}/file cannot be written to")
    assert "GIGAVQA_HOME" in finding.advice


@pytest.mark.parametrize(
    ("free", "status"),
    [(2_900_000_000, "fail"), (3_100_000_000, "warn"), (19_900_000_000, "warn"), (20_100_000_000, "ok")],
)
def test_free_space_is_told_in_gigabytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, status: str
) -> None:
    """The demo takes 3 of them; below 20, pyramids may not fit."""
    monkeypatch.setenv("GIGAVQA_HOME", str(tmp_path))
    monkeypatch.setattr(hardware.shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    finding = hardware.disk()
    assert (finding.status, finding.found) == (status, f"{free / 10**9:.0f} GB free at {tmp_path}")


CPUS = {
    "AMX": ("x86_64", "flags\t\t: fpu avx2 avx512f avx512_bf16 amx_tile", "ok", "AVX-512 bfloat16, AMX"),
    "AVX-512": ("x86_64", "flags\t\t: fpu avx2 avx512f", "ok", "has AVX2, AVX-512, lacks AVX-512 bfloat16, AMX"),
    "AVX2": ("x86_64", "flags\t\t: fpu avx2", "ok", "lacks AVX-512, AVX-512 bfloat16, AMX"),
    "older": ("x86_64", "flags\t\t: fpu sse4_2", "fail", "lacks AVX2"),
    "Graviton": ("aarch64", "Features\t: fp asimd bf16 i8mm sve", "ok", "has NEON, bfloat16, int8, SVE"),
    "Raspberry": ("aarch64", "Features\t: fp asimd", "ok", "has NEON, lacks bfloat16, int8, SVE"),
    "another": ("riscv64", "isa\t: rv64imafdc", "warn", "features unknown"),
}


@pytest.mark.parametrize("name", CPUS)
def test_a_cpu_is_named_with_what_it_has_and_lacks(name: str) -> None:
    """Cores that may be used of those that there are, and the features that vLLM's kernels differ by."""
    machine_name, flags, status, features = CPUS[name]
    finding = hardware.describe_cpu(f"processor\t: 0\nmodel name\t: {name} 9000\n{flags}\n", machine_name, 2, 8)
    assert finding.status == status
    assert finding.found.startswith(f"{name} 9000, 2 of 8 cores; ")
    assert features in finding.found
    assert bool(finding.advice) == (status != "ok")


@pytest.mark.slow
def test_the_attention_of_a_cpu_is_named_by_family() -> None:
    """That of latent attention apart from the others'."""
    pytest.importorskip("vllm")
    found = software.attention().found
    assert found in {"CPU_ATTN; CPU_MLA for deepseek-vl2, kimi-vl", "vLLM chooses by the GPU"}


def test_a_server_that_does_not_answer_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """REDIS_URL without a server behind it, in the words of `gigavqa up`."""
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:9/0")
    finding = state.state_store()
    with pytest.raises(StateStoreUnavailableError) as raised:
        asyncio.run(require_answer("redis://127.0.0.1:9/0"))
    assert (finding.status, finding.advice) == ("fail", str(raised.value))


def test_a_server_that_evicts_is_a_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A server behind REDIS_URL that drops keys when its memory is full, and what to set."""
    server = start_store(tmp_path)
    redis.Redis.from_url(server.url).config_set("maxmemory-policy", "allkeys-lru")
    monkeypatch.setenv("REDIS_URL", server.url)
    finding = state.state_store()
    server.stop()
    assert finding.status == "fail"
    assert "allkeys-lru" in finding.advice
    assert "noeviction" in finding.advice


def test_the_server_elsewhere_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that answers, one that wants another key, and one that is away, which workers would wait for."""
    with serving(Elsewhere(locked="Bearer right")) as there:
        monkeypatch.setenv("GIGAVQA_WORKER_ENDPOINT", there.url)
        monkeypatch.setenv("GIGAVQA_WORKER_API_KEY_ENV", "MY_KEY")
        monkeypatch.setenv("MY_KEY", "right")
        assert (state.endpoint().status, state.endpoint().found) == (
            "ok",
            f"{there.url} answers 200, with the key in MY_KEY",
        )
        monkeypatch.setenv("MY_KEY", "wrong")
        assert state.endpoint().status == "fail"
    finding = state.endpoint()
    assert (finding.status, "workers wait for it" in finding.advice) == ("warn", True)


def test_a_port_that_another_program_holds_is_a_warning() -> None:
    """The advice names the way out."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        finding = state.port(other.getsockname()[1])
    assert finding.status == "warn"
    assert "--port 0" in finding.advice
