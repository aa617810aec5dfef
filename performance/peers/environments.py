"""An environment of its own for a peer that is a package; it sees the product's engine, so that there is one build."""

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

LMMS_EVAL = "lmms-eval==0.7.3"
_REQUIREMENTS = (LMMS_EVAL, "qwen-vl-utils==0.0.14")


def install_peers(cache: Path) -> None:
    """Make the environment of lmms-eval below `cache`, whole or not at all; takes about a minute, and a network."""
    folder = cache / "lmms-eval"
    if (folder / "installed").exists():
        return
    venv.create(folder, with_pip=True, clear=True)
    python = folder / "bin" / "python"
    packages = folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    (packages / "engine.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    pip = [str(python), "-m", "pip", "install", "--no-input", "--prefer-binary", *_REQUIREMENTS]
    subprocess.run(pip, check=True, stdout=sys.stderr)
    (folder / "installed").touch()


def find_lmms_eval(cache: Path) -> str:
    """Return the Python that has lmms-eval, where it was installed.

    Else this one, whose failure says what is missing.
    """
    python = cache / "lmms-eval" / "bin" / "python"
    return str(python) if (python.parents[1] / "installed").exists() else sys.executable
