"""A service that a command starts for itself."""

import pytest

from gigavqa.cli.launch import launch_service
from gigavqa.launcher.errors import ProcessFailedError
from gigavqa.runtime.home import Home
from tests.cli.installation import Installation


def test_a_service_that_does_not_start_is_told_with_the_end_of_its_log(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the model that there is not."""
    monkeypatch.setenv("GIGAVQA_HOME", str(installation.home))
    home = Home.from_environment()
    told = r"(?s)^the service .*\. The end of .*up\.log:\n.*no-such-model"
    with launch_service(["no-such-model"], home, 0) as service, pytest.raises(ProcessFailedError, match=told):
        service.wait_until_ready()
