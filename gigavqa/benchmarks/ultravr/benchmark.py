"""UltraVR, as the core sees it. Source: the paper's sections 3 to 5; what it leaves open is in `docs/decisions/`."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue

from gigavqa.benchmarks.ultravr.asking import EXAMPLE_PROTOCOLS, PROTOCOLS, AskingContext, protocol_of
from gigavqa.benchmarks.ultravr.checks import check_sample
from gigavqa.benchmarks.ultravr.condition_texts import CURRENT_VERSION, ConditionTextVersion
from gigavqa.benchmarks.ultravr.conditions import OPTIONS_OUTSIDE, annotated_rois, anomalous_cell, show_condition
from gigavqa.benchmarks.ultravr.examples import SCORED_SET, ExampleChooser, FewShotVersion, UltraVROptions
from gigavqa.benchmarks.ultravr.expert_answers import ANSWERS, read_answers, with_answer
from gigavqa.benchmarks.ultravr.judging import UltraVRDetails, UltraVRJudge
from gigavqa.benchmarks.ultravr.reading import FIELDS, record_of, sample_fields
from gigavqa.benchmarks.ultravr.report import report
from gigavqa.benchmarks.ultravr.samples import UltraVREvidence, UltraVRSample
from gigavqa.benchmarks.ultravr.scores import UltraVRScores
from gigavqa.benchmarks.ultravr.step_forms import cell_form
from gigavqa.benchmarks.ultravr.step_judge import STEP_PARSER_VERSION
from gigavqa.benchmarks.ultravr.taxonomy import CATEGORIES
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
    AnswerForms,
    CellRules,
    ChatDetails,
    DatasetFiles,
    JobOptions,
    PaperSettings,
    ReaderVersions,
    RecordLayout,
    SampleDisplay,
)
from gigavqa.evaluation.closing_turns import ClosingForm
from gigavqa.evaluation.departures import read_departures
from gigavqa.evaluation.errors import AnnotationMissingError, EvidenceMissingError
from gigavqa.evaluation.metrics.accuracy import Grouping
from gigavqa.evaluation.outcome_changes import read_version_notes
from gigavqa.evaluation.records import Record
from gigavqa.evaluation.replies import Reply
from gigavqa.evaluation.samples import EXAMPLES
from gigavqa.evaluation.tables import Contents
from gigavqa.evaluation.truth_checks import AnswerForm
from gigavqa.evaluation.verdicts import ReplyJudge

PAPER_MODELS = (
    "gpt-5.5",
    "gpt-5.4",
    "gemini-3.1-pro",
    "qwen3.5-27b",
    "internvl3.5-38b",
    "gemma-4-26b",
    "glm-4.5v",
    "deepseek-vl2",
    "minicpm-v-4.5",
    "phi-4-reasoning-vision-15b",
    "kimi-vl-a3b-thinking",
)
"""Table 1's, in its order."""
_TABLE1, _TABLE2 = cross_plan("S0", "V2 V0"), cross_plan("S0", "V1 V2 V3 V4")
_TABLE3 = cross_plan("S0 S1 S2 S3 S4 S5", "V2")


class UltraVR(
    Benchmark[UltraVRSample, UltraVRDetails],
    AnswerForms[UltraVRSample],
    CellRules[UltraVRSample],
    ChatDetails,
    DatasetFiles,
    JobOptions[UltraVRSample],
    PaperSettings,
    ReaderVersions,
    RecordLayout[UltraVRSample],
    SampleDisplay[UltraVRSample],
):
    """Questions of four domains, asked in six reasoning formats (S0 to S5) under five visual conditions."""

    name = "ultravr"
    title = "UltraVR"
    known_by = ("reasoning_supervision", "slide", "domain", "categories", "subcategory")
    sample_type = UltraVRSample
    details_type = UltraVRDetails
    plans: Mapping[str, tuple[Cell, ...]] = {
        "table1": _TABLE1,
        "table2": _TABLE2,
        "table3": _TABLE3,
        "ultravr": tuple(dict.fromkeys(_TABLE1 + _TABLE2 + _TABLE3)),
        "leakage": cross_plan("S0", "V0 V0F"),
    }
    protocols: Mapping[str, str] = {
        "S0": "direct",
        "S1": "step by step",
        "S2": "with the step schema",
        "S3": "few-shot",
        "S4": "steps one by one",
        "S5": "with given steps",
    }
    conditions = (*CONDITIONS, FORCED)
    options = UltraVROptions
    grouping = Grouping(
        ("domain", "category"), {str(domain): tuple(names) for domain, names in CATEGORIES.items()}, balanced=True
    )
    departures = read_departures(Path(__file__).parent)
    paper_models = PAPER_MODELS
    paper_samples = 464  # 114, 120, 110 and 120 in the domains: what the accuracies of Table 1 are fractions of
    versions: Mapping[str, str] = {"steps": STEP_PARSER_VERSION}
    version_notes = read_version_notes(Path(__file__).parent)
    fields = FIELDS
    beside = (ANSWERS,)
    labels = (ANSWERS,)
    awaited = ANSWERS

    def __init__(self, answers: Mapping[str, str] | None = None) -> None:
        self._answers = answers or {}

    def configured(self, texts: Mapping[str, str], folder: Path | None = None) -> "UltraVR":
        """With the answers of experts that lie beside the data set."""
        return UltraVR(read_answers(texts[ANSWERS])) if ANSWERS in texts else self

    def read(self, record: Record, origin: RecordContext) -> Iterator[dict[str, Any]]:
        """Yield the samples of a record in any of the paper's layouts."""
        return (with_answer(fields, self._answers) for fields in sample_fields(record, origin))

    def answer_form(self, sample: UltraVRSample) -> AnswerForm:
        """One of the options, or a cell's coordinate."""
        form = super().answer_form(sample)
        return form if sample.options else replace(form, kind="coordinate")

    def closed_form(self, sample: UltraVRSample, protocol: str) -> ClosingForm | None:
        """One of the options, or a cell by its row and column."""
        return super().closed_form(sample, protocol) if sample.options else cell_form(sample)

    def record(self, sample: UltraVRSample) -> dict[str, Any]:
        """Write a sample as the flat record that reads as the same sample."""
        return record_of(sample)

    def warnings(self, sample: UltraVRSample, scene: Scene) -> Iterator[str]:
        """Say what keeps a sample from V3 and V4, and which options V3's text rules out."""
        if not scene.images:
            return
        try:
            outside = show_condition(sample, scene, "V3").outside
        except EvidenceMissingError as error:
            reason = str(error).removeprefix(f"sample '{sample.id}': ")
            yield f"V3 and V4 cannot show it: {reason}"
            return
        if outside:
            left = [letter for letter in sample.options or () if letter not in outside]
            yield (
                f"V3 tells where the sheet lies, and no sheet holds options {', '.join(outside)}: only "
                f"{', '.join(left)} can be right"
            )

    def check(self, samples: Sequence[UltraVRSample], place_of: Callable[[str], str]) -> Iterator[Finding]:
        """Say what breaks the paper's checklists (appendices A and F)."""
        return check_each(samples, check_sample)

    def describe(self, sample: UltraVRSample) -> Iterator[str]:
        """Yield lines on the sample's evidence and steps."""
        if sample.evidence:
            yield f"evidence: {_describe_evidence(sample.evidence)}"
        for step in sample.steps:
            operation = f", {step.operation}" if step.operation else ""
            yield f"\n{step.step_id} ({step.answer_format}{operation}): {step.question}"
            if step.options:
                yield f"  one of: {', '.join(step.options)}"
            yield f"  truth: {json.dumps(step.ground_truth, ensure_ascii=False)}"

    def summary(self, sample: UltraVRSample) -> dict[str, str]:
        """Return how many steps, and which evidence."""
        evidence = _describe_evidence(sample.evidence) if sample.evidence else "-"
        return {"steps": str(len(sample.steps)), "evidence": evidence}

    def validate(self, samples: Sequence[UltraVRSample], cells: Sequence[Cell]) -> None:
        """Refuse local evidence of samples without any, and step questions of samples without steps."""
        if any(cell.condition in LOCAL_CONDITIONS for cell in cells):
            _require_evidence(samples)
        protocols = sorted({cell.protocol for cell in cells if PROTOCOLS[cell.protocol].needs_steps})
        missing = [sample.id for sample in samples if not sample.steps] if protocols else []
        if missing:
            named = ", ".join(protocols)
            raise AnnotationMissingError(
                "\n".join(f"sample '{name}' has no steps, which {named} ask" for name in missing)
            )

    def prepare(
        self,
        samples: Sequence[UltraVRSample],
        options: UltraVROptions,
        seed: int,
        examples: Sequence[UltraVRSample] = (),
    ) -> "_SharedContext":
        """Index the trajectories that S3 may tell of, and keep the versions of words."""
        chooser = ExampleChooser(samples, options.examples, seed, set_apart=examples)
        return _SharedContext(chooser, options.conditions, options.s3)

    def ask(self, sample: UltraVRSample, cell: Cell, scene: Scene) -> Chat:
        """Write the turns of a protocol behind what the condition shows."""
        shared: _SharedContext = scene.shared
        protocol = protocol_of(cell.protocol, shared.few_shot)
        showing = show_condition(sample, scene, cell.condition, shared.wording)
        examples = shared.examples.of(sample) if protocol.needs_examples else ()
        turns = protocol.turns(AskingContext(sample, showing, examples, cell.condition == FORCED))
        told: dict[str, JsonValue] = {"examples": [one.id for one in examples]} if protocol.needs_examples else {}
        told |= {"examples_from": EXAMPLES} if any(one.split for one in examples) else {}
        told |= {"ruled_out": list(showing.outside)} if showing.outside else {}
        return Chat(showing.views, turns, f"{protocol.version}+{shared.wording}", told)

    def judge(self, sample: UltraVRSample) -> ReplyJudge[UltraVRDetails]:
        """Make a sample ready to judge replies to it and to its steps."""
        return UltraVRJudge(sample)

    def remark(self, details: Mapping[str, JsonValue]) -> str:
        """Say where a sheet does not hold every option."""
        return OPTIONS_OUTSIDE if details.get("ruled_out") else ""

    def trait(self, reply: Reply) -> tuple[str | int, ...] | None:
        """Count the examples that were told, where they come from and which, under protocols that tell any, or else the
        options that the text rules out.
        """
        told, ruled_out = (reply.labels.details.get(name) for name in ("examples", "ruled_out"))
        if isinstance(told, list) and reply.protocol in EXAMPLE_PROTOCOLS:
            origin = EXAMPLES if reply.labels.details.get("examples_from") == EXAMPLES else SCORED_SET
            return "examples", len(told), origin, *map(str, told)
        return ("ruled_out", len(ruled_out)) if isinstance(ruled_out, list) else None

    def report(self, scores: UltraVRScores) -> Contents:
        """Fill Tables 1 to 3, Figure 2 and the profiles of steps."""
        return report(scores, self.grouping)


class _SharedContext(NamedTuple):
    """The context that all samples of a job share."""

    examples: ExampleChooser
    wording: ConditionTextVersion = CURRENT_VERSION
    few_shot: FewShotVersion = "s3/2"


def _describe_evidence(evidence: UltraVREvidence) -> str:
    parts = [", ".join(evidence.quadrants)] if evidence.quadrants else []
    parts += [f"regions {', '.join(map(str, evidence.rois))}"] if evidence.rois else []
    if evidence.cell:
        (row, column), (rows, columns) = evidence.cell, evidence.grid
        parts.append(f"cell ({row}, {column}) of {rows} x {columns}")
    return "; ".join(parts) or "-"


def _require_evidence(samples: Sequence[UltraVRSample]) -> None:
    missing: list[str] = []
    checks = {"wsi": annotated_rois, "ad": anomalous_cell}
    for sample in samples:
        try:
            if check := checks.get(sample.domain):
                check(sample)
        except EvidenceMissingError as error:
            missing.append(str(error))
    if missing:
        raise EvidenceMissingError("\n".join(missing))
