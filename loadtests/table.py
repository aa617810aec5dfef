"""The results of a folder of load tests, as tables in Markdown."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from loadtests import scale, verdicts

_STATS_COLUMNS = ("Request Count", "Failure Count", "Requests/s", "50%", "95%", "99%")


def tables(folder: Path, sizes: dict[str, str]) -> Iterator[str]:
    """One row a shape that was run, then one a threshold, then what `hey` reached. `sizes` tells each shape's."""
    ran = [name for name in sizes if (folder / f"{name}_verdicts.csv").exists()]
    yield from _head(
        *("shape", "size", "seconds", "calls", "failed", "a second", "p50 ms", "p95 ms", "p99 ms"),
        *("gateway MiB", "server MiB", "worker MiB", "cores used", "load", "verdict"),
    )
    for name in ran:
        yield _row(name, sizes[name], *_shape(folder / name))
    yield ""
    yield from _head("shape", "what", "required", "found", "verdict")
    for name in ran:
        for verdict in verdicts.read(folder / f"{name}_verdicts.csv"):
            yield _row(name, verdict.what, verdict.limit, verdict.found, _format_result(verdict.kept))
    if (ceiling := folder / "ceiling.csv").exists():
        yield ""
        with ceiling.open(newline="") as lines:
            columns, *rows = list(csv.reader(lines))
        yield from _head(*columns)
        yield from (_row(f"`{row[0]}`", *map(_number, row[1:])) for row in rows)


def _shape(prefix: Path) -> Iterator[str]:
    of, load = scale.read(Path(f"{prefix}_weights.csv"))
    judged = verdicts.read(Path(f"{prefix}_verdicts.csv"))
    yield f"{of['gateway'].seconds[-1]:.0f}"
    with Path(f"{prefix}_stats.csv").open(newline="") as lines:
        total = list(csv.DictReader(lines))[-1]
    yield from (_number(total[name]) for name in _STATS_COLUMNS)
    for name in ("gateway", "server", "worker-0"):
        mib = of[name].mib
        yield f"{mib[0]:.0f} → {mib[-1]:.0f} (most {mib.max():.0f})"
    yield ", ".join(f"{name} {of[name].busy:.2f}" for name in ("gateway", "server", "worker-0"))
    yield f"{load:.1f}"
    yield _format_result(bool(judged) and all(verdict.kept for verdict in judged))


def _format_result(kept: bool) -> str:
    return "kept" if kept else "MISSED"


def _number(told: str) -> str:
    return f"{float(told):,.0f}" if told != "N/A" else "-"


def _head(*columns: str) -> Iterator[str]:
    yield _row(*columns)
    yield "|" + "---|" * len(columns)


def _row(*columns: str | Sequence[str]) -> str:
    return "| " + " | ".join(map(str, columns)) + " |"
