"""Parquet parts as the tests of this room make and read them."""

from pathlib import Path

import duckdb
from redis.asyncio import Redis

from gigavqa.store.sink import ParquetSink


async def sink_all(redis: Redis, folder: Path, rows: int = 512, seconds: float = 60.0) -> int:
    """Move everything that is recorded."""
    return await ParquetSink(redis, str(folder), rows=rows, seconds=seconds).run_until_drained()


def rows_of(parts: Path) -> list[str]:
    """Request ids of all rows of a part, or of all parts in a folder."""
    files = f"{parts}/**/*.parquet" if parts.is_dir() else parts
    found = duckdb.sql(f"SELECT request_id FROM '{files}'").fetchall()
    return [request_id for (request_id,) in found]


def parts_of(folder: Path) -> list[Path]:
    """All parts in a folder of results."""
    return sorted(folder.rglob("*.parquet"))
