"""Errors of a request for a picture, beyond what `gigavqa.tiling.errors` says of files."""


class ViewerError(Exception):
    """A request that the viewer does not answer with a picture.

    `status` is its HTTP status, `parameter` what of the address's query is wrong, if that is it.
    """

    status = 500
    parameter = ""


class RequestInvalidError(ViewerError):
    """The request is none of IIIF's: region, size, rotation, quality or format cannot be read, or are empty."""

    status = 400


class DisplayInvalidError(ViewerError):
    """`show` of the address is no display, or none of this picture."""

    status = 400
    parameter = "show"


class RequestUnsupportedError(ViewerError):
    """The request is one of IIIF's, of a feature that is not offered."""

    status = 501


class NoSuchImageError(ViewerError):
    """There is no picture of this name, or it is no longer the one with this digest."""

    status = 404


class ViewerBusyError(ViewerError):
    """More wait already than may, or what is wanted is being made; the client is to come again."""

    status = 503
