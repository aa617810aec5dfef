"""What the host asks of a benchmark, and how installed benchmarks are found.

A benchmark is a guest: its record shapes, plans, protocols, judging and tables, behind this interface. An installed
package brings one by the entry point group `gigavqa.benchmarks`; `docs/benchmarks.md` shows one of twenty lines.
"""

import hashlib
import logging
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple, get_args

from pydantic import BaseModel, JsonValue

from gigavqa.contract.models import Cell, Condition, JobSpec, Turn
from gigavqa.contract.tool_loops import ToolLoop
from gigavqa.evaluation.answer_forms import (
    AnswerForm,
    find_letters_without_options,
    form_of_options,
    unreachable_truths,
)
from gigavqa.evaluation.closing import ClosingForm, choice_form
from gigavqa.evaluation.defaults import accuracy_contents, option_judge, plain_fields
from gigavqa.evaluation.departures import Departure
from gigavqa.evaluation.errors import (
    AnnotationInvalidError,
    BenchmarkUnknownError,
    JudgeUnavailableError,
    PlanUnknownError,
    ProtocolUnavailableError,
)
from gigavqa.evaluation.judgements import JudgeCase, Panel
from gigavqa.evaluation.metrics.accuracy import Grouping
from gigavqa.evaluation.records import Record
from gigavqa.evaluation.replies import Reply
from gigavqa.evaluation.score_frame import DetailsT
from gigavqa.evaluation.scores import SampleT, Scores
from gigavqa.evaluation.tables import Contents
from gigavqa.evaluation.verdicts import ReplyJudge
from gigavqa.runtime.names import did_you_mean
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.views import View

CONDITIONS: tuple[Condition, ...] = get_args(Condition)
LOCAL_CONDITIONS = frozenset({"V3", "V4"})
"""The conditions that show local evidence, so that a sample must have some."""
ENTRY_POINTS = "gigavqa.benchmarks"
log = logging.getLogger(__name__)

SizeOf = Callable[[str], Size]
"""Gives an image's level-0 size by its name."""


def stored_image_name(content: bytes) -> str:
    """Name, in a data set, of a picture that a record holds: its digest, whatever record holds it."""
    return f"images/{hashlib.sha256(content).hexdigest()[:32]}.{_image_suffix(content)}"


def _image_suffix(content: bytes) -> str:
    return next((suffix for suffix, magic in _IMAGE_SIGNATURES.items() if content.startswith(magic)), "bin")


_IMAGE_SIGNATURES: Mapping[str, bytes | tuple[bytes, ...]] = {
    "jpg": b"\xff\xd8\xff",
    "png": b"\x89PNG",
    "webp": b"RIFF",
    "tif": (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"),
    "gif": b"GIF8",
    "bmp": b"BM",
    "jp2": b"\0\0\0\x0cjP",
}


@dataclass(frozen=True)
class RecordContext:
    """What a record can inherit from its place: the file's stem, and the images at hand by stem.

    `keep` takes a picture that lies in the record itself, and gives the name that it has in the data set. `pages` gives
    the names of the images of a folder, or of the pages of a document file, in order; None where nothing is known of
    it, as where records alone are read. `again` reads the file's records once more, for one that refers to another;
    `seen` is for the benchmark to remember of them. `unread` counts by name in how many records something stands that
    nobody reads, which an import tells: the host counts each sample's `extra`, the benchmark what it keeps nowhere.
    `note` takes what else people should know of how the file is read.
    """

    stem: str
    images: Mapping[str, str] = field(default_factory=dict)
    keep: Callable[[bytes], str] = stored_image_name
    pages: Callable[[str], tuple[str, ...] | None] = lambda name: None
    again: Callable[[], Iterator[Record]] = lambda: iter(())
    seen: dict[str, Any] = field(default_factory=dict)
    unread: Counter[str] = field(default_factory=Counter)
    note: Callable[[str], None] = lambda text: None


@dataclass(frozen=True)
class Scene:
    """What a sample can be shown: its images as views name them, and what fixes every draw.

    `size_of` is asked for an image only where local evidence needs it. `thumbnail` is V1's longest side in pixels.
    `shared` is what the benchmark's `prepare` made for all samples of the job.
    """

    images: tuple[str, ...]
    size_of: SizeOf
    seed: str
    thumbnail: int = 1024
    shared: Any = None

    def thumbnails(self) -> tuple[View, ...]:
        """V1: every image downsampled."""
        return tuple(View(image=image, sizing=f"longest:{self.thumbnail}") for image in self.images)

    def full(self) -> tuple[View, ...]:
        """V2: every image natively."""
        return tuple(View(image=image) for image in self.images)

    def views(self, condition: Condition, local: Callable[[], tuple[View, ...]] = tuple) -> tuple[View, ...]:
        """Return the views of a condition in order.

        `local` declares the local evidence, and is asked for V3 and V4 alone.
        """
        full = self.full() if condition in ("V2", "V4") else self.thumbnails() if condition == "V1" else ()
        return full + (local() if condition in LOCAL_CONDITIONS else ())


@dataclass(frozen=True)
class Chat:
    """How one sample is asked in one cell, whatever the model and the repeat.

    All views come before the first turn's text. `details` say what else is to be known of how it was asked; `loop`
    declares what may be asked of the worker from the last turn on.
    """

    views: tuple[View, ...]
    turns: tuple[Turn, ...]
    prompt_version: str
    details: dict[str, JsonValue] = field(default_factory=dict)
    system: str | None = None
    loop: ToolLoop | None = None


@dataclass(frozen=True)
class Finding:
    """What is wrong with a sample beside others: an error keeps it from being asked, a warning does not."""

    sample: str
    text: str
    is_error: bool = False


class ConfiguredDataset(NamedTuple):
    """A data set as a configuration of a benchmark's own program describes it.

    Its `records` are a file, or a folder of such; `images` is where their pictures lie, None where all lie in them.
    Records without an id have `stem` and their number; `settings` are tables of `dataset.toml`.
    """

    records: Path
    images: Path | None
    stem: str
    settings: Mapping[str, Mapping[str, str]] = {}


class Evidence(NamedTuple):
    """What answers a sample, for those who look at a reply: in lines, and by the names of images that show it."""

    lines: tuple[str, ...] = ()
    images: tuple[str, ...] = ()


class NoOptions(BaseModel):
    """The options of a benchmark that has none."""


class Benchmark(ABC, Generic[SampleT, DetailsT]):
    """One benchmark, as the host sees it. A benchmark keeps no state, so that one object serves all threads."""

    name: str
    """How data sets name it in `dataset.toml`."""
    title: str
    sample_type: type[SampleT]
    """What the fields that `read` yields are checked by."""
    details_type: type[DetailsT] | None = None
    """The named tuple of what its verdicts keep for its report; None where they keep nothing."""
    plans: Mapping[str, tuple[Cell, ...]]
    """Named cells; the first plan is what is asked when a job names none."""
    protocols: Mapping[str, str]
    """What a sample can be asked by, with a few words on each."""
    loops: Sequence[str] = ()
    """Protocols whose chats have a loop; cells of theirs say how many rounds, and no others do."""
    conditions: Sequence[Condition] = CONDITIONS
    budget: Literal["entry", "published"] = "entry"
    """Which visual budget the paper's models had: the catalogue entry's, or that of the checkpoint's own files."""
    general: bool = False
    """Whether it reads records of any kind, so that one made for them goes before it."""
    asked_by: Sequence[str] = ()
    """Patterns of names of fields that its samples cannot do without: who leaves such a field unread reads amiss."""
    known_by: Collection[str] = ()
    """Names of fields of which its records have one: without, they are for one that reads records of any kind."""
    grouping: Grouping = Grouping()
    options: type[BaseModel] = NoOptions
    """What a job may choose of it."""
    versions: Mapping[str, str] = {}
    """Versions of what reads and judges replies, by what it reads; a report states them."""
    version_notes: Mapping[str, str] = {}
    """What each of those versions, oldest first, changed; a report tells it where an older one read a job before."""
    departures: Sequence[Departure] = ()
    """In which it is asked otherwise than its paper prints; a report tells them."""
    decoding: Mapping[str, float | int] = {}
    """What its papers decode by, over a model's own decoding; a job's own sampling goes before."""
    beside: Sequence[str] = ()
    """Names of files of its own that a data set may have beside `dataset.toml`."""
    labels: Collection[str] = ()
    """Those of them that say what people found in replies: reports follow from them, and nothing that is asked."""
    judge_prompts: Mapping[str, str] = {}
    """Prompts by which a model can judge replies, with a few words on each; the first one is used when a job names
    none. Without any, no model judges."""
    judge_decoding: Mapping[str, float | int] = {}
    """What a model that judges decodes by, as `decoding` of one that is asked."""
    fields: Sequence[str] = ()
    """What it reads of records, and so what an import may call their columns; any name where there is none."""

    def read(self, record: Record, origin: RecordContext) -> Iterator[dict[str, Any]]:
        """Yield the fields of each sample in one record; raises ValueError where its value is no record at all.

        By default a record is one sample, and its keys are the sample's own fields.
        """
        return plain_fields(record, self.sample_type, origin.stem, origin.images)

    def answer_form(self, sample: SampleT) -> AnswerForm:
        """Return what the prompt asks a sample's answer to be, which every truth is held against.

        By default one of the options, by letter or text; else a text.
        """
        return form_of_options(sample)

    def closed_form(self, sample: SampleT, protocol: str) -> ClosingForm | None:
        """In which form a sample's answer can be asked for alone, behind the free one; None where it is of none.

        By default one of the options, by the letter that the protocol shows.
        """
        letters = tuple(sample.options or ())
        return choice_form(letters, lambda letter: letter == sample.truth) if letters else None

    @abstractmethod
    def ask(self, sample: SampleT, cell: Cell, scene: Scene) -> Chat:
        """Ask a sample in a cell. Raises EvidenceMissingError where its evidence cannot be shown."""

    def judge(self, sample: SampleT) -> ReplyJudge[DetailsT]:
        """Make a sample ready to judge any number of replies to it; by default by the letter that a reply ends with."""
        return option_judge(sample)

    def cases(self, sample: SampleT, reply: Reply) -> Sequence[JudgeCase]:
        """What of a reply a model judges: nothing where it is right or wrong without. One Yes makes the reply right.

        They follow from the sample and the stored reply alone.
        """
        return ()

    def ask_judge(self, sample: SampleT, case: JudgeCase, prompt: str, scene: Scene) -> Chat:
        """Ask a model to judge a case, by one of `judge_prompts`."""
        raise JudgeUnavailableError(f"{self.title} is judged by no model")

    def read_judgement(self, text: str) -> bool | None:
        """Return whether a judge's reply says Yes or No; None where that cannot be read."""
        return None

    def judged_with(self, panel: Panel) -> "Benchmark[SampleT, DetailsT]":
        """Return the benchmark as it judges by what models said of cases: its scores are those of the first judge.

        A reply that was not judged, or not readably, has no score then.
        """
        return self

    def report(self, scores: Scores[SampleT, DetailsT]) -> Contents:
        """Fill the benchmark's tables and figures, and say what a reader must know besides the host's own caveats.

        By default, accuracies by model, protocol and condition, over all samples and by group.
        """
        return accuracy_contents(scores, self.grouping)

    @property
    def content(self) -> str:
        """Names the content of what else in the folder is shown to models, such as a corpus; '' where nothing is.

        A job whose data set has another one by now is a job over another data set.
        """
        return ""

    def settled(self, texts: Mapping[str, str]) -> "Benchmark[SampleT, DetailsT]":
        """The benchmark as a data set asks it: `texts` are those of its own files that lie beside `dataset.toml`.

        Raises ValueError, beginning with the file's name, for one that cannot be used.
        """
        return self

    def settled_in(self, folder: Path) -> "Benchmark[SampleT, DetailsT]":
        """Return the settled benchmark with whatever else lies in a data set's folder.

        Raises ValueError as `settled` does.
        """
        return self

    def described(self, path: Path, name: str) -> ConfiguredDataset | None:
        """Return what a configuration of the benchmark's own program says of the data set of this name.

        None where the file is none. Raises ValueError, beginning with the file's name, for one that cannot be used.
        """
        return None

    def recorded(self, line: dict[str, Any]) -> dict[str, Any] | None:
        """Turn a line of the results that the benchmark's own program writes into the fields of a response.

        None for any other line. Raises ValueError telling what is wrong with it.
        """
        return None

    def record(self, sample: SampleT) -> dict[str, Any]:
        """Write a sample as a record that reads as the same sample."""
        fields = sample.model_dump(mode="json", exclude_none=True, exclude={"extra"})
        return {**sample.extra, **fields}

    def describe(self, sample: SampleT) -> Iterator[str]:
        """Tell, line by line, what the host does not know of a sample."""
        return iter(())

    def summary(self, sample: SampleT) -> dict[str, str]:
        """Tell in few words what the host does not know of a sample, under the same names for all."""
        return {}

    def evidence(self, sample: SampleT, samples: Sequence[SampleT]) -> Evidence:
        """Tell what answers a sample of a data set of `samples`; the page shows it beside every reply."""
        return Evidence()

    def applies(self, sample: SampleT, cell: Cell) -> bool:
        """Return whether a sample is asked in a cell at all; what does not apply is neither asked nor expected."""
        return True

    def unfit(self, sample: SampleT, protocol: str, condition: Condition) -> str:
        """Say why a sample is not asked so, and by which protocols it is; '' where it is asked."""
        if self.applies(sample, Cell(protocol=protocol, condition=condition)):
            return ""
        cells = [Cell(protocol=name, condition=condition) for name in self.protocols]
        fitting = [cell.protocol for cell in cells if self.applies(sample, cell)]
        others = ", ".join(fitting) or "none does"
        return f"{protocol} does not apply to sample '{sample.id}'; those that do: {others}"

    def admit(self, samples: Sequence[SampleT], cells: Sequence[Cell]) -> None:
        """Refuse what cannot be asked: raises EvidenceMissingError or AnnotationMissingError naming every sample."""

    def prepare(self, samples: Sequence[SampleT], options: Any, seed: int) -> Any:
        """Make what asking all samples of a job shares, from the whole data set; `ask` finds it as `scene.shared`."""

    def remark(self, details: Mapping[str, JsonValue]) -> str:
        """Say what a client should know of a chat with these details ('' of most); a submission counts those alike."""
        return ""

    def trait(self, reply: Reply) -> Hashable:
        """Return what of a reply's details the report needs counted by cell, judged or failed; None counts nothing."""
        return None

    def doubts(self, sample: SampleT, scene: Scene) -> Iterator[str]:
        """Say what keeps a sample from being shown under some condition; one sentence each."""
        return iter(())

    def compare(self, samples: Sequence[SampleT], place_of: Callable[[str], str]) -> Iterator[Finding]:
        """Say what is wrong between samples; `place_of` tells file and line of a sample by its id."""
        return iter(())

    def checklist(self, sample: SampleT) -> Sequence[str]:
        """Say which of the benchmark's own rules for records a sample breaks; one sentence each."""
        return ()


def find_benchmark(name: str) -> Benchmark[Any, Any]:
    """Return an installed benchmark; raises BenchmarkUnknownError naming those that there are."""
    known, broken = _load_plugins()
    if name in broken:
        raise BenchmarkUnknownError(f"benchmark '{name}' cannot be loaded: {broken[name]}")
    if name not in known:
        close = did_you_mean(name, known)
        raise BenchmarkUnknownError(f"benchmark '{name}' is not known{close or ';'} known: {', '.join(known)}")
    return known[name]


def installed_benchmarks() -> Mapping[str, Benchmark[Any, Any]]:
    """Return all benchmarks that are installed and can be loaded, by name, in order of their names."""
    return _load_plugins()[0]


@cache
def _load_plugins() -> tuple[Mapping[str, Benchmark[Any, Any]], Mapping[str, str]]:
    """Return what the entry points name, each a Benchmark class.

    Those that can be loaded, and why the others cannot.
    """
    known: dict[str, Benchmark[Any, Any]] = {}
    broken: dict[str, str] = {}
    for point in sorted(entry_points(group=ENTRY_POINTS), key=lambda point: point.name):
        try:
            benchmark = point.load()()
            if benchmark.name in known:
                raise ValueError(f"its name '{benchmark.name}' is that of another")
            known[benchmark.name] = benchmark
        except Exception as error:  # noqa: BLE001 - whatever a package raises, other benchmarks can be asked without it
            broken[point.name] = f"{point.value}: {type(error).__name__}: {error}"
            log.warning("benchmark '%s' cannot be loaded: %s", point.name, broken[point.name])
    return dict(sorted(known.items())), broken


def require_reachable_truths(
    benchmark: Benchmark[SampleT, Any], samples: Sequence[SampleT], whole: Sequence[SampleT]
) -> None:
    """Refuse truths of `samples` that the prompts cannot lead to, and those of a `whole` data set that are all letters.

    Raises AnnotationInvalidError naming every sample.
    """
    wrong = [
        f"sample '{one.id}': {told}" for one in samples for told in unreachable_truths(one, benchmark.answer_form(one))
    ]
    if found := find_letters_without_options(whole, benchmark.answer_form):
        wrong.append(found[1])
    if wrong:
        raise AnnotationInvalidError("\n".join(wrong))


def select_cells(benchmark: Benchmark[Any, Any], spec: JobSpec) -> tuple[Cell, ...]:
    """Return the cells that a job asks for, each once: those of its plan, its own, or those of the first plan.

    Cells with a loop have the job's rounds, if it names some.
    Raises PlanUnknownError, and ProtocolUnavailableError naming every protocol or condition that the benchmark has not,
    or every protocol with rounds that has none, or the reverse.
    """
    if spec.plan and spec.cells:
        raise PlanUnknownError("name either a plan or cells, not both")
    plans = benchmark.plans
    if not spec.cells and not spec.plan:
        return _with_rounds(next(iter(plans.values())), benchmark, spec.rounds)
    if spec.plan and spec.plan not in plans:
        if others := [name for name, one in installed_benchmarks().items() if spec.plan in one.plans]:
            own = f"data set '{spec.dataset}' is of {benchmark.name}, which has {', '.join(plans)}"
            raise PlanUnknownError(f"plan '{spec.plan}' belongs to {', '.join(others)}; {own}")
        close = did_you_mean(spec.plan, plans)
        raise PlanUnknownError(f"plan '{spec.plan}' is unknown{close or ';'} there are {', '.join(plans)}")
    cells = _with_rounds(plans[spec.plan] if spec.plan else spec.cells, benchmark, spec.rounds)
    for kind, asked, known in (
        ("protocol", [cell.protocol for cell in cells], list(benchmark.protocols)),
        ("condition", [cell.condition for cell in cells], list(benchmark.conditions)),
    ):
        if missing := sorted(set(asked) - set(known)):
            raise ProtocolUnavailableError(f"{kind} {', '.join(missing)} is not available; there is {', '.join(known)}")
    for has, which in ((True, "has rounds; name how many"), (False, "has no rounds")):
        wrong = {cell.protocol for cell in cells if (cell.protocol in benchmark.loops) is has is (cell.rounds is None)}
        if wrong:
            raise ProtocolUnavailableError(f"protocol {', '.join(sorted(wrong))} {which}")
    return cells


def _with_rounds(cells: Sequence[Cell], benchmark: Benchmark[Any, Any], rounds: int | None) -> tuple[Cell, ...]:
    """Return the cells, each once, and those with a loop with so many rounds."""
    if rounds is not None:
        if not any(cell.protocol in benchmark.loops for cell in cells):
            protocols = ", ".join(dict.fromkeys(cell.protocol for cell in cells))
            raise ProtocolUnavailableError(f"the job names {rounds} rounds, and protocol {protocols} has no rounds")
        cells = [
            cell.model_copy(update={"rounds": rounds}) if cell.protocol in benchmark.loops else cell for cell in cells
        ]
    return tuple(dict.fromkeys(cells))


def cross_plan(protocols: str, conditions: str) -> tuple[Cell, ...]:
    """Return every protocol under every condition, both as lists of names with spaces between."""
    pairs = ((protocol, condition) for protocol in protocols.split() for condition in conditions.split())
    return tuple(Cell.model_validate({"protocol": one, "condition": other}) for one, other in pairs)
