"""Identify the weights of a folder or a Hugging Face id, for the provenance of responses."""

import functools
import hashlib
from pathlib import Path

_WHOLE_FILE_BYTES = 64 * 2**20


@functools.cache
def checkpoint_revision(weights: str, revision: str | None = None) -> str | None:
    """Name the weights: the commit of a Hugging Face id in the local cache, or a digest of a folder's weights.

    Folders above 64 MiB are named by the digest of their files' names, sizes and modification times. None when unknown.
    """
    folder = Path(weights)
    if folder.is_dir():
        return _folder_digest(folder)
    found = checkpoint_folder(weights, revision)
    return found.name if found else revision


def checkpoint_folder(weights: str, revision: str | None = None) -> Path | None:
    """Return where a checkpoint's files lie: the folder, or that of a Hugging Face id in the local cache."""
    if Path(weights).is_dir():
        return Path(weights)
    from huggingface_hub import try_to_load_from_cache

    path = try_to_load_from_cache(weights, "config.json", revision=revision)
    return Path(path).parent if isinstance(path, str) else None


def weights_bytes(weights: str, revision: str | None = None) -> int:
    """Size of the weights' files, of a folder or of a Hugging Face id in the local cache; 0 when unknown."""
    folder = checkpoint_folder(weights, revision)
    return sum(path.stat().st_size for path in folder.glob("*.safetensors")) if folder else 0


def cache_folder(weights: str) -> Path | None:
    """Return where the local cache keeps a Hugging Face id.

    None for a folder's weights, and when nothing is there yet.
    """
    if Path(weights).is_dir():
        return None
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    folder = Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=weights, repo_type="model")
    return folder if folder.is_dir() else None


def weights_digest(folder: Path) -> str:
    """SHA-256, in hexadecimal, over the safetensors files of a checkpoint in the order of their names."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.safetensors")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _folder_digest(folder: Path) -> str:
    stats = [(path.name, path.stat()) for path in sorted(folder.glob("*.safetensors"))]
    if sum(stat.st_size for _, stat in stats) <= _WHOLE_FILE_BYTES:
        return f"sha256:{weights_digest(folder)[:16]}"
    facts = repr([(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats])
    return f"files:{hashlib.sha256(facts.encode()).hexdigest()[:16]}"
