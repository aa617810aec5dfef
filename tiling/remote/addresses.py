"""Names of images that lie elsewhere: addresses without anything that records may not hold."""

import re
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from gigavqa.tiling.errors import ImageAddressError, quote_text

_SCHEMES = ("https://", "http://", "s3://", "gs://", "az://")
_MOST_CHARACTERS = 1024
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,8}")


def is_remote_name(name: str) -> bool:
    """Return whether a name of an image is the address of a file elsewhere."""
    return name.startswith(_SCHEMES)


def check_remote_name(name: str) -> str:
    """Return an address as it is. Raises ImageAddressError where it is none, or may hold a secret.

    Names and passwords, and queries, which is where signatures are: an address stands in records, logs and reports.
    """
    try:
        parts = urlsplit(name)
        is_whole = bool(parts.hostname) and parts.port != 0 and len(parts.path) > 1 and name.isprintable()
    except ValueError:
        is_whole = False
    if not is_whole or len(name) > _MOST_CHARACTERS or not name.isascii() or " " in name:
        raise ImageAddressError(
            f"image '{quote_text(without_secrets(name))}' is no address of a file: SCHEME://HOST/PATH in at most "
            f"{_MOST_CHARACTERS} ASCII characters, others as %XX"
        )
    if "@" in parts.netloc or "?" in name or "#" in name:
        raise ImageAddressError(
            f"image '{quote_text(without_secrets(name))}' has a password, query or fragment in its address, which "
            "records would keep; name the file alone, and give credentials by environment or profile"
        )
    if any(part in {".", ".."} for part in unquote(parts.path).split("/")) or "//" in parts.path:
        raise ImageAddressError(f"image '{quote_text(name)}' has '.', '..' or '//' in its path; write where it leads")
    return name


def unlisted_error(name: str) -> ImageAddressError:
    """Return what is said of an address that the operator does not list: to whoever asks, and so without the list."""
    return ImageAddressError(
        f"image '{quote_text(name)}' is below no listed address; GIGAVQA_REMOTE_IMAGES lists them, and whoever "
        "operates the service sees them by `gigavqa doctor`"
    )


def without_secrets(address: str) -> str:
    """Return an address without what may be secret in it: for messages."""
    shown = re.sub(r"(?<=//)[^/@\s]*@", "...@", address)
    return re.sub(r"[?#]\S*", "?...", shown)


def local_name(address: str) -> str:
    """Return what a file is called here that lies elsewhere: its ending is all that libraries look at."""
    suffix = PurePosixPath(unquote(urlsplit(address).path)).suffix
    return f"image{suffix.lower()}" if _SUFFIX.fullmatch(suffix) else "image"
