"""The last stage of a build: its data set and its page, made again where something of either changed."""

from functools import partial
from pathlib import Path

from gigavqa.construction.build_folder import canonical_json
from gigavqa.construction.build_summary import BuildSummary
from gigavqa.construction.builds import Build
from gigavqa.construction.calls.accounts import call_accounts
from gigavqa.construction.evidence_pictures import draw_evidence
from gigavqa.construction.page import render_page
from gigavqa.construction.publishing import dataset_mark, publish
from gigavqa.reports.writers.verdict_files import open_whole_file

_PAGE = "index.html"
_PUBLISHED = "published.json"
"""The mark of the data set as the build last put it there."""


def update_dataset(build: Build, made: BuildSummary, data: Path) -> Path:
    """Make the data set and the page of a build's questions, unless both are as they were made of the same before.

    Returns where the page is. Raises as `publish` does.
    """
    folder, settings = build.folder, build.settings
    told = {"benchmark": settings.benchmark, "title": settings.title}
    stages = {name: folder.digest_of(name) for name in ("annotations", "samples")}
    calls = call_accounts(folder) if settings.ask else []
    asked = {"calls": [one.document() for one in calls]} if calls else {}
    key = canonical_json({**told, **stages, **asked, "images": str(build.image_folder)})
    page, target = folder.file(_PAGE), data / folder.name
    if not (folder.is_current("dataset", key) and folder.read_json(_PUBLISHED) == dataset_mark(target)):
        publish(folder, folder.file("samples.jsonl"), build.image_folder, data, **told)
        with open_whole_file(page) as file:
            picture = partial(draw_evidence, build.image_folder)
            file.write(render_page(made, build.records(), picture, calls).encode())
        folder.write_json(_PUBLISHED, dataset_mark(target))
        folder.finish("dataset", key, (_PAGE, _PUBLISHED))
    return page
