"""All that is reported of ATOM-Bench: the paper's tables and figures, ours, and what must be known beside them."""

from collections.abc import Iterator, Sequence

from benchmarks.atombench.asking import A0, AG
from benchmarks.atombench.checks import leave, missing_labels
from benchmarks.atombench.figures import figures
from benchmarks.atombench.metrics import FEWEST_MODELS
from benchmarks.atombench.samples import Sample
from benchmarks.atombench.standing import Standing
from benchmarks.atombench.statistics import table1
from benchmarks.atombench.sums import Pictures
from benchmarks.atombench.tables import by_average, controls, golden, repeats, rules, table2, table3, table4
from benchmarks.atombench.trials import num_alone
from evaluation.counts import counted
from evaluation.tables import Caveat, Contents
from evaluation.verdicts import Verdicts

_FULL = "V2"
_NAMED = 3


def report(verdicts: Verdicts) -> Contents:
    """Fill the tables that have any row."""
    samples = [sample for sample in verdicts.samples if isinstance(sample, Sample)]
    pictures = Pictures(samples)
    asked = list(dict.fromkeys((cell.model, cell.condition) for cell in verdicts.cells))
    standings = [Standing(verdicts, pictures, model, condition) for model, condition in asked]
    full = by_average([one for one in standings if one.condition == _FULL])
    others = [one for one in standings if one.condition != _FULL]
    drawn = figures(full)
    tables = (
        table2(full),
        table3(full),
        table4(full),
        golden(full),
        rules(full),
        controls(others),
        repeats(full),
        *drawn.tables,
        table1(samples),
    )
    caveats = (*_on_samples(samples), *_on_models(standings))
    return Contents(
        tables=tuple(table for table in tables if table.rows),
        figures=drawn.figures,
        caveats=(*caveats, *(caveat for one in standings for caveat in _on_standing(one))),
    )


def _on_samples(samples: Sequence[Sample]) -> Iterator[Caveat]:
    for level, other in (("clue", "conclusion"), ("conclusion", "clue")):
        having = {sample.place for sample in samples if sample.level == level and sample.scored}
        lacking = sorted({sample.place for sample in samples if sample.level == other} - having)
        if lacking:
            have, are = ("images have", "are") if len(lacking) > 1 else ("image has", "is")
            text = f"{len(lacking)} {have} no {level} question with an answer, and {are} left out of RCS, HI and the"
            yield Caveat(scope="report", text=f"{text} support curve: {_listed(lacking)}")
    found: dict[tuple[str, str], list[str]] = {}
    for sample in samples:
        for missing in missing_labels(sample):
            found.setdefault(missing, []).append(sample.id)
    for (label, tables), names in found.items():
        have, them = ("questions have", "them") if len(names) > 1 else ("question has", "it")
        text = f"{len(names)} {have} no {label}: {tables} {leave(tables)} {them} out ({_listed(names)})"
        yield Caveat(scope="report", text=text)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def _on_models(standings: Sequence[Standing]) -> Iterator[Caveat]:
    models = {one.model for one in standings if one.condition == _FULL}
    if 0 < len(models) < FEWEST_MODELS:
        text = f"the correlations of Figure 5 need {FEWEST_MODELS} models; there are {len(models)}"
        yield Caveat(scope="report", text=text)


def _on_standing(one: Standing) -> Iterator[Caveat]:
    """Tell of answers without their partner, and of pictures that lack questions because requests failed."""
    name = f"{one.model} {one.condition}"
    if alone := num_alone(one.trials):
        positions = sorted({at for trial in one.trials for at in trial.alone})
        samples = _listed([one.pictures.samples[at].id for at in positions])
        text = f"{name}: left out of RRS: {counted(alone, 'answer')} under {AG} without one under {A0} ({samples})"
        yield Caveat(scope="cell", text=text)
    if lonely := sorted(_without_final(one)):
        samples = _listed([one.pictures.samples[at].id for at in lonely])
        text = (
            f"{name}: left out of RRS: {counted(len(lonely), 'answer')} under {A0} without one under {AG} ({samples})"
        )
        yield Caveat(scope="cell", text=text)
    if lost := sorted(_failed(one)):
        places = {one.pictures.samples[at].place for at in lost}
        taken, images = counted(len(lost), "question"), counted(len(places), "image")
        yield Caveat(
            scope="cell",
            text=f"{name}: failed requests take {taken} out of the numbers of {images}, whose RCS, HI and support rest "
            f"on their other questions ({_listed(sorted(places))})",
        )


def _without_final(one: Standing) -> set[int]:
    """Conclusion questions with a first answer and no final one, of models that were asked for final ones."""
    if not any(trial.pairs for trial in one.trials):
        return set()
    return {
        at
        for trial in one.trials
        for at in trial.first
        if one.pictures.samples[at].level == "conclusion" and at not in trial.pairs
    }


def _failed(one: Standing) -> set[int]:
    cell = one.verdicts.cell(one.model, A0, one.condition)
    failed = {verdict.sample for verdict in cell.all if verdict.failure}
    return {at for at in failed if one.pictures.samples[at].scored}
