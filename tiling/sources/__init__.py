from gigavqa.tiling.sources.base import Level
from gigavqa.tiling.sources.source import Source, native_source_of, open_source, source_of

__all__ = ["Level", "Source", "native_source_of", "open_source", "source_of"]
