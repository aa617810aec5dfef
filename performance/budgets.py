"""Visual budgets against the families' own processors: decisions and tokens by size, pixels by picture.

    python -m performance.budgets [--sizes N] [--seed N] [--no-pixels] [--json FILE]

Sizes are spread evenly in magnitude up to 4e10 pixels and aspect ratios of 1:12. A picture is written as a tiled
pyramid, rendered as a worker renders it, and given to the family's processor; PSNR compares what that makes of the
raster with what it makes of the full image. Which processors these are is said in `performance.processors`.
"""

import argparse
import json
import math
import random
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyvips
from numpy.typing import NDArray
from PIL import Image

from performance.view_files import texture
from tiling.errors import BudgetError
from tiling.geometry import Size
from tiling.rendering import render
from tiling.views import View
from workers.engines.compat.torch_companions import repair_torch_companions

if TYPE_CHECKING:
    from performance.processors import ProcessorFamily

PICTURES = (
    Size(7001, 5003),
    Size(12007, 2503),
    Size(2503, 8009),
    Size(6007, 5981),
    Size(3773, 1322),
    Size(3803, 701),
    Size(700, 523),
)
_MAX_AREA, _MAX_ASPECT = 4e10, 12


@dataclass
class Decisions:
    """Of how many sizes the processor decides alike; `largest` is the most area of a raster per area of its target."""

    sizes: int = 0
    refused: int = 0
    equal: int = 0
    tokens_equal: int = 0
    raster_agrees: int = 0
    fixed_points: int = 0
    largest: float = 1.0
    microseconds: float = 0.0


@dataclass
class Pixels:
    """Least PSNR in dB of the tiles and of the overview over all pictures, and how many second passes are identical."""

    psnr: float = 99.0
    worst: str = "-"
    overview_psnr: float | None = None
    fixed_points: int = 0
    identical: int = 0


def main() -> None:
    arguments = _arguments()
    repair_torch_companions()
    from performance.processors import PAPER, family_of  # noqa: PLC0415 - needs the repair

    sizes = random_sizes(arguments.sizes, arguments.seed)
    files = {} if arguments.no_pixels else make_pictures(arguments.files)
    rows = []
    for family in map(family_of, PAPER):
        decisions = compare_decisions(family, sizes)
        pixels = compare_pixels(family, files) if files else None
        rows.append((family, decisions, pixels))
        print(f"{family.name} done", file=sys.stderr)
    print(table(rows))
    if arguments.json:
        found = [{"family": f.name, "decisions": asdict(d), "pixels": p and asdict(p)} for f, d, p in rows]
        arguments.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


def random_sizes(count: int, seed: int) -> list[Size]:
    draw = random.Random(seed)
    corners = [(1.0, 1.0), (_MAX_AREA, 1.0), (_MAX_AREA, _MAX_ASPECT), (_MAX_AREA, 1 / _MAX_ASPECT)]
    drawn = [
        (10 ** draw.uniform(0, math.log10(_MAX_AREA)), _MAX_ASPECT ** draw.uniform(-1, 1))
        for _ in range(count - len(corners))
    ]
    return [
        Size(max(1, round(math.sqrt(area * aspect))), max(1, round(math.sqrt(area / aspect))))
        for area, aspect in corners + drawn
    ]


def compare_decisions(family: "ProcessorFamily", sizes: list[Size]) -> Decisions:
    found = Decisions(sizes=len(sizes))
    started = time.perf_counter()
    for size in sizes:
        try:
            plan = family.budget.plan(size)
        except BudgetError:
            found.refused += 1
            continue
        decided = family.decide(size)
        told = {name: getattr(decided, name) for name in ("target", "grid", "overview") if getattr(decided, name)}
        found.equal += all(getattr(plan.decision, name) == value for name, value in told.items())
        found.tokens_equal += plan.visual_tokens == decided.tokens
        found.raster_agrees += family.decide(plan.raster) == decided
        found.fixed_points += plan.fixed_point
        found.largest = max(found.largest, plan.raster.area / plan.decision.target.area)
    found.microseconds = (time.perf_counter() - started) / len(sizes) * 1e6
    return found


def make_pictures(folder: Path) -> dict[Size, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    tile = pyvips.Image.new_from_array(texture())
    files = {}
    for size in PICTURES:
        files[size] = folder / f"{size.width}x{size.height}.tif"
        across, down = -(-size.width // tile.width), -(-size.height // tile.height)
        picture = tile.replicate(across, down).crop(0, 0, *size)
        picture.tiffsave(str(files[size]), tile=True, pyramid=True, compression="deflate", region_shrink="mean")
    return files


def compare_pixels(family: "ProcessorFamily", files: dict[Size, Path]) -> Pixels:
    found = Pixels()
    for size, path in files.items():
        raster = render(path, View(image=path.name), family.budget).pixels
        of_raster = family.make(Image.fromarray(raster))
        with Image.open(path) as stored:
            of_image = family.make(stored.convert("RGB"))
        if (value := _psnr(of_image.main, of_raster.main)) < found.psnr:
            found.psnr, found.worst = value, f"{size.width} x {size.height}"
        if of_image.overview is not None and of_raster.overview is not None:
            least = found.overview_psnr if found.overview_psnr is not None else 99.0
            found.overview_psnr = min(least, _psnr(of_image.overview, of_raster.overview))
        if family.budget.plan(size).fixed_point:
            found.fixed_points += 1
            found.identical += _holds_only(of_raster.main, raster)
    return found


def table(rows: "list[tuple[ProcessorFamily, Decisions, Pixels | None]]") -> str:
    heads = (
        "family", "processor", "sizes", "decisions equal", "tokens equal", "raster decides alike", "fixed points",
        "largest raster / target", "least PSNR, tiles (dB)", "least PSNR, overview (dB)", "at", "second pass identical",
    )  # fmt: skip
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for family, decisions, pixels in rows:
        judged = decisions.sizes - decisions.refused
        cells: list[Any] = [family.name, family.source, f"{decisions.sizes:,}"]
        cells += [f"{n:,} of {judged:,}" for n in (decisions.equal, decisions.tokens_equal, decisions.raster_agrees)]
        cells += [f"{decisions.fixed_points / judged:.1%}", f"{decisions.largest:.1f}"]
        if pixels:
            overview = "-" if pixels.overview_psnr is None else f"{pixels.overview_psnr:.1f}"
            cells += [f"{pixels.psnr:.1f}", overview, pixels.worst, f"{pixels.identical} of {pixels.fixed_points}"]
        else:
            cells += ["-"] * 4
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def _psnr(one: NDArray[Any], other: NDArray[Any]) -> float:
    error = float(np.square(one - other).mean(dtype=np.float64))
    return 99.0 if error == 0 else 10 * math.log10(255**2 / error)


def _holds_only(made: NDArray[Any], raster: NDArray[Any]) -> bool:
    """Return whether the values made are those of the raster, each as often, and padding of one value."""
    values = np.rint(made).astype(np.int64).ravel()
    added = np.bincount(values, minlength=256) - np.bincount(raster.ravel(), minlength=256)
    return bool((added >= 0).all() and np.count_nonzero(added) <= 1)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--no-pixels", action="store_true", help="compare decisions alone")
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    parser.add_argument("--files", type=Path, default=Path(tempfile.gettempdir()) / "gigavqa-benchmark-budgets")
    return parser.parse_args()


if __name__ == "__main__":
    main()
