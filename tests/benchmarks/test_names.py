"""The house names no guest: nothing of theirs stands outside their folders, their demos and their tests."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("service", "workers", "tiling")
GUESTS = ("benchmarks", "demo")
RECIPES = {Path("gigavqa/construction/ultravr"), Path("gigavqa/construction/vistahop")}
"""Where a guest's own recipes are: its folder in the room of construction."""
SUFFIXES = {".py", ".toml", ".j2", ".js", ".css", ".lua"}
NAMES = re.compile(
    r"ultravr"  # UltraVR itself
    r"|(?-i:\bS[0-5]\b)"  # its protocols
    r"|\b(?:cctv|wsi)\b|[\"'](?:rs|ad)[\"']"  # its domains
    r"|(?-i:\b(?:GND|PER|QUA|INF)\b)"  # what its steps do
    r"|mmcr|(?-i:\b[NCI][0-4]\b)|circular accuracy"
    r"|atom-?bench|(?-i:\b(?:AGC?|A0|CLQ|CoLQ|RCS|RRS)\b)"  # another, its protocols and metrics
    r"|license_plates|golden.evidence"  # what it asks about, and what it tells
    r"|vista-?(?:hop|arena)|search_crop|image_zoom_in_tool|cross_anchor|Search\+Crop"  # a fourth, and its words
    r"|acuity|landolt|optotype",  # the eye chart, and what is on it
    re.IGNORECASE,
)
PLUGINS = re.compile("|".join(path.name for path in sorted((ROOT / "plugins").iterdir())), re.IGNORECASE)
"""What lies beside the house, and comes in by entry points alone."""
EXCEPTIONS = {
    "gigavqa/construction/readers/wsivqa.py": "reads the public data set WSI-VQA",
    "service/http/examples.py": "shows a job, a report and a data set as they might be",
}


def test_no_room_of_the_house_names_a_guest() -> None:
    """But for those that must, each with its reason."""
    assert {file: told for file, told in named().items() if file not in EXCEPTIONS} == {}


def test_every_exception_is_one() -> None:
    """What names no guest any more stands in no list."""
    assert EXCEPTIONS.keys() <= named().keys()


def test_nothing_of_the_package_names_a_plugin_of_the_checkout() -> None:
    """Its benchmarks and its demo neither: whatever a plugin brings is found by its entry points."""
    rooms = [ROOT / "gigavqa", *(room for room in (ROOT / "gigavqa").iterdir() if room.is_symlink())]
    texts = (path for room in rooms for path in room.rglob("*") if path.suffix in SUFFIXES)
    assert [str(path) for path in texts if PLUGINS.search(path.read_text(encoding="utf-8"))] == []


def named() -> dict[str, list[str]]:
    """The lines that name one, by file."""
    found: dict[str, list[str]] = {}
    for path in sorted(files()):
        file = path.relative_to(ROOT).as_posix()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if NAMES.search(line):
                found.setdefault(file, []).append(f"{number}: {line.strip()}")
    return found


def files() -> Iterator[Path]:
    """All texts of the rooms that know no guest."""
    rooms = [ROOT / room for room in ROOMS]
    rooms += [room for room in (ROOT / "gigavqa").iterdir() if not room.is_symlink() and room.name not in GUESTS]
    texts = (path for room in rooms for path in room.rglob("*") if path.suffix in SUFFIXES)
    return (path for path in texts if not RECIPES & set(path.relative_to(ROOT).parents))
