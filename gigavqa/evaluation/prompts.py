"""Makes the chats of recorded replies again, from data set, benchmark and job: responses hold no prompts.

Beside them stands what a page shows with a prompt: the evidence that answers it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from gigavqa.contract.jobs import Cell, JobSpec
from gigavqa.contract.requests import Turn
from gigavqa.contract.tool_loops import MAX_ROUNDS
from gigavqa.evaluation.capabilities import Evidence, JobOptions, SampleDisplay
from gigavqa.evaluation.chats import Chat, SizeOf
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.errors import EvaluationError
from gigavqa.evaluation.expansion import ChatSettings, ask_sample
from gigavqa.evaluation.options import ViewOptions, read_options
from gigavqa.evaluation.replies import Reply
from gigavqa.evaluation.samples import Sample
from gigavqa.tiling.geometry import ImageFrame, Region, Size
from gigavqa.tiling.region_grammar import PLACE_SCHEMES, RegionText


class Prompt(BaseModel):
    """The texts of a chat as they were sent, behind its pictures; or why they cannot be told."""

    model_config = ConfigDict(frozen=True)

    turns: tuple[Turn, ...] = ()
    unknown: str = Field(default="", description="why the texts cannot be told; empty where they are")


class _SizeUnknownError(EvaluationError):
    """Nothing recorded the size of an image that local evidence is placed in."""


@dataclass
class PromptRebuilder:
    """The prompts of replies to one data set; `specs` are the jobs' by id.

    Without its job a reply's chat is made with the benchmark's default options, and is told only where everything that
    the response recorded of it is the same: version, details and views. Sizes of images are those of its rasters, so
    that no file is opened.
    """

    dataset: Dataset
    specs: Mapping[str, JobSpec] = field(default_factory=dict)
    _settings: dict[tuple[str, int], ChatSettings] = field(default_factory=dict)
    _chats: dict[tuple[Any, ...], Chat] = field(default_factory=dict)
    _evidence: dict[str, Evidence] = field(default_factory=dict)

    def of(self, reply: Reply, sample: Sample) -> Prompt:
        """Make a reply's chat again."""
        benchmark, labels = self.dataset.benchmark, reply.labels
        if labels.prompt_version is None:
            return Prompt(unknown="the response does not say by which version of the prompts it was asked")
        if labels.protocol not in benchmark.protocols or labels.condition not in benchmark.conditions:
            return Prompt(unknown=f"{benchmark.title} has no {labels.protocol} under {labels.condition}")
        if (reply.max_rounds or 0) > MAX_ROUNDS:
            return Prompt(unknown=f"it had {reply.max_rounds} rounds; no chat here has more than {MAX_ROUNDS}")
        cell = Cell(protocol=labels.protocol, condition=labels.condition, rounds=reply.max_rounds)
        try:
            chat = self._chat(reply, sample, cell)
        except EvaluationError as error:
            return Prompt(unknown=f"it cannot be made again: {error}")
        return Prompt(unknown=reason) if (reason := _find_difference(chat, reply)) else Prompt(turns=chat.turns)

    def evidence(self, sample: Sample) -> Evidence:
        """Return what answers a sample, its images named as views name them."""
        if sample.id not in self._evidence:
            found = SampleDisplay.of(self.dataset.benchmark).evidence(sample, self._prepared)
            self._evidence[sample.id] = Evidence(found.lines, tuple(map(self.dataset.image_of, found.images)))
        return self._evidence[sample.id]

    @cached_property
    def _prepared(self) -> Any:
        choices = JobOptions.of(self.dataset.benchmark)
        return self.dataset.prepare(read_options({}, choices.options)[1], 0)

    def _chat(self, reply: Reply, sample: Sample, cell: Cell) -> Chat:
        thumbnail = _recorded_thumbnail(reply)
        key = (reply.job_id, thumbnail, sample.id, cell)
        if key not in self._chats:
            settings = self._of_job(reply.job_id, thumbnail)
            self._chats[key] = ask_sample(self.dataset, sample, cell, _recorded_sizes(reply), settings)
        return self._chats[key]

    def _of_job(self, job_id: str, thumbnail: int) -> ChatSettings:
        key = (job_id, thumbnail)
        if key not in self._settings:
            choices, spec = JobOptions.of(self.dataset.benchmark), self.specs.get(job_id)
            shown, options = read_options(spec.options if spec else {}, choices.options)
            seed = spec.seed if spec else 0
            shared = self.dataset.prepare(options, seed)
            self._settings[key] = ChatSettings(seed, shown if spec else ViewOptions(thumbnail=thumbnail), shared)
        return self._settings[key]


def _find_difference(chat: Chat, reply: Reply) -> str:
    """Return what was recorded of a reply's chat and is otherwise in the one that was made.

    Empty where all is the same.
    """
    asked = reply.labels
    if chat.prompt_version != asked.prompt_version:
        return f"it was asked with prompts {asked.prompt_version}; this version writes {chat.prompt_version}"
    if _nonempty_details(chat.details) != _nonempty_details(asked.details):
        return "its job's options or the data set are not those that it was asked with"
    views = [view for turn in chat.turns for view in turn.views]
    if reply.rasters and [raster.view for raster in reply.rasters][: len(views)] != views:
        return "the data set's records or the job's options show other views by now"
    return ""


def _nonempty_details(details: Mapping[str, Any]) -> dict[str, Any]:
    """Details that tell anything: earlier forms told empty lists where there was nothing to tell."""
    return {name: value for name, value in details.items() if value}


def _recorded_thumbnail(reply: Reply) -> int:
    sizing = reply.provenance.thumbnail
    return int(sizing.removeprefix("longest:")) if sizing else ViewOptions().thumbnail


def _recorded_sizes(reply: Reply) -> SizeOf:
    known = {raster.view.image: raster.source_size for raster in reply.rasters}
    places = {(raster.view.image, raster.view.region): raster.region for raster in reply.rasters}

    def region_of(image: str, asked: RegionText, _: Size) -> Region:
        if (image, asked.text) not in places:
            raise _SizeUnknownError(f"the response does not say where {asked} lies in '{image}'")
        return Region(*map(int, places[image, asked.text].split(",")))

    def size_of(image: str) -> Size:
        if image not in known:
            raise _SizeUnknownError(f"the response does not say how big '{image}' is")
        return ImageFrame.of(known[image], dict.fromkeys(PLACE_SCHEMES, partial(region_of, image)))

    return size_of
