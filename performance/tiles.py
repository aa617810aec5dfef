"""What a tile costs the viewer, side by side with OpenSlide's Deep Zoom and rio-tiler, and what the first look costs.

    python -m performance.tiles [--quick] [--tiles N] [--picture FILE] [--rio-tiler PYTHON] [--files FOLDER]
        [--json FILE]

Every server is a process of its own over the same tiled pyramid; servers take turns at every tile, so that a busy
machine is busy for all. CPU is what the kernel counted for all threads of a server between question and answer, in
nanoseconds. "First" is a tile that the server has not made before, of a file that lies in the page cache; "again" is
the same tile once more. rio-tiler is asked where `--rio-tiler` names a Python that has it.
"""

import argparse
import asyncio
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from cli.preflight import free_port
from performance.tile_servers import TILE
from performance.view_files import FULL, QUICK, make_files
from tiling.headers import read_header

SCALES = (1, 2, 8, 32)
OURS = "gigavqa viewer"
AT_ONCE = 64
Place = tuple[int, int, int]
"""Scale, column and row of a tile."""


@dataclass(frozen=True)
class TileServer:
    """A server that runs."""

    name: str
    url: str
    pid: int
    image: str = ""

    def address(self, place: Place) -> str:
        scale, column, row = place
        if not self.image:
            return f"{self.url}/{scale}/{column}/{row}.jpg"
        side = TILE * scale
        region = f"{column * side},{row * side},{side},{side}"
        return f"{self.url}/iiif/3/{quote(self.image, safe='')}/{region}/{TILE},{TILE}/0/default.jpg"

    def cpu_ms(self) -> float:
        spent = 0
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            spent += int((task / "schedstat").read_text().split()[0])
        return spent / 1e6

    def peak_mib(self) -> int:
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return int(next(line.split()[1] for line in lines if line.startswith("VmHWM"))) // 1024


def main() -> None:
    arguments = _arguments()
    files = make_files(arguments.files, QUICK if arguments.quick else FULL)
    told: dict[str, Any] = {"machine": _machine(), "load": os.getloadavg()}
    picture = arguments.picture or files["pyramid"]
    with running(picture, arguments.rio_tiler) as servers:
        told["tiles"] = measure(servers, picture, arguments.tiles)
        told["at_once"] = {server.name: at_once(server, picture) for server in servers}
    told["first_look"] = {} if arguments.picture else {each: first_look(files[each]) for each in ("jpeg", "png")}
    told["load_at_the_end"] = os.getloadavg()
    print(f"{told['machine']}; load {told['load'][0]:.1f} to {told['load_at_the_end'][0]:.1f}\n")
    print(table(told))
    if arguments.json:
        arguments.json.write_text(json.dumps(told, indent=1), encoding="utf-8")


def measure(servers: Sequence[TileServer], path: Path, number: int) -> list[dict[str, Any]]:
    """CPU and wall of each server's tiles, by scale, the first time and again."""
    spent: dict[tuple[int, str, str], list[tuple[float, float]]] = defaultdict(list)
    with httpx.Client(timeout=120) as http:
        for scale in SCALES:
            for place in places(path, scale, number):
                for server in servers:
                    for when in ("first", "again"):
                        spent[scale, when, server.name].append(_ask(http, server, place))
    rows = []
    for (scale, when, name), found in spent.items():
        cpu, wall = ([one[at] for one in found] for at in (0, 1))
        row = {"scale": scale, "when": when, "server": name, "tiles": len(found)}
        rows.append(
            row | {"cpu_p50": statistics.median(cpu), "cpu_p95": _p95(cpu), "wall_p50": statistics.median(wall)}
        )
    return rows


def at_once(server: TileServer, path: Path) -> dict[str, float]:
    """Peak memory of a server before and after so many tiles are asked for at once, and the seconds until all came."""

    async def ask() -> float:
        limits = httpx.Limits(max_connections=AT_ONCE)
        async with httpx.AsyncClient(timeout=300, limits=limits) as http:
            started = time.perf_counter()
            asked = (http.get(server.address(place)) for place in places(path, 4, AT_ONCE, seed=7))
            assert all(answer.is_success for answer in await asyncio.gather(*asked))
            return time.perf_counter() - started

    before = server.peak_mib()
    seconds = asyncio.run(ask())
    return {"before_mib": before, "peak_mib": server.peak_mib(), "seconds": seconds}


def first_look(path: Path) -> dict[str, float]:
    """Seconds and CPU until a flat picture is seen whole, then closely, and of a tile once its pyramid is there."""
    with tempfile.TemporaryDirectory(dir=path.parent) as home, ExitStack() as stack:
        server = stack.enter_context(viewer(path, Path(home)))
        with httpx.Client(timeout=300) as http:
            size = read_header(path).size
            whole = f"{server.url}/iiif/3/{quote(path.name)}/full/1000,/0/default.jpg"
            looks = {"whole": whole, "closely": server.address((1, 3, 3)), "next": server.address((1, 5, 4))}
            found: dict[str, float] = {"megapixels": size.area / 1e6}
            for name, address in looks.items():
                cpu, started = server.cpu_ms(), time.perf_counter()
                while not (answer := http.get(address)).is_success:
                    assert answer.status_code == httpx.codes.SERVICE_UNAVAILABLE
                found |= {f"{name}_s": time.perf_counter() - started, f"{name}_cpu_s": (server.cpu_ms() - cpu) / 1000}
            return found


def places(path: Path, scale: int, number: int, seed: int = 0) -> list[Place]:
    """Different whole tiles of a picture at 1/scale, drawn alike in every run."""
    size = read_header(path).size
    columns, rows = size.width // (TILE * scale), size.height // (TILE * scale)
    every = [(scale, column, row) for column in range(columns) for row in range(rows)]
    return random.Random(seed).sample(every, min(number, len(every)))


@contextmanager
def running(path: Path, rio_tiler: str | None) -> Iterator[list[TileServer]]:
    """The viewer and its peers over one picture."""
    with tempfile.TemporaryDirectory() as home, ExitStack() as stack:
        servers = [stack.enter_context(viewer(path, Path(home)))]
        for name, python in (("openslide", sys.executable), ("rio-tiler", rio_tiler)):
            if python:
                servers.append(stack.enter_context(peer(name, python, path)))
        yield servers


@contextmanager
def viewer(path: Path, home: Path) -> Iterator[TileServer]:
    port = free_port("127.0.0.1")
    command = [sys.executable, "-m", "viewer", "--home", str(home), "--data", str(path.parent), "--port", str(port)]
    with _process(command, port) as pid:
        yield TileServer(OURS, f"http://127.0.0.1:{port}", pid, path.name)


@contextmanager
def peer(name: str, python: str, path: Path) -> Iterator[TileServer]:
    port = free_port("127.0.0.1")
    with _process([python, "-m", "performance.tile_servers", name, str(path), str(port)], port) as pid:
        yield TileServer(name, f"http://127.0.0.1:{port}", pid)


def table(told: dict[str, Any]) -> str:
    """Markdown."""
    lines = ["| server | scale | tile | CPU ms p50 | CPU ms p95 | wall ms p50 |", "|---|---|---|---|---|---|"]
    for row in sorted(told["tiles"], key=lambda row: (row["when"] == "again", row["scale"])):
        figures = " | ".join(f"{row[name]:.1f}" for name in ("cpu_p50", "cpu_p95", "wall_p50"))
        lines.append(f"| {row['server']} | 1/{row['scale']} | {row['when']} | {figures} |")
    lines += ["", f"| server | peak MiB before | peak MiB with {AT_ONCE} tiles at once | s |", "|---|---|---|---|"]
    for name, one in told["at_once"].items():
        lines.append(f"| {name} | {one['before_mib']} | {one['peak_mib']} | {one['seconds']:.2f} |")
    lines += ["", "| flat picture | MP | whole s (CPU s) | closely s (CPU s) | next tile s |", "|---|---|---|---|---|"]
    for name, one in told["first_look"].items():
        looks = " | ".join(f"{one[f'{look}_s']:.1f} ({one[f'{look}_cpu_s']:.1f})" for look in ("whole", "closely"))
        lines.append(f"| {name} | {one['megapixels']:.0f} | {looks} | {one['next_s']:.3f} |")
    return "\n".join(lines)


def _ask(http: httpx.Client, server: TileServer, place: Place) -> tuple[float, float]:
    cpu, started = server.cpu_ms(), time.perf_counter()
    answer = http.get(server.address(place))
    wall = time.perf_counter() - started
    assert answer.is_success, answer.text
    return server.cpu_ms() - cpu, 1000 * wall


@contextmanager
def _process(command: Sequence[str], port: int) -> Iterator[int]:
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        _wait(process, f"http://127.0.0.1:{port}/healthz")
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def _wait(process: "subprocess.Popen[bytes]", address: str) -> None:
    while process.poll() is None:
        try:
            httpx.get(address)
        except httpx.TransportError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"a server ended: {process.args!r}")


def _p95(values: Sequence[float]) -> float:
    return sorted(values)[int(0.95 * (len(values) - 1))]


def _machine() -> str:
    return f"{os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller files")
    parser.add_argument("--tiles", type=int, default=60, help="tiles of each scale")
    parser.add_argument("--picture", type=Path, help="tiles of this picture, and nothing of flat ones")
    parser.add_argument("--rio-tiler", metavar="PYTHON", help="interpreter of an environment with rio-tiler")
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    parser.add_argument("--files", type=Path, default=Path(tempfile.gettempdir()) / "gigavqa-benchmark-views")
    return parser.parse_args()


if __name__ == "__main__":
    main()
