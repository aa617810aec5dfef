"""What the program knows, for whoever compares a container with it: settings, probes, and the images' entry points."""

import re
from collections.abc import Mapping

import pytest

from gigavqa.runtime.errors import SettingsInvalidError
from gigavqa.runtime.settings import ProcessSettings
from gigavqa.service.settings import GatewaySettings
from gigavqa.viewer.settings import ViewerSettings
from gigavqa.workers.settings import WorkerSettings
from tests.deploy.manifests import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
TARGETS = {"gateway", "viewer", "worker-remote", "worker-cpu", "worker-gpu"}
VARIABLES = {place.variable for kind in (GatewaySettings, ViewerSettings, WorkerSettings) for place in kind.places()}
# Of libraries: Hugging Face's hub, vLLM, Triton, PyTorch, s3fs; and those that hold a key which another setting names.
FOREIGN = {
    "HOME",
    "HF_HOME",
    "HF_TOKEN",
    "HF_HUB_OFFLINE",
    "VLLM_CACHE_ROOT",
    "TRITON_CACHE_DIR",
    "TORCHINDUCTOR_CACHE_DIR",
}
FOREIGN |= {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL", "FLEET_API_KEY", "VALKEY_PASSWORD"}

_KINDS: Mapping[str, type[ProcessSettings]] = {"gateway": GatewaySettings, "viewer": ViewerSettings}
_SOURCES = {"gateway": "service/operations", "viewer": "viewer", "worker": "workers"}


def settings_of(target: str, variables: Mapping[str, str], where: str) -> ProcessSettings:
    """What a container of this image is set to; fails the test for a name or a value that the program refuses."""
    kind = _KINDS.get(target, WorkerSettings)
    unknown = {name for name in variables if name.startswith(("GIGAVQA_", "REDIS_", "RESULTS_"))} - VARIABLES
    assert unknown == set(), f"{where}: there is no such setting"
    assert set(variables) <= VARIABLES | FOREIGN, where
    try:
        return kind.read([], dict(image_environment(target)) | dict(variables))
    except SettingsInvalidError as error:
        pytest.fail(f"{where}: {error}")


def image_environment(target: str) -> dict[str, str]:
    """The variables that an image's own stage sets."""
    stage = DOCKERFILE.partition(f" AS {target}\n")[2].partition("\nFROM ")[0].replace("\\\n", " ")
    return dict(re.findall(r"(\w+)=(\S+)", " ".join(re.findall(r"^ENV (.*)$", stage, re.MULTILINE))))


def answers(target: str, path: str) -> bool:
    """Whether the program in this image has such a path."""
    room = ROOT / _SOURCES[target.partition("-")[0]]
    return any(f'"{path}"' in file.read_text(encoding="utf-8") for file in room.glob("*.py"))


def port_of(settings: ProcessSettings) -> int:
    """Where it listens: for a worker, to those who ask how it is."""
    return settings.metrics_port if isinstance(settings, WorkerSettings) else settings.port  # type: ignore[attr-defined]
