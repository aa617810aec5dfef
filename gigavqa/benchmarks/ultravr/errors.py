"""Errors of a sample's annotated steps. Every class's docstring states the fact."""

from gigavqa.evaluation.errors import AnnotationInvalidError


class StepUnknownError(AnnotationInvalidError):
    """A sample has a step that the schema of its domain and category does not have."""


class StepTruthInvalidError(AnnotationInvalidError):
    """A step's ground truth cannot be read in the step's own answer format, so that no answer can be judged by it."""
