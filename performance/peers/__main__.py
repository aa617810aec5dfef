"""The product beside what people use, on the same questions: `python -m performance.peers`.

Each way runs in a process tree of its own, on one engine build with the same arguments. docs/performance/peers.md says
how and what it means.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from performance.peers.environments import find_lmms_eval, install_peers
from performance.peers.running import Entrant, LapResult, RacerFailedError, RacerProcess, started
from performance.peers.scenario import (
    Scenario,
    cache_folder,
    distinct_prefix_tokens,
    make_huge_scenario,
    make_scenario,
    prompt_tokens,
)
from performance.peers.table import OURS, Unique, ratio_table, scenario_table

_QUICK_SCALE = 0.25
_HUGE_LIMIT = 15.0


def entrants(cache: Path, seconds: float, largest: float) -> list[Entrant]:
    """Everybody who takes part; `seconds` bound a lap of those that nobody has tuned.

    `largest` is in pixels, for those that write a PNG of every picture that they show.
    """
    return [
        Entrant(OURS, "ours", laps=("cold", "warm", "again")),
        Entrant("expert's script", "script", laps=("cold", "again")),
        Entrant("vllm serve, tuned client", "serving", ("tuned",), laps=("cold", "warm")),
        Entrant("vllm serve, PNG client", "serving", ("plain",), limit=seconds, largest=largest),
        Entrant("VLMEvalKit's way", "vlmevalkit", limit=seconds, laps=("cold", "warm")),
        Entrant("lmms-eval", "lmms", python=find_lmms_eval(cache), limit=seconds, largest=largest),
        Entrant("engine alone", "alone"),
    ]


def race(racers: Sequence[Entrant], scenarios: Sequence[Scenario], folder: Path) -> "Race":
    """Let each racer play each scenario once. What fails is told, and the others go on."""
    results = Race()
    for racer in racers:
        try:
            with started(racer, scenarios[0], folder) as process:
                for scenario in scenarios:
                    results.add(_play(racer, process, scenario))
        except RacerFailedError as error:
            results.fail(racer, scenarios, error)
    return results


class Race:
    """The outcome of a race."""

    def __init__(self) -> None:
        self.results: list[LapResult] = []
        self.failures: dict[tuple[str, str], str] = {}

    def add(self, results: Iterator[LapResult]) -> None:
        """Keep results as they come."""
        for result in results:
            print(f"{result.racer}, {result.scenario}, {result.lap}: {result.rate:.3g} items/s", file=sys.stderr)
            self.results.append(result)

    def fail(self, racer: Entrant, scenarios: Sequence[Scenario], error: RacerFailedError) -> None:
        """Keep why a racer has no result of the scenarios that it has not played."""
        print(f"{racer.name}: {error}", file=sys.stderr)
        played = {result.scenario for result in self.results if result.racer == racer.name}
        for scenario in scenarios:
            if scenario.name not in played:
                self.failures[racer.name, scenario.name] = str(error)

    def extend(self, other: "Race") -> None:
        """Take over what another round brought."""
        self.results += other.results
        self.failures |= other.failures


def _play(racer: Entrant, process: RacerProcess, scenario: Scenario) -> Iterator[LapResult]:
    huge = scenario.name.startswith("huge")
    for lap in racer.laps[:1] if huge else racer.laps:
        asked = scenario if huge else racer.asked(scenario)
        yield process.lap(lap, asked, min(racer.limit, _HUGE_LIMIT) if huge else racer.limit)


def show(outcome: Race, scenarios: Sequence[Scenario]) -> str:
    """Return all tables."""
    parts = []
    for scenario in scenarios:
        own = [result for result in outcome.results if result.scenario == scenario.name]
        failed = {racer: why for (racer, name), why in outcome.failures.items() if name == scenario.name}
        pictures = len({item.picture for item in scenario.items})
        parts.append(f"### {scenario.name}: {len(scenario.items)} items about {pictures} pictures")
        parts.append(scenario_table(own, failed, _unique_in(scenario)))
    return "\n\n".join([*parts, "### gigavqa beside each", ratio_table(outcome.results)])


def _unique_in(scenario: Scenario) -> Unique:
    """Count the different tokens of what was answered of a scenario."""
    tokens = prompt_tokens(scenario.items, scenario.weights)
    prompts = {item.id: prompt for item, prompt in zip(scenario.items, tokens, strict=True)}
    return lambda result: distinct_prefix_tokens(prompts[identity] for identity in result.outcome.answered)


def _scenarios(options: argparse.Namespace) -> list[Scenario]:
    scale = _QUICK_SCALE if options.quick else 1.0
    made = [make_scenario(options.cache, questions, scale=scale) for questions in options.questions]
    return made if options.quick else [*made, make_huge_scenario(options.cache, min(options.questions))]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--questions", type=int, nargs="+", default=[2, 8], help="of each picture, a scenario each")
    parser.add_argument("--rounds", type=int, default=1, help="every second one in reverse order")
    parser.add_argument("--only", nargs="+", metavar="WAY", help="the ways whose module is named: ours script ...")
    parser.add_argument("--seconds", type=float, default=30.0, help="after which an untuned peer begins no more items")
    parser.add_argument(
        "--megapixels",
        type=float,
        default=100.0,
        help="of the largest picture that lmms-eval and the PNG client are asked about, who take minutes over others",
    )
    parser.add_argument("--quick", action="store_true", help="pictures a sixteenth as large, two questions each")
    parser.add_argument("--install-peers", action="store_true", help="make the environment of lmms-eval first")
    parser.add_argument(
        "--cache", type=Path, default=cache_folder(), help="pictures, checkpoint and the peers' environments"
    )
    parser.add_argument("--json", type=Path, help="write all figures into this file")
    options = parser.parse_args()
    if options.quick:
        options.questions, options.seconds = [2], min(options.seconds, 15.0)
    return options


def main() -> None:
    options = _options()
    if options.install_peers:
        install_peers(options.cache)
    scenarios = _scenarios(options)
    everybody = entrants(options.cache, options.seconds, options.megapixels * 1e6)
    racers = [racer for racer in everybody if not options.only or racer.module in options.only]
    outcome = Race()
    with tempfile.TemporaryDirectory(prefix="peers-") as folder:
        for number in range(options.rounds):
            order = racers[::-1] if number % 2 else racers
            outcome.extend(race(order, scenarios, Path(folder)))
    print(show(outcome, scenarios))
    if options.json:
        failures = [{"racer": racer, "scenario": name, "why": why} for (racer, name), why in outcome.failures.items()]
        told = {"results": [asdict(result) | {"rate": result.rate} for result in outcome.results], "failures": failures}
        options.json.write_text(json.dumps(told, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
