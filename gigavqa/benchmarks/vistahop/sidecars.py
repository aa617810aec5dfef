"""Files that may lie beside a data set: declarations of tools, prompts of its own, a corpus, and what people said."""

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from gigavqa.benchmarks.vistahop.tools import ToolDeclaration, default_tools, read_tools
from gigavqa.evaluation.capabilities import LabelKind, LabelPlace
from gigavqa.retrieval.documents import corpus_digest, corpus_files, read_documents
from gigavqa.retrieval.errors import InvalidLine, RetrievalError

SETTINGS = "dataset.toml"
LETTER = "letter"
"""What `[answers] kind` says where answers are letters of options that stand in the question."""
TOOL_FILES = ("tools.yaml", "tools.json")
JUDGEMENTS = "judgements.jsonl"
FAILURES = "failures.jsonl"
FAILURE_TYPES: Mapping[str, str] = {
    "anchor": "wrong or missing visual anchor",
    "drift": "retrieval drift or unsupported external evidence",
    "planning": "long-chain planning collapse",
    "fusion": "multi-anchor fusion or calculation error",
    "boundary": "answer normalization or judge boundary case",
}
"""What an incorrect chat failed by first, in the order in which our rules ask."""
_CHAT: Mapping[str, LabelPlace] = {"job": "job", "request": "request"}
LABEL_KINDS = (
    LabelKind(
        name="judgement",
        title="Is it correct?",
        file=JUDGEMENTS,
        choices={"correct": "it is correct", "incorrect": "it is not"},
        values={"correct": True, "incorrect": False},
        place=_CHAT,
        says="correct",
        annotator="annotator",
    ),
    LabelKind(
        name="failure",
        title="What did it fail by first?",
        file=FAILURES,
        choices=FAILURE_TYPES,
        place=_CHAT,
        says="type",
    ),
)
UNLABELLED = "unlabelled"
ReplyKey = tuple[str, str]
"""Job and request."""


@dataclass(frozen=True)
class CorpusFolder:
    """Pages that lie in a folder of the data set: where, which content, and their ids."""

    folder: str
    digest: str
    documents: frozenset[str]


@dataclass(frozen=True)
class Sidecars:
    """All that lies beside a data set; without a text of its own, ours is told, and an empty one is none."""

    tools: tuple[ToolDeclaration, ...] = field(default_factory=default_tools)
    system_prompt: str | None = None
    format_instruction: str | None = None
    lettered: bool = False
    """Whether answers are letters, though the records may not list the options."""
    corpus: CorpusFolder | None = None
    judgements: Mapping[ReplyKey, tuple[tuple[str, bool], ...]] = field(default_factory=dict)
    """What annotators said of a chat, by job and request: name, and whether it is correct."""
    failures: Mapping[ReplyKey, str] = field(default_factory=dict)
    """What people found an incorrect chat to fail by."""


def read_sidecars(texts: Mapping[str, str]) -> dict[str, Any]:
    """Read the files of their names into fields of `Sidecars`. Raises ValueError naming every bad line of a file."""
    found: dict[str, Any] = {}
    for name in TOOL_FILES:
        if name in texts:
            found["tools"] = read_tools(name, texts[name])
    if JUDGEMENTS in texts:
        said: dict[ReplyKey, list[tuple[str, bool]]] = {}
        for place, line in _read_label_lines(
            JUDGEMENTS, texts[JUDGEMENTS], {"annotator": str, "correct": bool}, "annotator"
        ):
            said.setdefault(place, []).append((line["annotator"], line["correct"]))
        found["judgements"] = {place: tuple(sorted(lines)) for place, lines in said.items()}
    if FAILURES in texts:
        lines = _read_label_lines(FAILURES, texts[FAILURES], {"type": str})
        found["failures"] = {place: line["type"] for place, line in lines}
    return found


def _read_label_lines(
    file: str, text: str, fields: Mapping[str, type], *who: str
) -> list[tuple[ReplyKey, dict[str, Any]]]:
    """Read lines, each of which says one thing of a place, or of a place by each of `who`; equal ones count once."""
    found: dict[tuple[Any, ...], tuple[int, ReplyKey, dict[str, Any]]] = {}
    wrong = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                place, said = _read_label_line(line, fields)
            except ValueError as error:
                wrong.append(f"line {number}: {error}")
                continue
            first, _, before = found.setdefault((place, *(said[name] for name in who)), (number, place, said))
            if any(before[name] != said[name] for name in fields):
                wrong.append(f"line {number}: contradicts line {first}, which says another thing of the same chat")
    if wrong:
        raise ValueError(f"{file}: {'; '.join(wrong)}")
    return [(place, said) for _, place, said in found.values()]


def _read_label_line(line: str, fields: Mapping[str, type]) -> tuple[ReplyKey, dict[str, Any]]:
    try:
        found = json.loads(line)
    except ValueError as error:
        raise ValueError(f"is not JSON: {error}") from error
    wanted = {"job": str, "request": str, **fields}
    if not isinstance(found, dict) or not all(isinstance(found.get(name), kind) for name, kind in wanted.items()):
        told = ", ".join(f"{name} ({_WORDS[kind]})" for name, kind in wanted.items())
        raise ValueError(f"must be an object with {told}")
    if not str(found.get("annotator", "anybody")).strip():
        raise ValueError("annotator: is empty; a name or a number tells whose verdict it is")
    if "type" in fields and found["type"] not in FAILURE_TYPES:
        raise ValueError(f"type '{found['type']}' is none of {', '.join(FAILURE_TYPES)}")
    return (found["job"], found["request"]), found


_WORDS = {str: "a text", bool: "true or false"}


def read_dataset_settings(folder: Path) -> dict[str, Any]:
    """Read what `dataset.toml` says of prompts, tools and corpus. Raises ValueError beginning with a file's name."""
    path = folder / SETTINGS
    settings = tomllib.loads(path.read_text(encoding="utf-8-sig")) if path.is_file() else {}
    if wrong := [*_check_settings(settings)]:
        raise ValueError(f"{SETTINGS}: {'; '.join(wrong)}")
    found: dict[str, Any] = {**settings.get("prompts", {}), "lettered": "answers" in settings}
    name = settings.get("search", {}).get("corpus", "corpus")
    if "corpus" in settings.get("search", {}) or (folder / name).is_dir():
        found["corpus"] = read_corpus(folder, name)
    named = settings.get("tools", {}).get("file")
    if named and not (folder / named).is_file():
        raise ValueError(f"{SETTINGS}: tools.file: there is no '{named}' beside it")
    return found


def _check_settings(settings: Mapping[str, Any]) -> Iterator[str]:
    known = {
        "prompts": ("system_prompt", "format_instruction"), "tools": ("file",), "search": ("corpus",),
        "answers": ("kind",),
    }  # fmt: skip
    for table, names in known.items():
        inner = settings.get(table, {})
        if not isinstance(inner, dict):
            yield f"{table}: must be a table"
            continue
        for name, value in inner.items():
            if name not in names:
                yield f"{table}.{name}: is not known; there is {', '.join(names)}"
            elif not isinstance(value, str) or not (value or table == "prompts"):
                yield f"{table}.{name}: must be a text"
            elif name == "file" and value not in TOOL_FILES:
                yield f"tools.file: must be {' or '.join(TOOL_FILES)}, not '{value}'"
            elif name == "kind" and value != LETTER:
                yield f"answers.kind: must be {LETTER}, not '{value}'"
            elif name == "corpus" and ("/" in value or "\\" in value or value.startswith(".")):
                yield f"search.corpus: must be the name of a folder beside it, not '{value}'"


def read_corpus(folder: Path, name: str) -> CorpusFolder:
    """Read a corpus, once for a content. Raises ValueError naming every bad line."""
    try:
        looks = tuple((one.name, one.stat().st_size, one.stat().st_mtime_ns) for one in corpus_files(folder / name))
        return _read_corpus(folder / name, name, looks)
    except RetrievalError as error:
        raise ValueError(f"{name}: {str(error).removeprefix(f'{folder / name} ')}") from error


@lru_cache(maxsize=8)
def _read_corpus(path: Path, name: str, looks: tuple[tuple[str, int, int], ...]) -> CorpusFolder:
    ids, wrong = set(), []
    for read in read_documents(path):
        if isinstance(read, InvalidLine):
            wrong.append(str(read))
        else:
            ids.add(read.id)
    if wrong:
        raise ValueError(f"{name}: {'; '.join(wrong)}")
    return CorpusFolder(name, corpus_digest(path), frozenset(ids))
