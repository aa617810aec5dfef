"""One good record of every domain and category, in the paper's JSON shapes, small enough to check by eye."""

import copy
from typing import Any

from gigavqa.benchmarks.ultravr.reading import RecordContext, sample_fields
from gigavqa.benchmarks.ultravr.samples import UltraVRSample
from gigavqa.benchmarks.ultravr.taxonomy import QUADRANTS
from gigavqa.benchmarks.ultravr.vocabulary import CLAIM_PATTERNS, RELATIONS, WSI_OPTIONS
from gigavqa.benchmarks.ultravr.wording import slide_wording
from gigavqa.evaluation.records import Record

UPPER_LEFT = [[0.1, 0.1, 0.12, 0.12], [0.2, 0.2, 0.22, 0.22]]
UPPER_RIGHT = [[0.6, 0.1, 0.62, 0.12]]


def _steps(*steps: tuple[str, str, Any, str]) -> dict[str, Any]:
    names = ("step_id", "question", "ground_truth", "answer_format")
    return {"step_type": "multi_step_qa", "steps": [dict(zip(names, step, strict=True)) for step in steps]}


CCTV_COMPARISON = {
    "id": "cctv-comparison",
    "domain": "cctv",
    "category": "comparison",
    "subcategory": "attribute_bundle_count_difference",
    "image": "images/plaza.jpg",
    "question": "Comparing standing adults and sitting children, which option states a correct relationship between "
    "their counts?",
    "options": {
        "A": "The absolute difference between the counts of standing adults and sitting children is 2.",
        "B": "The total count of standing adults and sitting children is 3.",
        "C": "The ratio of the count of standing adults to the count of sitting children is 1:2.",
        "D": "Sitting children are more numerous than standing adults.",
    },
    "answer": "B",
    "reasoning_supervision": _steps(
        ("S1", "Are there any standing adults in the image?", True, "boolean"),
        ("S2", "What are the coordinates of the standing adults?", UPPER_LEFT, "bbox_coordinates_list"),
        ("S3", "How many standing adults are there?", 2, "integer"),
        ("S4", "Are there any sitting children in the image?", True, "boolean"),
        ("S5", "What are the coordinates of the sitting children?", UPPER_RIGHT, "bbox_coordinates_list"),
        ("S6", "How many sitting children are there?", 1, "integer"),
        ("S7", "What is the total count of the two groups together?", 3, "integer"),
        ("S8", "What is the absolute difference between the counts of the two groups?", 1, "integer"),
        (
            "S9",
            "What is the reduced ratio of the count of standing adults to the count of sitting children?",
            "2:1",
            "multiple_choice",
        ),
        ("S10", "Which ordering relation holds between the two group counts?", "group_a_more", "multiple_choice"),
        ("S11", "Which claim family is supported by the results from Steps 7 to 10?", "total_claim", "multiple_choice"),
    ),
    "evidence": {"quadrants": ["upper-right", "upper-left"]},
}

CCTV_LOGIC = {
    "id": "cctv-logic",
    "domain": "cctv",
    "category": "logical_verification",
    "subcategory": "joint_count_and_region_extremum_verification",
    "image": "images/plaza.jpg",
    "question": "Which option correctly evaluates the following claims? Claim A: there are exactly 3 standing adults "
    "in the image. Claim B: the upper-right region contains the most standing adults.",
    "options": dict(zip("ABCD", (text for _, text in CLAIM_PATTERNS.values()), strict=True)),
    "answer": "B",
    "reasoning_supervision": _steps(
        (
            "S1",
            "What are the coordinates of the standing adults in the upper-left region?",
            UPPER_LEFT,
            "bbox_coordinates_list",
        ),
        ("S2", "How many standing adults are there in the upper-left region?", 2, "integer"),
        (
            "S3",
            "What are the coordinates of the standing adults in the upper-right region?",
            UPPER_RIGHT,
            "bbox_coordinates_list",
        ),
        ("S4", "How many standing adults are there in the upper-right region?", 1, "integer"),
        (
            "S5",
            "What are the coordinates of the standing adults in the lower-left region?",
            [],
            "bbox_coordinates_list",
        ),
        ("S6", "How many standing adults are there in the lower-left region?", 0, "integer"),
        (
            "S7",
            "What are the coordinates of the standing adults in the lower-right region?",
            [],
            "bbox_coordinates_list",
        ),
        ("S8", "How many standing adults are there in the lower-right region?", 0, "integer"),
        ("S9", "What is the total number of standing adults in the whole image?", 3, "integer"),
        ("S10", "Which region has the most standing adults, or is there a tie?", "upper-left", "multiple_choice"),
        ("S11", "Does the total number from Step 9 equal 3?", True, "boolean"),
        (
            "S12",
            "Does the result from Step 10 match the statement that the upper-right region has the "
            "most standing adults?",
            False,
            "boolean",
        ),
        (
            "S13",
            "Which evidence pattern is supported by the image?",
            "count_match_and_region_mismatch",
            "multiple_choice",
        ),
    ),
    "evidence": {"quadrants": list(QUADRANTS)},
}

CCTV_RELATION = {
    "id": "cctv-relation",
    "domain": "cctv",
    "category": "relational_inference",
    "subcategory": "relative_position_between_red_green_targets",
    "image": "images/plaza.jpg",
    "question": "Person A is the adult in a pink coat, and Person B is the child with a kite. Which option best "
    "describes the position of Person A relative to Person B?",
    "options": dict(zip("ABCD", RELATIONS, strict=True)),
    "answer": "C",
    "reasoning_supervision": _steps(
        ("S1", "What are the normalized coordinates of Person A?", UPPER_LEFT[0], "bbox_coordinates_normalized"),
        ("S2", "What are the normalized coordinates of Person B?", UPPER_RIGHT[0], "bbox_coordinates_normalized"),
        ("S3", "What is the facing direction of Person A?", "left", "multiple_choice"),
        ("S4", "What is the facing direction of Person B?", "forward", "multiple_choice"),
        ("S5", "Which person is in front, Person A or Person B?", "a_is_behind_b", "multiple_choice"),
        ("S6", "Which side is Person A on relative to Person B?", "a_is_left_of_b", "multiple_choice"),
        (
            "S7",
            "Combining the front/behind result from Step 5 and the left/right result from Step 6, "
            "what is the final relative position label for Person A relative to Person B?",
            "back-left",
            "multiple_choice",
        ),
    ),
}

RS_COMPARISON = {
    "id": "rs-comparison",
    "domain": "rs",
    "category": "comparison",
    "subcategory": "conditioned_count_comparison",
    "image": "images/harbor.png",
    "question": "What is the absolute difference between the counts of ships in the upper-left quadrant near the red "
    "pier and ships in the upper-right quadrant near the round tank?",
    "options": {"A": "0", "B": "1", "C": "2", "D": "3"},
    "answer": "B",
    "reasoning_supervision": _steps(
        (
            "S1",
            "Locate the landmark that defines near the red pier in the upper-left quadrant. "
            "Report its bbox coordinates.",
            [0.05, 0.05, 0.4, 0.4],
            "bbox_coordinates",
        ),
        ("S2", "Does the upper-left quadrant contain any ships satisfying near the red pier?", True, "boolean"),
        (
            "S3",
            "Locate every ships in the upper-left quadrant that satisfy near the red pier. Report bbox coordinates.",
            UPPER_LEFT,
            "bbox_coordinates_list",
        ),
        ("S4", "How many such ships are in the upper-left quadrant that satisfy near the red pier?", 2, "integer"),
        (
            "S5",
            "Locate the landmark that defines near the round tank in the upper-right quadrant. "
            "Report its bbox coordinates.",
            [0.55, 0.05, 0.9, 0.4],
            "bbox_coordinates",
        ),
        ("S6", "Does the upper-right quadrant contain any ships satisfying near the round tank?", True, "boolean"),
        (
            "S7",
            "Locate every ships in the upper-right quadrant that satisfy near the round tank. Report bbox coordinates.",
            UPPER_RIGHT,
            "bbox_coordinates_list",
        ),
        ("S8", "How many such ships are in the upper-right quadrant that satisfy near the round tank?", 1, "integer"),
        ("S9", "Compute the absolute difference |Step 4 count - Step 8 count|.", 1, "integer"),
    ),
    "evidence": {"quadrants": ["upper-left", "upper-right"]},
}

RS_LOGIC = {
    "id": "rs-logic",
    "domain": "rs",
    "category": "logical_verification",
    "subcategory": "orientation_verification",
    "image": "images/harbor.png",
    "question": "Which statement correctly describes the presence of horizontal ships in the upper-left quadrant and "
    "the lower-right quadrant?",
    "options": {
        "A": "Horizontal ships are present in both the upper-left and the lower-right quadrant.",
        "B": "Horizontal ships are present in the upper-left but not in the lower-right quadrant.",
        "C": "Horizontal ships are present in the lower-right but not in the upper-left quadrant.",
        "D": "Horizontal ships are absent from both the upper-left and the lower-right quadrant.",
    },
    "answer": "B",
    "reasoning_supervision": _steps(
        (
            "S1",
            "Locate every horizontal ship(s) in the upper-left quadrant. Report bbox coordinates.",
            UPPER_LEFT,
            "bbox_coordinates_list",
        ),
        ("S2", "How many horizontal ships are in the upper-left quadrant?", 2, "integer"),
        (
            "S3",
            "Locate every horizontal ship(s) in the lower-right quadrant. Report bbox coordinates.",
            [],
            "bbox_coordinates_list",
        ),
        ("S4", "How many horizontal ships are in the lower-right quadrant?", 0, "integer"),
        (
            "S5",
            "Based on the counts from Step 2 and Step 4, do both the upper-left quadrant and the "
            "lower-right quadrant contain at least one horizontal ship?",
            False,
            "boolean",
        ),
    ),
}

RS_RELATION = {
    "id": "rs-relation",
    "domain": "rs",
    "category": "relational_inference",
    "subcategory": "adjacent_region_extreme_object_relation",
    "image": "images/harbor.png",
    "question": "What is the positional relationship between the leftmost ship in the upper-left quadrant and the "
    "rightmost ship in the upper-right quadrant?",
    "options": {
        "A": "The leftmost ship in the upper-left quadrant is north of the rightmost ship in the upper-right quadrant",
        "B": "The leftmost ship in the upper-left quadrant is south of the rightmost ship in the upper-right quadrant",
        "C": "The upper-left quadrant does not contain any ships",
        "D": "The upper-right quadrant does not contain any ships",
    },
    "answer": "B",
    "reasoning_supervision": _steps(
        ("S1", "Does the upper-left quadrant contain any ships?", True, "boolean"),
        (
            "S2",
            "Locate the leftmost ship in the upper-left quadrant. Report bbox coordinates.",
            UPPER_LEFT[1],
            "bbox_coordinates",
        ),
        ("S3", "Does the upper-right quadrant contain any ships?", True, "boolean"),
        (
            "S4",
            "Locate the rightmost ship in the upper-right quadrant. Report bbox coordinates.",
            UPPER_RIGHT[0],
            "bbox_coordinates",
        ),
        (
            "S5",
            "Comparing the center coordinates of the bounding box from Step 2 and the bounding "
            "box from Step 4, is the object from Step 2 north of the object from Step 4?",
            False,
            "boolean",
        ),
    ),
}

_WSI_TRUTHS: dict[str, Any] = {
    "Q1": ["Tumor-rich region", "Invasive component"],
    "Q2": "Yes",
    "Q2.1": [8, 9],
    "Q3": "20x",
    "Q4": ["Nuclear atypia", "Mitoses"],
    "Q5": "No",
    "Q5.1": None,
    "Q5.2": None,
    "Q6.1": ["Nuclear atypia"],
    "Q6.2": "Cytologic malignancy",
    "Q6.3": "An invasive component",
}
_WSI_FORMATS = {"Q2": "single_choice", "Q2.1": "roi_list", "Q3": "single_choice", "Q5": "single_choice"}
_WSI_FORMATS |= {"Q6.2": "single_choice", "Q6.3": "short_text"}

WSI_COMPARISON = {
    "id": "wsi-comparison",
    "slide": "TCGA-AQ-A54N",
    "category": "comparison",
    "image": "images/TCGA-AQ-A54N.tif",
    "question": "When comparing unifocal and multifocal growth, which interpretation is better supported?",
    "options": {"A": "Clearly unifocal", "B": "Clearly multifocal", "C": "Rather unifocal", "D": "Rather multifocal"},
    "answer": "A",
    "reasoning_supervision": {
        "step_type": "multi_step_qa",
        "steps": [
            {
                "step_id": step_id,
                "question": slide_wording("T1").steps[step_id],
                "ground_truth": truth,
                "answer_format": _WSI_FORMATS.get(step_id, "multi_select"),
                "options": list(WSI_OPTIONS.get(step_id, ())),
            }
            for step_id, truth in _WSI_TRUTHS.items()
        ],
    },
    "evidence": {"rois": [9, 8]},
}

AD_COORDINATE = {
    "id": "ad-coordinate",
    "domain": "ad",
    "category": "logical_anomaly",
    "subcategory": "pushpins",
    "image": "images/pushpins.png",
    "question": "Each cell holds one pushpin in each of its compartments. Which cell breaks this rule?",
    "answer": "(3, 7)",
    "reasoning_supervision": _steps(
        ("S1", "How many rows does the grid have?", 10, "integer"),
        ("S2", "How many columns does the grid have?", 10, "integer"),
        ("S3", "How many compartments does a cell have?", 15, "integer"),
        ("S4", "Does each compartment hold a pushpin?", False, "boolean"),
        ("S5", "Does any compartment hold two?", False, "boolean"),
        ("S6", "Is any pushpin bent?", False, "boolean"),
        ("S7", "Where is the cell that breaks the rule?", "(3, 7)", "short_text"),
    ),
    "evidence": {"grid": [10, 10], "cell": [3, 7]},
}

AD_CHOICE = {
    **AD_COORDINATE,
    "id": "ad-choice",
    "category": "structural_anomaly",
    "options": {"A": "(3, 8)", "B": "(3, 7)", "C": "(7, 3)", "D": "(4, 7)"},
    "answer": "B",
}

GOOD: dict[str, dict[str, Any]] = {
    str(record["id"]): record
    for record in (
        CCTV_COMPARISON,
        CCTV_LOGIC,
        CCTV_RELATION,
        RS_COMPARISON,
        RS_LOGIC,
        RS_RELATION,
        WSI_COMPARISON,
        AD_COORDINATE,
        AD_CHOICE,
    )
}


def good_record(name: str) -> dict[str, Any]:
    """Return a copy of one good record, to be changed at will."""
    return copy.deepcopy(GOOD[name])


def sample_from(record: dict[str, Any]) -> UltraVRSample:
    """Read one record as the loader does."""
    (fields,) = sample_fields(Record(record, line=1, index=0, alone=True), RecordContext("record"))
    return UltraVRSample.model_validate(fields)


def good_sample(name: str, **changes: Any) -> UltraVRSample:
    """Return one good sample with top-level keys of its record changed; None removes a key."""
    record = {key: value for key, value in {**good_record(name), **changes}.items() if value is not None}
    return sample_from(record)


def step_of(record: dict[str, Any], step_id: str) -> dict[str, Any]:
    """Return the step of a record, to be changed in place."""
    steps = record["reasoning_supervision"]["steps"]
    found: dict[str, Any] = next(step for step in steps if step["step_id"] == step_id)
    return found
