"""Expands a job into requests: deterministic ids, seeds, views and prompts."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from pydantic import ValidationError

from catalogue.entry import CatalogueEntry, Decoding
from evaluation.datasets import Dataset
from evaluation.errors import EvidenceMissingError, SampleUnknownError, SamplingInvalidError, StepsMissingError
from evaluation.plans import cells_of
from evaluation.ultravr.conditions import LOCAL_CONDITIONS, Scene, annotated_rois, anomalous_cell, show
from evaluation.ultravr.examples import Examples
from evaluation.ultravr.protocols.base import Asking
from evaluation.ultravr.protocols.registry import PROTOCOLS
from evaluation.ultravr.samples import Sample
from jobs.models import Cell, InferenceRequest, JobSpec, Sampling
from tiling.geometry import Size

_SEED_BITS = 31


@dataclass(frozen=True)
class _Expansion:
    dataset: Dataset
    spec: JobSpec
    samples: tuple[Sample, ...]
    cells: tuple[Cell, ...]
    size_of: Callable[[str], Size]

    @cached_property
    def examples(self) -> Examples:
        """Whose trajectories S3 tells; they come from the whole data set, whatever samples are asked."""
        return Examples(self.dataset.samples, self.spec.examples, self.spec.seed)


def expand(
    dataset: Dataset,
    spec: JobSpec,
    catalogue: Mapping[str, CatalogueEntry],
    size_of: Callable[[str], Size],
) -> Iterator[tuple[str, InferenceRequest]]:
    """Return (image, request) pairs; those of one (model, image) are consecutive, and alike views are neighbours.

    `image` is the sample's first image relative to the data root, as views name it; `size_of` gives such an image's
    level-0 size. All that is wrong with the job itself is raised here, before the first pair: PlanUnknownError,
    ProtocolUnavailableError, SampleUnknownError, SamplingInvalidError, EvidenceMissingError, StepsMissingError, and the
    catalogue's ModelUnknownError.
    """
    cells = cells_of(spec)
    samples = _chosen(dataset, spec)
    if any(cell.condition in LOCAL_CONDITIONS for cell in cells):
        _require_evidence(samples)
    _require_steps(samples, cells)
    decodings = {model: decoding_of(catalogue[model], spec) for model in spec.models}
    return _requests(_Expansion(dataset, spec, samples, cells, size_of), decodings)


def decoding_of(entry: CatalogueEntry, spec: JobSpec) -> Decoding:
    """Return the model's own decoding with the job's overrides; raises SamplingInvalidError naming every field."""
    known = set(Decoding.model_fields)
    if unknown := sorted(set(spec.sampling) - known):
        raise SamplingInvalidError(f"sampling has no {', '.join(unknown)}; it has {', '.join(sorted(known))}")
    try:
        return Decoding.model_validate({**entry.decoding.model_dump(), **spec.sampling})
    except ValidationError as error:
        details = (f"sampling.{'.'.join(map(str, part['loc']))}: {part['msg']}" for part in error.errors())
        raise SamplingInvalidError("; ".join(details)) from error


def request_id(sample_id: str, cell: Cell, model: str, repeat: int) -> str:
    """Readable identity of a request within its job."""
    return f"{sample_id}:{cell.protocol}-{cell.condition}:{model}:{repeat}"


def request_seed(seed: int, identity: str) -> int:
    """Seed of one request's draws, 0 to 2^31 - 1: a hash of the job's seed and the request's id."""
    digest = hashlib.sha256(f"{seed}\0{identity}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> (32 - _SEED_BITS)


def _chosen(dataset: Dataset, spec: JobSpec) -> tuple[Sample, ...]:
    if not spec.samples:
        return dataset.samples
    wanted = dict.fromkeys(spec.samples)
    unknown = sorted(wanted.keys() - {sample.id for sample in dataset.samples})
    if unknown:
        raise SampleUnknownError(f"data set '{dataset.name}' has no sample {', '.join(unknown)}")
    return tuple(sample for sample in dataset.samples if sample.id in wanted)


def _require_evidence(samples: Iterable[Sample]) -> None:
    missing: list[str] = []
    checks = {"wsi": annotated_rois, "ad": anomalous_cell}
    for sample in samples:
        try:
            if check := checks.get(sample.domain):
                check(sample)
        except EvidenceMissingError as error:
            missing.append(str(error))
    if missing:
        raise EvidenceMissingError("\n".join(missing))


def _require_steps(samples: Iterable[Sample], cells: Iterable[Cell]) -> None:
    protocols = sorted({cell.protocol for cell in cells if PROTOCOLS[cell.protocol].needs_steps})
    missing = [sample.id for sample in samples if not sample.steps] if protocols else []
    if missing:
        named = ", ".join(protocols)
        raise StepsMissingError("\n".join(f"sample '{name}' has no steps, which {named} ask" for name in missing))


def _requests(job: _Expansion, decodings: Mapping[str, Decoding]) -> Iterator[tuple[str, InferenceRequest]]:
    by_image: dict[str, list[Sample]] = {}
    for sample in job.samples:
        by_image.setdefault(job.dataset.image_of(sample.images[0]), []).append(sample)
    for model, decoding in decodings.items():
        for image, samples in by_image.items():
            for cell in job.cells:
                for sample in samples:
                    for request in _repeated(job, sample, cell, model, decoding):
                        yield image, request


def _repeated(
    job: _Expansion, sample: Sample, cell: Cell, model: str, decoding: Decoding
) -> Iterator[InferenceRequest]:
    images = tuple(job.dataset.image_of(image) for image in sample.images)
    scene = Scene(sample, images, job.size_of, f"{job.spec.seed}:{sample.id}", job.spec.thumbnail)
    showing = show(scene, cell.condition)
    protocol = PROTOCOLS[cell.protocol]
    examples = job.examples.of(sample) if protocol.needs_examples else ()
    turns = protocol.turns(Asking(sample, showing, examples))
    for repeat in range(job.spec.repeats):
        identity = request_id(sample.id, cell, model, repeat)
        yield InferenceRequest(
            id=identity,
            sample_id=sample.id,
            model=model,
            protocol=cell.protocol,
            condition=cell.condition,
            repeat=repeat,
            prompt_version=protocol.version,
            views=showing.views,
            turns=turns,
            examples=tuple(example.id for example in examples),
            sampling=Sampling(**decoding.model_dump(), seed=request_seed(job.spec.seed, identity)),
        )
