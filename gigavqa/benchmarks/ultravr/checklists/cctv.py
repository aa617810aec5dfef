"""Checklists of CCTV (appendix F.1)."""

import re
from collections.abc import Iterator
from math import gcd
from typing import Any

from gigavqa.benchmarks.ultravr.checklists.common import (
    check_answer,
    check_counts,
    check_disjoint,
    check_equal,
    check_existence,
    check_quadrant,
    questions,
    truths,
)
from gigavqa.benchmarks.ultravr.samples import UltraVRSample
from gigavqa.benchmarks.ultravr.taxonomy import QUADRANTS
from gigavqa.benchmarks.ultravr.vocabulary import (
    CLAIM_FAMILIES,
    CLAIM_PATTERNS,
    DIRECTIONS,
    FRONT_BACK,
    LEFT_RIGHT,
    RELATIONS,
)

_GROUP_A = re.compile(r"coordinates of (?:the )?(.+?)\?*$", re.IGNORECASE)
_DIFFERENCE = re.compile(r"difference\b.*\bis (\d+)", re.IGNORECASE)
_TOTAL = re.compile(r"total\b.*\bis (\d+)", re.IGNORECASE)
_RATIO = re.compile(r"ratio\b.*\bis (\d+\s*:\s*\d+)", re.IGNORECASE)
_CLAIM_A = re.compile(r"claim a:.*?\bexactly (\d+)", re.IGNORECASE | re.DOTALL)
_CLAIM_B = re.compile(rf"claim b:.*?({'|'.join(QUADRANTS)}) region.*?\b(most|fewest)\b", re.IGNORECASE | re.DOTALL)


def check_comparison(sample: UltraVRSample) -> Iterator[str]:
    """Counts, total, difference, ratio and ordering follow from the boxes, and exactly one claim is true."""
    truth = truths(sample)
    yield from check_existence(truth, ("S1", "S2"), ("S4", "S5"))
    yield from check_counts(truth, ("S2", "S3"), ("S5", "S6"))
    yield from check_disjoint(truth, "S2", "S5")
    a, b = truth["S3"], truth["S6"]
    yield from check_equal("S7", truth["S7"], a + b, "S3 + S6")
    yield from check_equal("S8", truth["S8"], abs(a - b), "|S3 - S6|")
    yield from check_equal("S9", truth["S9"], _ratio(a, b), "S3:S6, reduced")
    yield from check_equal("S10", truth["S10"], _ordering(a, b), "the order of S3 and S6")
    if truth["S11"] not in CLAIM_FAMILIES:
        yield f"S11 is '{truth['S11']}', but must be one of {', '.join(CLAIM_FAMILIES)}"
    else:
        yield from _check_claims(sample, truth)


def _check_claims(sample: UltraVRSample, truth: dict[str, Any]) -> Iterator[str]:
    group = _GROUP_A.search(questions(sample)["S2"])
    claims = {key: _claim(text, group[1] if group else "") for key, text in (sample.options or {}).items()}
    if sorted(family for family, _ in claims.values()) != sorted(CLAIM_FAMILIES):
        yield "the options must be one difference, one total, one ratio and one ordering claim"
        return
    actual = {"difference_claim": str(truth["S8"]), "total_claim": str(truth["S7"])}
    actual |= {"ratio_claim": truth["S9"], "ordering_claim": truth["S10"]}
    true = [key for key, (family, value) in claims.items() if actual[family] == value]
    if len(true) != 1:
        yield f"exactly one claim must be true, but {len(true)} are: {', '.join(true) or 'none'}"
        return
    yield from check_equal("S11", truth["S11"], claims[true[0]][0], f"option {true[0]} is the true claim")
    yield from check_answer(sample, true[0], "it is the true claim")


def _claim(text: str, group_a: str) -> tuple[str, str]:
    """Read an option as (claim family, what it claims); the family is empty for any other text."""
    for family, pattern in (("difference_claim", _DIFFERENCE), ("total_claim", _TOTAL), ("ratio_claim", _RATIO)):
        if match := pattern.search(text):
            return family, match[1].replace(" ", "")
    if "same count" in text:
        return "ordering_claim", "same_count"
    if "more numerous than" in text:
        first = text.lower().startswith((group_a.lower(), f"the {group_a.lower()}"))
        return "ordering_claim", "group_a_more" if first else "group_b_more"
    return "", ""


def _ratio(a: int, b: int) -> str:
    divisor = gcd(a, b) or 1
    return f"{a // divisor}:{b // divisor}"


def _ordering(a: int, b: int) -> str:
    if a == b:
        return "same_count"
    return "group_a_more" if a > b else "group_b_more"


def check_logical_verification(sample: UltraVRSample) -> Iterator[str]:
    """Quadrant counts give the total and the extreme region; both claims are judged by them."""
    truth = truths(sample)
    steps = list(zip(("S1", "S3", "S5", "S7"), ("S2", "S4", "S6", "S8"), QUADRANTS, strict=True))
    yield from check_counts(truth, *((boxes, count) for boxes, count, _ in steps))
    for boxes, _, quadrant in steps:
        yield from check_quadrant(boxes, truth[boxes], quadrant)
    counts = {quadrant: truth[count] for _, count, quadrant in steps}
    yield from check_equal("S9", truth["S9"], sum(counts.values()), "S2 + S4 + S6 + S8")
    claim_a, claim_b = _CLAIM_A.search(sample.question), _CLAIM_B.search(sample.question)
    if not claim_a or not claim_b:
        yield "the question must quote Claim A with 'exactly N' and Claim B with a region and 'most' or 'fewest'"
        return
    yield from check_equal("S10", truth["S10"], _extreme(counts, claim_b[2].lower()), f"the {claim_b[2]} by S2 to S8")
    yield from check_equal("S11", truth["S11"], truth["S9"] == int(claim_a[1]), f"S9 against {claim_a[1]}")
    yield from check_equal("S12", truth["S12"], truth["S10"] == claim_b[1].lower(), f"S10 against {claim_b[1]}")
    yield from _check_pattern(sample, truth)


def _extreme(counts: dict[Any, int], extremum: str) -> str:
    value = max(counts.values()) if extremum == "most" else min(counts.values())
    regions = [quadrant for quadrant, count in counts.items() if count == value]
    return regions[0] if len(regions) == 1 else "tie"


def _check_pattern(sample: UltraVRSample, truth: dict[str, Any]) -> Iterator[str]:
    label, text = CLAIM_PATTERNS[truth["S11"], truth["S12"]]
    yield from check_equal("S13", truth["S13"], label, "S11 and S12")
    options = sample.options or {}
    if set(options.values()) != {text for _, text in CLAIM_PATTERNS.values()}:
        yield "the options must be the four fixed texts on Claim A and Claim B"
        return
    yield from check_answer(sample, _letter_of(options, text), f"its text is '{text}'")


def check_relational_inference(sample: UltraVRSample) -> Iterator[str]:
    """Both relations come from their fixed sets and combine to the label, which is the answer's text."""
    truth = truths(sample)
    for step_id, allowed in (("S3", DIRECTIONS), ("S4", DIRECTIONS), ("S5", FRONT_BACK), ("S6", LEFT_RIGHT)):
        if truth[step_id] not in allowed:
            yield f"{step_id} is '{truth[step_id]}', but must be one of {', '.join(allowed)}"
    if truth["S1"] == truth["S2"]:
        yield "S1 and S2 are the same box"
    yield from _check_persons(sample)
    if truth["S5"] in FRONT_BACK and truth["S6"] in LEFT_RIGHT:
        label = f"{FRONT_BACK[truth['S5']]}-{LEFT_RIGHT[truth['S6']]}"
        yield from check_equal("S7", truth["S7"], label, "S5 and S6")
    options = sample.options or {}
    if set(options.values()) != set(RELATIONS):
        yield f"the options must be {', '.join(RELATIONS)}"
    elif truth["S7"] in RELATIONS:
        yield from check_answer(sample, _letter_of(options, truth["S7"]), f"its text is '{truth['S7']}'")


def _check_persons(sample: UltraVRSample) -> Iterator[str]:
    if "Person A" not in sample.question or "Person B" not in sample.question:
        yield "the question must define Person A and Person B"
    if re.search(r"\bfacing\b", sample.question, re.IGNORECASE):
        yield "the question tells a facing direction"
    texts = [sample.question, *questions(sample).values()]
    if any(re.search(r"\b(?:red|green) bounding box", text, re.IGNORECASE) for text in texts):
        yield "a question speaks of a red or green bounding box"


def _letter_of(options: dict[str, str], text: str) -> str | None:
    return next((letter for letter, option in options.items() if option == text), None)
