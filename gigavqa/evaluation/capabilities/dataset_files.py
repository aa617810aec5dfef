"""Files beside records: a benchmark that reads more of a data set's folder than records and images."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gigavqa.evaluation.capabilities.capability import Capability

if TYPE_CHECKING:
    from gigavqa.evaluation.benchmark import Benchmark


class DatasetFiles(Capability, ABC):
    """Reads files of its own beside `dataset.toml`, and is asked by what they say."""

    beside: Sequence[str]
    """Names of files of its own that a data set may have beside `dataset.toml`."""
    labels: Collection[str] = ()
    """Those of them that say what people found since: reports follow from them, and nothing that is asked."""
    awaited: str = ""
    """The one of them that holds answers to samples whose records have none, which reviews write; '' for none."""

    @property
    def content(self) -> str:
        """Names the content of what else in the folder is shown to models, such as a corpus; '' where nothing is.

        A job whose data set has another one by now is a job over another data set.
        """
        return ""

    @abstractmethod
    def configured(self, texts: Mapping[str, str], folder: Path | None = None) -> "Benchmark[Any, Any]":
        """Return the benchmark as a data set asks it: `texts` are those of its own files, by name.

        `folder` is the data set's, for what else lies there; None where there is none yet. Raises ValueError,
        beginning with the file's name, for one that cannot be used.
        """
