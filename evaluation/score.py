"""Scores files offline: samples and responses in, a report out; no service, no engine."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, model_validator

from catalogue.entry import CatalogueEntry
from catalogue.load import load_catalogue
from evaluation.datasets import load_loose
from evaluation.errors import Problem, ResponsesInvalidError
from evaluation.records import LINE_SUFFIXES
from evaluation.replies import NO_FINAL_TURN, Provenance, Reply
from evaluation.report import Report, report_on_replies
from jobs.models import Condition
from tiling.geometry import Size

UNNAMED_MODEL = "unnamed"
_MOST_PROBLEMS = 1000


class _Lenient(BaseModel):
    """Takes what scoring needs of a line and passes over the rest, so that other versions' files can be read."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class _Turn(_Lenient):
    text: str
    finish_reason: str = ""
    step_id: str | None = None


class _Failure(_Lenient):
    type: str


class _Engine(_Lenient):
    name: str | None
    version: str | None = None
    model_revision: str | None = None
    device: str | None = None
    simulated: bool = False


_NO_ENGINE = _Engine(name=None)


class _View(_Lenient):
    sizing: str = "native"


class _Raster(_Lenient):
    view: _View
    raster_size: Size | None = None


class _Line(_Lenient):
    """A line of recorded responses, or of somebody's own: sample_id and text, the rest as it may be."""

    sample_id: str
    model: str = UNNAMED_MODEL
    protocol: str = "S0"
    condition: Condition = "V2"
    repeat: int | None = None
    request_id: str | None = None
    job_id: str = ""
    created_at: str = ""
    text: str | None = Field(default=None, validation_alias=AliasChoices("text", "response"))
    turns: tuple[_Turn, ...] = ()
    failure: _Failure | None = None
    engine: _Engine | None = None
    prompt_version: str | None = None
    sampling: dict[str, float | int | None] = {}
    rasters: tuple[_Raster, ...] = ()
    examples: tuple[str, ...] | None = None

    @model_validator(mode="after")
    def _says_something(self) -> "_Line":
        if self.text is None and not self.turns and self.failure is None:
            raise ValueError("has neither text, response, turns nor failure")
        return self


def score_files(samples: Path, *responses: Path, catalogue: Mapping[str, CatalogueEntry] | None = None) -> Report:
    """Score files of responses, or folders of such files, against a data set's folder or a file of records.

    A line is a response as the service streams it, or {"sample_id", "text" or "response"} with model, protocol and
    condition where they are not "unnamed", S0 and V2. Several lines of one's own for one sample are repeats. Models
    beyond the shipped catalogue are described in `catalogue`. Raises DatasetInvalidError, and ResponsesInvalidError
    naming file and line of every line that is no response.
    """
    dataset, known = load_loose(samples), catalogue or load_catalogue()
    problems: list[Problem] = []
    report = report_on_replies(dataset, read_replies(responses, problems), known)
    if problems:
        raise ResponsesInvalidError(problems)
    return report


def read_replies(paths: Iterable[Path], problems: list[Problem]) -> Iterator[Reply]:
    """Yield the replies of files of lines, or of folders of such files; what is no response goes to `problems`."""
    repeats: Counter[tuple[str, ...]] = Counter()
    for path in paths:
        files = sorted(found for found in path.iterdir() if found.suffix in LINE_SUFFIXES) if path.is_dir() else [path]
        for file in files:
            with file.open("rb") as lines:
                yield from _replies_of(lines, file.name, problems, repeats)


def _replies_of(
    lines: Iterable[bytes], name: str, problems: list[Problem], repeats: Counter[tuple[str, ...]]
) -> Iterator[Reply]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield _reply(_Line.model_validate_json(line), f"{name}:{number}", repeats)
        except ValidationError as error:
            if len(problems) < _MOST_PROBLEMS:
                problems.append(Problem(name, number, None, _wrong(error)))


def _wrong(error: ValidationError) -> str:
    parts = ((".".join(map(str, detail["loc"])), detail["msg"]) for detail in error.errors(include_url=False))
    return "; ".join(
        f"{place}: {message}" if place else message.removeprefix("Value error, ") for place, message in parts
    )


def _reply(line: _Line, place: str, repeats: Counter[tuple[str, ...]]) -> Reply:
    final = line.turns[-1] if line.turns and line.turns[-1].step_id is None else None
    text = None if line.failure else (final.text if final else line.text)
    failure = line.failure.type if line.failure else None
    return Reply(
        sample_id=line.sample_id,
        model=line.model,
        protocol=line.protocol,
        condition=line.condition,
        identity=(line.job_id, line.request_id or place),
        created=line.created_at,
        text=text,
        failure=failure or (NO_FINAL_TURN if text is None else None),
        cut_off=final is not None and final.finish_reason == "length",
        provenance=_provenance(line),
        repeat=_repeat(line, repeats),
        steps=tuple((turn.step_id, turn.text) for turn in line.turns if turn.step_id is not None),
        raster=line.rasters[0].raster_size if line.rasters else None,
        examples=None if line.examples is None else len(line.examples),
    )


def _repeat(line: _Line, repeats: Counter[tuple[str, ...]]) -> int:
    """Return the line's own number of its repeat; lines without one are counted by sample and cell."""
    if line.repeat is not None:
        return line.repeat
    key = (line.model, line.protocol, line.condition, line.sample_id)
    repeats[key] += 1
    return repeats[key] - 1


def _provenance(line: _Line) -> Provenance:
    engine = line.engine or _NO_ENGINE
    thumbnails = [raster.view.sizing for raster in line.rasters if raster.view.sizing != "native"]
    return Provenance(
        engine=engine.name,
        version=engine.version,
        device=engine.device,
        revision=engine.model_revision,
        simulated=engine.simulated,
        prompt_version=line.prompt_version,
        sampling=tuple(sorted((name, value) for name, value in line.sampling.items() if name != "seed")),
        thumbnail=thumbnails[0] if thumbnails else None,
    )
