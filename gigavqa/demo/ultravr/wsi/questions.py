"""Questions about the slide, from the templates T1 to T4 of appendix F.3, drawn with the findings that it shows.

Every finding is drawn, each of its values as likely, and every text but for the claims is the same whatever is found:
so whoever reads the texts alone learns nothing of the answers. Answers say what was drawn, not pathology.
"""

from typing import NamedTuple

import numpy as np

from gigavqa.benchmarks.ultravr.taxonomy import LETTERS, Category
from gigavqa.benchmarks.ultravr.wording import slide_wording
from gigavqa.demo.draws import stream
from gigavqa.demo.records import shuffled
from gigavqa.demo.ultravr.records import RecordQuestion

IN_SITU = ("none", "one nest", "some nests", "many nests")
"""How much in-situ component a slide has; from the third on it counts as distinct."""
FOCI = ("one focus", "a satellite", "a second focus", "three foci")
"""How the invasive component lies; from the third on it counts as multifocal."""
_DECIDED = len(IN_SITU) // 2
_TEXTS = {
    "grade": ("a lower-grade lesion", "a high-grade lesion"),
    "focality": ("unifocal growth", "multifocal growth"),
    "in situ": ("no convincing in-situ component", "a distinct in-situ component"),
    "glands": ("no benign glandular tissue", "benign glandular tissue"),
}
"""The two values of each finding as a claim, the plainer one first."""
_VERIFIED = (("grade", "focality", "in situ"), ("in situ", "glands", "focality"))
_SUMMARIZED = ("grade", "focality", "in situ")


class SlideFindings(NamedTuple):
    """The findings of a slide: indices into IN_SITU and FOCI, and whether it has a high-grade hotspot and benign
    glands.
    """

    in_situ: int
    foci: int
    high_grade: bool
    glands: bool

    def value(self, name: str) -> int:
        """Index of the value that a finding has in its two claims."""
        decided = {"focality": self.foci >= _DECIDED, "in situ": self.in_situ >= _DECIDED}
        return int({**decided, "grade": self.high_grade, "glands": self.glands}[name])


class SlideQuestion(NamedTuple):
    """One question, its template, and the finding that its workflow of steps looks at."""

    template: str
    category: Category
    question: RecordQuestion
    about: str


class SlideQuestions(NamedTuple):
    """All questions about one slide, and what it shows."""

    findings: SlideFindings
    inquiries: tuple[SlideQuestion, ...]


def draw_questions(seed: int) -> SlideQuestions:
    """Draw the findings of a seed and the questions about them."""
    rng = stream(seed, "wsi", "questions")
    in_situ, foci = (int(level) for level in rng.integers(0, len(IN_SITU), 2))
    findings = SlideFindings(in_situ, foci, bool(rng.integers(2)), bool(rng.integers(2)))
    first, second = rng.permutation(len(LETTERS))[:2].tolist()
    unifocal, multifocal = "a unifocal growth pattern", "a multifocal growth pattern"
    pure, mixed = "a purely invasive interpretation", "a mixed invasive-and-in-situ interpretation"
    absent, present = _TEXTS["in situ"]
    components = ("the in-situ component", "the intraductal component")
    return SlideQuestions(
        findings,
        (
            _compare(unifocal, multifocal, foci, "focality"),
            _compare(pure, mixed, in_situ, "in situ"),
            _compare(present, absent, len(IN_SITU) - 1 - in_situ, "in situ"),
            _verify(_VERIFIED[0], findings, int(first)),
            _verify(_VERIFIED[1], findings, int(second)),
            _summarize(findings, rng),
            *(_relate(component, "the invasive component", in_situ) for component in components),
            # Whether the plainer part of the mass counts as a component of its own is for an expert to say.
            _relate("the secondary lower-grade-like component", "the high-grade invasive component", None),
        ),
    )


def _compare(a: str, b: str, level: int, about: str) -> SlideQuestion:
    """T1: which of two interpretations is better supported, from clearly the first (0) to clearly the second (3)."""
    wording, slots = slide_wording("T1"), {"a": a, "b": b}
    text, options = wording.question(slots), wording.lettered(slots)
    return SlideQuestion("T1", "comparison", RecordQuestion(text, options, "ACDB"[level]), about)


def _verify(names: tuple[str, ...], findings: SlideFindings, failing: int) -> SlideQuestion:
    """T2: whether three findings are supported together; of those claimed all hold (0), or one does not (1 to 3)."""
    claims = [
        _TEXTS[name][findings.value(name) ^ (position == failing)] for position, name in enumerate(names, start=1)
    ]
    wording, slots = slide_wording("T2"), dict(zip("xyz", claims, strict=True))
    text, options = wording.question(slots), wording.lettered(slots)
    return SlideQuestion("T2", "logical_verification", RecordQuestion(text, options, LETTERS[failing]), names[0])


def _summarize(findings: SlideFindings, rng: np.random.Generator) -> SlideQuestion:
    """T3: the summary that fits. Two findings are crossed, so that no value is more frequent than its opposite."""
    values = {name: findings.value(name) for name in _SUMMARIZED}
    crossed = [_SUMMARIZED[int(index)] for index in rng.permutation(len(_SUMMARIZED))[:2]]
    summaries = [
        _summary({**values, crossed[0]: values[crossed[0]] ^ one, crossed[1]: values[crossed[1]] ^ other})
        for one in (0, 1)
        for other in (0, 1)
    ]
    options, answer = shuffled(summaries, _summary(values), rng)
    text = slide_wording("T3").question({})
    return SlideQuestion("T3", "logical_verification", RecordQuestion(text, options, answer), _SUMMARIZED[0])


def _summary(values: dict[str, int]) -> str:
    grade = ("lower-grade", "high-grade")[values["grade"]]
    focality, in_situ = (_TEXTS[name][values[name]] for name in ("focality", "in situ"))
    return f"A {grade} invasive carcinoma with {focality} and {in_situ}."


def _relate(a: str, b: str, level: int | None) -> SlideQuestion:
    """T4: how two components relate, by how much there is of the first; without a level it awaits an expert."""
    wording, slots = slide_wording("T4"), {"a": a, "b": b}
    text, options = wording.question(slots), wording.lettered(slots)
    answer = "" if level is None else "CDAB"[level]
    return SlideQuestion(
        "T4", "relational_inference", RecordQuestion(text, options, answer), "grade" if level is None else "in situ"
    )
