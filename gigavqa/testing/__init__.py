"""Suites of tests for authors of benchmarks, sources and engines, who subclass one; pytest runs it.

`benchmarks` needs nothing but the package; `sources` and `engines` need what those do, and are imported by themselves.
"""

from gigavqa.testing.benchmarks import BenchmarkSuite

__all__ = ["BenchmarkChecks", "BenchmarkSuite"]

BenchmarkChecks = BenchmarkSuite
"""The suite's name before there were others."""
