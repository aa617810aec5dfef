"""Anybody's own questions, as the core sees them: records of any shape in, accuracies by whatever sorts them out."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gigavqa.benchmarks.questions.asking import (
    CUSTOM,
    DIRECT,
    STEPS,
    TEMPLATE,
    PromptTemplate,
    describe_missing_evidence,
    direct_template,
    evidence_images,
    local_views,
    read_template,
    show_condition,
)
from gigavqa.benchmarks.questions.columns import FIELDS, REQUIRED_COLUMNS
from gigavqa.benchmarks.questions.judging import JUDGE_VERSION, QuestionDetails, QuestionJudge
from gigavqa.benchmarks.questions.prompts import read_texts
from gigavqa.benchmarks.questions.reading import read_question, record_of
from gigavqa.benchmarks.questions.report import QuestionScores, report
from gigavqa.benchmarks.questions.samples import LONGEST_SHORT, AnswerKind, Question
from gigavqa.contract.jobs import Cell
from gigavqa.contract.requests import Turn
from gigavqa.evaluation.benchmark import (
    CONDITIONS,
    FORCED,
    LOCAL_CONDITIONS,
    Benchmark,
    Chat,
    RecordContext,
    Scene,
    cross_plan,
)
from gigavqa.evaluation.capabilities import (
    AnswerForms,
    CellRules,
    DatasetFiles,
    ReaderVersions,
    RecordLayout,
    SampleDisplay,
)
from gigavqa.evaluation.closing_turns import ClosingForm, boolean_form, choice_form, number_form
from gigavqa.evaluation.errors import EvidenceMissingError
from gigavqa.evaluation.metrics.accuracy import Grouping
from gigavqa.evaluation.outcome_changes import read_version_notes
from gigavqa.evaluation.records import Record
from gigavqa.evaluation.source_images import require_sources, warn_of_sources
from gigavqa.evaluation.tables import Contents
from gigavqa.evaluation.truth_checks import AnswerForm
from gigavqa.evaluation.verdicts import ReplyJudge

_KIND_TITLES: Mapping[AnswerKind, str] = {
    "choice": "choice",
    "choices": "choice of several",
    "yes_no": "yes/no",
    "number": "number",
    "text": "text",
    "open": "open",
}
"""What people read of a kind of question."""


class CustomQuestions(
    Benchmark[Question, QuestionDetails],
    AnswerForms[Question],
    CellRules[Question],
    DatasetFiles,
    ReaderVersions,
    RecordLayout[Question],
    SampleDisplay[Question],
):
    """Questions of anybody's own; with a `template`, also asked by that."""

    name = "questions"
    title = "Questions"
    sample_type = Question
    details_type = QuestionDetails
    plans: Mapping[str, tuple[Cell, ...]] = {
        "direct": cross_plan(DIRECT, "V2"),
        "conditions": cross_plan(DIRECT, "V0 V1 V2"),
        "evidence": cross_plan(DIRECT, "V1 V2 V3 V4"),
        "leakage": cross_plan(DIRECT, "V0 V0F"),
        "sources": cross_plan(DIRECT, "V0F V2 V5 V6"),
        "formats": cross_plan(f"{DIRECT} {STEPS}", "V2"),
    }
    conditions = (*CONDITIONS, FORCED, "V5", "V6")
    general = True
    asked_by = REQUIRED_COLUMNS
    grouping = Grouping(("category",))
    versions: Mapping[str, str] = {"questions": JUDGE_VERSION}
    version_notes = read_version_notes(Path(__file__).parent)
    fields = FIELDS
    beside = (TEMPLATE,)

    def __init__(self, template: PromptTemplate | None = None) -> None:
        self._template = template
        own = {CUSTOM: f"by {TEMPLATE}, {template.version}"} if template else {}
        self.protocols: Mapping[str, str] = {DIRECT: "directly", STEPS: "step by step", **own}

    def configured(self, texts: Mapping[str, str], folder: Path | None = None) -> "CustomQuestions":
        """With the prompt of one's own that lies beside the data set."""
        return CustomQuestions(read_template(texts[TEMPLATE])) if TEMPLATE in texts else self

    def read(self, record: Record, origin: RecordContext) -> Iterator[dict[str, Any]]:
        """Yield the questions of a record, whatever its columns are called."""
        return read_question(record, origin)

    def record(self, sample: Question) -> dict[str, Any]:
        """Write a question as a record that reads as the same question."""
        return record_of(sample)

    def answer_form(self, sample: Question) -> AnswerForm:
        """One or several letters, yes or no, a number, a short text, or any text."""
        options = frozenset(sample.options or ())
        possible = options if sample.kind in ("choice", "choices") else frozenset({"yes", "no"})
        closed = sample.kind in ("choice", "choices", "yes_no")
        return AnswerForm(
            _KIND_TITLES[sample.kind],
            sample.answers,
            possible if closed else None,
            LONGEST_SHORT if sample.kind == "text" else None,
            lettered=sample.lettered or sample.kind not in ("text", "open"),
        )

    def weighed_answer(self, sample: Question, protocol: str) -> str:
        """Return the letters of options, else the first of the right answers."""
        return super().weighed_answer(sample, protocol) if sample.options else (sample.answers or ("",))[0]

    def closed_form(self, sample: Question, protocol: str) -> ClosingForm | None:
        """One letter, yes or no, or a number; several letters and texts of any kind are of no closed form."""
        is_right = QuestionJudge(sample).is_right
        if sample.kind == "choice":
            return choice_form(tuple(sample.options or ()), is_right)
        closed = {"yes_no": boolean_form, "number": number_form}.get(sample.kind)
        return closed(is_right) if closed else None

    def describe(self, sample: Question) -> Iterator[str]:
        """Tell how it is answered, and where its evidence lies."""
        within = f", ± {sample.tolerance:g}" if sample.tolerance else ""
        within += f", ± {100 * sample.relative_tolerance:g} %" if sample.relative_tolerance else ""
        yield f"type: {_KIND_TITLES[sample.kind]}{within}"
        if sample.hint:
            yield f"hint: {sample.hint}"
        for one in sample.evidence:
            yield f"evidence: {one.region} of {sample.images[one.image] if sample.images else f'image {one.image}'}"

    def validate(self, samples: Sequence[Question], cells: Sequence[Cell]) -> None:
        """Refuse local evidence of questions without any, and images beside it where there are none."""
        local = any(cell.condition in LOCAL_CONDITIONS for cell in cells)
        if local and (missing := [describe_missing_evidence(sample) for sample in samples if not sample.evidence]):
            raise EvidenceMissingError("\n".join(missing))
        require_sources(samples, cells, evidence_images)

    def warnings(self, sample: Question, scene: Scene) -> Iterator[str]:
        """Say where evidence lies outside the picture; questions without any need none."""
        if sample.evidence and scene.images:
            try:
                local_views(sample, scene)
            except EvidenceMissingError as error:
                reason = str(error).removeprefix(f"sample '{sample.id}': ")
                yield f"V3 and V4 cannot show it: {reason}"
        yield from warn_of_sources(sample, evidence_images(sample))

    def ask(self, sample: Question, cell: Cell, scene: Scene) -> Chat:
        """Write the one turn of a protocol behind what the condition shows."""
        views, shown = show_condition(sample, scene, cell.condition)
        template = self._template if cell.protocol == CUSTOM and self._template else direct_template()
        text, version = template.text(sample, shown, cell.condition), template.version
        if cell.protocol == STEPS:
            steps = read_texts(STEPS)
            text, version = f"{text}\n\n{steps['instruction']}", f"{steps['version']}+{version}"
        return Chat(views, (Turn(parts=(text,)),), f"{version}+{read_texts('conditions')['version']}")

    def judge(self, sample: Question) -> ReplyJudge[QuestionDetails]:
        """Make a question ready to judge replies to it."""
        return QuestionJudge(sample)

    def report(self, scores: QuestionScores) -> Contents:
        """Accuracies by category and group, what letters are answered, and which differences are more than chance."""
        return report(scores)
