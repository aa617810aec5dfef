"""A sink beside the gateway's own that writes small parts soon: `python -m loadtests.sink REDIS_URL RESULTS_URI`."""

import asyncio
import logging
import sys

from gigavqa.store.connection import connect
from gigavqa.store.sink import ParquetSink

PART_ROWS = 100


async def main(url: str, results_uri: str) -> None:
    """Sink until the process ends."""
    await ParquetSink(connect(url), results_uri, rows=PART_ROWS, seconds=2.0).run_forever()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    asyncio.run(main(*sys.argv[1:]))
