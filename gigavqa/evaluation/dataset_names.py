"""The names of data sets: folders of the data root, and parts of addresses."""

import re

from gigavqa.evaluation.errors import DatasetNameInvalidError
from gigavqa.tiling.errors import quote_text

LONGEST_DATASET_NAME = 200
_NAME = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9._-]{{0,{LONGEST_DATASET_NAME - 1}}}")


def is_dataset_name(name: str) -> bool:
    """Return whether a data set may be called so."""
    return bool(_NAME.fullmatch(name))


def require_dataset_name(name: str) -> None:
    """Raise DatasetNameInvalidError where no data set may be called so."""
    if not is_dataset_name(name):
        rule = f"letters, digits, '_', '.' and '-', {LONGEST_DATASET_NAME} at most, no '.' or '-' first"
        raise DatasetNameInvalidError(f"'{quote_text(name)}' is no name of a data set: {rule}; choose another one")
