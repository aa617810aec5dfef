"""Records of the slide: its questions, with the workflow of steps and the cells that are looked at."""

from gigavqa.benchmarks.ultravr.wording import slide_steps
from gigavqa.construction.ultravr.slide_workflows import preset_workflow
from gigavqa.demo.records import Record
from gigavqa.demo.ultravr.records import supervision
from gigavqa.demo.ultravr.wsi.questions import SlideQuestion
from gigavqa.demo.ultravr.wsi.scene import Slide

SLIDE = "synthetic-slide"
IMAGE = f"images/{SLIDE}.tiff"


def slide_records(slide: Slide) -> tuple[Record, list[Record]]:
    """Return the slide's own file (one question a category, the paper's `categories` shape) and the other records."""
    inquiries = slide.asked.inquiries
    first = {inquiry.category: inquiry for inquiry in reversed(inquiries)}
    own_file = {
        "slide": SLIDE,
        "categories": {category: _fields(first[category], slide) for category in sorted(first)},
    }
    others = [inquiry for inquiry in inquiries if inquiry is not first[inquiry.category]]
    flat = [
        {
            "id": f"wsi-{inquiry.category.replace('_', '-')}-{number}",
            "slide": SLIDE,
            "category": inquiry.category,
            "image": IMAGE,
            **_fields(inquiry, slide),
        }
        for number, inquiry in enumerate(others, start=1)
    ]
    return own_file, flat


def _fields(inquiry: SlideQuestion, slide: Slide) -> Record:
    rois = _rois(inquiry.about, slide)
    value = slide.asked.findings.value(inquiry.about)
    return {
        "subcategory": inquiry.template,
        **inquiry.question.fields,
        "reasoning_supervision": supervision(
            slide_steps(preset_workflow(inquiry.about.replace(" ", "_"), value, rois))
        ),
        "evidence": {"rois": rois},
    }


def _rois(about: str, slide: Slide) -> list[int]:
    """Cells that show the finding, or would if the slide had it."""
    if about == "focality":
        return slide.rois("invasive", 0.04)
    found = slide.rois("nest", 0.02) if about == "in situ" else slide.rois("high grade", 0.05)
    return sorted({slide.site, *found, *slide.rois("invasive", 0.2)})
