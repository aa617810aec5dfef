"""The samples of a report as a page shows them: what was seen, asked, answered and read, one block a sample."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import Any

from evaluation.datasets import Dataset
from evaluation.outcomes import PartOutcome, SampleOutcome
from evaluation.report import Report
from evaluation.writers.numbers import MISSING
from jobs.models import RasterRecord

DETAILED_SAMPLES = 500
"""Samples that a page shows at most."""
DETAILED_RESPONSES = 2000
"""Responses that a page shows at most."""
_FEWEST_SAMPLES = 10
"""Samples that share the page's responses at least, however many there are of each."""
_TEXT_CHARACTERS, _FEWEST_CHARACTERS = 6000, 300
_ALL_CHARACTERS = 1_500_000
"""Characters of raw texts of one page together; each is shortened to its share, within these two."""
_PREVIEW_BYTES = 24 << 20
"""Pictures of one page together; 640 pixels on the longest side make about 60 KB each."""

OUTCOMES = {
    "right": "right",
    "wrong": "wrong",
    "abstained": "abstained",
    "partial": "partly right",
    "unreadable": "no single answer",
    "failed": "failed",
    "unscored": "not scored",
}
"""What became of a response, as the page's filter names it."""

Preview = Callable[[str], bytes | None]


@dataclass(frozen=True)
class ViewShown:
    """One view of a sample under the conditions that showed it; `key` finds its picture."""

    key: str
    caption: str
    conditions: tuple[str, ...]


@dataclass(frozen=True)
class PartShown:
    """One judged part with texts made of its values."""

    part: PartOutcome
    truth: str
    read: str
    text: str


@dataclass(frozen=True)
class ResponseShown:
    """One response to a sample."""

    outcome: SampleOutcome
    kind: str
    text: str
    parts: tuple[PartShown, ...]

    @property
    def wrong_parts(self) -> bool:
        """Whether a part of it is wrong, for the filter."""
        return any(not shown.part.correct for shown in self.parts)


@dataclass(frozen=True)
class SampleShown:
    """One sample with its views and all responses to it."""

    first: SampleOutcome
    views: tuple[ViewShown, ...]
    responses: tuple[ResponseShown, ...]


def show_samples(outcomes: Iterable[SampleOutcome], most: int = DETAILED_SAMPLES) -> tuple[SampleShown, ...]:
    """Group outcomes by sample, in order of ids; of too many the first that come, within bounds.

    The bounds are `most` samples, the page's responses, and a tenth of them for one sample.
    """
    by_sample: dict[str, list[SampleOutcome]] = {}
    count = texts = 0
    for outcome in outcomes:
        kept = by_sample.get(outcome.sample_id, [])
        fits = count < DETAILED_RESPONSES and len(kept) < DETAILED_RESPONSES // _FEWEST_SAMPLES
        if fits and (kept or len(by_sample) < most):
            by_sample.setdefault(outcome.sample_id, kept).append(outcome)
            count, texts = count + 1, texts + 1 + len(outcome.parts)
    longest = max(_FEWEST_CHARACTERS, min(_TEXT_CHARACTERS, _ALL_CHARACTERS // max(1, texts)))
    return tuple(
        sorted((_sample(found, longest) for found in by_sample.values()), key=lambda shown: shown.first.sample_id)
    )


def choose_samples(
    dataset: Dataset, asked: Iterable[str] | None = None, most: int = DETAILED_SAMPLES
) -> frozenset[str]:
    """Choose the samples to show in detail, of those `asked`: all, or as many of every group as possible."""
    wanted = None if asked is None else set(asked)
    by_place: dict[tuple[str, str], list[str]] = {}
    for sample in dataset.samples:
        if wanted is None or sample.id in wanted:
            by_place.setdefault(dataset.benchmark.grouping.place(sample), []).append(sample.id)
    in_turns = (name for names in zip_longest(*by_place.values()) for name in names if name is not None)
    return frozenset(islice(in_turns, most))


def most_samples(report: Report) -> int:
    """How many samples a page can show with all responses to them; more than a few where that is too few."""
    responses = sum(origin.responses for origin in report.provenance)
    fitting = DETAILED_RESPONSES * report.samples // max(1, responses)
    return max(_FEWEST_SAMPLES, min(DETAILED_SAMPLES, fitting))


def pictures(samples: Sequence[SampleShown], preview: Preview) -> dict[str, bytes]:
    """Fetch the picture of every view once, until the page's limit of bytes is reached."""
    found: dict[str, bytes] = {}
    left = _PREVIEW_BYTES
    for key in dict.fromkeys(view.key for sample in samples for view in sample.views):
        jpeg = preview(key)
        if jpeg is not None and len(jpeg) <= left:
            found[key] = jpeg
            left -= len(jpeg)
    return found


def _sample(outcomes: list[SampleOutcome], longest: int) -> SampleShown:
    ordered = sorted(outcomes, key=lambda one: (one.model, one.protocol, one.condition, one.repeat, one.job_id))
    return SampleShown(ordered[0], tuple(_views(ordered)), tuple(_response(one, longest) for one in ordered))


def _views(outcomes: Sequence[SampleOutcome]) -> Iterator[ViewShown]:
    shown: dict[str, tuple[RasterRecord, dict[str, None]]] = {}
    for outcome in sorted(outcomes, key=lambda one: one.condition):
        for raster in outcome.rasters:
            shown.setdefault(raster.key, (raster, {}))[1][outcome.condition] = None
    for key, (raster, conditions) in shown.items():
        yield ViewShown(key, _caption(raster), tuple(conditions))


def _caption(raster: RasterRecord) -> str:
    region = "full image" if raster.view.region == "full" else f"region {raster.region}"
    source, size = raster.source_size, raster.raster_size
    longest = raster.view.sizing.removeprefix("longest:")
    sizing = "" if longest == "native" else f", downsampled to {longest} pixels first"
    return (
        f"{region} of {source.width:,} × {source.height:,}{sizing}, shown at {size.width:,} × {size.height:,} "
        f"({raster.visual_tokens:,} visual tokens)"
    )


def _response(outcome: SampleOutcome, longest: int) -> ResponseShown:
    parts = tuple(_part(part, longest) for part in outcome.parts)
    return ResponseShown(outcome, outcome.outcome, _clip(outcome.text or "", longest), parts)


def _part(part: PartOutcome, longest: int) -> PartShown:
    read = MISSING if part.value is None and not part.correct else _written(part.value)
    return PartShown(part, _clip(_written(part.truth), longest), _clip(read, longest), _clip(part.text or "", longest))


def _written(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(_rounded(value), ensure_ascii=False)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 4)
    return [_rounded(part) for part in value] if isinstance(value, list | tuple) else value


def _clip(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    half = longest // 2
    left_out = f"[… {len(text) - 2 * half:,} characters left out here; the results hold them …]"
    return f"{text[:half]}\n\n{left_out}\n\n{text[-half:]}"
