"""The answers of the diagnostic workflow Q1 to Q6.3 of a WSI record, by what its question is about."""

from typing import NamedTuple

from gigavqa.benchmarks.ultravr.wording import slide_steps
from gigavqa.demo.records import Record


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
    return slide_steps(truths)
