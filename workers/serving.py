"""From the arguments to the models that a worker serves, each with a maker of its engine."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from catalogue.entry import CatalogueEntry
from catalogue.load import load_catalogue
from catalogue.resolve import find_checkpoint, resolve_model
from jobs.home import Home
from workers.checkpoints.build import PREFIX, ensure_checkpoint
from workers.engines.engine import Engine
from workers.engines.simulated_engine import SimulatedEngine
from workers.engines.vllm_arguments import parse_engine_arguments
from workers.engines.vllm_engine import VllmEngine
from workers.errors import ModelsAmbiguousError
from workers.settings import WorkerSettings
from workers.stage import Served


def served_models(settings: WorkerSettings) -> list[Served]:
    """Resolve the models in the order in which they are named; builds checkpoints that come as code.

    Raises CatalogueError subclasses, ModelsAmbiguousError, CheckpointUnknownError, EngineArgumentError.
    """
    ids = list(dict.fromkeys(settings.models))
    names = _names(ids, settings.models_from)
    catalogue = load_catalogue(settings.catalogue)
    chosen = parse_engine_arguments(settings.engine_args)
    entries = [_entry(model, names.get(model, model), catalogue, chosen) for model in ids]
    makers = _simulated(entries, settings.speed) if settings.engine == "simulated" else _real(entries, settings)
    return [Served(entry, make, _most_requests(entry, settings)) for entry, make in zip(entries, makers, strict=True)]


def _most_requests(entry: CatalogueEntry, settings: WorkerSettings) -> int:
    """What the operator says goes before what the entry says, and that before the default."""
    said = "max_requests" in settings.model_fields_set
    return settings.max_requests if said else int(entry.engine.get("max_num_seqs") or settings.max_requests)


def _names(ids: Sequence[str], sources: Sequence[str]) -> dict[str, str]:
    """Map ids to what `--model-from` says they stand for."""
    names: dict[str, str] = {}
    for source in sources:
        model, separator, name = source.partition("=")
        if separator and model in ids:
            names[model] = name
        elif len(ids) == 1:
            names[ids[0]] = source
        else:
            raise ModelsAmbiguousError(f"--model-from {source}: of {', '.join(ids)}, which? Say ID={source}")
    return names


def _entry(model: str, name: str, catalogue: Mapping[str, CatalogueEntry], chosen: Mapping[str, Any]) -> CatalogueEntry:
    entry = resolve_model(name, catalogue)
    return entry.model_copy(update={"id": model, "engine": {**entry.engine, **chosen}})


def _simulated(entries: Sequence[CatalogueEntry], speed: float) -> list[Callable[[], Engine]]:
    def maker(entry: CatalogueEntry) -> Callable[[], Engine]:
        return lambda: SimulatedEngine(entry, speed=speed)

    return [maker(entry) for entry in entries]


def _real(entries: Sequence[CatalogueEntry], settings: WorkerSettings) -> list[Callable[[], Engine]]:
    sleep_bytes = settings.sleep_bytes if len(entries) > 1 else 0

    def maker(entry: CatalogueEntry, weights: str) -> Callable[[], Engine]:
        return lambda: VllmEngine(entry, weights, sleep_bytes=sleep_bytes)

    weights = [_weights(entry, settings) for entry in entries]
    if not all(Path(each).is_dir() for each in weights):
        # A local checkpoint's engine would take the whole process off the hub, and the other models with it.
        os.environ.setdefault("HF_HUB_OFFLINE", "0")
    return [maker(entry, each) for entry, each in zip(entries, weights, strict=True)]


def _weights(entry: CatalogueEntry, home: Home) -> str:
    if entry.weights.startswith(PREFIX):
        return str(ensure_checkpoint(entry.weights, home.checkpoints))
    checkpoint = find_checkpoint(entry.weights, entry.revision)
    if checkpoint is not None:
        checkpoint.read("config.json")  # raises one sentence where vLLM would try for minutes
    return entry.weights
