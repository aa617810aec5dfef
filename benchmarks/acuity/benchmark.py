"""The eye chart, as the host sees it: one question about one ring of known size, asked under every condition."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.acuity.asking import DIRECT, ask
from benchmarks.acuity.checks import check_sign
from benchmarks.acuity.evidence import described, evidence_of, ring_alone
from benchmarks.acuity.judging import JUDGE_VERSION, Kept, SignJudge, width_shown
from benchmarks.acuity.report import report
from benchmarks.acuity.samples import Sign
from benchmarks.acuity.taxonomy import ATTRIBUTES, PLACES
from evaluation.benchmark import Benchmark, Chat, Evidence, Scene, plan_of
from evaluation.errors import EvidenceMissingError
from evaluation.metrics.accuracy import Grouping
from evaluation.replies import Reply
from evaluation.revisions import read_version_notes
from evaluation.tables import Contents
from evaluation.verdicts import Judge, Verdicts
from jobs.models import Cell

MOST_TOKENS = 4096
"""Room for those that think before they say a letter."""


class Acuity(Benchmark[Sign]):
    """What a model can see of a picture at the size that it is shown it."""

    name = "acuity"
    title = "Acuity"
    known_by = ("optotype",)
    sample_type = Sign
    plans: Mapping[str, tuple[Cell, ...]] = {"acuity": plan_of(DIRECT, "V0 V1 V2 V3 V4")}
    protocols: Mapping[str, str] = {DIRECT: "directly"}
    decoding: Mapping[str, float | int] = {"temperature": 0.0, "max_tokens": MOST_TOKENS}
    versions: Mapping[str, str] = {"acuity": JUDGE_VERSION}
    version_notes = read_version_notes(Path(__file__).parent)
    grouping = Grouping(("attribute", "place"), dict.fromkeys(ATTRIBUTES, PLACES))

    def describe(self, sample: Sign) -> Iterator[str]:
        """Tell the ring, where it stands, and what shows it."""
        yield f"{described(sample)}, on a {sample.scene}, at the picture's {sample.place}"
        yield f"evidence: {sample.evidence}"

    def summary(self, sample: Sign) -> dict[str, str]:
        """Its ring's size, and what it stands on."""
        return {"diameter": f"{sample.optotype.diameter:g} px", "scene": sample.scene}

    def ask(self, sample: Sign, cell: Cell, scene: Scene) -> Chat:
        """Ask in one turn behind what the condition shows."""
        return ask(sample, cell.condition, scene)

    def evidence(self, sample: Sign, samples: Sequence[Sign]) -> Evidence:
        """Tell where the ring stands."""
        return evidence_of(sample)

    def checklist(self, sample: Sign) -> Sequence[str]:
        """Say what the chart's numbers cannot rest on."""
        return [*check_sign(sample)]

    def doubts(self, sample: Sign, scene: Scene) -> Iterator[str]:
        """Say where evidence lies outside the picture."""
        if scene.images:
            try:
                ring_alone(sample, scene)
            except EvidenceMissingError as error:
                reason = str(error).removeprefix(f"sample '{sample.id}': ")
                yield f"V3 and V4 cannot show it: {reason}"

    def judge(self, sample: Sign) -> Judge:
        """Make a question ready to judge replies to it."""
        return SignJudge(sample)

    def trait(self, reply: Reply) -> float | None:
        """Pixels in the width of the full image as it was shown; None for a reply that was shown none."""
        return width_shown(reply)

    def kept_again(self, kept: tuple[Any, ...]) -> tuple[Any, ...]:
        """Make again what is kept of a reply."""
        return tuple(Kept(*kept))

    def report(self, verdicts: Verdicts) -> Contents:
        """Fill the tables: what a model sees in one line, where it stops, and which faults its errors fit."""
        return report(verdicts)
