"""A data set's evidence as features of GeoJSON, in lon and lat."""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from gigavqa.cli.datasets import load_checked
from gigavqa.cli.errors import ArgumentError
from gigavqa.evaluation.evidence_views import EvidenceView, evidence_views, shows_evidence
from gigavqa.tiling.errors import GeoreferenceError
from gigavqa.tiling.geometry import resolve_region
from gigavqa.tiling.ground.geojson import feature
from gigavqa.tiling.ground.georeference import georeference_of
from gigavqa.tiling.ground.places import outline_of
from gigavqa.tiling.headers import Header, read_header
from gigavqa.tiling.roots import ImageRoot


class EvidenceBoxes:
    """The boxes of a data set's evidence; `left_out` counts those of images whose place is not known, by why."""

    def __init__(self, folder: Path) -> None:
        folder = folder.absolute()
        self._dataset, root = load_checked(folder), ImageRoot(folder.parent)
        self.left_out: Counter[str] = Counter()
        if not shows_evidence(self._dataset):
            raise ArgumentError(f"{self._dataset.benchmark.title} shows no local evidence, so that there are no boxes")

        @cache
        def header_of(image: str) -> Header:
            return read_header(root.locate(image), self._dataset.show_of(image))

        self._header_of = header_of

    def features(self) -> Iterator[dict[str, Any]]:
        """Yield a feature for each box that lies on the ground. Raises TilingError and EvaluationError."""
        for one in evidence_views(self._dataset, lambda image: self._header_of(image).size):
            try:
                yield self._feature(one)
            except GeoreferenceError as error:
                self.left_out[f"{one.view.image}: {error}"] += 1

    def _feature(self, one: EvidenceView) -> dict[str, Any]:
        header = self._header_of(one.view.image)
        if not header.geotags:
            raise GeoreferenceError("its file has no georeference")
        region = resolve_region(one.view.region, header.size)
        sample = one.sample
        told = {
            "sample": sample.id,
            "image": one.view.image.removeprefix(f"{self._dataset.name}/"),
            "question": sample.question,
            "truth": sample.truth,
            **sample.groups,
            "region": str(region),
        }
        return feature(outline_of(georeference_of(header.geotags), region), told)
