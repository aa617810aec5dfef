"""What the making of every drawn data set has in common: what is complete is kept, and the rest is checked."""

from collections.abc import Callable, Collection
from pathlib import Path

from gigavqa.demo.errors import RecordInvalidError
from gigavqa.demo.manifest import DemoManifest
from gigavqa.evaluation.datasets import load_dataset


def complete(
    folder: Path,
    manifest: DemoManifest,
    progress: Callable[[str], None],
    *,
    draw_missing: Callable[[], None] | None,
    write_records: Callable[[], None],
    awaiting: Collection[str] = (),
) -> Path:
    """Draw what is missing, write and check the records, and return the folder; nothing where all is there.

    `draw_missing` is None where no image is missing; `awaiting` are samples whose truth nobody knows yet. Raises
    RecordInvalidError when a record breaks a check.
    """
    if draw_missing is None and manifest.holds_records():
        progress(f"{folder.name}: complete")
        return folder
    (folder / "samples").mkdir(parents=True, exist_ok=True)
    if draw_missing is not None:
        draw_missing()
    write_records()
    num_samples = check_dataset(folder, awaiting)
    manifest.add_records()
    progress(f"{folder.name}: {num_samples} samples written and checked")
    return folder


def check_dataset(folder: Path, awaiting: Collection[str] = ()) -> int:
    """Load a written data set as anybody's would be, and return the number of samples, which meet its checklists.

    Those that are `awaiting` a truth are asked to meet none.

    Raises RecordInvalidError naming each sample that breaks a check.
    """
    dataset = load_dataset(folder)
    samples, checklist = dataset.samples, dataset.benchmark.checklist
    settled = [sample for sample in samples if sample.id not in awaiting]
    problems = [f"{sample.id}: {problem}" for sample in settled for problem in checklist(sample)]
    problems += [f"{s.id}: {image} is missing" for s in samples for image in s.images if not (folder / image).is_file()]
    if problems:
        raise RecordInvalidError("; ".join(problems))
    return len(samples)
