"""Names of the files of forms."""

from starlette.datastructures import UploadFile

_ESCAPES = {"%22": '"', "%0D": "\r", "%0A": "\n"}


def sent_name(file: UploadFile) -> str:
    """Return a file's name as its sender knows it; HTML's standard has browsers write three characters otherwise."""
    name = file.filename or ""
    for written, meant in _ESCAPES.items():
        name = name.replace(written, meant)
    return name
