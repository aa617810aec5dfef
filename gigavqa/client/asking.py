"""Questions of one's own about pictures of this machine, made into a data set that the service reads in place."""

import hashlib
import json
import logging
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gigavqa.client.errors import QuestionsError
from gigavqa.contract.jobs import Cell, ClosingSetting, JobSpec
from gigavqa.evaluation.errors import DatasetInvalidError
from gigavqa.evaluation.records import RECORD_SUFFIXES
from gigavqa.runtime.home import Home

if TYPE_CHECKING:
    from gigavqa.evaluation.datasets import Dataset
    from gigavqa.evaluation.importing import ImportSummary

log = logging.getLogger(__name__)
TEMPLATE = "prompt.toml"
_READER_VERSION = "tables/2"
"""Changes with what files are read as, so that data sets of an earlier reading are not taken for these."""

_MOST_INTERACTIVE = 128  # as many as a key lets go before others


@dataclass(frozen=True)
class QuestionFile:
    """A file of questions (CSV, TSV, JSON, JSONL or Parquet) about a folder of pictures, and how they are asked.

    The pictures lie beside the file if no folder is named. `columns` says what a column is (`{"foto": "image"}`),
    `decimal` what the decimal sign of its numbers is, "," or "."; told by the file's separator without;
    `prompt` is a prompt.toml, found beside the file without; `limit` takes the first questions alone; `bad_left_out`
    asks the good ones beside bad ones. `closing` asks for the answer alone behind each free answer. `data` is the
    gateway's data root, GIGAVQA_DATA if omitted. `linked` says that links out of the folder are one's own. `title` is
    what people read instead of the data set's name. `show` declares how the pictures' samples become colours.
    """

    source: Path
    pictures: Path | None = None
    conditions: Sequence[str] = ("V2",)
    protocols: Sequence[str] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    prompt: Path | None = None
    limit: int | None = None
    bad_left_out: bool = False
    data: Path | None = None
    decimal: str | None = None
    linked: bool = False
    closing: ClosingSetting | None = None
    title: str = ""
    show: str = ""

    @property
    def folder(self) -> Path:
        """The folder of pictures."""
        return self.pictures or self.source.parent

    @property
    def template(self) -> Path | None:
        """The prompt of one's own, if there is any."""
        beside = self.source.with_name(TEMPLATE)
        return self.prompt or (beside if beside.is_file() else None)

    @property
    def name(self) -> str:
        """A name that says what was asked: other content of the file, the pictures or the prompt has another."""
        digest = hashlib.sha256(self.source.read_bytes())
        found = (path for path in sorted(self.folder.rglob("*")) if path.is_file() and path != self.source)
        pictures = [_path_stamp(path) for path in found]
        how = (_READER_VERSION, self.decimal, sorted(self.columns.items()), self.bad_left_out)
        facts = (how, str(self.folder.resolve()), pictures, *([self.show] if self.show else []))
        digest.update(repr(facts).encode())
        digest.update(self.template.read_bytes() if self.template else b"")
        return _dataset_name(self.source.stem, digest.hexdigest())

    def made(self, name: str | None = None) -> tuple["Dataset", "ImportSummary | None"]:
        """Return the data set of exactly these questions and pictures, and what its import says where it was not there.

        Raises QuestionsError.
        """
        # Half a second, which whoever asks about data sets of the gateway need not wait for.
        from gigavqa.evaluation.datasets import load_dataset
        from gigavqa.evaluation.importing import import_dataset
        from gigavqa.evaluation.installed import find_benchmark
        from gigavqa.tiling.file_remarks import file_remarks
        from gigavqa.tiling.headers import look_at_remote, read_header

        self._require_files()
        target = (self.data or Home.from_environment().data) / (name or self.name)
        made: ImportSummary | None = None
        try:
            if not target.exists():
                made = import_dataset(
                    find_benchmark("questions"), self.source, self.folder, target,
                    check_image=read_header, remarks_on=file_remarks, look_ahead=look_at_remote,
                    columns=self.columns, decimal=self.decimal,
                    follows_links=self.linked, title=self.title, show=self.show,
                    settings={TEMPLATE: self.template} if self.template else {}, leave_out_bad=self.bad_left_out,
                )  # fmt: skip
            return load_dataset(target), made
        except DatasetInvalidError as error:
            raise _import_error(error) from error

    def spec(self, dataset: "Dataset", models: Sequence[str], repeats: int = 1, **further: Any) -> JobSpec:
        """Return what is asked of the models about a data set, with `further` fields of a job.

        Raises QuestionsError for what it is not asked by.
        """
        benchmark, protocols = dataset.benchmark, self.protocols or ["own" if self.template else "direct"]
        for kind, asked, known in (
            ("protocol", protocols, tuple(benchmark.protocols)),
            ("condition", self.conditions, tuple(benchmark.conditions)),
        ):
            if unknown := [name for name in asked if name not in known]:
                own = f"; a {TEMPLATE} beside the questions brings `own`" if unknown == ["own"] else ""
                raise QuestionsError(f"there is no {kind} {', '.join(unknown)}; there is {', '.join(known)}{own}")
        pairs = ({"protocol": protocol, "condition": shown} for protocol in protocols for shown in self.conditions)
        cells = tuple(dict.fromkeys(map(Cell.model_validate, pairs)))
        chosen = dataset.samples[: self.limit]
        count = len(chosen) * len(cells) * len(models) * repeats
        return JobSpec(
            dataset=dataset.name,
            models=tuple(models),
            cells=cells,
            samples=tuple(sample.id for sample in chosen) if self.limit else (),
            closing=self.closing,
            priority="interactive" if count <= _MOST_INTERACTIVE else "batch",
            repeats=repeats,
            **further,
        )

    def asked(self, models: Sequence[str]) -> JobSpec:
        """Return what is asked of the models, over a data set that is made where it is not there.

        Raises QuestionsError.
        """
        dataset, made = self.made()
        for note in made.notes if made else ():
            log.warning("%s", note)
        return self.spec(dataset, models)

    def _require_files(self) -> None:
        if not self.folder.is_dir():
            raise QuestionsError(f"{self.folder} is no folder of pictures")
        if not self.source.is_file() or self.source.suffix not in RECORD_SUFFIXES:
            raise QuestionsError(
                f"{self.source} is no file of questions; there are {', '.join(sorted(RECORD_SUFFIXES))}"
            )


@dataclass(frozen=True)
class ImageQuestion:
    """One question about one picture; with `options` it is answered by the letter of one of them.

    `show` declares how the picture's samples become colours, where they have more than 8 bits or other bands.
    """

    picture: Path
    text: str
    options: Sequence[str] = ()
    condition: str = "V2"
    protocol: str = "direct"
    data: Path | None = None
    closing: ClosingSetting | None = None
    show: str = ""

    def asked(self, models: Sequence[str]) -> JobSpec:
        """Return what is asked of the models, over a data set of this one question. Raises QuestionsError."""
        if not self.picture.is_file():
            raise QuestionsError(f"{self.picture} is no picture")
        record: dict[str, Any] = {"id": "question", "image": self.picture.name, "question": self.text}
        record |= {"options": list(self.options)} if self.options else {}
        facts = (record, _path_stamp(self.picture.resolve()), *([self.show] if self.show else []))
        digest = hashlib.sha256(repr(facts).encode())
        with _record_file(self.picture, record) as source:
            questions = QuestionFile(
                source,
                conditions=(self.condition,),
                protocols=(self.protocol,),
                data=self.data,
                linked=True,
                closing=self.closing,
                show=self.show,
            )
            dataset, _ = questions.made(_dataset_name(self.picture.stem, digest.hexdigest()))
            return questions.spec(dataset, models)


def data_root_error(url: str, dataset: str) -> QuestionsError:
    """Return the gateway does not see the data set that was made."""
    return QuestionsError(
        f"the gateway at {url} has another data root: it does not see '{dataset}', which was made in "
        f"{Home.from_environment().data}; `data` or GIGAVQA_DATA names its own"
    )


@contextmanager
def _record_file(picture: Path, record: Mapping[str, Any]) -> Iterator[Path]:
    """A file of the record in a folder where the picture is the only one."""
    folder = Path(tempfile.mkdtemp(prefix="gigavqa-"))
    try:
        (folder / picture.name).symlink_to(picture.resolve())
        source = folder / "question.json"
        source.write_text(json.dumps([record]), encoding="utf-8")
        yield source
    finally:
        shutil.rmtree(folder)


def _path_stamp(path: Path) -> tuple[str, int, int]:
    status = path.stat()
    return str(path), status.st_size, status.st_mtime_ns


def _dataset_name(stem: str, digest: str) -> str:
    return f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', stem).strip('-.')[:80] or 'questions'}-{digest[:8]}"


def _import_error(error: DatasetInvalidError) -> QuestionsError:
    return QuestionsError(f"nothing asked: {error.summary}", error.problems, error.others)
