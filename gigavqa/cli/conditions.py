"""Ask and show without a job: of a data set's sample, or of an image with evidence named by hand."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.cli.errors import ArgumentError
from gigavqa.contract.jobs import Cell, JobSpec
from gigavqa.contract.requests import InferenceRequest
from gigavqa.evaluation.chats import SOURCE_CONDITIONS
from gigavqa.evaluation.errors import EvaluationError
from gigavqa.tiling.errors import RegionError
from gigavqa.tiling.geometry import Region, Size, grid_region, resolve_region
from gigavqa.tiling.headers import read_header
from gigavqa.tiling.roots import ImageRoot
from gigavqa.tiling.views import View

if TYPE_CHECKING:
    from gigavqa.evaluation.benchmark import Benchmark

_TISSUE = "tissue"
DeclaredView = tuple[Path, View]
"""The file that is read, and what is read of it."""


@dataclass(frozen=True)
class EvidenceArguments:
    """Local evidence as the command line names it: regions, and places `row,column` in a `grid`, counted from 1."""

    regions: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    grid: str = "2x2"

    def regions_of(self, image: Path, size: Size, show: str = "") -> list[str]:
        """Return every named part as a region of an image of `size` level-0 pixels, shown so. Raises ArgumentError.

        The part `tissue` is where a slide's tissue lies, by a rule.
        """
        parts = []
        for region in self.regions:
            try:
                parts.append(_find_tissue(image, show) if region == _TISSUE else resolve_region(region, size))
            except RegionError as error:
                raise ArgumentError(f"--region '{region}': {error} ({image.name})") from error
        try:
            parts += [grid_region(size, _pair(place, ",", "--place", "ROW,COL"), self._grid()) for place in self.places]
        except RegionError as error:
            raise ArgumentError(f"{image.name}: {error}") from error
        return [str(part) for part in parts]

    def _grid(self) -> tuple[int, int]:
        return _pair(self.grid, "x", "--grid", "ROWSxCOLS")


def _find_tissue(image: Path, show: str) -> Region:
    from gigavqa.tiling.tissue import find_tissue  # noqa: PLC0415 - the extra `pixels`

    return find_tissue(image, show)


def _pair(text: str, separator: str, option: str, form: str) -> tuple[int, int]:
    try:
        first, second = (int(number) for number in text.lower().split(separator))
    except ValueError:
        raise ArgumentError(f"{option} '{text}' is not {form}") from None
    return first, second


def views_of_image(
    image: Path, condition: str, evidence: EvidenceArguments, thumbnail: int, show: str = ""
) -> list[DeclaredView]:
    """Views of one image under a condition, its samples as `show` declares; V3 and V4 show the evidence.

    Raises ArgumentError.
    """
    if condition in {"V1", "V2"} and (evidence.regions or evidence.places):
        raise ArgumentError(f"{condition} shows no local evidence; --place and --region need V3 or V4")
    if condition in SOURCE_CONDITIONS:
        raise ArgumentError(f"{condition} is about images with and without evidence: give --dataset and --sample")
    full = View(image=image.name, show=show)
    if condition == "V1":
        return [(image, full.model_copy(update={"sizing": f"longest:{thumbnail}"}))]
    if condition == "V2":
        return [(image, full)]
    regions = evidence.regions_of(image, read_header(image, show).size, show)
    if not regions:
        raise ArgumentError(f"{condition} shows local evidence: give --place or --region")
    local = [(image, full.model_copy(update={"region": region})) for region in regions]
    return local if condition == "V3" else [(image, full), *local]


def views_of_sample(
    dataset: Path, sample: str, condition: str, entry: CatalogueEntry, thumbnail: int
) -> list[DeclaredView]:
    """Views of a sample exactly as a job with seed 0 shows them. Raises what the expansion of a job raises."""
    request, root = request_of_sample(dataset, sample, None, condition, entry, options={"thumbnail": thumbnail})
    return [(root.locate(view.image), view) for view in request.views]


def request_of_sample(
    folder: Path, sample: str, protocol: str | None, condition: str, entry: CatalogueEntry, **spec: Any
) -> tuple[InferenceRequest, ImageRoot]:
    """Return a sample's request and the root that its views' images lie below; `spec` are further fields of a JobSpec.

    Without a protocol it is the benchmark's first. Raises ArgumentError for what no job can ask.
    """
    # Half a second, which whoever looks at an image alone need not wait for.
    from gigavqa.cli.datasets import load_checked, sample_in  # noqa: PLC0415
    from gigavqa.evaluation.capabilities import CellRules, explain_unfit  # noqa: PLC0415
    from gigavqa.evaluation.expansion import expand  # noqa: PLC0415

    folder = folder.absolute()
    dataset, root = load_checked(folder), ImageRoot(folder.parent)
    asked = sample_in(dataset, sample)
    cell = _cell(_protocol(protocol, dataset.benchmark.protocols), condition, dataset.benchmark)
    job = JobSpec(dataset=folder.name, models=(entry.id,), cells=(cell,), samples=(asked.id,), **spec)
    try:
        sizes = size_in(root, dataset.show_of)
        requests = [request for _, request in expand(dataset, job, {entry.id: entry}, sizes)]
    except EvaluationError as error:
        raise ArgumentError(str(error)) from error
    if not requests:
        rules, known = CellRules.of(dataset.benchmark), dataset.benchmark.protocols
        raise ArgumentError(explain_unfit(rules, asked, cell.protocol, cell.condition, known))
    return requests[0], root


def size_in(root: ImageRoot, show_of: Callable[[str], str] = lambda name: "") -> Callable[[str], Size]:
    """Return how big an image below a root is, in level-0 pixels, by its header; `show_of` says how it is shown."""
    return lambda name: read_header(root.locate(name), show_of(name)).size


def _protocol(named: str | None, known: Iterable[str]) -> str:
    """Return the first protocol unless one is named, which may be written small."""
    known = list(known)
    return next((name for name in known if name.lower() == named.lower()), named) if named else known[0]


def _cell(protocol: str, condition: str, benchmark: "Benchmark[Any, Any]") -> Any:
    """Return the cell; of chats that go on in rounds with as many as the first plan gives that has any."""
    planned = (cell.rounds for cells in benchmark.plans.values() for cell in cells if cell.protocol == protocol)
    return Cell.model_validate({"protocol": protocol, "condition": condition, "rounds": next(planned, None)})
