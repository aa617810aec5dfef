"""VistaHop, as the core sees it: from a small thing in a large picture through facts that only search supplies.

Source: arXiv 2606.03273; `docs/vistahop.md` says what is the authors', and what is settled where they are silent.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gigavqa.benchmarks.vistahop.answers import READER_VERSION, read_answer
from gigavqa.benchmarks.vistahop.asking import (
    DIRECT,
    LOOPS,
    PAPERS_ROUNDS,
    PROTOCOLS,
    ROUNDS,
    SEARCH_CROP,
    VistaHopOptions,
    ask,
    require_tools,
)
from gigavqa.benchmarks.vistahop.checks import check_sample, compare_samples
from gigavqa.benchmarks.vistahop.judging import VistaHopDetails, VistaHopJudge, option_form
from gigavqa.benchmarks.vistahop.metrics import VistaHopBaseScores
from gigavqa.benchmarks.vistahop.model_judge import DECODING as DECODING_OF_JUDGES
from gigavqa.benchmarks.vistahop.model_judge import PROMPTS as PROMPTS_OF_JUDGES
from gigavqa.benchmarks.vistahop.model_judge import ask_judge, list_cases, read_judgement
from gigavqa.benchmarks.vistahop.reading import FIELDS, VISTAHOP_FIELDS, record_of, sample_fields
from gigavqa.benchmarks.vistahop.report import report
from gigavqa.benchmarks.vistahop.rule_judge import RULES_VERSION
from gigavqa.benchmarks.vistahop.runner_config import read_configuration
from gigavqa.benchmarks.vistahop.runner_results import read_result_line
from gigavqa.benchmarks.vistahop.samples import LETTERS, VistaHopSample
from gigavqa.benchmarks.vistahop.sidecars import (
    FAILURES,
    JUDGEMENTS,
    LABEL_KINDS,
    TOOL_FILES,
    Sidecars,
    read_dataset_settings,
    read_sidecars,
)
from gigavqa.contract.jobs import Cell
from gigavqa.evaluation.benchmark import Benchmark, Chat, Finding, RecordContext, Scene, check_each
from gigavqa.evaluation.capabilities import (
    AnswerForms,
    CellRules,
    ConfiguredDataset,
    DatasetFiles,
    Evidence,
    JobOptions,
    ModelJudging,
    PaperSettings,
    ProgramFiles,
    ReaderVersions,
    RecordLayout,
    ReplyLabels,
    SampleDisplay,
)
from gigavqa.evaluation.closing_turns import ClosingForm
from gigavqa.evaluation.departures import read_departures
from gigavqa.evaluation.judgements import JudgeCase, Panel
from gigavqa.evaluation.metrics.accuracy import Grouping
from gigavqa.evaluation.outcome_changes import read_version_notes
from gigavqa.evaluation.records import Record
from gigavqa.evaluation.replies import Reply
from gigavqa.evaluation.tables import Contents
from gigavqa.evaluation.truth_checks import AnswerForm
from gigavqa.evaluation.verdicts import ReplyJudge

_TABLE4 = (
    Cell(protocol=DIRECT, condition="V2"),
    *(Cell(protocol=name, condition="V2", rounds=PAPERS_ROUNDS) for name in LOOPS),
)
_TABLE5 = tuple(Cell(protocol=SEARCH_CROP, condition="V2", rounds=number) for number in ROUNDS)


PAPER_MODELS = (
    "gemini-2.5-pro",
    "gpt-5",
    "claude-sonnet-4",
    "qwen3-vl-30b-a3b",
    "qwen3-vl-235b-a22b",
    "sensenova-mars-32b",
    "tongyi-deepresearch-30b-a3b",
)
"""Table 4's, in its order."""
_SECOND_OPTION = re.compile(r"(?<!\w)[(\[]?B[.):\]]")
"""What stands in a question that lists its options."""


class VistaHop(
    Benchmark[VistaHopSample, VistaHopDetails],
    AnswerForms[VistaHopSample],
    CellRules[VistaHopSample],
    DatasetFiles,
    JobOptions[VistaHopSample],
    ModelJudging[VistaHopSample],
    PaperSettings,
    ProgramFiles,
    ReaderVersions,
    RecordLayout[VistaHopSample],
    ReplyLabels,
    SampleDisplay[VistaHopSample],
):
    """Questions whose chats search and look closer; with what lies beside a data set."""

    name = "vistahop"
    title = "VistaHop"
    budget = "published"
    known_by = VISTAHOP_FIELDS
    sample_type = VistaHopSample
    details_type = VistaHopDetails
    plans: Mapping[str, tuple[Cell, ...]] = {
        "table4": _TABLE4,
        "table5": _TABLE5,
        "vistahop": tuple(dict.fromkeys((*_TABLE4, *_TABLE5))),
        "text-only": (Cell(protocol=DIRECT, condition="V0"),),
    }
    protocols: Mapping[str, str] = PROTOCOLS
    loops = LOOPS
    conditions = ("V0", "V2")
    grouping = Grouping(("level",))
    options = VistaHopOptions
    departures = read_departures(Path(__file__).parent)
    paper_models = PAPER_MODELS
    paper_samples = 350
    versions: Mapping[str, str] = {"vistahop": READER_VERSION, "judge": RULES_VERSION}
    version_notes = read_version_notes(Path(__file__).parent)
    decoding: Mapping[str, float | int] = {
        "temperature": 0.7, "top_p": 0.8, "top_k": 20, "repetition_penalty": 1.0, "presence_penalty": 1.5,
        "max_tokens": 4096,
    }  # fmt: skip
    labels = (JUDGEMENTS, FAILURES)
    label_kinds = LABEL_KINDS
    beside = (*TOOL_FILES, *labels)
    fields = FIELDS

    judge_prompts = PROMPTS_OF_JUDGES
    judge_decoding = DECODING_OF_JUDGES

    def __init__(self, beside: Sidecars | None = None, panel: Panel | None = None) -> None:
        self._beside = beside or Sidecars()
        self._panel = panel or Panel()

    def configured(self, texts: Mapping[str, str], folder: Path | None = None) -> "VistaHop":
        """With the tools and labels that lie beside the data set, its corpus, and the prompts of its settings."""
        beside = replace(self._beside, **read_sidecars(texts))
        return VistaHop(replace(beside, **read_dataset_settings(folder)) if folder else beside, self._panel)

    @property
    def content(self) -> str:
        """The digest of the corpus."""
        return self._beside.corpus.digest if self._beside.corpus else ""

    def read(self, record: Record, origin: RecordContext) -> Iterator[dict[str, Any]]:
        """Yield the question of a record, of any of its shapes."""
        return sample_fields(record, origin)

    def record(self, sample: VistaHopSample) -> dict[str, Any]:
        """Write a question as a record that reads as the same question."""
        return record_of(sample)

    def read_config(self, path: Path, name: str) -> ConfiguredDataset | None:
        """Read the configuration of the authors' program, which holds data sets by name."""
        return read_configuration(path, name)

    def read_result(self, line: dict[str, Any]) -> dict[str, Any] | None:
        """Turn a line of the authors' `results.jsonl` into the fields of a response."""
        return read_result_line(line)

    def check(self, samples: Sequence[VistaHopSample], place_of: Callable[[str], str]) -> Iterator[Finding]:
        """Say what keeps a question from a table, and which documents of chains the corpus has not."""
        yield from check_each(samples, check_sample)
        yield from compare_samples(samples, self._beside.corpus.documents if self._beside.corpus else None)

    def describe(self, sample: VistaHopSample) -> Iterator[str]:
        """Tell its anchors, its chain and what an image search finds."""
        for anchor in sample.all_anchors:
            yield f"anchor: {anchor.label or 'unnamed'}{f' at {list(anchor.box)}' if anchor.box else ''}"
        for hop in sample.all_hops:
            yield f"hop: {hop.start} -> {hop.end}{f' ({hop.relation})' if hop.relation else ''}"
        for hit in sample.hits:
            yield f"image search: {hit.title}"

    def summary(self, sample: VistaHopSample) -> dict[str, str]:
        """Its hops and its form."""
        return {"hops": str(sample.hops or "not known"), "form": sample.form or "not known"}

    def evidence(self, sample: VistaHopSample, shared: Any) -> Evidence:
        """Tell the chain from the picture to the answer."""
        lines = [f"{hop.start} -> {hop.end}" for hop in sample.all_hops]
        return Evidence((*(anchor.label for anchor in sample.all_anchors if anchor.label), *lines))

    def validate(self, samples: Sequence[VistaHopSample], cells: Sequence[Cell]) -> None:
        """Refuse loops without the picture, which no table has, and without any tool."""
        require_tools(cells, self._beside)

    def prepare(
        self, samples: Sequence[VistaHopSample], options: Any, seed: int, examples: Sequence[VistaHopSample] = ()
    ) -> VistaHopOptions:
        """Hand the job's options on."""
        return options if isinstance(options, VistaHopOptions) else VistaHopOptions()

    def answer_form(self, sample: VistaHopSample) -> AnswerForm:
        """Return a letter of the options, which may stand in the question's text.

        Else a short text, any that is right.
        """
        lettered = self._beside.lettered or bool(_SECOND_OPTION.search(sample.question))
        if not sample.options and not self._beside.lettered:
            return AnswerForm("choice" if lettered else "text", sample.answers, lettered=lettered)
        letters = frozenset(sample.options or LETTERS)
        truths = tuple(truth.upper() if truth.upper() in letters else truth for truth in sample.answers)
        return AnswerForm("choice", truths, letters, lettered=lettered)

    def weighed_answer(self, sample: VistaHopSample, protocol: str) -> str:
        """Return the letter of an option, else the first of the truths, any of which will do."""
        return super().weighed_answer(sample, protocol) if sample.options else (sample.answers or ("",))[0]

    def closed_form(self, sample: VistaHopSample, protocol: str) -> ClosingForm | None:
        """Return a letter of the options, where the record lists them.

        In a question's text alone they are not known.
        """
        return option_form(sample) if sample.options else None

    def ask(self, sample: VistaHopSample, cell: Cell, scene: Scene) -> Chat:
        """Ask in one turn, or open a loop. Raises EvidenceMissingError where nothing can be searched."""
        return ask(sample, cell, scene, self._beside)

    def judge(self, sample: VistaHopSample) -> ReplyJudge[VistaHopDetails]:
        """Make a question ready to judge chats about it."""
        return VistaHopJudge(sample, self._beside, self._panel)

    def cases(self, sample: VistaHopSample, reply: Reply) -> Sequence[JudgeCase]:
        """That the answer means one of the truths, where it is none to the word."""
        return () if reply.text is None else list_cases(sample, read_answer(reply.text).text)

    def ask_judge(self, sample: VistaHopSample, case: JudgeCase, prompt: str, scene: Scene) -> Chat:
        """Ask by the principles of the paper's judge, with the picture."""
        return ask_judge(case, sample.question, prompt, scene)

    def read_judgement(self, text: str) -> bool | None:
        """Read the verdict between its tags."""
        return read_judgement(text)

    def judged_with(self, panel: Panel) -> "VistaHop":
        """Judging as the first of these models does, the others and the rules beside."""
        return VistaHop(self._beside, panel)

    def report(self, scores: VistaHopBaseScores) -> Contents:
        """Fill Tables 4, 5 and 9, the composition of the data, and ours beside."""
        return report(scores, self._beside)
