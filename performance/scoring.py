"""Measures scoring: writes a file of responses to all protocols, scores it, prints seconds, CPU seconds and peak RSS.

    python -m performance.scoring --responses 200000

The cells are those of the plan `ultravr`, in its proportions; S4 and S5 have a turn a step, S2 answers in JSON. Texts
are drawn from forms that models answer in, right three times in four, some behind long reasoning.
"""

import argparse
import json
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gigavqa.benchmarks.ultravr.benchmark import UltraVR
from gigavqa.benchmarks.ultravr.samples import UltraVRSample
from gigavqa.benchmarks.ultravr.step_forms import format_truth
from gigavqa.contract.jobs import Cell
from gigavqa.contract.requests import SCHEMA_VERSION
from gigavqa.evaluation.datasets import load_for_scoring
from gigavqa.reports.report import Report
from gigavqa.reports.score import score_files

_FORMS = ("{}", "Final answer: {}", "**Answer:** {}", "After looking closely, the answer is {}.", "\\boxed{{{}}}")
_THOUGHT = "<think>The image shows several regions, and each must be compared with the others. {} </think>\n"
_WRONG = ("0", "No", "null", "[[0.5, 0.5, 0.6, 0.6]]", "left", "D")


def main() -> None:
    """Write, score, and print what it took."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("--responses", type=int, default=200_000)
    arguments.add_argument("--dataset", type=Path, required=True, help="a data set's folder, or a file of records")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "responses.ndjson"
        size = _write(path, load_for_scoring(chosen.dataset, "ultravr").samples, chosen.responses)
        print(f"{chosen.responses} responses, {size / 2**20:.0f} MiB")
        began, cpu = time.perf_counter(), time.process_time()
        report = score_files(chosen.dataset, path)
        took, busy = time.perf_counter() - began, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{sum(cell.answered for cell in report.cells)} answers and {_judged(report)} steps judged")
    print(f"{took:.1f} s, {busy:.1f} s of CPU, peak RSS {peak:.0f} MiB")


def _judged(report: Report) -> int:
    table = report.table("steps")
    at = [column.key for column in table.columns].index("statuses") if table else 0
    told = (str(row.values[at]) for row in table.rows) if table else ()
    return sum(int(count.rpartition(" ")[2]) for statuses in told for count in statuses.split(", "))


def _write(path: Path, samples: tuple[UltraVRSample, ...], count: int) -> int:
    draws = random.Random(7)
    with path.open("w", encoding="utf-8") as file:
        for line in _lines(samples, count, draws):
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
    return path.stat().st_size


def _lines(samples: tuple[UltraVRSample, ...], count: int, draws: random.Random) -> Iterator[dict[str, Any]]:
    cells = UltraVR.plans["ultravr"]
    for number in range(count):
        turn, cell = divmod(number, len(cells))
        repeat, at = divmod(turn, len(samples))
        yield _line(samples[at], cells[cell], repeat, draws)


def _line(sample: UltraVRSample, cell: Cell, repeat: int, draws: random.Random) -> dict[str, Any]:
    return {
        "version": SCHEMA_VERSION,
        "request_id": f"{sample.id}:{cell.protocol}-{cell.condition}:qwen3-vl-8b:{repeat}",
        "job_id": "job-0123456789",
        "sample_id": sample.id,
        "model": "qwen3-vl-8b",
        **cell.model_dump(),
        "repeat": repeat,
        "prompt_version": f"{cell.protocol.lower()}/1",
        "turns": [*_turns(sample, cell.protocol, draws)],
        "sampling": {
            "temperature": 0.7,
            "top_p": 0.95,
            "top_k": 20,
            "max_tokens": 32768,
            "seed": draws.getrandbits(31),
        },
        "worker": "worker-1",
        "engine": {"name": "vllm", "version": "0.32.0", "device": "cuda", "simulated": False},
        "created_at": f"2026-11-21T00:00:{repeat % 60:02d}Z",
    }


def _turns(sample: UltraVRSample, protocol: str, draws: random.Random) -> Iterator[dict[str, Any]]:
    if protocol in ("S4", "S5"):
        for step in sample.steps:
            truth = format_truth(sample, step)
            yield _turn(truth if draws.random() < 0.75 else draws.choice(_WRONG), step.step_id)
    answer = sample.answer if sample.answer and draws.random() < 0.75 else "A"
    if protocol == "S2":
        told = {step.step_id: step.ground_truth if draws.random() < 0.75 else 1 for step in sample.steps}
        yield _turn("```json\n" + json.dumps({**told, "final_answer": answer}, indent=1) + "\n```")
        return
    text = draws.choice(_FORMS).format(answer)
    thought = _THOUGHT.format("Then the counts are checked again. " * 40) if protocol == "S1" else ""
    yield _turn(thought + text)


def _turn(text: str, asks: str | None = None) -> dict[str, Any]:
    usage = {"prompt_tokens": 5000, "completion_tokens": len(text) // 4, "cached_tokens": 4096}
    timings = {"queued": 0.1, "prefill": 0.2, "decode": 0.3}
    return {"text": text, "finish_reason": "stop", "asks": asks, "usage": usage, "timings": timings}


if __name__ == "__main__":
    main()
