from tiling.sources.base import Level
from tiling.sources.source import Source, open_source, source_of

__all__ = ["Level", "Source", "open_source", "source_of"]
