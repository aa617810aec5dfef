"""What labels say of a whole slide: findings of two values each, sure or leaning, and what does not go together."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from gigavqa.construction.annotations import AttributeValue, attribute_text

LEANING = "leans "
"""Before the value of a label: an expert's who does not exclude the other one."""
_PATIENT = 12
"""Characters of a TCGA barcode that name the patient."""


@cache
def slide_table() -> Mapping[str, Any]:
    """Return what is known of slides, and how it is said."""
    return tomllib.loads(Path(__file__).with_name("slides.toml").read_text(encoding="utf-8"))


class Finding(NamedTuple):
    """One value of a finding, 0 the plainer and 1 the other, and whether an expert only leans to it."""

    value: int
    leans: bool = False


Findings = Mapping[str, Finding]


def read_findings(labels: Mapping[str, AttributeValue], *, grade_2_is_lower: bool = False) -> dict[str, Finding]:
    """Return what labels say, by finding; what they do not say for sure, or as neither of two values, is left out.

    High grade is 3, lower grade 1, and 2 where it counts as lower.
    """
    found: dict[str, Finding] = {}
    for name, values in slide_table()["values"].items():
        text = attribute_text(labels.get(name, "")).casefold()
        told = text.removeprefix(LEANING)
        if told not in values or name.startswith("relation_"):
            continue
        if name == "grade":
            if told == "2" and not grade_2_is_lower:
                continue
            value = int(told == "3")
        else:
            value = values.index(told)
        if value <= 1:
            found[name] = Finding(value, leans=text != told)
    return found


def sure(findings: Findings) -> dict[str, int]:
    """Return the values of the findings to which nobody only leans."""
    return {name: finding.value for name, finding in findings.items() if not finding.leans}


def is_plausible(values: Mapping[str, int]) -> bool:
    """Return whether values can go together on a slide."""
    return not any(
        all(values.get(name) == value for name, value in one.items()) for one in slide_table()["implausible"]
    )


def patient_of(image: str) -> str:
    """Return whose slide it is: of a TCGA barcode the patient, else the slide's own name."""
    stem = Path(image).name.split(".")[0]
    return stem[:_PATIENT] if stem.startswith("TCGA-") else stem


@dataclass(frozen=True)
class SlideClaims:
    """Claims of several findings: each as the text says it, of which the values may be others than the slide's."""

    values: Mapping[str, int]

    def texts(self) -> list[str]:
        """Return the claims in words."""
        return [slide_table()["claims"][name][value] for name, value in self.values.items()]

    def turned(self, name: str) -> "SlideClaims":
        """Return the claims with the other value of one finding."""
        return SlideClaims({**self.values, name: 1 - self.values[name]})


def verified_claims(known: Mapping[str, int]) -> Iterator[SlideClaims]:
    """Yield the combinations that verification asks for, where all of their findings are known."""
    for names in slide_table()["verified"]["together"]:
        if all(name in known for name in names):
            yield SlideClaims({name: known[name] for name in names})


def summary_of(values: Mapping[str, int], *, is_invasive: bool) -> str:
    """Return a summary of a slide in the words of the paper's examples."""
    said = slide_table()["summaries"]
    lesion = "invasive carcinoma" if is_invasive else "carcinoma"
    grade = said["grade"][values["grade"]] if "grade" in values else ""
    head = f"{grade} {lesion}".strip()
    article = "An" if head[0] in "aeiou" else "A"
    *most, last = [said[name][value] for name, value in values.items() if name != "grade"]
    return f"{article} {head} with {' and '.join([', '.join(most), last] if most else [last])}."
