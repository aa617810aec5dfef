"""The Markdown of a run: what was compared, on what, and what it took."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

_NONE = "-"


def write_table(found: Mapping[str, Any]) -> str:
    """Return a heading of facts, the table of contenders, and the table of switches."""
    parts = [_heading(found)]
    if found["rows"]:
        parts.append(_contenders(found["rows"]))
    if found["switches"]:
        parts.append(_switches(found["switches"]))
    errors = [row for row in (*found["rows"], *found["switches"]) if "error" in row]
    parts += [f"**{row['contender']} failed**\n\n```\n{row['error']}\n```\n" for row in errors]
    return "\n".join(parts)


def _heading(found: Mapping[str, Any]) -> str:
    options, versions = found["options"], ", ".join(f"{name} {text}" for name, text in found["versions"].items())
    where = "; ".join(found["gpus"]) or "no GPU"
    lines = [
        f"{found['date']}, {where}, {found['cpus']} CPUs (load {found['load']:.1f} at the start), Python "
        f"{found['python']}, {versions}. Dummy weights; {options['pictures']} pictures, "
        f"{options['questions']} questions of each, answers of {options['max_tokens']} tokens."
    ]
    if found["device"] == "cpu":
        lines.append("\n**A CPU, and tiny models: this shows that the command works. It says nothing of a GPU.**")
    if found["missing"]:
        lines.append(f"\nThe whole service was left out; not installed: {', '.join(found['missing'])}.")
    return "\n".join(lines) + "\n"


def _contenders(rows: Sequence[Mapping[str, Any]]) -> str:
    """Medians of the rounds, with the range of what is timed."""
    lines = [
        "| model | contender | caches | runs | requests/s | of vLLM's | output tok/s | GPU busy | GPU GiB | host GiB "
        "| CPU s/request | prompt tokens | from prefix cache | pictures processed | renders | prefilled / unique "
        "| first response s |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    groups: dict[tuple[str, str, bool], list[Mapping[str, Any]]] = {}
    for row in rows:
        if "error" not in row:
            groups.setdefault((row["model"], row["contender"], row["caches"]), []).append(row)
    for (model, contender, caches), runs in groups.items():
        rates = [_rate(run) for run in runs]
        base = [_rate(run) for run in groups.get((model, "vLLM bench", caches), [])]
        lines.append(
            _row(
                model,
                contender,
                "on" if caches else "off",
                str(len(runs)),
                _spread(rates),
                f"{median(rates) / median(base):.2f}x" if base else _NONE,
                _middle(runs, lambda run: run["output_tokens"] / _seconds(run), "{:.0f}"),
                _middle(runs, lambda run: 100 * run["gpu_busy"], "{:.0f} %"),
                _middle(runs, lambda run: run["gpu_gib"], "{:.1f}"),
                _middle(runs, lambda run: run["host_gib"], "{:.1f}"),
                _middle(runs, lambda run: run["cpu_seconds"] / run["requests"], "{:.2f}"),
                _middle(runs, lambda run: run["prompt_tokens"], "{:.0f}"),
                _middle(runs, lambda run: 100 * run["cached_tokens"] / run["prompt_tokens"], "{:.0f} %"),
                _middle(runs, lambda run: run["processed_pictures"], "{:.0f}"),
                _middle(runs, lambda run: run["renders"], "{:.0f}"),
                _middle(runs, _prefilled_per_unique, "{:.2f}"),
                _middle(runs, lambda run: run["first_response_seconds"], "{:.2f}"),
            )
        )
    return "\n".join(lines) + "\n"


def _switches(rows: Sequence[Mapping[str, Any]]) -> str:
    lines = ["| switching two models | count | median s | range s |", "|---|---|---|---|"]
    for row in rows:
        for name, seconds in row.get("seconds", {}).items():
            if seconds:
                span = f"{min(seconds):.2f} - {max(seconds):.2f}"
                lines.append(_row(f"engines by hand: {name}", str(len(seconds)), f"{median(seconds):.2f}", span))
        if "slept_gib" in row:
            kept = f"{row['slept_gib']:.1f} GiB" if row["slept_gib"] else "no sleep on this device: ended and started"
            lines.append(_row("host memory for the weights of one that sleeps", _NONE, kept, _NONE))
        if row.get("switches"):
            each = row["switch_seconds"] / row["switches"]
            lines.append(_row("one worker, a job over both", f"{row['switches']:.0f}", f"{each:.2f} (mean)", _NONE))
    return "\n".join(lines) + "\n"


def _prefilled_per_unique(run: Mapping[str, Any]) -> float:
    """1.0 where each view is prefilled once, and each text; as the engine counts it where a contender tells."""
    prefilled = run.get("prefilled_tokens", run["prompt_tokens"] - run["cached_tokens"])
    return float(prefilled / (run["prompt_tokens"] - run["repeated_tokens"]))


def _rate(run: Mapping[str, Any]) -> float:
    return float(run["requests"] / _seconds(run))


def _seconds(run: Mapping[str, Any]) -> float:
    return float(run["ended"] - run["began"])


def _spread(values: Sequence[float]) -> str:
    return f"{median(values):.2f}" + (f" ({min(values):.2f} - {max(values):.2f})" if len(values) > 1 else "")


def _middle(runs: Iterable[Mapping[str, Any]], value: Any, form: str) -> str:
    try:
        return str(form.format(median(value(run) for run in runs)))
    except KeyError:
        return _NONE  # this contender does not tell, or no GPU does


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
