"""The paper's own checklists (appendices A and F), as far as a record alone can be checked."""

from collections.abc import Callable, Iterator

from gigavqa.benchmarks.ultravr.checklists import ad, cctv, rs, wsi
from gigavqa.benchmarks.ultravr.checklists.common import check_record, check_steps
from gigavqa.benchmarks.ultravr.checklists.texts import check_texts
from gigavqa.benchmarks.ultravr.samples import UltraVRSample
from gigavqa.benchmarks.ultravr.taxonomy import Category, Domain

_Checklist = Callable[[UltraVRSample], Iterator[str]]

_CHECKLISTS: dict[tuple[Domain, Category], _Checklist] = {
    ("cctv", "comparison"): cctv.check_comparison,
    ("cctv", "logical_verification"): cctv.check_logical_verification,
    ("cctv", "relational_inference"): cctv.check_relational_inference,
    ("rs", "comparison"): rs.check_comparison,
    ("rs", "logical_verification"): rs.check_logical_verification,
    ("rs", "relational_inference"): rs.check_relational_inference,
    ("wsi", "comparison"): wsi.check_slide,
    ("wsi", "logical_verification"): wsi.check_slide,
    ("wsi", "relational_inference"): wsi.check_slide,
    ("ad", "logical_anomaly"): ad.check_anomaly,
    ("ad", "structural_anomaly"): ad.check_anomaly,
}


def check_sample(sample: UltraVRSample) -> list[str]:
    """Return what breaks the paper's rules, one sentence a rule; empty for a good sample.

    Rules on what steps say are checked only where the steps have the fixed ids and formats.
    """
    if not sample.steps:
        return [*check_record(sample), "has no steps, so that S2, S4 and S5 cannot ask it"]
    problems = [*check_record(sample), *check_steps(sample)]
    if any(problem.startswith("step") for problem in problems):
        return problems
    return [*problems, *_CHECKLISTS[sample.domain, sample.category](sample), *check_texts(sample)]
