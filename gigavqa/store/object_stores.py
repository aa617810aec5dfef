"""Turn what fsspec's drivers raise of an object store that is away into OSError."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def translate_store_errors() -> Iterator[None]:
    """Raise OSError for what the driver of object stores raises when it does not reach one. Decorates, too."""
    try:
        yield
    except _driver_errors() as error:
        raise OSError(f"the results store is not reached: {error}") from error


def _driver_errors() -> tuple[type[Exception], ...]:
    try:
        from botocore.exceptions import BotoCoreError  # noqa: PLC0415 - where it was raised, it is there
    except ImportError:
        return ()
    return (BotoCoreError,)
