"""The two configurations of a checkpoint that tell how to serve it, from its folder or from Hugging Face."""

import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from catalogue.errors import CheckpointInvalidError, CheckpointUnavailableError

Config = Mapping[str, Any]
_REACH_SECONDS = 5.0


@dataclass(frozen=True)
class Checkpoint:
    """Where a checkpoint's files are: `weights` is what an entry calls it, `path` gives a file's path by its name."""

    weights: str
    path: Callable[[str], Path]

    def read(self, file: str) -> Config:
        """Read one JSON file; raises CheckpointInvalidError and CheckpointUnavailableError naming it."""
        path = self.path(file)
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise CheckpointInvalidError(f"{path}: the checkpoint has no such file") from error
        except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
            raise CheckpointInvalidError(f"{path}: {error}") from error
        if not isinstance(content, dict):
            raise CheckpointInvalidError(f"{path}: not a JSON object")
        return content

    def read_processing(self) -> Config:
        """Read what the image processor is configured with; newer checkpoints keep it beside the other processors."""
        try:
            return self.read("preprocessor_config.json")
        except (CheckpointInvalidError, CheckpointUnavailableError):
            try:
                processing = self.read("processor_config.json").get("image_processor")
            except (CheckpointInvalidError, CheckpointUnavailableError):
                processing = None
            if not isinstance(processing, dict):
                raise
            return processing


def in_folder(folder: Path) -> Checkpoint:
    """A checkpoint on this machine."""
    return Checkpoint(str(folder.resolve()), folder.joinpath)


def on_hub(hub_id: str, revision: str | None = None) -> Checkpoint:
    """A checkpoint on Hugging Face; only the files that are read are fetched."""
    return Checkpoint(hub_id, lambda file: _fetch(hub_id, file, revision))


def _fetch(hub_id: str, file: str, revision: str | None) -> Path:
    try:
        from huggingface_hub import constants, hf_hub_download, try_to_load_from_cache
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError
    except ImportError as error:
        raise CheckpointUnavailableError(
            f"{hub_id}: huggingface_hub is not installed; pip install 'gigavqa[gpu]' or 'gigavqa[cpu]'"
        ) from error
    try:
        cached = try_to_load_from_cache(hub_id, file, revision=revision)
        if constants.HF_HUB_OFFLINE or not _reachable(constants.ENDPOINT):
            if isinstance(cached, str):
                return Path(cached)
            why = "HF_HUB_OFFLINE is set" if constants.HF_HUB_OFFLINE else f"{constants.ENDPOINT} cannot be reached"
            raise ConnectionError(why)
        return Path(hf_hub_download(hub_id, file, revision=revision))
    except (HfHubHTTPError, HFValidationError, OSError, ValueError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else type(error).__name__
        raise CheckpointUnavailableError(
            f"{hub_id}: {file} is not in the cache of Hugging Face ({constants.HF_HUB_CACHE}; HF_HOME moves it) and "
            f"cannot be fetched: {reason}. Gated and private models need HF_TOKEN; without a network name a folder "
            "that holds the checkpoint"
        ) from error


@functools.cache
def _reachable(endpoint: str) -> bool:
    # Asked once and first: the hub's own client tries for half a minute, and tells of every attempt.
    import httpx

    try:
        httpx.head(endpoint, timeout=_REACH_SECONDS)
    except httpx.TransportError:
        return False
    return True
