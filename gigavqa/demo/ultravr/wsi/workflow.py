"""The diagnostic workflow Q1 to Q6.3 of a WSI record, with the questions and option lists of appendix F.3."""

from typing import NamedTuple

from gigavqa.benchmarks.ultravr.schemas import WSI_FORMATS
from gigavqa.benchmarks.ultravr.vocabulary import WSI_OPTIONS
from gigavqa.demo.records import Record
from gigavqa.demo.ultravr.records import step

_QUESTIONS = {
    "Q1": (
        "At whole-slide / low magnification, which global regions/components should be screened first? "
        "(This is a multi-select question; select all that apply.)"
    ),
    "Q2": "Is closer ROI review needed? (Single-choice: Yes or No. If No, Q2.1-Q4 are left blank.)",
    "Q2.1": (
        "Which ROI region(s) should be selected for closer review? Mentally overlay a 6x6 grid on the whole-slide "
        "image. ROI indices run from 1 to 36 in row-major order, from left to right within each row and from top to "
        "bottom across rows: ROI 1 is the top-left cell, ROI 6 is the top-right cell, ROI 31 is the bottom-left cell, "
        "and ROI 36 is the bottom-right cell. Answer with one or more integers from 1 to 36. "
        "(Answer only if Q2 = Yes; otherwise N/A.)"
    ),
    "Q3": (
        "For the closer review, what practical starting magnification should a junior pathologist use first? "
        "(Single-choice. Answer only if Q2 = Yes; otherwise N/A.)"
    ),
    "Q4": (
        "After zooming in, which fine-grained morphologic features should be checked? "
        "(Multi-select, up to 5 most relevant. Answer only if Q2 = Yes; otherwise N/A.)"
    ),
    "Q5": (
        "Is a standardized pathology criterion/reference needed to make this judgment more reproducible? "
        "(Single-choice: Yes or No. If No, Q5.1-Q5.2 are left blank.)"
    ),
    "Q5.1": "Which criterion/reference should be checked? (Multi-select. Answer only if Q5 = Yes; otherwise N/A.)",
    "Q5.2": "Why is the criterion needed here? (Multi-select. Answer only if Q5 = Yes; otherwise N/A.)",
    "Q6.1": "Evidence (what is observed): select key observed clues from the Q4 feature list. (Multi-select.)",
    "Q6.2": (
        "Reason (why these clues matter): select the main morphologic interpretation indicated by the evidence above. "
        "(Single-choice.)"
    ),
    "Q6.3": (
        "Conclusion (what this supports): state the conclusion most directly supported by the reasoning path above. "
        "(Short answer / free text.)"
    ),
}


class SlideReading(NamedTuple):
    """The places and findings of one line of reasoning; the names are those of the paper's option lists."""

    screened: tuple[str, ...]
    magnification: str
    features: tuple[str, ...]
    criteria: tuple[str, ...]
    """Empty where no criterion is needed: then Q5 is No."""
    reasons: tuple[str, ...]
    observed: tuple[str, ...]
    interpretation: str
    conclusion: str


FOCALITY = SlideReading(
    screened=("Tumor-rich region", "Invasive component", "Tumor-stroma interface"),
    magnification="10x",
    features=("Cell density", "Infiltrative boundary", "Tumor-stroma interface"),
    criteria=(),
    reasons=(),
    observed=("Infiltrative boundary", "Tumor-stroma interface"),
    interpretation="Infiltrative growth",
    conclusion="An invasive component",
)
IN_SITU = SlideReading(
    screened=("Invasive component", "In-situ component", "Background benign/normal tissue for comparison"),
    magnification="10x",
    features=("Necrosis", "Cell cohesion / discohesion", "Lumen formation", "Architectural irregularity"),
    criteria=("DCIS grading criteria",),
    reasons=("To distinguish competing interpretations",),
    observed=("Necrosis", "Cell cohesion / discohesion"),
    interpretation="Architectural abnormality",
    conclusion="An in-situ component",
)
INVASIVE_ALONE = IN_SITU._replace(
    observed=("Architectural irregularity",),
    interpretation="Infiltrative growth",
    conclusion="An invasive component",
)
GRADE = SlideReading(
    screened=("Tumor-rich region", "Invasive component", "Hotspot region with highest atypia/cellularity"),
    magnification="40x",
    features=("Nuclear atypia", "Nuclear pleomorphism", "Hyperchromasia", "Mitoses", "Cell density"),
    criteria=("Nottingham grading criteria",),
    reasons=("To improve reproducibility", "To support grading/scoring consistency"),
    observed=("Nuclear pleomorphism", "Hyperchromasia", "Mitoses"),
    interpretation="Aggressive / high-grade morphology",
    conclusion="A high-grade pattern",
)
LOWER_GRADE = GRADE._replace(
    observed=("Cell density",),
    interpretation="Cytologic malignancy",
    conclusion="An invasive component",
)


def workflow(reading: SlideReading, rois: list[int]) -> list[Record]:
    """Return the eleven steps of a reading that selects the given cells of the 6 x 6 grid (1 to 36)."""
    truths: dict[str, object] = {
        "Q1": list(reading.screened),
        "Q2": "Yes",
        "Q2.1": rois,
        "Q3": reading.magnification,
        "Q4": list(reading.features),
        "Q5": "Yes" if reading.criteria else "No",
        "Q5.1": list(reading.criteria) or None,
        "Q5.2": list(reading.reasons) or None,
        "Q6.1": list(reading.observed),
        "Q6.2": reading.interpretation,
        "Q6.3": reading.conclusion,
    }
    return [
        step(step_id, question, truths[step_id], WSI_FORMATS[step_id], WSI_OPTIONS.get(step_id, ()))
        for step_id, question in _QUESTIONS.items()
    ]
