"""Checks of the machine: interpreter, GPU, disk, port."""

import platform
import shutil
import subprocess
import sys
from pathlib import Path

import httpx

from cli.checks.finding import Finding
from cli.errors import PortTakenError
from cli.preflight import require_free_port
from jobs.home import Home

_WANTED_GB, _NEEDED_GB = 20, 3  # the demo data set and its pyramids take about 3 GB


def python() -> Finding:
    """Python 3.11 to 3.13."""
    found = f"{platform.python_version()} at {sys.executable}"
    if (3, 11) <= sys.version_info[:2] <= (3, 13):
        return Finding("Python", "ok", found)
    return Finding("Python", "fail", found, "install Python 3.11, 3.12 or 3.13 and run `make setup`")


def gpu() -> Finding:
    """NVIDIA GPUs as the driver lists them."""
    query = ["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader"]
    if shutil.which(query[0]) is None:
        return Finding("GPU", "warn", "no NVIDIA driver", "models run on the CPU: enough for the demo, slow beyond it")
    listed = subprocess.run(query, capture_output=True, text=True, timeout=30, check=False)
    names = "; ".join(listed.stdout.strip().splitlines())
    if listed.returncode or not names:
        return Finding("GPU", "warn", listed.stderr.strip() or "none listed", "look at what `nvidia-smi` says")
    return Finding("GPU", "ok", names)


def disk() -> Finding:
    """Free space where the data folder is, or will be."""
    folder = _existing(Home.from_environment().folder)
    free = shutil.disk_usage(folder).free / 1e9
    found = f"{free:.0f} GB free at {folder}"
    if free < _NEEDED_GB:
        return Finding("disk", "fail", found, f"free {_NEEDED_GB} GB, or set GIGAVQA_HOME to a larger disk")
    if free < _WANTED_GB:
        return Finding("disk", "warn", found, "pyramids of flat images may need more; GIGAVQA_HOME moves the folder")
    return Finding("disk", "ok", found)


def port(number: int) -> Finding:
    """Whether the gateway's port is free, or a gateway answers there."""
    try:
        require_free_port("127.0.0.1", number)
    except PortTakenError:
        return _who_listens(number)
    return Finding("port", "ok", f"{number} is free")


def _who_listens(number: int) -> Finding:
    try:
        running = httpx.get(f"http://127.0.0.1:{number}/healthz", timeout=1.0).is_success
    except httpx.TransportError:
        running = False
    if running:
        return Finding("port", "ok", f"a gateway answers on {number}")
    return Finding("port", "warn", f"{number} is taken by another program", "use `gigavqa up --port 0`")


def _existing(folder: Path) -> Path:
    return next(path for path in (folder, *folder.parents) if path.exists())
