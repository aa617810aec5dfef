"""ATOM-Bench, as the core sees it. Source: the paper's sections 3 and 4 and its appendices."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gigavqa.benchmarks.atombench.answers import READER_VERSION
from gigavqa.benchmarks.atombench.asking import DECODING, EVIDENCE_PROTOCOLS, PROTOCOLS, AtomOptions, ask
from gigavqa.benchmarks.atombench.checks import check_sample, compare_samples
from gigavqa.benchmarks.atombench.error_labels import ERRORS, LABEL_KINDS, ErrorLabels, read_error_labels
from gigavqa.benchmarks.atombench.evidence import GoldenEvidence, evidence_line
from gigavqa.benchmarks.atombench.judging import AtomDetails, AtomJudge
from gigavqa.benchmarks.atombench.metrics import METRICS_VERSION
from gigavqa.benchmarks.atombench.reading import FIELDS, record_of, sample_fields
from gigavqa.benchmarks.atombench.repeats import AtomBaseScores
from gigavqa.benchmarks.atombench.report import report
from gigavqa.benchmarks.atombench.samples import AtomSample
from gigavqa.benchmarks.atombench.taxonomy import DOMAINS
from gigavqa.contract.jobs import Cell
from gigavqa.evaluation.benchmark import (
    CONDITIONS,
    FORCED,
    LOCAL_CONDITIONS,
    Benchmark,
    Chat,
    Finding,
    RecordContext,
    Scene,
    check_each,
    cross_plan,
)
from gigavqa.evaluation.capabilities import (
    CellRules,
    DatasetFiles,
    Evidence,
    JobOptions,
    PaperSettings,
    ReaderVersions,
    RecordLayout,
    ReplyLabels,
    SampleDisplay,
)
from gigavqa.evaluation.departures import read_departures
from gigavqa.evaluation.errors import EvidenceMissingError
from gigavqa.evaluation.metrics.accuracy import Grouping
from gigavqa.evaluation.outcome_changes import read_version_notes
from gigavqa.evaluation.records import Record
from gigavqa.evaluation.tables import Contents
from gigavqa.evaluation.verdicts import ReplyJudge

PAPER_MODELS = (
    "gemini-2.5-pro",
    "gpt-5",
    "gpt-4.1",
    "qwen2.5-vl-72b",
    "internvl3-78b",
    "qwen2.5-vl-32b",
    "internvl3.5-38b",
    "internvl2.5-78b",
    "internvl3-8b",
    "internvl2.5-38b",
    "llama-3.2-11b-vision",
    "qwen2.5-vl-7b",
    "llava-onevision-72b",
    "internvl3.5-8b",
    "minicpm-o-2.6",
    "internvl2.5-8b",
    "internvl2-8b",
    "llava-onevision-7b",
    "qwen2-vl-7b",
    "glm-4.1v-9b-thinking",
    "mimo-vl-7b-sft-2508",
    "ovis2.5-9b",
)
"""Table 2's, in its order."""


class AtomBench(
    Benchmark[AtomSample, AtomDetails],
    CellRules[AtomSample],
    DatasetFiles,
    JobOptions[AtomSample],
    PaperSettings,
    ReaderVersions,
    RecordLayout[AtomSample],
    ReplyLabels,
    SampleDisplay[AtomSample],
):
    """Whether a conclusion about a picture rests on clues that the model understood."""

    name = "atombench"
    title = "ATOM-Bench"
    known_by = ("level", "clues", "conclusions", "certainty", "dimension", "scope")
    budget = "published"
    sample_type = AtomSample
    details_type = AtomDetails
    plans: Mapping[str, tuple[Cell, ...]] = {
        "atombench": cross_plan("A0 AG", "V2"),
        "leakage": cross_plan("A0", "V0 V0F"),
        "blind": cross_plan("A0", "V0 V1 V2"),
        "chat": cross_plan("A0 AG AGC", "V2"),
    }
    protocols: Mapping[str, str] = PROTOCOLS
    decoding: Mapping[str, float | int] = DECODING
    fields = FIELDS
    grouping = Grouping(("level", "dimension"), {"clue": tuple(DOMAINS), "conclusion": ()})
    conditions = (*CONDITIONS, FORCED)
    options = AtomOptions
    departures = read_departures(Path(__file__).parent)
    paper_models = PAPER_MODELS
    paper_samples = 2920
    versions: Mapping[str, str] = {"atombench": READER_VERSION, "metrics": METRICS_VERSION}
    version_notes = read_version_notes(Path(__file__).parent)
    beside = (ERRORS,)
    labels = (ERRORS,)
    label_kinds = LABEL_KINDS

    def __init__(self, labels: ErrorLabels | None = None) -> None:
        self._labels = labels or {}

    def configured(self, texts: Mapping[str, str], folder: Path | None = None) -> "AtomBench":
        """With the labels that lie beside the data set."""
        return AtomBench(read_error_labels(texts[ERRORS])) if ERRORS in texts else self

    def read(self, record: Record, origin: RecordContext) -> Iterator[dict[str, Any]]:
        """Yield the questions of a record: one, or all of an image."""
        return sample_fields(record, origin)

    def record(self, sample: AtomSample) -> dict[str, Any]:
        """Write a question as a record that reads as the same question."""
        return record_of(sample)

    def check(self, samples: Sequence[AtomSample], place_of: Callable[[str], str]) -> Iterator[Finding]:
        """Say what keeps a question from a table, and which clues of an image have the same step."""
        yield from check_each(samples, check_sample)
        yield from compare_samples(samples, place_of)

    def evidence(self, sample: AtomSample, shared: tuple[GoldenEvidence, AtomOptions]) -> Evidence:
        """Golden evidence of a conclusion question, beside its first and its final answer."""
        if sample.level != "conclusion":
            return Evidence()
        return Evidence(tuple(map(evidence_line, shared[0].of(sample))))

    def applies(self, sample: AtomSample, cell: Cell) -> bool:
        """Golden evidence is told with conclusion questions alone."""
        return cell.protocol not in EVIDENCE_PROTOCOLS or sample.level == "conclusion"

    def validate(self, samples: Sequence[AtomSample], cells: Sequence[Cell]) -> None:
        """Refuse local evidence: none is annotated."""
        if any(cell.condition in LOCAL_CONDITIONS for cell in cells):
            raise EvidenceMissingError("ATOM-Bench annotates no evidence regions; V3 and V4 cannot be asked")

    def prepare(
        self, samples: Sequence[AtomSample], options: AtomOptions, seed: int, examples: Sequence[AtomSample] = ()
    ) -> tuple[GoldenEvidence, AtomOptions]:
        """Collect the golden evidence of every picture, from the whole data set."""
        return GoldenEvidence(samples), options

    def ask(self, sample: AtomSample, cell: Cell, scene: Scene) -> Chat:
        """Write the turns of a protocol. Raises EvidenceMissingError naming every question without golden evidence."""
        if cell.condition in LOCAL_CONDITIONS:
            self.validate([sample], [cell])
        golden, options = scene.shared
        clues = golden.of(sample) if cell.protocol in EVIDENCE_PROTOCOLS else ()
        if cell.protocol in EVIDENCE_PROTOCOLS and not clues:
            reason = f"its image has no clue question with an answer, which {cell.protocol} tells"
            raise EvidenceMissingError("\n".join(f"sample '{name}': {reason}" for name in golden.missing))
        return ask(sample, cell.protocol, cell.condition, scene, clues, words=options.ag)

    def judge(self, sample: AtomSample) -> ReplyJudge[AtomDetails]:
        """Make a question ready to judge replies to it."""
        return AtomJudge(sample, self._labels)

    def report(self, scores: AtomBaseScores) -> Contents:
        """Fill Tables 1 to 4 and Figures 3 and 5 to 8."""
        return report(scores)
