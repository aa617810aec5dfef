"""Data of samples for the page's script: questions, pictures, chats and verdicts, within bounds."""

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from itertools import islice, zip_longest
from pathlib import PurePath
from typing import Any

from gigavqa.answers.text import thoughts_apart
from gigavqa.contract.responses import RasterRecord
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.outcomes import PartOutcome, SampleOutcome
from gigavqa.evaluation.reply_costs import ReplyCost
from gigavqa.evaluation.score_frame import CellKey
from gigavqa.reports.report import Report
from gigavqa.reports.writers.page.rounds import PageRounds
from gigavqa.reports.writers.page.texts import PageTexts, written_value
from gigavqa.tiling.errors import quote_text
from gigavqa.tiling.geometry import MicronsPerPixel
from gigavqa.tiling.region_grammar import PLACE_HEADS

DETAILED_SAMPLES = 500
"""Samples that a page shows at most."""
DETAILED_RESPONSES = 4000
"""Responses that a page shows at most."""
_FEWEST_SAMPLES = 10
"""Samples that share the page's responses at least, however many there are of each."""
_MOST_OF_A_SAMPLE = DETAILED_RESPONSES // _FEWEST_SAMPLES
_PREVIEW_BYTES = 24 << 20
"""Pictures of one page together; 640 pixels on the longest side make about 60 KB each."""

OUTCOMES = {
    "right": "right",
    "partial": "partly right",
    "wrong": "wrong",
    "abstained": "abstained",
    "unreadable": "no single answer",
    "filtered": "filtered or refused by the server",
    "failed": "failed",
    "unscored": "not scored",
}
"""What became of a response, as the page names it."""

_TEXTS_OF_A_ROUND = 3

PreviewSource = Callable[[str], bytes | None]
OutcomesBySample = dict[str, list[SampleOutcome]]


def collect_outcomes(outcomes: Iterable[SampleOutcome], most: int = DETAILED_SAMPLES) -> OutcomesBySample:
    """Group outcomes by sample, in order of ids; of too many the first by id, cell, repeat and request, within bounds.

    The bounds are `most` samples, the page's responses, and a tenth of them for one sample. In which order the outcomes
    come changes nothing.
    """
    by_sample: OutcomesBySample = {}
    last = ""  # of the ids, once there are as many as fit
    for outcome in outcomes:
        if outcome.sample_id not in by_sample and len(by_sample) == most:
            if outcome.sample_id > last:
                continue
            del by_sample[last]
        kept = by_sample.setdefault(outcome.sample_id, [])
        if not kept and len(by_sample) == most:
            last = max(by_sample)
        kept.append(outcome)
        if len(kept) == 2 * _MOST_OF_A_SAMPLE:
            kept[:] = sorted(kept, key=_order)[:_MOST_OF_A_SAMPLE]
    fitting = (one for kept in by_sample.values() for one in sorted(kept, key=_order)[:_MOST_OF_A_SAMPLE])
    found: OutcomesBySample = {sample: [] for sample in sorted(by_sample, key=_natural_order)}
    for one in sorted(fitting, key=lambda one: (_order(one), one.sample_id))[:DETAILED_RESPONSES]:
        found[one.sample_id].append(one)
    return {sample: kept for sample, kept in found.items() if kept}


def _order(outcome: SampleOutcome) -> tuple[Any, ...]:
    return *outcome.cell, outcome.repeat, outcome.job_id, outcome.request_id


def _natural_order(name: str) -> list[tuple[int, str]]:
    """Sort as people count: q2 before q10."""
    words, numbers = re.split("[0-9]+", name), re.findall("[0-9]+", name)
    lengths = [(len(number.lstrip("0")), number.lstrip("0")) for number in numbers]
    return [part for pair in zip_longest([(0, word) for word in words], lengths) for part in pair if part]


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
    """Return how many samples a page can show with all responses to them; more than a few where that is too few."""
    responses = sum(origin.responses for origin in report.provenance)
    fitting = DETAILED_RESPONSES * report.samples // max(1, responses)
    return max(_FEWEST_SAMPLES, min(DETAILED_SAMPLES, fitting))


def load_previews(found: OutcomesBySample, preview: PreviewSource) -> dict[str, bytes]:
    """Fetch the picture of every raster once, until the page's limit of bytes is reached; full images go first."""
    rasters = [raster for outcomes in found.values() for outcome in outcomes for raster in outcome.rasters]
    rasters.sort(key=lambda raster: raster.view.region != "full")
    read: dict[str, bytes] = {}
    left = _PREVIEW_BYTES
    for key in dict.fromkeys(raster.key for raster in rasters):
        jpeg = preview(key)
        if jpeg is not None and len(jpeg) <= left:
            read[key] = jpeg
            left -= len(jpeg)
    return read


def describe_samples(found: OutcomesBySample, cells: Sequence[CellKey], titles: Mapping[str, str]) -> dict[str, Any]:
    """Everything that the script needs, as JSON; numbers of texts stand for the texts, to hold each once."""
    of_all = [outcome for outcomes in found.values() for outcome in outcomes]
    in_rounds = sum(_TEXTS_OF_A_ROUND * len(outcome.rounds) for outcome in of_all)
    texts = PageTexts(sum(1 + len(one.parts) + (one.closing is not None) for one in of_all), in_rounds)
    places = list(dict.fromkeys([*cells, *(one.cell for one in of_all)]))
    models = list(dict.fromkeys(key.model for key in places))
    places.sort(key=lambda key: models.index(key.model))
    numbers = {key: at for at, key in enumerate(places)}
    jobs = list(dict.fromkeys(outcome.job_id for outcome in of_all))
    return {
        "outcomes": OUTCOMES,
        "titles": {key.model: titles.get(key.model, key.model) for key in places},
        "cells": places,
        "jobs": jobs,
        "samples": [_sample(outcomes, numbers, jobs, texts) for outcomes in found.values()],
        "chats": texts.chats,
        "steps": texts.steps,
        "texts": texts.all,
    }


def _sample(
    outcomes: list[SampleOutcome], cells: Mapping[CellKey, int], jobs: Sequence[str], texts: PageTexts
) -> dict[str, Any]:
    first = outcomes[0]
    rounds = [PageRounds(outcome, texts) for outcome in outcomes]
    views = {raster.key: raster for one in rounds for raster in one.rasters}
    at = {key: number for number, key in enumerate(views)}
    images = dict.fromkeys(raster.view.image for raster in views.values())
    names = {image: PurePath(image).name for image in images} if len(images) > 1 else {}
    return {
        "id": first.sample_id,
        "groups": first.groups,
        "question": texts.number(first.question),
        "options": first.options or {},
        "truth": first.truth,
        "evidence": first.evidence.lines,
        "views": [{**_view(raster, first), "name": names.get(raster.view.image)} for raster in views.values()],
        "responses": [
            _nonempty_fields(
                {
                    "cell": cells[one.cell],
                    "job": jobs.index(one.job_id),
                    "views": [at[raster.key] for raster in played.shown],
                    "zooms": [[at[key], name] for key, name in played.zooms.items()],
                    **_response(one, texts),
                    **played.told(at),
                }
            )
            for one, played in zip(outcomes, rounds, strict=True)
        ],
    }


def _view(raster: RasterRecord, of: SampleOutcome) -> dict[str, Any]:
    """One picture: where it lies in its image, in level-0 pixels, and whether that is the one that boxes lie in."""
    source, size = raster.source_size, raster.raster_size
    side = raster.view.sizing.removeprefix("longest:")
    full = raster.view.region == "full"
    downsampled = f", downsampled to {side} pixels first" if side != raster.view.sizing else ""
    microns = f"{MicronsPerPixel(*raster.microns_per_pixel)} microns per pixel" if raster.microns_per_pixel else ""
    told = "".join(f", {part}" for part in (raster.tone, raster.ground, microns) if part)
    named = f" ({quote_text(raster.view.region)})" if raster.view.region.startswith(PLACE_HEADS) else ""
    part = "full image" if full else f"region {raster.region}{named}"
    return {
        "key": raster.key,
        "image": raster.view.image,
        "first": raster.view.image == of.image,
        "evidence": raster.view.image in of.evidence.images,
        "digest": raster.digest,
        "full": full,
        "source": source,
        "size": size,
        "region": [int(number) for number in raster.region.split(",")],
        **({"show": raster.view.show} if raster.view.show else {}),
        "caption": f"{part} of {source.width:,} × {source.height:,}{downsampled}, shown at "
        f"{size.width:,} × {size.height:,} ({raster.visual_tokens:,} visual tokens{told})",
    }


def _response(outcome: SampleOutcome, texts: PageTexts) -> dict[str, Any]:
    thought, said = thoughts_apart(outcome.text or "")
    return {
        "repeat": outcome.repeat,
        "outcome": list(OUTCOMES).index(outcome.outcome),
        "value": outcome.value,
        "status": texts.number(outcome.failure or outcome.status),
        "tags": {**outcome.tags, **_closing(outcome)},
        "cut": outcome.cut_off,
        "over": outcome.overflowed,
        "empty": outcome.empty,
        "thought": texts.clipped(thought.strip()),
        "text": texts.clipped((said or "").strip("\n")),
        "closing": texts.clipped(outcome.closing or ""),
        "spent": _spent(outcome.spent),
        "chat": texts.chat(outcome.prompt.turns),
        "unknown": texts.number(outcome.prompt.unknown or texts.left_out(outcome.prompt.turns)),
        "parts": [_part(part, texts, {turn.text for turn in outcome.rounds}) for part in outcome.parts],
    }


def _closing(outcome: SampleOutcome) -> dict[str, str]:
    """Return whether the closing turn says what was read of the answer; nothing without one."""
    if outcome.closing is None:
        return {}
    agrees = "unread" if outcome.closing_outcome == "unread" else "agrees" if outcome.closing_agrees else "differs"
    return {"closing turn": agrees}


def _part(part: PartOutcome, texts: PageTexts, rounds: Container[str | None]) -> list[Any]:
    """Return a part in the order of the script's `PART`; what is empty at the end is left out.

    What stands in a round is not told again.
    """
    if part.text in rounds:
        return [texts.step(part), texts.number(part.status), int(part.correct)]
    nothing = part.value is None and not part.correct
    read = 0 if nothing else texts.clipped(written_value(part.value))
    status = texts.number(", ".join((part.status, *part.notes)))
    told = [texts.step(part), status, int(part.correct), texts.clipped(part.text or ""), read, part.boxes]
    while not told[-1]:
        told.pop()
    return told


def _spent(spent: ReplyCost) -> list[float]:
    """Tokens, and seconds to a hundredth; no dollars."""
    return [round(number, 2) or 0 for number in spent[:-1]] if any(spent) else []


def _nonempty_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields that say something; the script takes those left out for nothing."""
    return {name: value for name, value in fields.items() if value or name == "cell"}
