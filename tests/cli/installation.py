"""A home folder with a small data set, and the command line run in it as a user runs it: in a process of its own."""

import json
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from PIL import Image

from tests.warm import warm_process

MODEL = "demo-qwen3-vl"


@dataclass(frozen=True)
class Installation:
    """One home folder; `url` is the address of its gateway once there is one, `columns` its terminal's width."""

    home: Path
    url: str = "http://127.0.0.1:9"
    columns: int = 200

    @property
    def environment(self) -> dict[str, str]:
        """What its processes see: the folders and the gateway of this installation alone."""
        alien = ("GIGAVQA_", "REDIS_URL", "RESULTS_URI")
        clean = {name: value for name, value in os.environ.items() if not name.startswith(alien)}
        return clean | {
            "GIGAVQA_HOME": str(self.home),
            "GIGAVQA_URL": self.url,
            "COLUMNS": str(self.columns),
            "TERM": "dumb",
        }

    def command(self, *arguments: str) -> list[str]:
        """The command line of `gigavqa ARGUMENTS`."""
        return [sys.executable, "-P", "-m", "gigavqa", *arguments]

    def run(self, *arguments: str, timeout: float = 60) -> CompletedProcess[str]:
        """Run `gigavqa ARGUMENTS` to its end."""
        return warm_process().run(arguments, self.environment, timeout)

    def ok(self, *arguments: str, timeout: float = 60) -> str:
        """Run a command that must succeed; returns its standard output."""
        run = self.run(*arguments, timeout=timeout)
        assert run.returncode == 0, f"gigavqa {' '.join(arguments)} ended with {run.returncode}:\n{run.stderr}"
        return run.stdout

    def json(self, *arguments: str, timeout: float = 60) -> Any:
        """Run a command that must succeed and print JSON."""
        return json.loads(self.ok(*arguments, timeout=timeout))


def sample(number: int, image: str) -> dict[str, Any]:
    """One record of a CCTV question, in the shape of UltraVR's files."""
    return {
        "id": f"cctv-{number:04d}",
        "domain": "cctv",
        "category": "comparison",
        "subcategory": "count",
        "image": image,
        "question": "Which quadrant shows the most people?",
        "options": {"A": "upper-left", "B": "upper-right", "C": "lower-left", "D": "lower-right"},
        "answer": "ABCD"[number % 4],
        "evidence": {"quadrants": ["upper-left", "lower-right"]},
    }


def write_dataset(folder: Path, records: Sequence[dict[str, Any]]) -> Path:
    """Write a data set around one picture of 800 x 600 pixels, `images/plaza.png`."""
    (folder / "samples").mkdir(parents=True)
    (folder / "images").mkdir()
    (folder / "dataset.toml").write_text(
        f'name = "{folder.name}"\nbenchmark = "ultravr"\ntitle = "Tiny"\ndescription = "For tests."\n'
    )
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (folder / "samples" / "cctv.jsonl").write_text(lines)
    Image.linear_gradient("L").resize((800, 600)).convert("RGB").save(folder / "images" / "plaza.png")
    return folder


def hear_ctrl_c() -> None:
    """For a child that is sent Ctrl-C: what a shell starts in the background ignores it, and so do its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
