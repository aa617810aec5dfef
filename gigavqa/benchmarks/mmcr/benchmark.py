"""MMCR, as the core sees it: questions about papers as page images, their options in every rotation.

Source: the paper's supplement (arXiv 2503.16856, sections A to C) and its official code; `docs/mmcr.md` says what is
whose, and what is settled where they are silent.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gigavqa.benchmarks.mmcr.answers import MATCHER_VERSION
from gigavqa.benchmarks.mmcr.asking import (
    ROTATIONS,
    MMCROptions,
    RotationProtocol,
    ask,
    describe_protocols,
    evidence_positions,
)
from gigavqa.benchmarks.mmcr.checks import check_question, compare_samples, require_evidence
from gigavqa.benchmarks.mmcr.judging import MMCRDetails, MMCRJudge, rotation_of
from gigavqa.benchmarks.mmcr.metrics import METRICS_VERSION, MMCRBaseScores
from gigavqa.benchmarks.mmcr.reading import FIELDS, DocumentPages, question_fields, record_of
from gigavqa.benchmarks.mmcr.report import report
from gigavqa.benchmarks.mmcr.samples import MMCRSample
from gigavqa.benchmarks.mmcr.sidecars import DOCUMENTS, ERRORS, LABEL_KINDS, ErrorLabels, read_documents, read_labels
from gigavqa.benchmarks.mmcr.taxonomy import QUESTION_TYPES
from gigavqa.contract.jobs import Cell
from gigavqa.evaluation.benchmark import (
    CONDITIONS,
    FORCED,
    Benchmark,
    Chat,
    Finding,
    RecordContext,
    Scene,
    check_each,
    cross_plan,
)
from gigavqa.evaluation.capabilities import (
    AnswerForms,
    CellRules,
    ChatDetails,
    DatasetFiles,
    Evidence,
    JobOptions,
    PaperSettings,
    ReaderVersions,
    RecordLayout,
    ReplyLabels,
    SampleDisplay,
)
from gigavqa.evaluation.closing_turns import ClosingForm, choice_form
from gigavqa.evaluation.departures import read_departures
from gigavqa.evaluation.metrics.accuracy import Grouping
from gigavqa.evaluation.outcome_changes import read_version_notes
from gigavqa.evaluation.records import Record
from gigavqa.evaluation.replies import Reply
from gigavqa.evaluation.source_images import warn_of_sources
from gigavqa.evaluation.tables import Contents
from gigavqa.evaluation.verdicts import ReplyJudge

_DIRECT_PROTOCOLS, _COT_PROTOCOLS = (" ".join(f"{family}{k}" for k in ROTATIONS) for family in "NC")


class MMCR(
    Benchmark[MMCRSample, MMCRDetails],
    AnswerForms[MMCRSample],
    CellRules[MMCRSample],
    ChatDetails,
    DatasetFiles,
    JobOptions[MMCRSample],
    PaperSettings,
    ReaderVersions,
    RecordLayout[MMCRSample],
    ReplyLabels,
    SampleDisplay[MMCRSample],
):
    """Questions about documents; with what lies beside a data set: its documents' pages, and labels of errors."""

    name = "mmcr"
    title = "MMCR"
    known_by = ("l2-category", "rotations", "document")
    budget = "published"
    sample_type = MMCRSample
    details_type = MMCRDetails
    plans: Mapping[str, tuple[Cell, ...]] = {
        "mmcr": cross_plan(_DIRECT_PROTOCOLS, "V2"),
        "mmcr-cot": cross_plan(f"{_DIRECT_PROTOCOLS} {_COT_PROTOCOLS}", "V2"),
        "mmcr-plain": cross_plan("N0 C0", "V2"),
        "leakage": cross_plan(_DIRECT_PROTOCOLS, "V0 V0F"),
        "sources": cross_plan(_DIRECT_PROTOCOLS, "V0F V3 V5"),
    }
    protocols: Mapping[str, str] = describe_protocols()
    conditions = (*CONDITIONS, FORCED, "V5")
    grouping = Grouping(("type",), dict.fromkeys(QUESTION_TYPES, ()))
    options = MMCROptions
    departures = read_departures(Path(__file__).parent)
    paper_models = ("gpt-4o", "qwen2.5-vl-72b", "minicpm-o-2.6", "idefics3-8b")  # InternVL2.5 without its size
    paper_samples = 276
    versions: Mapping[str, str] = {"matcher": MATCHER_VERSION, "metrics": METRICS_VERSION}
    version_notes = read_version_notes(Path(__file__).parent)
    beside = (DOCUMENTS, ERRORS)
    fields = FIELDS
    labels = (ERRORS,)
    label_kinds = LABEL_KINDS
    decoding: Mapping[str, float | int] = {
        "temperature": 0.0, "top_p": 1.0, "top_k": 0, "repetition_penalty": 1.0, "max_tokens": 4096,
    }  # fmt: skip

    def __init__(self, documents: DocumentPages | None = None, labels: ErrorLabels | None = None) -> None:
        self._documents = documents or {}
        self._labels = labels or {}

    def configured(self, texts: Mapping[str, str], folder: Path | None = None) -> "MMCR":
        """With the documents and labels that lie beside the data set."""
        documents = read_documents(texts[DOCUMENTS]) if DOCUMENTS in texts else {}
        return MMCR(documents, read_labels(texts[ERRORS]) if ERRORS in texts else {})

    def read(self, record: Record, origin: RecordContext) -> Iterator[dict[str, Any]]:
        """Yield the question of a record, or of a row of the official table."""
        return question_fields(record, origin, self._documents)

    def record(self, sample: MMCRSample) -> dict[str, Any]:
        """Write a question as a record that reads as the same question."""
        return record_of(sample)

    def describe(self, sample: MMCRSample) -> Iterator[str]:
        """Tell its document and where its evidence stands."""
        yield f"document: {sample.document}, {len(sample.images)} pages"
        if sample.evidence.pages:
            sources = f" ({', '.join(sample.evidence.sources)})" if sample.evidence.sources else ""
            yield f"evidence: {sample.evidence.places}{sources}"
        if sample.hint:
            yield f"hint: {sample.hint}"

    def summary(self, sample: MMCRSample) -> dict[str, str]:
        """Its document, and how many pages it has."""
        return {"document": sample.document, "pages": str(len(sample.images))}

    def applies(self, sample: MMCRSample, cell: Cell) -> bool:
        """Return a question has as many rotations as options."""
        return RotationProtocol.of(cell.protocol).rotation < len(sample.letters)

    def validate(self, samples: Sequence[MMCRSample], cells: Sequence[Cell]) -> None:
        """Refuse evidence pages of questions without any, and what stands beside them where nothing does."""
        require_evidence(samples, cells)

    def warnings(self, sample: MMCRSample, scene: Scene) -> Iterator[str]:
        """Say where all pages are evidence."""
        return warn_of_sources(sample, evidence_positions(sample))

    def check(self, samples: Sequence[MMCRSample], place_of: Callable[[str], str]) -> Iterator[Finding]:
        """Say what is doubtful of a question by itself, and wrong between those about one document."""
        yield from check_each(samples, check_question)
        yield from compare_samples(samples, place_of)

    def evidence(self, sample: MMCRSample, shared: Any) -> Evidence:
        """Tell on which pages the answer stands, and what on them."""
        pages = sample.evidence.pages
        told = (sample.evidence.places,) if pages else ()
        within = [page for page in pages if page <= len(sample.images)]
        return Evidence((*told, *sample.evidence.sources), tuple(sample.images[page - 1] for page in within))

    def closed_form(self, sample: MMCRSample, protocol: str) -> ClosingForm | None:
        """One of the options, by the letters of the rotation; its value is the original one."""
        k = rotation_of(protocol, sample)
        return choice_form(
            tuple(sample.shown(k)),
            lambda letter: letter == sample.answer,
            original=lambda letter: sample.original(letter, k),
        )

    def ask(self, sample: MMCRSample, cell: Cell, scene: Scene) -> Chat:
        """Ask in one turn behind the pages."""
        return ask(sample, cell, scene)

    def judge(self, sample: MMCRSample) -> ReplyJudge[MMCRDetails]:
        """Make a question ready to judge replies under all its rotations."""
        return MMCRJudge(sample)

    def trait(self, reply: Reply) -> tuple[int, int, str] | None:
        """Pages of a prompt, their visual tokens, and how they were sized; None for one that showed none."""
        if not reply.rasters:
            return None
        sizes = sorted({raster.view.sizing for raster in reply.rasters})
        return len(reply.rasters), sum(raster.visual_tokens for raster in reply.rasters), ", ".join(sizes)

    def report(self, scores: MMCRBaseScores) -> Contents:
        """Fill the paper's tables and figures, and ours beside."""
        return report(scores, self._labels)
