"""Questions about the slide from the templates T1 to T4 of appendix F.3; answers say what was drawn, not pathology."""

from typing import NamedTuple

from demo.draws import stream
from demo.records import Record, lettered, shuffled, supervision
from demo.wsi.scene import Slide
from demo.wsi.workflow import FOCALITY, GRADE, IN_SITU, Reading, workflow
from evaluation.ultravr.taxonomy import Category

SLIDE = "synthetic-slide"
IMAGE = f"images/{SLIDE}.tiff"


class _Question(NamedTuple):
    """One question before its evidence: the fields of the paper's record, the reading, and what is looked at."""

    template: str
    category: Category
    question: str
    options: dict[str, str]
    answer: str
    reading: Reading
    components: tuple[tuple[str, float], ...]
    """Materials whose cells are the evidence, each with the least share of a cell that it covers."""


_INVASIVE = ("invasive", 0.2)
_HOTSPOT = ("high grade", 0.1)
_NESTS = ("nest", 0.08)


def slide_records(slide: Slide) -> tuple[Record, list[Record]]:
    """Return the slide's own file (one question a category, the paper's `categories` shape) and the other records."""
    questions = _questions(slide)
    first = {question.category: question for question in reversed(questions)}
    own_file = {
        "slide": SLIDE,
        "categories": {category: _fields(first[category], slide) for category in sorted(first)},
    }
    others = [question for question in questions if question is not first[question.category]]
    flat = [
        {
            "id": f"wsi-{question.category.replace('_', '-')}-{number}",
            "slide": SLIDE,
            "category": question.category,
            "image": IMAGE,
            **_fields(question, slide),
        }
        for number, question in enumerate(others, start=1)
    ]
    return own_file, flat


def _fields(question: _Question, slide: Slide) -> Record:
    rois = sorted({roi for component, share in question.components for roi in slide.rois(component, share)})
    return {
        "subcategory": question.template,
        "question": question.question,
        "options": question.options,
        "answer": question.answer,
        "reasoning_supervision": supervision(workflow(question.reading, rois)),
        "evidence": {"rois": rois},
    }


def _questions(slide: Slide) -> list[_Question]:
    unifocal, multifocal = "a unifocal growth pattern", "a multifocal growth pattern"
    pure, mixed = "a purely invasive interpretation", "a mixed invasive-and-in-situ interpretation"
    present, absent = "a distinct in-situ component", "no convincing in-situ component"
    grade, focus, invasion = "a high-grade lesion", "unifocal growth", "invasive carcinoma"
    return [
        _compared(unifocal, multifocal, "A", FOCALITY, (_INVASIVE,)),
        _compared(pure, mixed, "B", IN_SITU, (_NESTS, _HOTSPOT)),
        _compared(present, absent, "A", IN_SITU, (_NESTS,)),
        _verified((invasion, present, "multifocal growth"), "D", IN_SITU, (_INVASIVE, _NESTS)),
        _verified((grade, focus, present), "A", GRADE, (_HOTSPOT, _NESTS)),
        _summarized(slide),
        _related("the in-situ component", "the invasive component", "A", IN_SITU, (_NESTS, _INVASIVE)),
        _related("the intraductal component", "the dominant invasive process", "A", IN_SITU, (_NESTS, _HOTSPOT)),
        # Whether the plainer part of the mass counts as a component of its own is for an expert to say: no answer.
        _related(
            "the secondary lower-grade-like component", "the high-grade invasive component", "", GRADE, (_HOTSPOT,)
        ),
    ]


def _compared(a: str, b: str, answer: str, reading: Reading, components: tuple[tuple[str, float], ...]) -> _Question:
    """T1: which of two interpretations is better supported."""
    options = lettered(
        [
            f"The visible evidence clearly favors {a} over {b}.",
            f"The visible evidence clearly favors {b} over {a}.",
            f"The visible evidence leans toward {a}, but {b} remains a plausible alternative.",
            f"The visible evidence leans toward {b}, but {a} remains a plausible alternative.",
        ]
    )
    question = f"When comparing {a} and {b}, which interpretation is better supported by the visible evidence?"
    return _Question("T1", "comparison", question, options, answer, reading, components)


def _verified(
    findings: tuple[str, str, str], answer: str, reading: Reading, components: tuple[tuple[str, float], ...]
) -> _Question:
    """T2: whether three findings are supported together."""
    x, y, z = findings
    options = lettered(
        [
            "Yes, all three findings are supported together by the visible evidence.",
            *(f"No, {finding} is not adequately supported." for finding in findings),
        ]
    )
    question = f"Does the slide support all of the following together: {x}, {y}, and {z}?"
    return _Question("T2", "logical_verification", question, options, answer, reading, components)


def _summarized(slide: Slide) -> _Question:
    """T3: the summary that fits, among three that differ from it in one attribute each."""
    right = "A high-grade invasive carcinoma with unifocal growth and a distinct in-situ component."
    summaries = [
        right,
        "A high-grade invasive carcinoma with multifocal growth and a distinct in-situ component.",
        "A high-grade invasive carcinoma with unifocal growth and no convincing in-situ component.",
        "A lower-grade invasive carcinoma with unifocal growth and a distinct in-situ component.",
    ]
    options, answer = shuffled(summaries, right, stream(slide.seed, "wsi", "summary"))
    question = "Which integrated summary is most consistent with the overall findings of this slide?"
    return _Question("T3", "logical_verification", question, options, answer, GRADE, (_HOTSPOT, _NESTS))


def _related(a: str, b: str, answer: str, reading: Reading, components: tuple[tuple[str, float], ...]) -> _Question:
    """T4: how two components relate; an empty answer awaits an expert."""
    options = lettered(
        [
            f"{_sentence(b)} is the dominant process, and {a} is present only as a secondary component.",
            f"{_sentence(a)} and {b} both appear substantial, without a clearly dominant component.",
            f"{_sentence(b)} is supported, but {a} is not convincingly established as a distinct additional component.",
            f"The relationship between {a} and {b} cannot be determined confidently from the visible evidence.",
        ]
    )
    question = f"Based on the visual evidence, what is the relationship between {a} and {b}?"
    return _Question("T4", "relational_inference", question, options, answer, reading, components)


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]
