"""Hurts installations on this machine in every way that is known here, and requires that nothing is lost.

    python -m loadtests.chaos [--requests 10000] [--minutes 30] [--chats 1000] [--images 150] [--only NAME ...]

Prints a table in Markdown. Ends with status 1 when something was lost, doubled, or failed without being to blame, and
when a fault was not made or not told of.
"""

import argparse
import sys
from collections.abc import Callable

from loadtests.chaos.crowd import crowd
from loadtests.chaos.kills import kills
from loadtests.chaos.outcome import ChaosOutcome, table
from loadtests.chaos.rounds import rounds
from loadtests.chaos.scenarios import SCENARIOS


def main() -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m loadtests.chaos")
    parser.add_argument("--requests", type=int, default=10_000, help="of the job under kills and freezes")
    parser.add_argument("--minutes", type=float, default=30.0, help="that kills and freezes go on at the most")
    parser.add_argument(
        "--chats", type=int, default=1000, help="of ten rounds each, while a worker is killed every 5 s"
    )
    parser.add_argument("--images", type=int, default=150, help="of the job on vLLM in a crowd of chats")
    parser.add_argument(
        "--only", nargs="+", choices=["kills", "rounds", "crowd", *SCENARIOS], help="these scenarios alone"
    )
    asked = parser.parse_args()
    chosen: dict[str, Callable[[], ChaosOutcome]] = {
        "kills": lambda: kills(asked.requests, asked.minutes),
        "rounds": lambda: rounds(asked.chats, kill_seconds=5.0),
        "crowd": lambda: crowd(asked.images, ("demo-qwen3-vl", "demo-sight"), "--shift", "4"),
        **SCENARIOS,
    }
    outcomes: list[ChaosOutcome] = []
    for name in asked.only or chosen:
        outcomes.append(chosen[name]())
        print("\n".join([outcomes[-1].row(), *sorted(set(outcomes[-1].why))]), file=sys.stderr, flush=True)
    print("\n".join(table(outcomes)))
    return int(not all(outcome.sound for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
