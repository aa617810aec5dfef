"""Tries every client, and prints what came of it: `python -m tests.clients [--engine] [CLIENT ...]`."""

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from gigavqa.catalogue.load import load_catalogue
from tests.checkpoints.build import ensure_checkpoint
from tests.clients.trying import CLIENTS, FEATURES, is_installed, serving, try_client, version_of
from tests.service.gateways import MODEL
from tests.service.openai.workers import Make


def engine_of(folder: Path) -> Make:
    """Return what makes the real engine, on the demo's weights."""
    from gigavqa.workers.engines.vllm.engine import VllmEngine  # noqa: PLC0415 - takes seconds, and the engine

    entry = load_catalogue()[MODEL]
    checkpoint = ensure_checkpoint(entry.weights, folder / "checkpoints")
    return lambda: VllmEngine(entry, str(checkpoint))


def main() -> int:
    """Print a row for each client; 1 where one failed, or is not installed."""
    parser = argparse.ArgumentParser(prog="python -m tests.clients", description=__doc__)
    parser.add_argument("--engine", action="store_true", help="vLLM with the demo's model, not the simulated engine")
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help=f"all of them if left out: {', '.join(CLIENTS)}")
    asked = parser.parse_args()
    is_well = True
    print(f"| client | {' | '.join(FEATURES)} |", "|---" * (len(FEATURES) + 1) + "|", sep="\n", flush=True)
    with TemporaryDirectory() as home, serving(Path(home), engine_of(Path(home)) if asked.engine else None) as served:
        for client in asked.clients or CLIENTS:
            if not is_installed(client):
                print(f"| {client} | not installed: scripts/clients |", flush=True)
                is_well = False
                continue
            told = try_client(client, served)
            is_well = is_well and not any(each.startswith("FAILED") for each in told.values())
            print(f"| {client} {version_of(client)} | {' | '.join(told.values())} |", flush=True)
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
