"""Errors of data sets, plans, and files of responses. Every class's docstring states the fact."""

from collections.abc import Sequence
from dataclasses import dataclass

from gigavqa.tiling.errors import quote_text


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong in a file; `line` counts from 1, `record` is the sample's id where it is known."""

    file: str
    line: int | None
    record: str | None
    message: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        record = "" if self.record is None else f"{quote_text(self.record)}: "
        return f"{place}: {record}{self.message}"


class FileProblem(Problem):
    """A problem of a file as a whole, such as what a column counts from: no row of it can be left out or kept."""


class ColumnError(ValueError):
    """A column cannot be read in any row, since rows together say otherwise; the message names it and the remedy."""


class RecordError(ValueError):
    """Several things are wrong with a record that gives no sample."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = tuple(faults)


class EvaluationError(Exception):
    """The job or file cannot be expanded or scored."""


class _ProblemsError(EvaluationError):
    """Several things are wrong; `problems` lists all of them, `others` counts what could be taken without them."""

    def __init__(self, problems: Sequence[Problem], others: int = 0) -> None:
        super().__init__(problems, others)
        self.problems = list(problems)
        self.others = others

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))

    @property
    def summary(self) -> str:
        """The first problem, and how many more there are."""
        more = f" (and {len(self.problems) - 1} more)" if len(self.problems) > 1 else ""
        return f"{self.problems[0]}{more}"


class DatasetInvalidError(_ProblemsError):
    """The data set has records that cannot be evaluated; `problems` lists all of them."""


class ResponsesInvalidError(_ProblemsError):
    """The file of responses has lines that are no responses; `problems` lists all of them."""


class BenchmarkUnknownError(EvaluationError):
    """A data set names a benchmark that is not installed, or cannot be loaded."""


class DatasetNameInvalidError(EvaluationError):
    """A data set is to have a name that none may have."""


class PlanUnknownError(EvaluationError):
    """The job names no plan that exists, or both a plan and cells, or neither."""


class ProtocolUnavailableError(EvaluationError):
    """The plan asks for a protocol, or a condition of one, that is not built."""


class SampleUnknownError(EvaluationError):
    """The job asks for samples that the data set does not have."""


class SamplingInvalidError(EvaluationError):
    """The job's sampling parameters have an unknown name or a value out of range."""


class OptionsInvalidError(EvaluationError):
    """The job's options have an unknown name or a value out of range."""


class ClosingUnavailableError(EvaluationError):
    """A closing turn is asked for that fits the answer of no sample."""


class LikelihoodUnavailableError(EvaluationError):
    """The likelihood of answers is asked for where no answer can be held against a picture."""


class EvidenceMissingError(EvaluationError):
    """Evidence is asked for (V3, V4), or images with or without it (V5, V6), of samples where that cannot be shown."""


class AnnotationMissingError(EvaluationError):
    """A protocol is asked for that asks what samples have no annotation of, such as their steps."""


class AnnotationInvalidError(EvaluationError):
    """A sample has an annotation that replies cannot be judged by, such as a step of no known schema."""


class JudgeUnavailableError(EvaluationError):
    """A model is asked to judge what it cannot: a benchmark without a judge, an unknown prompt, nothing to judge."""


class JudgesMixedError(EvaluationError):
    """Responses of judges stand among those that they judged, or the reverse."""


class ReviewsOpenError(EvaluationError):
    """Reviews do not say what becomes of samples: reviewers differ, or a record has no place for what they mend."""


class ReviewRefusedError(EvaluationError):
    """A verdict on a sample cannot be taken as it is."""
