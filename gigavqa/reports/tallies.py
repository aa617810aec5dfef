"""Tallies as plain data: what was judged once need not be judged again, and merged they say the same to the last digit.

What is written are lists, texts and numbers, by the position of samples in their data set. It stands for exactly
the judges that made it, which `judging_fingerprint` names.
"""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.evaluation.benchmark import Benchmark
from gigavqa.evaluation.capabilities import ReaderVersions
from gigavqa.evaluation.closing_turns import ClosingOutcome
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.likelihoods import AnswerWeight, WeighedCell
from gigavqa.evaluation.outcome_changes import ALIKE, UNKNOWN, OutcomeChange, readers_of
from gigavqa.evaluation.replies import Provenance
from gigavqa.evaluation.score_frame import NO_SCORE, CellKey, ReplyScore
from gigavqa.evaluation.tally import ClosingTokens, ShownRegion, Tally
from gigavqa.reports.report import versions_of

_SCHEMA_VERSION = 12  # another one makes tallies anew: decision 0012
"""Version of how a tally is written."""


def judging_fingerprint(dataset: Dataset, catalogue: Mapping[str, CatalogueEntry]) -> str:
    """Name everything that a verdict follows from besides the response: readers, judges, records, models.

    Of a model its boxes and its context.
    """
    models = sorted((model, entry.box_convention, entry.max_model_len) for model, entry in catalogue.items())
    told = [_SCHEMA_VERSION, dataset.benchmark.name, versions_of(dataset), dataset.digest, models]
    told += [dataset.panel.digest] if dataset.panel.judges else []
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:32]


def dump_tally(tally: Tally) -> dict[str, Any]:
    """Write a tally, into which nothing was merged, as what JSON can hold."""
    frame = tally.frame()
    return {
        "cells": [[*key, dict(tally.unknown.get(key, {}))] for key in frame.cells],
        "scores": [_dump_score(score) for score in frame.scores],
        "rows": [column.tolist() for column in (frame.cell, frame.repeat, frame.sample, frame.score)],
        "provenance": [
            [model, made, count] for model, all_ in tally.provenance.items() for made, count in all_.items()
        ],
        "prompts": [[*place, sorted(versions)] for place, versions in tally.prompts.items()],
        "digests": [[*place, sorted(digests)] for place, digests in tally.digests.items()],
        "sizes": [[*place, [*sizes.items()]] for place, sizes in tally.sizes.items()],
        "closing": [[*key, *tokens] for key, tokens in sorted(tally.closing.items())],
        "likelihoods": [[*cell, *rest] for cell, *rest in tally.likelihoods],
        "work": tally.work.plain,
    }


def _dump_score(score: ReplyScore) -> ReplyScore:
    return score._replace(score=None) if np.isnan(score.score) else score  # type: ignore[arg-type]


def made_by(dataset: Dataset, catalogue: Mapping[str, CatalogueEntry], tally: Tally) -> dict[str, Any]:
    """Tell what made the verdicts of a tally: its form, the readers by name, and what they read by besides."""
    models = tally.rows.models
    entries = {model: catalogue[model] for model in models if model in catalogue}
    beside = {
        "records": dataset.digest,
        "labels": dataset.labels,
        "models": {model: [str(entry.box_convention), entry.max_model_len] for model, entry in entries.items()},
    }
    return {
        "form": _SCHEMA_VERSION,
        "readers": readers_of(ReaderVersions.of(dataset.benchmark).versions),
        "beside": beside,
    }


def revise(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[list[Any]]:
    """Compare two written tallies of the same answers, each with what made it under `made`: what `revised` counts.

    What the older one had counted itself stays, but for the same two versions. One that does not tell what made it is
    not compared.
    """
    revised = list(before.get("revised", ()))
    made, now = before.get("made"), after["made"]
    if made and made["readers"] != now["readers"]:
        versions = [[[*item] for item in sorted(one["readers"].items())] for one in (made, now)]
        is_alike = all(made[name] == now[name] for name in ("form", "beside"))
        found = Counter(_outcomes(before, after) if is_alike else [(UNKNOWN, UNKNOWN)] * _answers(after))
        again = [one for one in revised if one[:2] != versions]  # an installation may have gone back and forth
        revised = [*again, *([*versions, *outcomes, count] for outcomes, count in found.items())]
    return revised


def _answers(told: Mapping[str, Any]) -> int:
    rows = told.get("rows")
    return len(rows[0]) if rows else 0


def _outcomes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the outcomes of each answer, before and after; those of one that is the same in all that counts alike."""
    known = _by_answer(before)
    for answer, verdicts in _by_answer(after).items():
        for (was, *once), (outcome, *now) in zip(sorted(known[answer]), sorted(verdicts), strict=False):
            yield (ALIKE, ALIKE) if [was, *once] == [outcome, *now] else (was, outcome)


def _by_answer(told: Mapping[str, Any]) -> dict[tuple[Any, ...], list[list[str]]]:
    """Outcome, and score, closing turn and details, as text, of each answer by cell, repeat and sample."""
    cells = [tuple(cell[:4]) for cell in told["cells"]]
    scores = [ReplyScore._make(score) for score in told["scores"]]
    kept = [[one.outcome, json.dumps([one.score, one.closing, one.details])] for one in scores]
    found: dict[tuple[Any, ...], list[list[str]]] = defaultdict(list)
    for cell, repeat, sample, score in zip(*told["rows"], strict=True):
        found[cells[cell], repeat, sample].append(kept[score])
    return found


def merge_tally(tally: Tally, job_id: str, told: Mapping[str, Any], benchmark: Benchmark[Any, Any]) -> None:
    """Count what `dump_tally` wrote of replies of a job, none of which the tally has yet; lists are for tuples."""
    _merge_rows(tally, job_id, told, benchmark)
    for model, made, count in told["provenance"]:
        tally.provenance[model][Provenance._make(_lists_to_tuples(made))] += count
    for model, protocol, versions in told["prompts"]:
        tally.prompts[model, protocol].update(versions)
    for sample, image, digests in told["digests"]:
        tally.digests[sample, image].update(digests)
    for *place, sizes in told["sizes"]:
        for size, how in sizes:
            tally.note_size(ShownRegion(*place), tuple(size), how)
    for *place, prompt, cached, decoded in told["closing"]:
        key = CellKey(*place)
        tally.closing[key] = tally.closing[key].plus(ClosingTokens(prompt, cached, decoded))
    for model, asked, condition, mask, position, created, weight in told["likelihoods"]:
        cell = WeighedCell(model, asked, condition, mask)
        tally.likelihoods.note(cell, position, created, AnswerWeight(*weight))
    tally.work.merge(told["work"])
    for *revised, count in told.get("revised", ()):
        tally.revised[OutcomeChange._make(_lists_to_tuples(revised))] += count


def _merge_rows(tally: Tally, job_id: str, told: Mapping[str, Any], benchmark: Benchmark[Any, Any]) -> None:
    cells = [CellKey(*place) for *place, _ in told["cells"]]
    for key, (*_, unknown) in zip(cells, told["cells"], strict=True):
        tally.rows.add_cell(key)
        if unknown:
            tally.unknown[key].update(unknown)
    scores = [_load_score(ReplyScore._make(score), benchmark) for score in told["scores"]]
    tally.rows.extend(job_id, cells, scores, told["rows"])


def _load_score(plain: ReplyScore, benchmark: Benchmark[Any, Any]) -> ReplyScore:
    return plain._replace(
        score=NO_SCORE if plain.score is None else plain.score,
        closing=ClosingOutcome(*plain.closing) if plain.closing else None,
        trait=_lists_to_tuples(plain.trait),
        details=None if plain.details is None else _load_details(benchmark.details_type, plain.details),
    )


def _load_details(kind: type[Any] | None, plain: Any) -> Any:
    """Make details again of lists, texts and numbers."""
    return TypeAdapter(kind).validate_python(plain) if kind else plain


def _lists_to_tuples(plain: Any) -> Any:
    return tuple(map(_lists_to_tuples, plain)) if isinstance(plain, list) else plain
