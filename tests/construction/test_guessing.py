"""Questions that recipes make cannot be guessed from their texts, and questions that leak are found out."""

from ast import literal_eval
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
import pytest

from gigavqa.construction.candidates import Candidate
from gigavqa.construction.guessing.guessing import BlindQuestion, rebalance, score_readers
from gigavqa.construction.recipes.registry import recipes_of
from gigavqa.construction.selection import Quotas, category_of, order_options, select
from tests.construction.worlds import CONTEXT, KINDS, draw_images


@cache
def _candidates(kind: str, images: int) -> tuple[Candidate, ...]:
    proposed = (
        each
        for image in draw_images(kind, images)
        for recipe in recipes_of("questions").values()
        for each in recipe.candidates(image, CONTEXT, np.random.default_rng(0))
    )
    return tuple(each for each in proposed if isinstance(each, Candidate))


def _chosen(by_id: Mapping[str, Candidate], quotas: Quotas, seed: int) -> list[Candidate]:
    result = select(by_id.values(), quotas, seed)
    return [by_id[name].offering(result.offers[name]) for name in result.accepted]


def _built(kind: str, images: int) -> list[BlindQuestion]:
    """The questions that a build makes of a world."""
    by_id = {each.id: each for each in _candidates(kind, images)}
    chosen = _chosen(by_id, Quotas(per_image=0), 1)
    rng = np.random.default_rng(2)
    texts = [order_options(each, recipes_of("questions")[each.recipe].word(each, CONTEXT, rng), 1) for each in chosen]
    questions = []
    for each, text in zip(chosen, texts, strict=True):
        options = dict(zip("ABCD", text.options, strict=False)) or {"yes": "yes", "no": "no"}
        answer = next(letter for letter, option in options.items() if option == text.answer)
        group = category_of(each)
        questions.append(BlindQuestion(each.id, each.image, each.recipe, group, text.question, options, answer))
    return questions


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_reader_guesses_what_recipes_ask(kind: str) -> None:
    """Thousands of questions of 100 images of each world: each reader is within its bound on every recipe."""
    scores = score_readers(_built(kind, 100))
    assert [(score.recipe, score.reader, score.right.value) for score in scores if score.guesses] == []


@pytest.mark.parametrize("kind", KINDS)
def test_in_every_group_each_answer_is_true_equally_often(kind: str) -> None:
    """Whatever the images are and whatever is offered; a text alone has one more of one answer at most."""
    by_id = {each.id: each for each in _candidates(kind, 40)}
    chosen = _chosen(by_id, Quotas(), 3)
    groups: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    texts: defaultdict[str, defaultdict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for each in chosen:
        offered = str(each.program["options"])
        groups[each.wider or each.balance, offered][str(each.truth)] += 1
        texts[each.balance][offered].update(dict.fromkeys(map(str, each.program["options"]), 0))
        texts[each.balance][offered][str(each.truth)] += 1
    for (_, offered), counts in groups.items():
        assert len(set(counts.values())) == 1, offered
        assert len(counts) == len(literal_eval(offered))
    assert len(groups) > 10
    for by_offer in texts.values():
        more = [counts.total() - len(counts) * min(counts.values()) for counts in by_offer.values()]
        assert sum(more) <= 1


@pytest.mark.parametrize("kind", KINDS)
def test_each_selection_is_asked_once(kind: str) -> None:
    """Whatever it offers."""
    by_id = {each.id: each for each in _candidates(kind, 40)}
    chosen = _chosen(by_id, Quotas(), 3)
    asked = Counter(
        (each.image, str({key: value for key, value in each.program.items() if key not in ("options", "among")}))
        for each in chosen
    )
    assert set(asked.values()) == {1}


def test_quotas_bound_images_recipes_and_categories() -> None:
    """And what is taken and superseded is all that there was."""
    by_id = {each.id: each for each in _candidates("dense", 40)}
    result = select(by_id.values(), Quotas(per_image=5, per_recipe=16, per_category=8), 3)
    chosen = [by_id[name] for name in result.accepted]
    assert max(Counter(each.image for each in chosen).values()) <= 5
    assert max(Counter(each.recipe for each in chosen).values()) <= 16
    assert max(Counter((each.recipe, category_of(each)) for each in chosen).values()) <= 8
    assert sum(result.taken.values()) + sum(result.superseded.values()) == len(by_id)


def test_the_order_of_candidates_changes_no_selection() -> None:
    """The same candidates and seed give the same questions."""
    found = _candidates("sparse", 40)
    assert select(found, Quotas(), 3).accepted == select(reversed(found), Quotas(), 3).accepted


def _question(
    at: int, options: list[str], right: str, rng: np.random.Generator, text: str = "How many?"
) -> BlindQuestion:
    shuffled = [options[int(place)] for place in rng.permutation(len(options))]
    answer = "ABCD"[shuffled.index(right)]
    return BlindQuestion(
        f"q-{at}", f"{at // 2}.png", "leaky", "ship", text, dict(zip("ABCD", shuffled, strict=False)), answer
    )


def _neighbours(at: int, rng: np.random.Generator) -> BlindQuestion:
    true = int(rng.integers(5, 30))
    return _question(at, [str(true + off) for off in (-2, -1, 0, 3)], str(true), rng)


def _usual_count(at: int, rng: np.random.Generator) -> BlindQuestion:
    true = int(rng.choice([1, 2, 3, 4], p=(0.55, 0.25, 0.1, 0.1)))
    return _question(at, ["1", "2", "3", "4"], str(true), rng)


def _told_by_category(at: int, rng: np.random.Generator) -> BlindQuestion:
    place = int(rng.integers(4))
    words = ["upper left", "upper right", "lower left", "lower right"]
    return _question(at, words, words[place], rng, f"Where is the {('car', 'ship', 'tank', 'plane')[place]}?")


@pytest.mark.parametrize(
    ("leak", "reader"),
    [(_neighbours, "rank 3"), (_usual_count, "usual answer"), (_told_by_category, "learned")],
)
def test_a_leak_is_found_and_rebalanced_away(
    leak: Callable[[int, np.random.Generator], BlindQuestion], reader: str
) -> None:
    """The reader that looks for it beats chance; what is left after rebalancing nobody guesses, and it is the same."""
    rng = np.random.default_rng(5)
    questions = [leak(at, rng) for at in range(300)]
    assert reader in {score.reader for score in score_readers(questions) if score.guesses}
    balanced = rebalance(questions)
    assert not any(score.guesses for score in score_readers(balanced.kept))
    assert len(balanced.kept) + len(balanced.dropped) == len(questions)
    assert rebalance(questions[::-1]).dropped == balanced.dropped


def _rank_by_category(at: int, rng: np.random.Generator) -> BlindQuestion:
    """Counts of one image, asked of each of its categories: there are always most cars."""
    counts = [str(number) for number in sorted(rng.choice(np.arange(1, 25), 4, replace=False))]
    place = at % 4
    asked = _question(at, counts, counts[place], rng)
    return asked._replace(image=f"{at // 4}.png", group=("tower", "ship", "plane", "car")[place])


def test_a_reader_who_knows_which_category_is_most_frequent_is_found_out() -> None:
    """It beats chance by ranks of numbers, though every number and every rank is right as often."""
    rng = np.random.default_rng(5)
    scores = score_readers([_rank_by_category(at, rng) for at in range(400)])
    assert [score.reader for score in scores if score.guesses] == ["usual rank of the category"]


@pytest.mark.parametrize(("images", "least"), [(1, 20), (10, 60)])
def test_a_single_picture_gives_questions_that_nobody_guesses(images: int, least: int) -> None:
    """As many as few pictures can: texts that differ in what tells nothing are balanced together."""
    by_id = {each.id: each for each in _candidates("dense", images)}
    result = select(by_id.values(), Quotas(per_image=60), 1)
    assert len(result.accepted) >= least
    assert len(result.taken) >= 3


def test_a_candidate_that_stays_alone_says_so() -> None:
    """Every candidate that is no question has a cause, and one whose answer nothing else of its group has is alone."""
    by_id = {each.id: each for each in _candidates("dense", 1)}
    result = select(by_id.values(), Quotas(per_image=4), 1)
    left = [name for name in by_id if name not in result.offers]
    told = Counter((by_id[name].recipe, result.cause_of(name)) for name in left)
    assert told == {(recipe, cause): number for recipe, by in result.causes.items() for cause, number in by.items()}
    counts = [name for name in left if by_id[name].recipe == "count"]
    assert {result.cause_of(name) for name in counts} == {"alone"}
    assert "image" in {result.cause_of(name) for name in left}
