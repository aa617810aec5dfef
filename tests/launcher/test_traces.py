"""One variable sends the traces of everything that `gigavqa up` starts."""

import pytest

from gigavqa.launcher.stack import trace_environment

HERE, ELSEWHERE = "http://127.0.0.1:4318/v1/traces", "http://127.0.0.1:9999/v1/traces"


@pytest.mark.parametrize(
    ("set_to", "told"),
    [
        ({}, {}),
        ({"GIGAVQA_TRACES": HERE}, {"GIGAVQA_WORKER_TRACES": HERE}),
        ({"GIGAVQA_TRACES": HERE, "GIGAVQA_WORKER_TRACES": ELSEWHERE}, {"GIGAVQA_WORKER_TRACES": ELSEWHERE}),
    ],
)
def test_workers_trace_where_the_gateway_does(set_to: dict[str, str], told: dict[str, str]) -> None:
    """Unless theirs go elsewhere."""
    assert trace_environment(set_to) == told
