"""How a question came about: its annotations, its truth as a program, and what became of it."""

from typing import Any

from gigavqa.construction.annotation_lines import image_line
from gigavqa.construction.builds import Build
from gigavqa.construction.candidates import Candidate, Rejection
from gigavqa.construction.errors import BuildError
from gigavqa.runtime.suggestions import did_you_mean


def explain_build(build: Build, wanted: str) -> dict[str, Any]:
    """Explain a question by its id, or what was looked at in an image by its name.

    Raises BuildError for neither, with what is close to it.
    """
    candidate = next((one for one in build.candidates() if one.id == wanted), None)
    if candidate:
        return _explain_candidate(build, candidate)
    image = next((one for one in build.images() if one.image == wanted), None)
    if image is None:
        names = [record["id"] for record in build.records()]
        raise BuildError(
            f"'{wanted}' is neither a question nor an annotated image of the build{did_you_mean(wanted, names)}; "
            f"{build.folder.file('samples.jsonl')} has the questions"
        )
    asked = {record["id"] for record in build.records()}
    found: dict[str, Any] = {"image": wanted, "objects": len(image.annotations), "candidates": [], "rejected": []}
    for each in build.propose(image):
        if isinstance(each, Rejection):
            found["rejected"].append({"recipe": each.recipe, "reason": each.reason, "about": each.about})
        else:
            outcome = "a question" if each.id in asked else build.why_left_out(each)
            found["candidates"].append({"id": each.id, "truth": each.truth, "outcome": outcome})
    return found


def _explain_candidate(build: Build, candidate: Candidate) -> dict[str, Any]:
    image = next(one for one in build.images() if one.image == candidate.image)
    used = set(candidate.objects)
    line = image_line(image)
    objects = [one for one in (*line["objects"], *line.get("landmarks", ())) if one["id"] in used]
    record = next((record for record in build.records() if record["id"] == candidate.id), None)
    outcome = "it is a question of the data set" if record else build.why_left_out(candidate)
    return {**candidate.line(), "objects": objects, "outcome": outcome, "question": record}
