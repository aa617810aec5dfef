"""The eye chart, as the core sees it: one question about one ring of known size, asked under every condition."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from gigavqa.contract.jobs import Cell
from gigavqa.evaluation.benchmark import Benchmark, Chat, Finding, Scene, check_each, cross_plan
from gigavqa.evaluation.capabilities import (
    CellRules,
    ChatDetails,
    Evidence,
    PaperSettings,
    ReaderVersions,
    RecordLayout,
    SampleDisplay,
)
from gigavqa.evaluation.errors import EvidenceMissingError
from gigavqa.evaluation.metrics.accuracy import Grouping
from gigavqa.evaluation.outcome_changes import read_version_notes
from gigavqa.evaluation.replies import Reply
from gigavqa.evaluation.tables import Contents
from gigavqa.evaluation.verdicts import ReplyJudge
from gigavqa_acuity.asking import DIRECT, ask
from gigavqa_acuity.checks import check_sign
from gigavqa_acuity.evidence import describe_ring, ring_view, tell_evidence
from gigavqa_acuity.judging import JUDGE_VERSION, AcuityDetails, AcuityJudge, width_shown
from gigavqa_acuity.metrics import AcuityBaseScores
from gigavqa_acuity.report import report
from gigavqa_acuity.samples import AcuitySample
from gigavqa_acuity.taxonomy import ATTRIBUTES, PLACES

MOST_TOKENS = 4096
"""Room for those that think before they say a letter."""


class Acuity(
    Benchmark[AcuitySample, AcuityDetails],
    CellRules[AcuitySample],
    ChatDetails,
    PaperSettings,
    ReaderVersions,
    RecordLayout[AcuitySample],
    SampleDisplay[AcuitySample],
):
    """The eye chart: what a model can see of a picture at the size that it is shown it."""

    name = "acuity"
    title = "Acuity"
    known_by = ("optotype",)
    sample_type = AcuitySample
    details_type = AcuityDetails
    plans: Mapping[str, tuple[Cell, ...]] = {"acuity": cross_plan(DIRECT, "V0 V1 V2 V3 V4")}
    protocols: Mapping[str, str] = {DIRECT: "directly"}
    decoding: Mapping[str, float | int] = {"temperature": 0.0, "max_tokens": MOST_TOKENS}
    versions: Mapping[str, str] = {"acuity": JUDGE_VERSION}
    version_notes = read_version_notes(Path(__file__).parent)
    grouping = Grouping(("attribute", "place"), dict.fromkeys(ATTRIBUTES, PLACES))

    def describe(self, sample: AcuitySample) -> Iterator[str]:
        """Tell the ring, where it stands, and what shows it."""
        yield f"{describe_ring(sample)}, on a {sample.scene}, at the picture's {sample.place}"
        yield f"evidence: {sample.evidence}"

    def summary(self, sample: AcuitySample) -> dict[str, str]:
        """Its ring's size, and what it stands on."""
        return {"diameter": f"{sample.optotype.diameter:g} px", "scene": sample.scene}

    def ask(self, sample: AcuitySample, cell: Cell, scene: Scene) -> Chat:
        """Ask in one turn behind what the condition shows."""
        return ask(sample, cell.condition, scene)

    def evidence(self, sample: AcuitySample, shared: object) -> Evidence:
        """Tell where the ring stands."""
        return tell_evidence(sample)

    def check(self, samples: Sequence[AcuitySample], place_of: Callable[[str], str]) -> Iterator[Finding]:
        """Say what the chart's numbers cannot rest on."""
        return check_each(samples, check_sign)

    def warnings(self, sample: AcuitySample, scene: Scene) -> Iterator[str]:
        """Say where evidence lies outside the picture."""
        if scene.images:
            try:
                ring_view(sample, scene)
            except EvidenceMissingError as error:
                reason = str(error).removeprefix(f"sample '{sample.id}': ")
                yield f"V3 and V4 cannot show it: {reason}"

    def judge(self, sample: AcuitySample) -> ReplyJudge[AcuityDetails]:
        """Make a question ready to judge replies to it."""
        return AcuityJudge(sample)

    def trait(self, reply: Reply) -> float | None:
        """Pixels in the width of the full image as it was shown; None for a reply that was shown none."""
        return width_shown(reply)

    def report(self, scores: AcuityBaseScores) -> Contents:
        """Fill the tables: what a model sees in one line, where it stops, and which faults its errors fit."""
        return report(scores)
