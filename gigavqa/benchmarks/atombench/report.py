"""All that is reported of ATOM-Bench: the paper's tables and figures, ours, and what must be known beside them."""

from collections.abc import Iterator, Sequence

from gigavqa.benchmarks.atombench.asking import A0, AG
from gigavqa.benchmarks.atombench.checks import leave_verb, missing_labels
from gigavqa.benchmarks.atombench.dataset_tables import table1
from gigavqa.benchmarks.atombench.error_labels import error_table
from gigavqa.benchmarks.atombench.figures import figures
from gigavqa.benchmarks.atombench.metrics import FEWEST_MODELS
from gigavqa.benchmarks.atombench.repeats import AtomBaseScores, count_unpaired
from gigavqa.benchmarks.atombench.samples import AtomSample
from gigavqa.benchmarks.atombench.scores import AtomScores
from gigavqa.benchmarks.atombench.sums import ImageGroups
from gigavqa.benchmarks.atombench.tables import (
    control_table,
    golden_evidence_table,
    repeat_table,
    rule_table,
    sort_by_average,
    table2,
    table3,
    table4,
)
from gigavqa.evaluation.tables import Caveat, Contents
from gigavqa.runtime.plurals import count_noun, list_some

_FULL = "V2"
_NAMED = 3


def report(base: AtomBaseScores) -> Contents:
    """Fill the tables that have any row."""
    samples, pictures = base.samples, ImageGroups(base.samples)
    asked = list(dict.fromkeys((cell.model, cell.condition) for cell in base.cells))
    scores = [AtomScores(base, pictures, model, condition) for model, condition in asked]
    full = sort_by_average([one for one in scores if one.condition == _FULL])
    others = [one for one in scores if one.condition != _FULL]
    drawn = figures(full)
    tables = (
        table2(full),
        table3(full),
        table4(full),
        golden_evidence_table(full),
        rule_table(full),
        control_table(others),
        repeat_table(full),
        error_table(base),
        *drawn.tables,
        table1(samples),
    )
    caveats = (*_sample_caveats(samples), *_model_caveats(scores))
    return Contents(
        tables=tuple(table for table in tables if table.rows),
        figures=drawn.figures,
        caveats=(*caveats, *(caveat for one in scores for caveat in _score_caveats(one))),
    )


def _sample_caveats(samples: Sequence[AtomSample]) -> Iterator[Caveat]:
    for level, other in (("clue", "conclusion"), ("conclusion", "clue")):
        having = {sample.place for sample in samples if sample.level == level and sample.scored}
        lacking = sorted({sample.place for sample in samples if sample.level == other} - having)
        if lacking:
            have, are = ("images have", "are") if len(lacking) > 1 else ("image has", "is")
            text = f"{len(lacking)} {have} no {level} question with an answer, and {are} left out of RCS, HI and the"
            yield Caveat(scope="report", text=f"{text} support curve: {list_some(lacking, _NAMED)}")
    found: dict[tuple[str, str], list[str]] = {}
    for sample in samples:
        for missing in missing_labels(sample):
            found.setdefault(missing, []).append(sample.id)
    for (label, tables), names in found.items():
        have, them = ("questions have", "them") if len(names) > 1 else ("question has", "it")
        text = f"{len(names)} {have} no {label}: {tables} {leave_verb(tables)} {them} out ({list_some(names, _NAMED)})"
        yield Caveat(scope="report", text=text)


def _model_caveats(standings: Sequence[AtomScores]) -> Iterator[Caveat]:
    models = {one.model for one in standings if one.condition == _FULL}
    if 0 < len(models) < FEWEST_MODELS:
        text = f"the correlations of Figure 5 need {FEWEST_MODELS} models; there are {len(models)}"
        yield Caveat(scope="report", text=text)


def _score_caveats(one: AtomScores) -> Iterator[Caveat]:
    """Tell of answers without their partner, and of pictures that lack questions because requests failed."""
    name = f"{one.model} {one.condition}"
    if alone := count_unpaired(one.trials):
        positions = sorted({at for trial in one.trials for at in trial.alone})
        samples = list_some([one.pictures.samples[at].id for at in positions], _NAMED)
        text = f"{name}: left out of RRS: {count_noun(alone, 'answer')} under {AG} without one under {A0} ({samples})"
        yield Caveat(scope="cell", text=text)
    if lonely := sorted(_missing_final_answers(one)):
        samples = list_some([one.pictures.samples[at].id for at in lonely], _NAMED)
        text = (
            f"{name}: left out of RRS: {count_noun(len(lonely), 'answer')} under {A0} without one "
            f"under {AG} ({samples})"
        )
        yield Caveat(scope="cell", text=text)
    if lost := sorted(_failed_samples(one)):
        places = {one.pictures.samples[at].place for at in lost}
        taken, images = count_noun(len(lost), "question"), count_noun(len(places), "image")
        yield Caveat(
            scope="cell",
            text=f"{name}: failed requests take {taken} out of the numbers of {images}, whose RCS, HI and support rest "
            f"on their other questions ({list_some(sorted(places), _NAMED)})",
        )


def _missing_final_answers(one: AtomScores) -> set[int]:
    """Conclusion questions with a first answer and no final one, of models that were asked for final ones."""
    if not any(trial.pairs for trial in one.trials):
        return set()
    return {
        at
        for trial in one.trials
        for at in trial.first
        if one.pictures.samples[at].level == "conclusion" and at not in trial.pairs
    }


def _failed_samples(one: AtomScores) -> set[int]:
    failed = set(one.base.cell(one.model, A0, one.condition).where(outcome="failed").sample.tolist())
    return {at for at in failed if one.pictures.samples[at].scored}
