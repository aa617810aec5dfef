"""What a job has used before anything of it is recorded."""

from gigavqa.contract.jobs import JobUsage


def test_a_job_without_responses_used_nothing() -> None:
    """Every sum begins at zero: tokens, seconds, views."""
    assert set(JobUsage().model_dump().values()) <= {0, None}
