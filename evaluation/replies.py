"""What scoring needs of a response, whatever it was read from: the text of the final turn, or why there is none."""

from typing import NamedTuple

from jobs.models import Response
from tiling.geometry import Size

NO_FINAL_TURN = "FinalTurnMissing"
"""Why a reply has no text although its request did not fail: no turn answers the final question."""


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

    `text` is None where the request failed, and `failure` then names the error's type. `steps` are the turns that
    answer a step, as (step id, text). `raster` is the size of the first of `num_rasters` rasters that were shown.
    `examples` tells how many trajectories of other samples were told, None where nobody recorded it.
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
    repeat: int = 0
    steps: tuple[tuple[str, str], ...] = ()
    raster: Size | None = None
    num_rasters: int = 0
    examples: int | None = None


def reply_of(response: Response) -> Reply:
    """Take from a response what scoring needs."""
    turns = response.turns if response.ok else ()
    final = turns[-1] if turns and turns[-1].step_id is None else None
    return Reply(
        sample_id=response.sample_id,
        model=response.model,
        protocol=response.protocol,
        condition=response.condition,
        identity=(response.job_id, response.request_id),
        created=response.created_at.isoformat(),
        text=final.text if final else None,
        failure=None if final else (response.failure.type if response.failure else NO_FINAL_TURN),
        cut_off=final is not None and final.finish_reason == "length",
        provenance=_provenance(response),
        repeat=response.repeat,
        steps=tuple((turn.step_id, turn.text) for turn in turns if turn.step_id is not None),
        raster=response.rasters[0].raster_size if response.rasters else None,
        num_rasters=len(response.rasters),
        examples=len(response.examples),
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
