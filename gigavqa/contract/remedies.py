"""What helps against failures that asking again does not mend."""

from collections.abc import Mapping

from gigavqa.contract.jobs import Job
from gigavqa.tiling import errors

_REMEDIES: Mapping[str, str] = {
    "EngineError": "the engine refuses these prompts, however often it is asked: a larger context or a smaller "
    "max_tokens may help (`gigavqa submit --set max_tokens=...`)",
    "EngineDeadError": "these requests end the engine; `gigavqa logs` shows how",
    "ImageUnavailableError": "the pictures' server did not give them; when it does again, retry the job",
    "ImageReplacedError": "the pictures elsewhere are other files by now; submit the job anew",
    "WorkerCrashed": "these requests end their worker; `gigavqa logs` shows how",
}


def remedy_of(kind: str, job: Job) -> str:
    """Return what helps against a job's failures of this type; nothing where no more is known than they say."""
    known = getattr(errors, kind, None) if kind not in _REMEDIES else None
    if isinstance(known, type) and issubclass(known, errors.TilingError):
        return (
            f"asking again does not help as the pictures are: `gigavqa dataset check {job.spec.dataset} --pixels` "
            f"names those that cannot be read; mend or replace them, then `gigavqa retry {job.id}`"
        )
    return _REMEDIES.get(kind, "")
