"""Says what made the responses of a report."""

from evaluation.reporting.models import Origin
from evaluation.tally import Tally


def describe_provenance(tally: Tally) -> tuple[Origin, ...]:
    """One line for every distinct (model, engine, prompt, sampling), with the number of its responses."""
    return tuple(
        Origin(
            model=model,
            responses=responses,
            engine=made.engine,
            version=made.version,
            device=made.device,
            model_revision=made.revision,
            simulated=made.simulated,
            prompt_version=made.prompt_version,
            thumbnail=made.thumbnail,
            sampling=dict(made.sampling),
        )
        for model, counts in sorted(tally.provenance.items())
        for made, responses in sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))
    )
