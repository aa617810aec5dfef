"""From the arguments to the models that a worker serves, each with a maker of its engine."""

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gigavqa.catalogue.entry import BUILT_IN_PREFIX, CatalogueEntry
from gigavqa.catalogue.load import load_catalogue
from gigavqa.catalogue.resolve import find_checkpoint, require_family, resolve_model
from gigavqa.catalogue.weight_files import require_weight_files
from gigavqa.runtime.home import Home
from gigavqa.workers.endpoint_checks import read_api_key, require_endpoint, require_open_weights
from gigavqa.workers.engines.engine import Engine
from gigavqa.workers.engines.remote.endpoint_settings import RemoteSettings
from gigavqa.workers.engines.remote.engine import RemoteEngine
from gigavqa.workers.engines.simulation.answers import read_answer_script
from gigavqa.workers.engines.simulation.engine import SLOTS_ARGUMENT, SimulatedEngine
from gigavqa.workers.engines.vllm.arguments import parse_engine_arguments
from gigavqa.workers.engines.vllm.division import require_divided
from gigavqa.workers.engines.vllm.engine import VllmEngine
from gigavqa.workers.errors import ModelsAmbiguousError
from gigavqa.workers.model_runtime import ServedModel
from gigavqa.workers.settings import WorkerSettings

log = logging.getLogger(__name__)


def served_models(settings: WorkerSettings) -> list[ServedModel]:
    """Resolve the models in the order in which they are named; builds checkpoints that come as code.

    Raises CatalogueError subclasses, ModelsAmbiguousError, CheckpointUnknownError, EngineArgumentError, EndpointError,
    and SettingsInvalidError where a script cannot be read.
    """
    ids = list(dict.fromkeys(settings.models))
    names = _parse_names(ids, settings.models_from, "--model-from")
    catalogue = load_catalogue(settings.catalogue)
    chosen = parse_engine_arguments(settings.engine_args)
    entries = [_entry(model, names.get(model, model), catalogue, chosen) for model in ids]
    makers = _ENGINE_FACTORIES[settings.engine](entries, settings)
    return [
        ServedModel(entry, make, _max_requests(entry, settings)) for entry, make in zip(entries, makers, strict=True)
    ]


def _max_requests(entry: CatalogueEntry, settings: WorkerSettings) -> int:
    """Return what the operator says goes before what the entry says, and that before the default."""
    said = "max_requests" in settings.model_fields_set
    return settings.max_requests if said else int(entry.engine.get("max_num_seqs") or settings.max_requests)


def _parse_names(ids: Sequence[str], sources: Sequence[str], argument: str) -> dict[str, str]:
    """Map ids to what `argument` says they stand for."""
    names: dict[str, str] = {}
    for source in sources:
        model, separator, name = source.partition("=")
        if separator and model in ids:
            names[model] = name
        elif len(ids) == 1:
            names[ids[0]] = source
        else:
            raise ModelsAmbiguousError(f"{argument} {source}: of {', '.join(ids)}, which? Say ID={source}")
    return names


def _entry(model: str, name: str, catalogue: Mapping[str, CatalogueEntry], chosen: Mapping[str, Any]) -> CatalogueEntry:
    entry = resolve_model(name, catalogue)
    return entry.model_copy(update={"id": model, "engine": {**entry.engine, **chosen}})


def _simulated_engines(entries: Sequence[CatalogueEntry], settings: WorkerSettings) -> list[Callable[[], Engine]]:
    script = read_answer_script(settings.script) if settings.script else None
    if ignored := sorted(parse_engine_arguments(settings.engine_args).keys() - {SLOTS_ARGUMENT}):
        log.warning("the simulated engine heeds %s alone and ignores %s", SLOTS_ARGUMENT, ", ".join(ignored))

    def maker(entry: CatalogueEntry) -> Callable[[], Engine]:
        return lambda: SimulatedEngine(entry, speed=settings.speed, script=script)

    return [maker(entry) for entry in entries]


def _remote_engines(entries: Sequence[CatalogueEntry], settings: WorkerSettings) -> list[Callable[[], Engine]]:
    require_endpoint(entries, settings.endpoint)
    names = _parse_names([entry.id for entry in entries], settings.remote_models, "--remote-model")
    key_name, key = read_api_key(settings.api_key_env)
    common = RemoteSettings(
        endpoint=str(settings.endpoint),
        dialect=settings.remote_dialect,
        key=key,
        key_name=key_name,
        pictures=settings.remote_pictures,
        requests_a_minute=settings.requests_per_minute,
        tokens_a_minute=settings.tokens_per_minute,
        answer_seconds=settings.answer_seconds,
        backoff_seconds=settings.backoff_seconds,
    )

    def maker(entry: CatalogueEntry) -> Callable[[], Engine]:
        return lambda: RemoteEngine(entry, replace(common, name=names.get(entry.id)))

    return [maker(entry) for entry in entries]


def _vllm_engines(entries: Sequence[CatalogueEntry], settings: WorkerSettings) -> list[Callable[[], Engine]]:
    for entry in entries:
        require_open_weights(entry)
        require_divided(entry)
    sleep_bytes = settings.sleep_bytes if len(entries) > 1 else 0

    def maker(entry: CatalogueEntry, weights: str) -> Callable[[], Engine]:
        return lambda: VllmEngine(entry, weights, sleep_bytes=sleep_bytes)

    weights = [_weights(entry, settings) for entry in entries]
    if not all(Path(each).is_dir() for each in weights):
        # A local checkpoint's engine would take the whole process off the hub, and the other models with it.
        os.environ.setdefault("HF_HUB_OFFLINE", "0")
    return [maker(entry, each) for entry, each in zip(entries, weights, strict=True)]


_ENGINE_FACTORIES: Mapping[str, Callable[[Sequence[CatalogueEntry], WorkerSettings], list[Callable[[], Engine]]]] = {
    "vllm": _vllm_engines,
    "remote": _remote_engines,
    "simulated": _simulated_engines,
}


def _weights(entry: CatalogueEntry, home: Home) -> str:
    if entry.weights.startswith(BUILT_IN_PREFIX):
        from gigavqa.workers.checkpoints.build import ensure_checkpoint  # needs what only engines bring

        return str(ensure_checkpoint(entry.weights, home.checkpoints))
    checkpoint = find_checkpoint(entry.weights, entry.revision)
    if checkpoint is not None:
        checkpoint.require_whole()  # and the next: one sentence where vLLM would try for minutes
        require_family(entry, checkpoint)
        if checkpoint.folder:
            require_weight_files(checkpoint.folder, entry.engine)
    return entry.weights
