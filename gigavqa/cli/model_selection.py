"""Choose models of the catalogue by what people ask about them: a paper, a family, a size, and GPUs that hold them."""

from collections.abc import Sequence
from dataclasses import dataclass

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.errors import CatalogueError
from gigavqa.catalogue.gpus import GpuCard
from gigavqa.catalogue.load import Catalogue
from gigavqa.cli.errors import ArgumentError
from gigavqa.cli.plans import gpu_card, place
from gigavqa.evaluation.installed import models_of_papers
from gigavqa.launcher.errors import DevicesUnusableError
from gigavqa.launcher.gpu_checks import servable_memory
from gigavqa.launcher.machine import shown_devices
from gigavqa.launcher.worker_plans import lack_of_gpus
from gigavqa.runtime.suggestions import did_you_mean

HERE = "here"
"""As the name of a GPU: all that this machine shows."""


@dataclass(frozen=True)
class ModelFilters:
    """What is asked of models; None where nothing is."""

    paper: str | None = None
    family: str | None = None
    min_billions: float | None = None
    max_billions: float | None = None
    gpu: str | None = None
    count: int | None = None

    def of(self, known: Catalogue) -> list[CatalogueEntry]:
        """Return the models that have all of it: in the paper's order where one is named, else by id.

        Raises ArgumentError for a paper, a family or a GPU that is none, and CommandError where no driver answers.
        """
        if self.count is not None and self.gpu in (None, HERE):
            raise ArgumentError("--count says how many GPUs of a kind: name it by --fits, such as --fits h100")
        names = sorted(known) if self.paper is None else [name for name in models_of(self.paper) if name in known]
        entries = [known[name] for name in names]
        if self.family is not None:
            entries = _of_family(entries, self.family, known)
        if self.min_billions is not None or self.max_billions is not None:
            entries = [entry for entry in entries if self._has_size(entry)]
        if self.gpu == HERE:
            return _held_here(entries)
        return entries if self.gpu is None else _held_by(entries, gpu_card(self.gpu), self.count or 1)

    def _has_size(self, entry: CatalogueEntry) -> bool:
        """Whether its parameters are within the bounds; of a model that tells none nobody knows."""
        least, most = self.min_billions or 0, self.max_billions or float("inf")
        return entry.billions is not None and least <= entry.billions <= most


def models_of(paper: str) -> Sequence[str]:
    """Return the ids of the models that the paper of a benchmark asks; raises ArgumentError where nothing says it."""
    known = models_of_papers()
    if paper not in known:
        raise ArgumentError(
            f"--paper '{paper}' is no benchmark of which it is known which models its paper asks"
            f"{did_you_mean(paper, known) or ';'} these are: {', '.join(known)}"
        )
    return known[paper]


def families(known: Catalogue) -> list[str]:
    """Names of the families that the catalogue has models of."""
    return sorted({entry.family for entry in known.values()})


def _of_family(entries: Sequence[CatalogueEntry], family: str, known: Catalogue) -> list[CatalogueEntry]:
    """Return those whose family has this name, or one that begins so: `qwen` is all of Qwen's."""
    wanted = family.lower()
    if not any(name.startswith(wanted) for name in families(known)):
        others, close = ", ".join(families(known)), did_you_mean(wanted, families(known))
        raise ArgumentError(f"--family '{family}' is none of the catalogue's{close or ';'} these are: {others}")
    return [entry for entry in entries if entry.family.startswith(wanted)]


def _held_by(entries: Sequence[CatalogueEntry], card: GpuCard, count: int) -> list[CatalogueEntry]:
    """Return those that fit so many GPUs, spread as `gigavqa plan` does; without those of which no shape is known."""
    held = []
    for entry in entries:
        try:
            if place(entry, card, count).holds:
                held.append(entry)
        except CatalogueError:
            continue
    return held


def _held_here(entries: Sequence[CatalogueEntry]) -> list[CatalogueEntry]:
    """Return those that `gigavqa up` would start on this machine's GPUs, one at a time.

    Raises DevicesUnusableError where there are none, and where it would take none.
    """
    memory = servable_memory(shown_devices())
    if not memory:
        raise DevicesUnusableError("--fits here: no GPU is visible here; name one, such as --fits h100")
    return [entry for entry in entries if entry.gpus and lack_of_gpus(entry, memory) is None]
