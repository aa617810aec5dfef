"""Says plainly what a reader must know before trusting a number."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.evaluation.cell_scores import AWAITING_EXPERT, NO_RESPONSE, UNKNOWN_SAMPLE, CellScore
from gigavqa.evaluation.chats import TEXT_CONDITIONS
from gigavqa.evaluation.scores import AnyScores
from gigavqa.evaluation.tables import Caveat
from gigavqa.evaluation.tally import Tally
from gigavqa.runtime.plurals import count_noun
from gigavqa.tiling.digest import is_sampled_digest

UNREADABLE_SHARE = 0.1  # decision 0011
"""Answers without a single clear answer that a reader is warned of: more of a cell's than this share."""
_RETRY_HINT = "`gigavqa retry JOB --empty` asks them again"
_WITHOUT_ANSWER = ("overflowed", "rounds", "context")
"""Parse statuses of replies whose chats ended before any answer."""
_NAMED = 3
"""Places or samples that a warning names; it counts the others."""


def collect_caveats(tally: Tally, scores: AnyScores, cells: Iterable[CellScore], benchmark: str) -> tuple[Caveat, ...]:
    """Collect the core's own caveats: those on models and pictures, then those on cells.

    `benchmark` names what was asked.
    """
    cells, catalogue = list(cells), scores.catalogue
    found = [
        *(Caveat(scope="model", text=text) for text in _model_caveats(tally, catalogue, benchmark)),
        *(Caveat(scope="model", text=text) for text in (*_silent_model_caveats(scores), *_flaw_caveats(cells))),
        *(
            Caveat(scope="report", text=text)
            for text in (*_replaced_image_caveats(tally), *_missing_reply_caveats(cells))
        ),
        *(Caveat(scope="report", text=text) for text in _thumbnail_caveats(tally)),
        *(Caveat(scope="model", text=text) for text in _view_size_caveats(tally)),
        *(Caveat(scope="cell", text=text) for text in _many_images_caveats(scores)),
        *(Caveat(scope="model", text=text) for text in (*_ending_caveats(cells), *_unreadable_caveats(cells))),
        *(Caveat(scope="report", text=text) for text in _absent_group_caveats(cells)),
    ]
    found.extend(Caveat(scope="cell", text=text) for cell in cells for text in _cell_caveats(cell))
    return tuple(found)


def _model_caveats(tally: Tally, catalogue: Mapping[str, CatalogueEntry], benchmark: str) -> Iterator[str]:
    for model, made in sorted(tally.provenance.items()):
        if model in catalogue and catalogue[model].random_weights:
            yield f"{model}: its weights are random; its scores say nothing about any trained model"
        if model in catalogue and catalogue[model].trained_for not in ("", benchmark):
            yield f"{model}: it was trained for {catalogue[model].trained_for} alone; its scores here say nothing"
        if simulated := sum(count for origin, count in made.items() if origin.simulated):
            yield f"{model}: {simulated} of {made.total()} responses come from the simulated engine; no model was run"
        if len({origin.sampling for origin in made if origin.sampling}) > 1:
            yield f"{model}: its responses were sampled with different parameters"
        if len({(origin.engine, origin.version) for origin in made if origin.engine}) > 1:
            yield f"{model}: its responses come from different engines or versions"
    for (model, protocol), versions in sorted(tally.prompts.items()):
        if len(versions) > 1:
            yield f"{model}: its responses to {protocol} were asked for with different versions of the prompt"


def _silent_model_caveats(scores: AnyScores) -> Iterator[str]:
    """Tell of the images about which a model said nothing at all: that is rather its engine's doing."""
    replies: dict[str, Counter[int]] = {}
    empty: dict[str, Counter[int]] = {}
    for key in (key for key in scores.frame.cells if key.condition not in TEXT_CONDITIONS):
        answered = scores.frame.of_cell(key).answered
        replies.setdefault(key.model, Counter()).update(answered.sample.tolist())
        empty.setdefault(key.model, Counter()).update(answered.select(answered.column("empty")).sample.tolist())
    for model in (model for model, found in empty.items() if found):
        images: dict[str, tuple[int, int]] = {}
        for at, number in replies[model].items():
            for image in scores.samples[at].images:
                total, silent_ones = images.get(image, (0, 0))
                images[image] = total + number, silent_ones + empty[model][at]
        if silent := sorted(image for image, (total, silent_ones) in images.items() if total == silent_ones):
            number = sum(images[image][0] for image in silent)
            yield (
                f"{model}: every reply about {_describe_images(silent)} is empty, with no token written "
                f"({number} in all): "
                f"rather its engine failed there, and their scores say nothing about the model; {_RETRY_HINT}"
            )


def _describe_images(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"the image {names[0]}"
    return f"each of {len(names)} images ({_list_names(names)})"


def _flaw_caveats(cells: Iterable[CellScore]) -> Iterator[str]:
    """Tell of replies that are recorded as answered, and in which somebody else than the model had a hand."""
    for model, found in _cells_by_model(cells).items():
        answered = sum(cell.answered for cell in found)
        if empty := [cell for cell in found if cell.empty]:
            number = sum(cell.empty for cell in empty)
            yield (
                f"{model}: {number} of {answered} replies are empty, in whole or in part, with no token written, and "
                f"scored as they are ({_describe_cells(empty)}); {_RETRY_HINT}"
            )
        if filtered := [cell for cell in found if cell.filtered]:
            number = sum(cell.filtered for cell in filtered)
            yield (
                f"{model}: {number} of {answered} replies {_was_or_were(number)} filtered or refused by "
                f"the server, wholly or "
                f"in part; such count as wrong ({_describe_cells(filtered)})"
            )


def _many_images_caveats(scores: AnyScores) -> Iterator[str]:
    catalogue = scores.catalogue
    for key in scores.frame.cells:
        most = catalogue[key.model].visual_budget.most_images if key.model in catalogue else None
        if most is None:
            continue
        shown = scores.frame.of_cell(key).counts("num_rasters")
        if crowded := sum(count for number, count in shown.items() if number > most):
            yield (
                f"{key}: {crowded} of {shown.total()} prompts had over {most} "
                "pictures, each of which this family then shows uncropped, with fewer visual tokens than alone"
            )


def _replaced_image_caveats(tally: Tally) -> Iterator[str]:
    """Tell of pictures that were replaced while the samples that show them were asked."""
    replaced = [(place, digests) for place, digests in sorted(tally.digests.items()) if _digests_differ(digests)]
    if replaced:
        (position, image), digests = replaced[0]
        samples = {at for (at, _), _ in replaced}
        yield (
            f"{len(samples)} of {len(tally.samples)} samples were asked over different contents of a picture "
            f"of one name: {tally.samples[position].id} over '{image}' with the digests "
            f"{' and '.join(digest[:12] for digest in sorted(digests))}"
            f"{' and others' if len(replaced) > 1 else ''}; their numbers mix what was shown"
        )


def _view_size_caveats(tally: Tally) -> Iterator[str]:
    """Tell of places that a model was shown with more pixels in one cell than in another: a difference is of both."""
    by_model: dict[str, list[tuple[str, dict[tuple[int, int], str]]]] = {}
    for place, sizes in sorted(tally.sizes.items()):
        if len(sizes) > 1:
            by_model.setdefault(place.model, []).append((place.image, sizes))
    for model, found in by_model.items():
        image, sizes = found[0]
        told = ", ".join(f"{width} x {height} ({how})" for (width, height), how in sorted(sizes.items()))
        others = f", and {count_noun(len(found) - 1, 'other')}" if len(found) > 1 else ""
        yield (
            f"{model}: what is compared was shown with different numbers of pixels: '{image}' as {told}{others}; by "
            "another budget, thumbnail or number of pictures"
        )


def _thumbnail_caveats(tally: Tally) -> Iterator[str]:
    """Tell of models that are compared over thumbnails of different sizes."""
    used: dict[str, set[str]] = {}
    for model, made in tally.provenance.items():
        for origin in made:
            if origin.thumbnail:
                used.setdefault(origin.thumbnail, set()).add(model)
    if len(used) > 1:
        told = "; ".join(f"{sizing} by {', '.join(sorted(models))}" for sizing, models in sorted(used.items()))
        yield f"thumbnails (V1) of different sizes are compared: {told}"


def _digests_differ(digests: Iterable[str]) -> bool:
    """Return whether contents differ; a digest of an earlier release and one of this may be of the same."""
    return max(Counter(map(is_sampled_digest, digests)).values()) > 1


def _missing_reply_caveats(cells: Sequence[CellScore]) -> Iterator[str]:
    missing = [(cell, part.count) for cell in cells for part in cell.excluded if part.reason == NO_RESPONSE]
    if missing:
        number, expected = sum(count for _, count in missing), sum(cell.expected for cell in cells)
        yield f"{number} of {expected} requests have no response{_name_cells(cell for cell, _ in missing)}"


def _absent_group_caveats(cells: Sequence[CellScore]) -> Iterator[str]:
    by_groups: dict[tuple[str, ...], list[CellScore]] = {}
    for cell in cells:
        if cell.absent_groups and cell.accuracy.value is not None:
            by_groups.setdefault(cell.absent_groups, []).append(cell)
    for groups, found in by_groups.items():
        yield f"macro averages leave out {', '.join(groups)}{_name_cells(found)}"


def _name_cells(cells: Iterable[CellScore]) -> str:
    return f" ({_list_names([str(cell.key) for cell in cells])})"


def _list_names(names: Sequence[str]) -> str:
    others = f" and {count_noun(len(names) - _NAMED, 'other')}" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{others}"


def _cells_by_model(cells: Iterable[CellScore]) -> dict[str, list[CellScore]]:
    by_model: dict[str, list[CellScore]] = {}
    for cell in cells:
        by_model.setdefault(cell.model, []).append(cell)
    return by_model


def _was_or_were(number: int) -> str:
    return "was" if number == 1 else "were"


def _ending_caveats(cells: Iterable[CellScore]) -> Iterator[str]:
    cells = list(cells)
    for model, cut in _cells_by_model(cell for cell in cells if cell.cut_off > cell.capped).items():
        number, answered = sum(cell.cut_off - cell.capped for cell in cut), sum(cell.answered for cell in cut)
        told = f"{number} of {answered} answers {_was_or_were(number)}"
        yield f"{model}: {told} cut off at the limit of output tokens ({_describe_cells(cut)})"
    for model, cut in _cells_by_model(cell for cell in cells if cell.capped).items():
        number, answered = sum(cell.capped for cell in cut), sum(cell.answered for cell in cut)
        yield (
            f"{model}: {number} of {answered} answers {_was_or_were(number)} ended by the server's own "
            f"limit, before the job's "
            f"limit of output tokens ({_describe_cells(cut)})"
        )
    for model, full in _cells_by_model(cell for cell in cells if cell.overflowed).items():
        number, answered = sum(cell.overflowed for cell in full), sum(cell.answered for cell in full)
        yield (
            f"{model}: {number} of {answered} chats ({100 * number / answered:.0f} %) outgrew the model's context by "
            f"what the model wrote; where no answer was given, they are not right ({_describe_cells(full)})"
        )


def _describe_cells(cells: Iterable[CellScore]) -> str:
    return ", ".join(cell.key.how for cell in cells)


def _unreadable_caveats(cells: Iterable[CellScore]) -> Iterator[str]:
    for model, found in _cells_by_model(cell for cell in cells if _unreadable_share(cell) > UNREADABLE_SHARE).items():
        places = ", ".join(
            f"{100 * _unreadable_share(cell):.0f} % of {cell.answered} in {cell.key.how}" for cell in found
        )
        yield f"{model}: many answers hold no single clear answer, and are not right: {places}"


def _unreadable_share(cell: CellScore) -> float:
    """Share of the replies that were answered, and not clearly: those that ended without an answer are told apart."""
    ended = sum(cell.statuses.get(status, 0) for status in _WITHOUT_ANSWER)
    return (cell.unreadable.value or 0) - ended / max(1, cell.answered)


def _cell_caveats(cell: CellScore) -> Iterator[str]:
    for exclusion in cell.excluded:
        if exclusion.reason == UNKNOWN_SAMPLE:
            yield (
                f"{cell.key}: {count_noun(exclusion.count, 'response')} to samples that the data set does not have, "
                "which count nowhere"
            )
        elif exclusion.reason not in (AWAITING_EXPERT, NO_RESPONSE):
            yield f"{cell.key}: {exclusion.count} of {cell.expected} left out: {exclusion.reason}"
    if cell.duplicates:
        yield f"{cell.key}: left out: {count_noun(cell.duplicates, 'further copy', 'further copies')} of responses"
