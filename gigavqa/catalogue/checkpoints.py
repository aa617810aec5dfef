"""The two configurations of a checkpoint that tell how to serve it, from its folder or from Hugging Face."""

import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gigavqa.catalogue.errors import CheckpointInvalidError, CheckpointUnavailableError
from gigavqa.runtime.extras import install_advice

CheckpointConfig = Mapping[str, Any]
PUT_WHOLE = "put the published checkpoint's files there, whole"
"""What mends a folder that lacks a file, or has one that was cut."""
_POINTER = b"version https://git-lfs.github.com/spec/"
_ANSWER_SECONDS = 10.0


@dataclass(frozen=True)
class Checkpoint:
    """The files of a checkpoint: `weights` is what an entry calls it, `path` gives a file's path by its name.

    `folder` holds them all, of one on this machine.
    """

    weights: str
    path: Callable[[str], Path]
    folder: Path | None = None

    def read(self, file: str) -> CheckpointConfig:
        """Read one JSON file; raises CheckpointInvalidError and CheckpointUnavailableError naming it."""
        path = self.path(file)
        content = _parse(path)
        if not isinstance(content, dict):
            raise CheckpointInvalidError(f"{path}: not a JSON object; {PUT_WHOLE}")
        return content

    def require_whole(self) -> None:
        """Raise CheckpointInvalidError for a file of its folder that Git LFS has not fetched, and JSON that was cut."""
        for path in sorted(self.folder.glob("[!.]*") if self.folder else ()):
            if path.is_file() and _is_pointer(path):
                raise CheckpointInvalidError(
                    f"{path}: a pointer of Git LFS in place of the file; run `git lfs pull` in {self.folder}"
                )
            if path.suffix == ".json":
                _parse(path)

    def read_processing(self) -> CheckpointConfig:
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


def _is_pointer(path: Path) -> bool:
    """Whether a file is what a clone without Git LFS leaves in a large file's place (git-lfs, docs/spec.md)."""
    with path.open("rb") as file:
        return file.read(len(_POINTER)) == _POINTER


def _parse(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise CheckpointInvalidError(f"{path}: the checkpoint has no such file; {PUT_WHOLE}") from error
    except (OSError, ValueError, RecursionError) as error:  # numbers of too many digits, or lists in lists, too
        raise CheckpointInvalidError(f"{path}: {error}; {PUT_WHOLE}") from error


def folder_checkpoint(folder: Path) -> Checkpoint:
    """Return a checkpoint on this machine."""
    return Checkpoint(str(folder.resolve()), folder.joinpath, folder)


def hub_checkpoint(hub_id: str, revision: str | None = None) -> Checkpoint:
    """Return a checkpoint on Hugging Face; only the files that are read are fetched."""
    return Checkpoint(hub_id, lambda file: _fetch(hub_id, file, revision))


def _fetch(hub_id: str, file: str, revision: str | None) -> Path:
    try:
        from huggingface_hub import constants, hf_hub_download
        from huggingface_hub.errors import (
            EntryNotFoundError,
            HFValidationError,
            HTTPError,
            LocalEntryNotFoundError,
            RepositoryNotFoundError,
        )
    except ImportError as error:
        raise CheckpointUnavailableError(
            f"{hub_id}: huggingface_hub is not installed; {install_advice('gpu', 'cpu')}"
        ) from error
    is_reachable = _is_reachable(constants.ENDPOINT)
    try:
        # Without a network the library would try for half a minute, and tell of each attempt.
        return Path(hf_hub_download(hub_id, file, revision=revision, local_files_only=not is_reachable))
    except RepositoryNotFoundError as error:
        raise CheckpointUnavailableError(
            f"{hub_id}: Hugging Face has no such model, or shows it to others alone: look at the name, "
            "set HF_TOKEN to a token that may read it, or name a local checkpoint folder"
        ) from error
    except LocalEntryNotFoundError as error:
        raise CheckpointUnavailableError(
            f"{hub_id}: Hugging Face does not answer, and its cache {constants.HF_HUB_CACHE} has no {file} of it: set "
            "HF_HOME to a cache that has (and HF_TOKEN where a token is wanted), or name a local checkpoint folder"
        ) from error
    except EntryNotFoundError as error:
        raise CheckpointUnavailableError(f"{hub_id}: its repository on Hugging Face has no {file}") from error
    except (HTTPError, HFValidationError, OSError, ValueError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise CheckpointUnavailableError(f"{hub_id}: {file} cannot be fetched from Hugging Face: {reason}") from error


@functools.cache
def _is_reachable(endpoint: str) -> bool:
    """Return whether anything answers there, through whatever proxy; asked once."""
    from huggingface_hub.errors import HTTPError
    from huggingface_hub.utils import get_session

    try:
        get_session().head(endpoint, timeout=_ANSWER_SECONDS)
    except (HTTPError, OSError):
        return False
    return True
