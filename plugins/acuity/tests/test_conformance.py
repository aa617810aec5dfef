"""The eye chart passes the checks that every benchmark's author is given."""

from pathlib import Path

from gigavqa.testing import BenchmarkSuite


class TestAcuity(BenchmarkSuite):
    """Both questions about the ring of one picture."""

    folder = Path(__file__).parent / "data"
