"""Options of jobs: a benchmark that can be asked in more than one way, or prepares what its samples share."""

from collections.abc import Sequence
from typing import Any, Generic

from pydantic import BaseModel

from gigavqa.evaluation.capabilities.capability import DefaultCapability, OfferSampleT


class NoOptions(BaseModel):
    """The options of a benchmark that has none."""


class JobOptions(DefaultCapability, Generic[OfferSampleT]):
    """Lets a job choose, and makes what asking all its samples shares."""

    options: type[BaseModel] = NoOptions
    """What a job may choose of it."""

    def prepare(
        self, samples: Sequence[OfferSampleT], options: Any, seed: int, examples: Sequence[OfferSampleT] = ()
    ) -> Any:
        """Make what asking all samples of a job shares, from the whole data set; `ask` finds it as `scene.shared`.

        `examples` were set apart: they are not asked, and prompts may tell them. By default the options that the job
        chose.
        """
        return options
