"""Benchmarks are found by the entry points of what is installed; a broken one keeps no other from its work."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LISTED = "from gigavqa.evaluation.benchmark import installed_benchmarks; print(*installed_benchmarks())"


def installed(folder: Path, *, name: str, code: str) -> None:
    """What an installation leaves behind: a module, and beside it what it is called and brings."""
    (folder / f"{name}_guest.py").write_text(code)
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[gigavqa.benchmarks]\n{name} = {name}_guest:Guest\n")


def run(folder: Path, code: str) -> "subprocess.CompletedProcess[str]":
    """Run Python where the folder's packages are installed."""
    environ = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
    return subprocess.run(
        [sys.executable, "-c", code], env=environ, cwd=folder, capture_output=True, text=True, check=False
    )


def test_a_broken_package_is_told_and_others_are_found(tmp_path: Path) -> None:
    """Its import fails; what it is and why stands in one line."""
    installed(tmp_path, name="cracked", code="import nothing_of_this_name\n")
    listed = run(tmp_path, LISTED)
    assert "ultravr" in listed.stdout.split()
    assert "cracked" not in listed.stdout
    (line,) = listed.stderr.splitlines()
    assert line == (
        "benchmark 'cracked' cannot be loaded: cracked_guest:Guest: "
        "ModuleNotFoundError: No module named 'nothing_of_this_name'"
    )


def test_a_data_set_of_a_broken_package_says_why(tmp_path: Path) -> None:
    """It is no unknown name: the reason is told where it is asked for."""
    installed(tmp_path, name="cracked", code="import nothing_of_this_name\n")
    (tmp_path / "tiny" / "samples").mkdir(parents=True)
    (tmp_path / "tiny" / "dataset.toml").write_text('name = "tiny"\nbenchmark = "cracked"\n')
    code = "from pathlib import Path; from gigavqa.evaluation.datasets import load_dataset; load_dataset(Path('tiny'))"
    assert "dataset.toml: benchmark 'cracked' cannot be loaded: cracked_guest:Guest:" in run(tmp_path, code).stderr


def test_of_two_of_one_name_the_second_is_told(tmp_path: Path) -> None:
    """In the order of their entry points, so that the same one is found every time."""
    code = "from gigavqa.benchmarks.ultravr.benchmark import UltraVR as Guest\n"
    installed(tmp_path, name="zebra", code=code)
    listed = run(tmp_path, LISTED)
    assert listed.stdout.split().count("ultravr") == 1
    assert (
        "'zebra' cannot be loaded: zebra_guest:Guest: ValueError: its name 'ultravr' is that of another"
        in listed.stderr
    )
