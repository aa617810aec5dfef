"""Files of a benchmark's own program: configurations that say where its data are, and the results that it writes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from gigavqa.evaluation.capabilities.capability import DefaultCapability


class ConfiguredDataset(NamedTuple):
    """A data set as a configuration of a benchmark's own program describes it.

    Its `records` are a file, or a folder of such; `images` is where their pictures lie, None where all lie in them.
    Records without an id have `stem` and their number; `settings` are tables of `dataset.toml`.
    """

    records: Path
    images: Path | None
    stem: str
    settings: Mapping[str, Mapping[str, str]] = {}


class ProgramFiles(DefaultCapability):
    """Takes in what the benchmark's own program reads and writes."""

    def read_config(self, path: Path, name: str) -> ConfiguredDataset | None:
        """Return what a configuration of the benchmark's own program says of the data set of this name.

        None where the file is none. Raises ValueError, beginning with the file's name, for one that cannot be used.
        """
        return None

    def read_result(self, line: dict[str, Any]) -> dict[str, Any] | None:
        """Turn a line of the results that the benchmark's own program writes into the fields of a response.

        None for any other line. Raises ValueError telling what is wrong with it.
        """
        return None
