"""Checks a written data set as anybody's would be: it is loaded, and every sample meets its benchmark's checklists."""

from pathlib import Path

from demo.errors import RecordInvalidError
from evaluation.datasets import load_dataset


def check_dataset(folder: Path) -> int:
    """Return the number of samples; raises RecordInvalidError naming each sample that breaks a check."""
    dataset = load_dataset(folder)
    samples, checklist = dataset.samples, dataset.benchmark.checklist
    problems = [f"{sample.id}: {problem}" for sample in samples for problem in checklist(sample)]
    problems += [f"{s.id}: {image} is missing" for s in samples for image in s.images if not (folder / image).is_file()]
    if problems:
        raise RecordInvalidError("; ".join(problems))
    return len(samples)
