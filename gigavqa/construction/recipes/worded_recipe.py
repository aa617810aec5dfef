"""What the recipes of questions about marked objects share: programs that say all that a text will say, and wording."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gigavqa.construction.annotations import AnnotatedImage, Annotation, Box
from gigavqa.construction.candidates import OPTIONS, Candidate, QuestionText, Rejection
from gigavqa.construction.question_records import question_record
from gigavqa.construction.recipes.marked_objects import MarkedObjects, enclosing_box
from gigavqa.construction.recipes.offers import YES_NO
from gigavqa.construction.recipes.recipe import RecipeContext, RecipeQuota
from gigavqa.construction.recipes.rules import RULES_VERSION, THRESHOLDS, Thresholds, read_table, reasons


class WordedRecipe:
    """A recipe whose texts lie beside it, in `<name>.toml`.

    A program has `ask` (which text), `category` or `categories`, what else the text names, and `options`. Two
    candidates of one program differ in image and truth alone, so programs are the groups in which truths are balanced.
    `silent` are the fields that tell nothing of the answer to one who does not see the image: without them programs are
    the wider groups.
    """

    benchmark = "questions"
    forms = frozenset[str]()
    quota = RecipeQuota()
    name: str
    title: str
    refuses: tuple[str, ...]
    silent: tuple[str, ...] = ()

    def __init__(self, thresholds: Thresholds = THRESHOLDS) -> None:
        self._thresholds = thresholds
        self._wording: Mapping[str, Any] = read_table(self.name)
        self.version = f"{self._wording['version']}+{read_table('phrases')['version']}+{RULES_VERSION}"
        self.reasons = reasons(*self.refuses)

    def objects_of(self, image: AnnotatedImage) -> MarkedObjects:
        """Return an image's objects by category."""
        return MarkedObjects.in_image(image, self._thresholds)

    def candidate(
        self,
        image: AnnotatedImage,
        program: Mapping[str, Any],
        truth: Any,
        objects: Sequence[Annotation],
        *,
        together: bool = False,
        region: Box | None = None,
    ) -> Candidate:
        """Return a candidate whose evidence are the objects that its truth rests on, or a region of the image.

        Objects have a box each, or one `together`.
        """
        boxes = tuple(one.box for one in objects)
        evidence = (enclosing_box(boxes),) if together else boxes
        sizes = range(min(self._thresholds.options, len(program[OPTIONS])), 1, -1)
        return Candidate(
            self.name,
            image.image,
            program,
            truth,
            tuple(one.id for one in objects),
            evidence if region is None else (region,),
            self._group(program),
            wider=self._group(program, self.silent) if any(field in program for field in self.silent) else "",
            offers=tuple(sizes) if len(sizes) > 1 else (),
        )

    def _group(self, program: Mapping[str, Any], silent: Sequence[str] = ()) -> str:
        """Return the name of a group: all that a program says, but for options and what tells nothing."""
        said = [value for field, value in program.items() if field not in (OPTIONS, *silent)]
        return "/".join((self.name, *(",".join(map(str, v)) if isinstance(v, list) else str(v) for v in said)))

    def rejection(self, image: AnnotatedImage, reason: str, about: str) -> Rejection:
        """Return a rejection for one of the recipe's reasons."""
        return Rejection(self.name, image.image, reason, about)

    def word(self, candidate: Candidate, context: RecipeContext, rng: np.random.Generator) -> QuestionText:
        """Return a candidate in words, options in a drawn order."""
        program = candidate.program
        question = self._wording["questions"][program["ask"]].format(**self.slots(program, context))
        offered = program[OPTIONS]
        if tuple(offered) == YES_NO:
            return QuestionText(question, "yes_no", candidate.truth)
        texts = {option: self.option_text(option, program, context) for option in offered}
        order = [offered[int(at)] for at in rng.permutation(len(offered))]
        return QuestionText(question, "choice", texts[candidate.truth], [texts[option] for option in order])

    def record(self, candidate: Candidate, text: QuestionText) -> dict[str, Any]:
        """Return the record of a question of the benchmark `questions`."""
        return question_record(candidate, text)

    def slots(self, program: Mapping[str, Any], context: RecipeContext) -> dict[str, str]:
        """Return what a text's placeholders stand for: a category's names, or two categories'."""
        if "category" in program:
            names = context.names[program["category"]]
            return {"one": names.one, "many": names.many}
        both = [context.names[category] for category in program.get("categories", ())]
        return {
            f"{number}_{at}": getattr(names, number)
            for at, names in zip("ab", both, strict=False)
            for number in ("one", "many")
        }

    def option_text(self, option: Any, program: Mapping[str, Any], context: RecipeContext) -> str:
        """Return an option as people read it."""
        return str(option)


def phrase(kind: str, word: str, **slots: str) -> str:
    """Return a phrase that several recipes use: of a place, or of how an object is singled out."""
    text: str = read_table("phrases")[kind][word]
    return text.format(**slots)
