"""Riddles about pictures, each asked with its picture and without."""

from gigavqa.contract.jobs import Cell
from gigavqa.contract.requests import Turn
from gigavqa.evaluation.benchmark import Benchmark, Chat, Scene, cross_plan
from gigavqa.evaluation.metrics.accuracy import Grouping
from gigavqa.evaluation.samples import Sample


class Riddle(Sample):
    """A question with lettered options, the right one's letter, and how hard it is."""

    answer: str = ""
    level: str = "easy"

    @property
    def truth(self) -> str:
        """The letter that is right."""
        return self.answer

    @property
    def groups(self) -> dict[str, str]:
        """Riddles are told apart by how hard they are."""
        return {"level": self.level}


class Riddles(Benchmark[Riddle]):
    """Riddles as the core sees them."""

    name = "riddles"
    title = "Riddles"
    sample_type = Riddle
    plans = {"riddles": cross_plan("ask", "V2 V0")}
    protocols = {"ask": "the riddle and its options"}
    conditions = ("V0", "V1", "V2")
    grouping = Grouping(("level",))

    def ask(self, sample: Riddle, cell: Cell, scene: Scene) -> Chat:
        """Ask in one turn, behind what the condition shows."""
        options = "\n".join(f"{letter}. {text}" for letter, text in (sample.options or {}).items())
        text = f'{sample.question}\n\n{options}\n\nEnd with a line of the form "Final answer: X".'
        return Chat(scene.views(cell.condition), (Turn(parts=(text,)),), "riddles/1")
