"""Checks of the libraries that read pixels."""

from cli.checks.finding import Finding

_ADVICE = 'install the pixels extra: pip install "gigavqa[pixels]", or run `make setup`'
_LOADERS = {
    "JPEG": "jpegload",
    "PNG": "pngload",
    "TIFF": "tiffload",
    "WebP": "webpload",
    "JPEG 2000": "jp2kload",
    "HEIF": "heifload",
}


def libvips() -> Finding:
    """libvips, and which formats its build reads."""
    try:
        import pyvips  # noqa: PLC0415 - it may be missing
    except (ImportError, OSError) as error:
        return Finding("libvips", "fail", f"cannot be loaded: {error}", _ADVICE)
    version = ".".join(str(pyvips.version(part)) for part in range(3))
    reads = [name for name, loader in _LOADERS.items() if pyvips.type_find("VipsOperation", loader)]
    lacks = [name for name in _LOADERS if name not in reads]
    found = f"{version}, reads {', '.join(reads)}" + (f"; not {', '.join(lacks)}" if lacks else "")
    if {"JPEG", "PNG", "TIFF"} <= set(reads):
        return Finding("libvips", "ok", found)
    return Finding("libvips", "fail", found, _ADVICE)


def openslide() -> Finding:
    """OpenSlide, which reads whole-slide images."""
    try:
        import openslide as library  # noqa: PLC0415 - it may be missing
    except (ImportError, OSError) as error:
        return Finding("OpenSlide", "fail", f"cannot be loaded: {error}", _ADVICE)
    return Finding("OpenSlide", "ok", str(library.__library_version__))
