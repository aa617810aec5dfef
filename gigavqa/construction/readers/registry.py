"""The forms of annotation files that are read, and which of them a source has."""

from functools import cache
from pathlib import Path

from gigavqa.construction.benchmark_modules import benchmark_modules
from gigavqa.construction.errors import AnnotationFileError
from gigavqa.construction.readers.coco import CocoReader
from gigavqa.construction.readers.cvat import CvatReader
from gigavqa.construction.readers.documents import describe_source
from gigavqa.construction.readers.dota import DotaReader
from gigavqa.construction.readers.geojson import GeoJsonReader
from gigavqa.construction.readers.label_studio import LabelStudioReader
from gigavqa.construction.readers.mvtec_loco import MvtecLocoReader
from gigavqa.construction.readers.panda import PandaReader
from gigavqa.construction.readers.qupath import QuPathReader
from gigavqa.construction.readers.reader import AnnotationReader
from gigavqa.construction.readers.tables import CsvReader
from gigavqa.construction.readers.wsivqa import WsiVqaReader
from gigavqa.construction.readers.yolo import YoloReader

READERS: tuple[AnnotationReader, ...] = (
    CocoReader(),
    DotaReader(),
    LabelStudioReader(),
    CvatReader(),
    YoloReader(),
    QuPathReader(),
    CsvReader(),
    GeoJsonReader(),
    PandaReader(),
    MvtecLocoReader(),
    WsiVqaReader(),
)
"""In the order in which people are told of them."""


_MOST_LOOKED_AT = 200


@cache
def benchmark_readers() -> tuple[AnnotationReader, ...]:
    """Return the readers of forms that are for one benchmark alone: `READERS` of `...construction.<benchmark>.forms`.

    What such a form has is a file's or folder's own name; so it wins over forms that would fit, too.
    """
    return tuple(reader for module in benchmark_modules("forms") for reader in module.READERS)


def find_reader(source: Path, form: str | None = None) -> AnnotationReader:
    """Return the reader of a source: that of a `form`, or the only one that recognises it.

    Raises AnnotationFileError, with what it saw and the forms that there are.
    """
    if not source.exists():
        raise AnnotationFileError(f"{source}: there is no such file or folder; give the annotations' path")
    if form:
        for reader in (*READERS, *benchmark_readers()):
            if reader.name == form:
                return reader
        raise AnnotationFileError(f"--form {form}: is none of {_forms()}")
    fitting = [reader for reader in benchmark_readers() if reader.recognises(source)]
    fitting = fitting or [reader for reader in READERS if reader.recognises(source)]
    if len(fitting) == 1:
        if fitting[0] in READERS:  # a form of one benchmark may be a folder of several others
            _require_one_form(source, fitting[0])
        return fitting[0]
    if fitting:
        told = " and ".join(reader.title for reader in fitting)
        raise AnnotationFileError(
            f"{source.name}: may be {told}; say which, --form {' or --form '.join(one.name for one in fitting)}"
        )
    raise AnnotationFileError(
        f"{source.name}: is {describe_source(source)}, of none of the forms that are read: {_forms()}; "
        "export one of these, or name it with --form"
    )


def _require_one_form(source: Path, reader: AnnotationReader) -> None:
    """Refuse a folder in which a file has another form: it would be left out in silence. Looks at the first files."""
    files = sorted(path for path in source.iterdir() if path.is_file()) if source.is_dir() else []
    own = source.name
    for path in files[:_MOST_LOOKED_AT]:
        fitting = [one for one in READERS if one.recognises(path)]
        if reader in fitting:
            own = path.name
        elif fitting:
            raise AnnotationFileError(
                f"{source.name}: {own} is {reader.title}, and {path.name} is {fitting[0].title}; read one with "
                f"--form {reader.name} or --form {fitting[0].name}, or make a build of each"
            )


def _forms() -> str:
    return ", ".join(reader.name for reader in (*READERS, *benchmark_readers()))
