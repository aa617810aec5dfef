"""Settings come from the environment, and wrong ones are named."""

from pathlib import Path

import pytest

from gigavqa.runtime.errors import SettingsInvalidError
from gigavqa.service.settings import GatewaySettings


def test_settings_have_defaults_and_take_the_environment(tmp_path: Path) -> None:
    """An empty variable is as good as none."""
    environ = {
        "GIGAVQA_HOME": str(tmp_path),
        "GIGAVQA_DATA": "/slides",
        "GIGAVQA_BUNDLE_REQUESTS": "8",
        "GIGAVQA_POLL_SECONDS": "",
    }
    settings = GatewaySettings.from_environment(environ)
    assert (settings.data, settings.bundle_requests, settings.poll_seconds) == (Path("/slides"), 8, 0.25)


@pytest.mark.parametrize("value", ["0", "-1", "many", "1.5"])
def test_a_wrong_number_is_named_by_its_variable(tmp_path: Path, value: str) -> None:
    """Bounds are checked before anything starts."""
    with pytest.raises(SettingsInvalidError, match="GIGAVQA_BUNDLE_REQUESTS"):
        GatewaySettings.from_environment({"GIGAVQA_HOME": str(tmp_path), "GIGAVQA_BUNDLE_REQUESTS": value})
