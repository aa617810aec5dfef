from gigavqa.tiling.sources.base import Level
from gigavqa.tiling.sources.source import Source, open_source, source_of

__all__ = ["Level", "Source", "open_source", "source_of"]
