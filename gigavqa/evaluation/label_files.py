"""Files of labels beside a data set's records, as their benchmarks read them: one line a label, rewritten whole."""

import fcntl
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from gigavqa.evaluation.capabilities import LabelKind
from gigavqa.evaluation.errors import DatasetInvalidError, Problem, ReviewRefusedError

_REVIEWED = "reviewed"
"""What marks a line that reviews wrote."""


class LabelledReply(NamedTuple):
    """What a label can be about: a reply, by everything that a file may name it by, and who says it."""

    job: str
    request: str
    sample: str
    model: str
    annotator: str

    def place(self, kind: LabelKind) -> dict[str, str]:
        """Return how a line of a kind names it, and who says so where that counts."""
        named = {name: str(getattr(self, held)) for name, held in kind.place.items()}
        return {**named, **kind.constants, **({kind.annotator: self.annotator} if kind.annotator else {})}


def read_labels(folder: Path, kind: LabelKind) -> Sequence[Mapping[str, Any]]:
    """Return the lines of a kind in their file's order. Raises DatasetInvalidError naming a line that is no object."""
    return [line for _, line in _lines(folder / kind.file) if _is_at(line, kind.constants)]


def choice_in(kind: LabelKind, line: Mapping[str, Any]) -> str | None:
    """Return the choice that a line says, by its name; None where it says none that is known."""
    said = line.get(kind.says)
    return next((name for name in kind.choices if kind.values.get(name, name) == said), None)


def write_label(folder: Path, kind: LabelKind, reply: LabelledReply, choice: str | None) -> None:
    """Write what is said of a reply in place of what was said before, or take that back; all other lines stay.

    Raises ReviewRefusedError for a choice that there is not, DatasetInvalidError for a line that cannot be read, and
    OSError.
    """
    if choice is not None and choice not in kind.choices:
        raise ReviewRefusedError(f"choice: '{choice}' is none of {', '.join(kind.choices)}")
    place, path = reply.place(kind), folder / kind.file
    with _locked(folder):
        kept = [text for text, line in _lines(path) if not _is_at(line, place)]
        if choice is not None:
            said = {**place, kind.says: kind.values.get(choice, choice)}
            kept.append(json.dumps(said, ensure_ascii=False))
        _replace(path, "".join(f"{text}\n" for text in kept))


def write_reviewed_answers(folder: Path, file: str, answers: Mapping[str, str]) -> None:
    """Write what reviews make the answers of samples, in place of what they made before; lines of others stay and win.

    Raises DatasetInvalidError for a line that cannot be read, and OSError.
    """
    path = folder / file
    with _locked(folder):
        lines = list(_lines(path))
        by_hand = [(text, line) for text, line in lines if not line.get(_REVIEWED)]
        known = {line.get("sample") for _, line in by_hand}
        found = [
            json.dumps({"sample": sample, "answer": answer, _REVIEWED: True}, ensure_ascii=False)
            for sample, answer in sorted(answers.items())
            if sample not in known
        ]
        texts = [*(text for text, _ in by_hand), *found]
        if texts != [text for text, _ in lines]:
            _replace(path, "".join(f"{text}\n" for text in texts))


def _is_at(line: Mapping[str, Any], place: Mapping[str, str]) -> bool:
    return all(line.get(name) == value for name, value in place.items())


def _lines(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each line with what it says; empty ones are left out."""
    if not path.exists():
        return
    for number, text in enumerate(path.read_text(encoding="utf-8-sig").split("\n"), start=1):
        if not text.strip():
            continue
        try:
            line = json.loads(text)
        except ValueError as error:
            raise DatasetInvalidError([Problem(path.name, number, None, f"is not JSON: {error}")]) from error
        if not isinstance(line, dict):
            raise DatasetInvalidError([Problem(path.name, number, None, "is no JSON object")])
        yield text, line


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
        os.fsync(held)
    finally:
        os.close(held)


def _replace(path: Path, text: str) -> None:
    """Write a file whole and put it in place of the one before, so that a crash leaves one of both."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, suffix=".part", delete=False) as file:
        draft = Path(file.name)
        try:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            draft.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
            draft.replace(path)
        except OSError:
            draft.unlink(missing_ok=True)
            raise
