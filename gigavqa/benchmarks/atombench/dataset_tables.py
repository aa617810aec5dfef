"""Table 1: what the data set holds, counted from its records."""

from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

from gigavqa.benchmarks.atombench.samples import AtomSample
from gigavqa.benchmarks.atombench.taxonomy import DIFFICULTIES, DOMAINS, LEVELS, TITLES
from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from gigavqa.evaluation.tables import Column, ColumnGroup, Row, Table, Value

_COLUMNS = (
    Column(key="count", title="count", unit="count", keys={"metric": "count"}),
    Column(key="share", title="share", decimals=2, keys={"metric": "share"}, note="of the questions of its level"),
    Column(key="mean", title="mean", unit="number", decimals=2, keys={"metric": "mean"}),
)


def table1(samples: Sequence[AtomSample]) -> Table:
    """Count images, questions by level, difficulty, dimension and domain, and average lengths."""
    return Table(
        name="table1",
        title="Table 1: the data set",
        caption="Counts of the loaded records; means are of questions an image, and of characters.",
        groups=(ColumnGroup(title="", columns=_COLUMNS),),
        rows=tuple(_rows(samples)),
        detail=True,
    )


def _rows(samples: Sequence[AtomSample]) -> Iterator[Row]:
    num_images = len({sample.place for sample in samples})
    yield _row("Images", num_images)
    yield _row("Questions", len(samples), mean=_mean([len(samples)], num_images))
    for level in LEVELS:
        found = [sample for sample in samples if sample.level == level]
        share = _share(len(found), len(samples))
        title = f"{level.capitalize()}-level questions"
        yield _row(title, len(found), share, _mean([len(found)], num_images), level=level)
    yield from _labelled(samples, "conclusion", "difficulty", DIFFICULTIES)
    for dimension, domains in DOMAINS.items():
        yield from _labelled(samples, "clue", "dimension", (dimension,))
        yield from _labelled(samples, "clue", "domain", domains)
    questions = [len(sample.question) for sample in samples]
    options = [len(text) for sample in samples for text in (sample.options or {}).values()]
    yield _row("Characters a question", None, mean=_mean(questions, len(questions)))
    yield _row("Characters an option", None, mean=_mean(options, len(options)))


def _labelled(samples: Sequence[AtomSample], level: str, label: str, names: Iterable[str]) -> Iterator[Row]:
    of_level = [getattr(sample, label) for sample in samples if sample.level == level]
    for name in names:
        count = of_level.count(name)
        title = TITLES.get(name, name.capitalize())
        indent = "  " if label == "domain" else ""
        yield _row(f"{indent}{title}", count, _share(count, len(of_level)), level=level, **{label: name})


def _row(title: str, count: int | None, share: Value = None, mean: Value = None, **keys: str) -> Row:
    return Row(title=title, keys=keys, values=(count, share, mean))


def _share(part: int, whole: int) -> Estimate:
    return Estimate(value=part / whole, count=whole) if whole else NO_ESTIMATE


def _mean(values: Sequence[int], number: int) -> Estimate:
    return Estimate(value=fmean(values) * len(values) / number, count=number) if number else NO_ESTIMATE
