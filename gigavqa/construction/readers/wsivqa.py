"""WSI-VQA: questions and answers of whole slides, of which what can be seen in tissue becomes labels of the slide.

Normalized by the tables below: a question's words say which attribute it asks for, an answer's words which value it
gives. What is on no scale (survival, receptors, stage, size, sides) is left out, and so is an attribute of which a
slide's answers disagree.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gigavqa.construction.annotations import AnnotatedImage, Omissions
from gigavqa.construction.errors import AnnotationFileError, MarkError
from gigavqa.construction.readers.collection import MarkCollection
from gigavqa.construction.readers.documents import json_items, look_at_json, survey_json
from gigavqa.construction.readers.marks import describe_value
from gigavqa.construction.readers.reader import ImageIndex, ReaderOptions
from gigavqa.runtime.work_progress import counted

TABLE_VERSION = "wsivqa/2"
_ABSENT = r"\b(?:no|not|none|absent|negative|without|free)\b"
_UNSAID = re.compile(
    r"\b(?:unknown|not (?:mentioned|applicable|available|specified|reported|identified in the report)|n/?a|nos)\b"
)
_QUESTIONS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("lvi", re.compile(r"lympho-?\s?vascular|\blvi\b|angio-?lymphatic|vascular invasion")),
    ("focality", re.compile(r"focality|multi-?focal|uni-?focal|\bfoci\b")),
    (
        "in_situ",
        re.compile(r"in[- ]situ\b.*(?:present|presence|component|exist)|(?:present|presence|is there).*in[- ]situ"),
    ),
    ("margin", re.compile(r"\bmargins?\b")),
    ("grade", re.compile(r"\bgrade\b")),
    ("invasive", re.compile(r"\binvasive (?:component|carcinoma)\b.*\b(?:present|identified)\b")),
    (
        "histologic_type",
        re.compile(r"histolog\w*\s+(?:sub)?type|type of (?:the )?(?:tumou?r|cancer|carcinoma)|diagnosis"),
    ),
)
_VALUES: Mapping[str, tuple[tuple[str, re.Pattern[str]], ...]] = {
    "lvi": (("absent", re.compile(_ABSENT)), ("present", re.compile(r"\b(?:yes|present|positive|identified|seen)\b"))),
    "in_situ": (
        ("absent", re.compile(_ABSENT)),
        ("present", re.compile(r"\b(?:yes|present|positive|identified|seen)\b")),
    ),
    "invasive": (
        ("absent", re.compile(_ABSENT)),
        ("present", re.compile(r"\b(?:yes|present|positive|identified|seen)\b")),
    ),
    "focality": (
        ("unifocal", re.compile(r"\b(?:uni-?focal|single|one focus)\b")),
        ("multifocal", re.compile(r"\b(?:multi-?focal|multiple)\b")),
    ),
    "grade": (
        ("1", re.compile(r"\b(?:i|1|one|low|well differentiated)\b")),
        ("2", re.compile(r"\b(?:ii|2|two|intermediate|moderately differentiated)\b")),
        ("3", re.compile(r"\b(?:iii|3|three|high|poorly differentiated)\b")),
    ),
    "histologic_type": (
        ("mixed", re.compile(r"\bmixed\b|ductal and lobular|lobular and ductal")),
        ("in situ", re.compile(r"^(?!.*\b(?:infiltrating|invasive|mixed)\b).*\bin[- ]situ\b")),
        ("ductal", re.compile(r"^(?!.*(?:lobular|in[- ]situ|mixed)).*\bductal\b")),
        ("lobular", re.compile(r"^(?!.*(?:ductal|in[- ]situ|mixed)).*\blobular\b")),
    ),
    "margin": (
        ("negative", re.compile(r"\b(?:negative|free|uninvolved|clear)\b")),
        ("positive", re.compile(r"\b(?:positive|involved)\b")),
    ),
}
_INVASIVE = re.compile(r"\b(?:infiltrating|invasive)\b")
"""In an answer about the histologic type, it says that there is an invasive part."""
_PRESENCE = {"lvi", "in_situ", "invasive"}
"""Attributes whose answers may say both words, as "not identified" does: absence then wins."""
_RUN_ON = re.compile(r"\b[a-d]\s*\)", re.IGNORECASE)


class WsiVqaReader:
    """Reads a list of questions with the slide's id, and gives slides with labels and without objects."""

    name = "wsivqa"
    title = "WSI-VQA"

    def recognises(self, source: Path) -> bool:
        """Return whether a file is a list of objects with Id, Question and Answer."""
        look = look_at_json(source)
        return look is not None and look.has("item.Id", "item.Question", "item.Answer")

    def read(
        self, source: Path, images: ImageIndex, omissions: Omissions, options: ReaderOptions
    ) -> Iterator[AnnotatedImage]:
        """Yield slides by name; what is no list raises AnnotationFileError."""
        if survey_json(source).get("") != "start_array":
            raise AnnotationFileError(f"{source.name}: is no list of questions; give WSI-VQA's JSON")
        collection = MarkCollection(images, omissions, merges=True)
        found: dict[int, dict[str, set[str]]] = {}
        for place, raw in enumerate(counted(json_items(source, "item"), "questions read"), start=1):
            record = f"question {place}"
            try:
                slide, told = _attributes(raw)
            except MarkError as error:
                collection.leave_out(error.reason, source.name, record, str(error))
                continue
            number = collection.enter(slide, source.name, record, by_beginning=True)
            if number is not None:
                for attribute, value in told.items():
                    found.setdefault(number, {}).setdefault(attribute, set()).add(value)
        for number, attributes in found.items():
            for attribute, values in attributes.items():
                if len(values) == 1:
                    collection.label(number, attribute, *values)
                    continue
                text = f"{attribute}: answers say {' and '.join(sorted(values))}; it is not used: mend one"
                collection.leave_out("conflict", source.name, f"slide {collection.image(number).name}", text)
        yield from collection.annotated()


def _attributes(raw: Any) -> tuple[str, dict[str, str]]:
    """Return the slide of a question, and the values of what it tells. Raises MarkError for what is on no scale."""
    if not isinstance(raw, Mapping):
        raise MarkError("malformed", f"is {describe_value(raw)}, and must be an object")
    texts = [text for name in ("Id", "Question", "Answer") if isinstance(text := raw.get(name), str) and text.strip()]
    if len(texts) < 3:
        raise MarkError("malformed", "Id, Question, Answer: one is no text; give all three")
    slide, question, answer = texts[0].strip(), texts[1].lower(), " ".join(texts[2].lower().split())
    attribute = next((name for name, asks in _QUESTIONS if asks.search(question)), "")
    if not attribute:
        raise MarkError("not-visible", "Question: asks for nothing that labels have; it needs no mending")
    if _RUN_ON.search(answer):
        raise MarkError("garbled", f"Answer: '{answer[:60]}' holds further options; write the answer alone")
    values = [value for value, says in _VALUES[attribute] if says.search(answer)]
    values = values[:1] if attribute in _PRESENCE else values
    is_turned = attribute in _PRESENCE and re.search(_ABSENT, question)
    if is_turned or _UNSAID.search(answer) or len(values) != 1:
        raise MarkError("off-scale", f"Answer: '{answer[:60]}' is no one value of {attribute}; give one")
    is_invasive = attribute == "histologic_type" and _INVASIVE.search(answer)
    return slide, {attribute: values[0], **({"invasive": "present"} if is_invasive else {})}
