"""MMCR, as the host sees it: questions about papers as page images, their options in every rotation.

Source: the paper's supplement (arXiv 2503.16856, sections A to C) and its official code; `docs/mmcr.md` says what is
whose, and what is settled where they are silent.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.mmcr.asking import ROTATIONS, Options, Protocol, ask, protocols
from benchmarks.mmcr.beside import DOCUMENTS, ERRORS, Labels, read_documents, read_labels
from benchmarks.mmcr.checks import check_question, compare, require_evidence
from benchmarks.mmcr.judging import Kept, QuestionJudge, rotation_of
from benchmarks.mmcr.matching import MATCHER
from benchmarks.mmcr.metrics import METRICS
from benchmarks.mmcr.reading import FIELDS, Documents, question_fields, record_of
from benchmarks.mmcr.report import report
from benchmarks.mmcr.samples import Question
from benchmarks.mmcr.taxonomy import KINDS
from evaluation.benchmark import Benchmark, Chat, Evidence, Finding, Origin, Scene, plan_of
from evaluation.closing import ClosedForm, closed_choice
from evaluation.departures import read_departures
from evaluation.metrics.accuracy import Grouping
from evaluation.records import Record
from evaluation.replies import Reply
from evaluation.revisions import read_version_notes
from evaluation.tables import Contents
from evaluation.verdicts import Judge, Verdicts
from jobs.models import Cell

_WITHOUT, _WITH = (" ".join(f"{family}{k}" for k in ROTATIONS) for family in "NC")


class MMCR(Benchmark[Question]):
    """Questions about documents; with what lies beside a data set: its documents' pages, and labels of errors."""

    name = "mmcr"
    title = "MMCR"
    known_by = ("l2-category", "rotations", "document")
    budget = "published"
    sample_type = Question
    plans: Mapping[str, tuple[Cell, ...]] = {
        "mmcr": plan_of(_WITHOUT, "V2"),
        "mmcr-cot": plan_of(f"{_WITHOUT} {_WITH}", "V2"),
        "mmcr-plain": plan_of("N0 C0", "V2"),
    }
    protocols: Mapping[str, str] = protocols()
    grouping = Grouping(("type",), dict.fromkeys(KINDS, ()))
    options = Options
    departures = read_departures(Path(__file__).parent)
    versions: Mapping[str, str] = {"matcher": MATCHER, "metrics": METRICS}
    version_notes = read_version_notes(Path(__file__).parent)
    beside = (DOCUMENTS, ERRORS)
    fields = FIELDS
    labels = (ERRORS,)
    decoding: Mapping[str, float | int] = {
        "temperature": 0.0, "top_p": 1.0, "top_k": 0, "repetition_penalty": 1.0, "max_tokens": 4096,
    }  # fmt: skip

    def __init__(self, documents: Documents | None = None, labels: Labels | None = None) -> None:
        self._documents = documents or {}
        self._labels = labels or {}

    def settled(self, texts: Mapping[str, str]) -> "MMCR":
        """With the documents and labels that lie beside the data set."""
        documents = read_documents(texts[DOCUMENTS]) if DOCUMENTS in texts else {}
        return MMCR(documents, read_labels(texts[ERRORS]) if ERRORS in texts else {})

    def read(self, record: Record, origin: Origin) -> Iterator[dict[str, Any]]:
        """Yield the question of a record, or of a row of the official table."""
        return question_fields(record, origin, self._documents)

    def record(self, sample: Question) -> dict[str, Any]:
        """Write a question as a record that reads as the same question."""
        return record_of(sample)

    def describe(self, sample: Question) -> Iterator[str]:
        """Tell its document and where its evidence stands."""
        yield f"document: {sample.document}, {len(sample.images)} pages"
        if sample.evidence.pages:
            sources = f" ({', '.join(sample.evidence.sources)})" if sample.evidence.sources else ""
            yield f"evidence: {sample.evidence.places}{sources}"
        if sample.hint:
            yield f"hint: {sample.hint}"

    def summary(self, sample: Question) -> dict[str, str]:
        """Its document, and how many pages it has."""
        return {"document": sample.document, "pages": str(len(sample.images))}

    def applies(self, sample: Question, cell: Cell) -> bool:
        """A question has as many rotations as options."""
        return Protocol.of(cell.protocol).rotation < len(sample.letters)

    def admit(self, samples: Sequence[Question], cells: Sequence[Cell]) -> None:
        """Refuse evidence pages of questions without any."""
        require_evidence(samples, cells)

    def checklist(self, sample: Question) -> Sequence[str]:
        """Say what is doubtful of a question by itself."""
        return [*check_question(sample)]

    def compare(self, samples: Sequence[Question], place_of: Callable[[str], str]) -> Iterator[Finding]:
        """Say what is wrong between questions about one document."""
        return compare(samples, place_of)

    def evidence(self, sample: Question, samples: Sequence[Question]) -> Evidence:
        """Tell on which pages the answer stands, and what on them."""
        pages = sample.evidence.pages
        told = (sample.evidence.places,) if pages else ()
        within = [page for page in pages if page <= len(sample.images)]
        return Evidence((*told, *sample.evidence.sources), tuple(sample.images[page - 1] for page in within))

    def prepare(self, samples: Sequence[Question], options: Options, seed: int) -> Options:
        """Keep what the job chose."""
        return options

    def closed_form(self, sample: Question, protocol: str) -> ClosedForm | None:
        """One of the options, by the letters of the rotation; its value is the original one."""
        k = rotation_of(protocol, sample)
        return closed_choice(
            tuple(sample.shown(k)),
            lambda letter: letter == sample.answer,
            original=lambda letter: sample.original(letter, k),
        )

    def ask(self, sample: Question, cell: Cell, scene: Scene) -> Chat:
        """Ask in one turn behind the pages."""
        return ask(sample, cell, scene)

    def judge(self, sample: Question) -> Judge:
        """Make a question ready to judge replies under all its rotations."""
        return QuestionJudge(sample)

    def trait(self, reply: Reply) -> tuple[int, int, str] | None:
        """Pages of a prompt, their visual tokens, and how they were sized; None for one that showed none."""
        if not reply.rasters:
            return None
        sizes = sorted({raster.view.sizing for raster in reply.rasters})
        return len(reply.rasters), sum(raster.visual_tokens for raster in reply.rasters), ", ".join(sizes)

    def kept_again(self, kept: tuple[Any, ...]) -> tuple[Any, ...]:
        """Make again what is kept of a reply."""
        return tuple(Kept(*kept))

    def report(self, verdicts: Verdicts) -> Contents:
        """Fill the paper's tables and figures, and ours beside."""
        return report(verdicts, self._labels)
