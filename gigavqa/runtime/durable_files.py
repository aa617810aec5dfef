"""What has to outlive a power failure."""

import os
from pathlib import Path


def sync(path: Path) -> None:
    """Let what a file holds, or a folder names, outlive a power failure."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
