"""Nobody guesses what is asked about slides and grids from texts alone; the paper's own scheme of T3 is found out."""

import re
from functools import cache

import pytest

from gigavqa.construction.candidates import Candidate
from gigavqa.construction.draws import stream
from gigavqa.construction.guessing.guessing import BlindQuestion, ReaderScore, rebalance, score_readers
from gigavqa.construction.question_records import blind_question
from gigavqa.construction.recipes.recipe import RecipeContext
from gigavqa.construction.selection import Quotas, order_options, select
from gigavqa.construction.ultravr.ad_anomaly import AnomalousCell
from gigavqa.construction.ultravr.slide_recipe import SlideRecipe
from gigavqa.construction.ultravr.wsi_comparison import SlideComparison
from gigavqa.construction.ultravr.wsi_verification import SlideSummary, SlideVerification
from tests.construction.ultravr.drawn_slides import WORLDS, draw_slides
from tests.construction.ultravr.test_grids import drawn_grid

CONTEXT = RecipeContext({}, ())
RECIPES = (SlideComparison(), SlideVerification(), SlideSummary())
_SLIDES = 400


@cache
def _asked(recipe: SlideRecipe, world: str) -> tuple[BlindQuestion, ...]:
    """The questions that a build makes of a world, as one gets them who sees no picture."""
    proposed = [
        each
        for slide in draw_slides(world, _SLIDES)
        for each in recipe.candidates(slide, CONTEXT, stream(0, recipe.name, slide.image))
    ]
    by_id = {each.id: each for each in proposed if isinstance(each, Candidate)}
    chosen = [by_id[name] for name in select(by_id.values(), Quotas(per_image=0), 1).accepted]
    texts = [order_options(each, recipe.word(each, CONTEXT, stream(0, each.id)), 1) for each in chosen]
    return tuple(blind_question(each, text) for each, text in zip(chosen, texts, strict=True))


def _guessing(scores: list[ReaderScore]) -> list[tuple[str, str, float | None]]:
    return [(score.recipe, score.reader, score.right.value) for score in scores if score.guesses]


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.template)
def test_no_reader_guesses_what_is_asked_about_slides(recipe: SlideRecipe, world: str) -> None:
    """Of hundreds of questions of 400 slides: where findings are rare, or go together, too."""
    asked = _asked(recipe, world)
    assert len(asked) > 60
    assert _guessing(score_readers(asked)) == []


@pytest.mark.slow
def test_the_printed_scheme_of_summaries_is_guessed_always() -> None:
    """The true one has the most frequent value of every finding; a build spares it, and tells."""
    asked = _asked(SlideSummary("paper"), "even")
    scores = {score.reader: score.right.value for score in score_readers(asked)}
    assert scores["like the others"] == 1.0
    assert SlideSummary("paper").is_guessable
    balanced = rebalance(asked, {"wsi-summary"})
    assert not balanced.dropped
    assert any(score.guesses for score in balanced.after)


def _choices(number: int) -> list[BlindQuestion]:
    recipe, asked = AnomalousCell("choices"), []
    for at in range(number):
        image = drawn_grid(at)
        (candidate,) = recipe.candidates(image, CONTEXT, stream(at, "choices"))
        assert isinstance(candidate, Candidate)
        asked.append(blind_question(candidate, recipe.word(candidate, CONTEXT, stream(at, "words"))))
    return asked


@pytest.mark.slow
def test_no_reader_guesses_which_of_four_cells_is_meant() -> None:
    """Of 1,200 grids; one that offers the cell's neighbours is found out."""
    asked = _choices(1_200)
    assert _guessing(score_readers(asked)) == []
    near = [_with_neighbours(question) for question in asked]
    assert _guessing(score_readers(near))


def _with_neighbours(question: BlindQuestion) -> BlindQuestion:
    row, column = map(int, re.findall(r"\d+", question.options[question.answer]))
    letters = [question.answer, *(letter for letter in "ABCD" if letter != question.answer)]
    cells = [(row, column), (row + 1, column), (row, column + 1), (row - 1, column)]
    return question._replace(options={key: f"({r}, {c})" for key, (r, c) in sorted(zip(letters, cells, strict=True))})
