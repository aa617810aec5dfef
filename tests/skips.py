"""Says at the end of a run what was skipped and how to get it."""

from collections.abc import Iterator, Sequence

import pytest

_PROGRAMS = ("redis-server", "chromium", "libmagic1", "prometheus", "slurmctld", "slurmd", "slurm-client")
"""Debian's packages, by the names of their programs, which reasons for skipping mention."""
_ENGINE = ("vllm", "transformers", "tokenizers", "engine")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """Write the line below all other summaries."""
    yield
    reports = terminalreporter.stats.get("skipped", [])
    line = skipped_line([str(report.longrepr[2]).removeprefix("Skipped: ") for report in reports])
    if line:
        terminalreporter.write_line(line, yellow=True)


def skipped_line(reasons: Sequence[str]) -> str:
    """Number of skipped tests, what they want, and the commands that install it; nothing where none was skipped."""
    if not reasons:
        return ""
    programs = [program for program in _PROGRAMS if any(program in reason for reason in reasons)]
    wants_engine = any(_is_engine(reason) for reason in reasons)
    others = sorted({r for r in reasons if not _is_engine(r) and not any(program in r for program in _PROGRAMS)})
    missing = [*programs, *(["the engine"] if wants_engine else [])]
    parts = [f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed"] if missing else []
    commands = [f"apt-get install {' '.join(programs)}"] if programs else []
    commands += ["GIGAVQA_EXTRA=cpu make setup"] if wants_engine else []
    return "; ".join([f"{len(reasons)} skipped: " + ", ".join([*parts, *others]), *commands])


def _is_engine(reason: str) -> bool:
    return any(name in reason.lower() for name in _ENGINE)
