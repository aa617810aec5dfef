"""What scoring needs of a response, whatever it was read from: the text of the final turn, or why there is none."""

from typing import NamedTuple

from jobs.models import Response


class Provenance(NamedTuple):
    """What made a reply; hashable, so that equal ones are counted and not kept."""

    engine: str | None = None
    version: str | None = None
    device: str | None = None
    revision: str | None = None
    simulated: bool = False
    prompt_version: str | None = None
    sampling: tuple[tuple[str, float | int | None], ...] = ()
    thumbnail: str | None = None


class Reply(NamedTuple):
    """One answer to one sample. `identity` tells a second copy of a reply from another repeat.

    `text` is None where the request failed, and `failure` then names the error's type.
    """

    sample_id: str
    model: str
    protocol: str
    condition: str
    identity: tuple[str, str]
    created: str
    text: str | None
    failure: str | None
    cut_off: bool
    provenance: Provenance


def reply_of(response: Response) -> Reply:
    """Take from a response what scoring needs."""
    final = response.turns[-1] if response.turns and response.ok else None
    return Reply(
        sample_id=response.sample_id,
        model=response.model,
        protocol=response.protocol,
        condition=response.condition,
        identity=(response.job_id, response.request_id),
        created=response.created_at.isoformat(),
        text=final.text if final else None,
        failure=None if final else (response.failure.type if response.failure else "NoTurns"),
        cut_off=final is not None and final.finish_reason == "length",
        provenance=_provenance(response),
    )


def _provenance(response: Response) -> Provenance:
    engine, sampling = response.engine, response.sampling
    thumbnails = [raster.view.sizing for raster in response.rasters if raster.view.sizing != "native"]
    return Provenance(
        engine=engine.name if engine else None,
        version=engine.version if engine else None,
        device=engine.device if engine else None,
        revision=engine.model_revision if engine else None,
        simulated=engine.simulated if engine else False,
        prompt_version=response.prompt_version,
        sampling=tuple(
            (name, getattr(sampling, name)) for name in sorted(type(sampling).model_fields) if name != "seed"
        ),
        thumbnail=thumbnails[0] if thumbnails else None,
    )
