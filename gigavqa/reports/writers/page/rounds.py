"""The rounds of a chat as the page's script draws them: thoughts, calls, results, and where their pictures lie."""

from collections.abc import Mapping
from typing import Any

from gigavqa.answers.text import thoughts_apart
from gigavqa.contract.responses import RasterRecord, TurnResponse
from gigavqa.contract.tool_loops import ToolCall
from gigavqa.evaluation.outcomes import SampleOutcome
from gigavqa.reports.writers.page.texts import PageTexts

_LEFT_OUT = "left out, to keep this page small; `gigavqa results --chat --sample ID` prints them"


class PageRounds:
    """The rounds of one chat, or none where the page has no more room for them."""

    def __init__(self, outcome: SampleOutcome, texts: PageTexts) -> None:
        self._outcome = outcome
        self._texts = texts
        by_round = {
            at: number
            for number, turn in enumerate(outcome.rounds, start=1)
            for at in (turn.call.rasters if turn.call else ())
        }
        self._by_round = {at: number for at, number in by_round.items() if at < len(outcome.rasters)}
        self._fits = bool(outcome.rounds) and texts.take_rounds(outcome.rounds)

    @property
    def shown(self) -> list[RasterRecord]:
        """The rasters shown before the first tool round; all of them in a chat without rounds."""
        return [raster for at, raster in enumerate(self._outcome.rasters) if at not in self._by_round]

    @property
    def rasters(self) -> list[RasterRecord]:
        """The rasters that the page shows."""
        return [*self._outcome.rasters] if self._fits else self.shown

    @property
    def zooms(self) -> Mapping[str, str]:
        """Later looks at parts of pictures, by key, each with the rounds that took it; turns have no number."""
        found: dict[str, list[int]] = {}
        for at, raster in enumerate(self._outcome.rasters):
            if raster.turn and raster.view.region != "full" and (self._fits or at not in self._by_round):
                found.setdefault(raster.key, []).extend([self._by_round[at]] if at in self._by_round else [])
        return {key: ", ".join(map(str, numbers)) for key, numbers in found.items()}

    def told(self, at: Mapping[str, int]) -> dict[str, Any]:
        """Return what is told of them; `at` are the numbers of pictures by key."""
        if not self._outcome.rounds:
            return {}
        stop = {"stop": self._outcome.stop, "played": len(self._outcome.rounds)}
        if not self._fits:
            return {**stop, "untold": self._texts.number(_LEFT_OUT)}
        return {**stop, "rounds": [self._round(turn, at) for turn in self._outcome.rounds]}

    def _round(self, turn: TurnResponse, at: Mapping[str, int]) -> dict[str, Any]:
        # The answer stands with the response.
        is_answer = self._outcome.stop == "answered" and turn is self._outcome.rounds[-1]
        thought, text = ("", "") if is_answer else thoughts_apart(turn.text)
        fields = {
            "thought": self._texts.of_round(thought.strip()),
            "text": self._texts.of_round((text or "").strip()),
            "call": self._call(turn.call, at) if turn.call else None,
        }
        return {name: value for name, value in fields.items() if value}

    def _call(self, call: ToolCall, at: Mapping[str, int]) -> dict[str, Any]:
        rasters, result = self._outcome.rasters, call.result
        for number in call.rasters:
            result = result.replace(f"[IMAGE {number}]", f"[picture {number + 1}]")
        fields = {
            "name": self._texts.of_round(call.name),
            "arguments": self._texts.of_round(call.arguments),
            "status": call.status,
            "result": self._texts.of_round(result.strip()),
            "views": [at[rasters[number].key] for number in call.rasters if number < len(rasters)],
            "documents": self._texts.of_round(", ".join(call.documents)),
            "source": self._texts.of_round(call.source),
            "cached": int(call.cached),
            "seconds": round(call.seconds, 2),
        }
        return {name: value for name, value in fields.items() if value}
