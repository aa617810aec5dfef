"""The recorded reports of the eye chart, compared to the last digit in `tests/reports`, have each of its faults."""

from gigavqa_acuity.faults import FAULTS
from tests.reports.recorded.cases import CASES
from tests.reports.recorded.outputs import load


def test_recordings_have_every_fault() -> None:
    """Each of them is found of some model."""
    recordings = (load(name) for name in CASES if name.startswith("acuity-"))
    texts = [caveat["text"] for recorded in recordings for caveat in recorded["report"]["caveats"]]
    assert not [fault for fault in FAULTS if not any(f"fit the fault '{fault}'" in text for text in texts)]
