"""Scores cases in a process of its own, whose sums have the same digits on every x86-64 processor.

OpenBLAS, numpy and glibc choose by processor how they calculate, and the last digits of an interval depend on that; the
environment tells them before they are loaded.
"""

import os
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from tests.reports.recorded.cases import CASES
from tests.reports.recorded.outputs import Outputs, outputs_of

MACHINE = "x86_64"
"""Where the recordings hold to the last digit."""


@contextmanager
def scoring_process() -> Iterator[Executor]:
    """Start a process for `score_case`, and end it."""
    before = dict(os.environ)
    os.environ.update(_plain_arithmetic())
    try:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            process.submit(int).result()
            yield process
    finally:
        os.environ.clear()
        os.environ.update(before)


def score_case(name: str) -> Outputs:
    """Return what is said of a case."""
    with TemporaryDirectory() as folder:
        return outputs_of(CASES[name], Path(folder))


def _plain_arithmetic() -> dict[str, str]:
    """Name the oldest kernels, which every processor has, and switch off what this one could do beyond them."""
    beyond = np.show_config(mode="dicts")["SIMD Extensions"]["found"]
    fused = ",".join(f"-{name}{ending}" for name in ("AVX2", "FMA", "FMA4") for ending in ("", "_Usable"))
    return {
        "OPENBLAS_CORETYPE": "Prescott",
        "OPENBLAS_NUM_THREADS": "1",
        "NPY_DISABLE_CPU_FEATURES": ",".join(beyond),
        "GLIBC_TUNABLES": f"glibc.cpu.hwcaps={fused}",
    }
