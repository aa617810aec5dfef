"""The small model that can see: its exam, its lessons, and how it learns."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gigavqa.catalogue.load import load_catalogue
from gigavqa.demo.painting import ScenePainter
from gigavqa.evaluation.metrics.intervals import wilson
from gigavqa.tiling.rendering import render as render_file
from gigavqa.tiling.views import View
from gigavqa.workers.checkpoints.build import ensure_checkpoint
from gigavqa.workers.checkpoints.writing import write_without_weights
from gigavqa.workers.engines.vllm.compat.torch_companions import repair_torch_companions
from gigavqa_acuity.chart.dataset import paint_picture
from gigavqa_acuity.chart.optotypes import PIGMENTS
from gigavqa_acuity.chart.plan import BLOCK, plan_chart
from gigavqa_acuity.chart.scenes import draw_scene
from gigavqa_acuity.sight.batches import BatchSampler, LessonRasters, patches
from gigavqa_acuity.sight.chats import ChatEncoder, questions
from gigavqa_acuity.sight.design import SIGHT, budget
from gigavqa_acuity.sight.exam import ExamAnswer, judge, measure, sit
from gigavqa_acuity.sight.lessons import render, render_whole
from gigavqa_acuity.sight.pool import Pool, write_pool
from gigavqa_acuity.sight.reading import CheckpointReader
from gigavqa_acuity.taxonomy import ATTRIBUTES, CHANCE, COLOURS, DIRECTIONS, LETTERS, WORDS

repair_torch_companions()  # before anybody in this process imports transformers
ENTRY = load_catalogue()["demo-sight"]
SHIPPED = ensure_checkpoint(ENTRY.weights, Path("unused"))


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    """So small a model takes no less time with more threads, which use the processor while they wait for each other."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def reader() -> CheckpointReader:
    """The shipped weights."""
    return CheckpointReader(SHIPPED)


@pytest.fixture(scope="module")
def answers(reader: CheckpointReader) -> list[ExamAnswer]:
    """Its exam."""
    return sit(reader)


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Pool:
    """A few lessons."""
    folder = tmp_path_factory.mktemp("pool")
    write_pool(folder, 3, 24, processes=1)
    return Pool(folder)


@pytest.fixture(scope="module")
def speech(tmp_path_factory: pytest.TempPathFactory) -> ChatEncoder:
    """Chats as they are taught, by a tokenizer made anew."""
    folder = tmp_path_factory.mktemp("description")
    return ChatEncoder(
        write_without_weights(SIGHT, folder), (folder / "chat_template.jinja").read_text(encoding="utf-8")
    )


@pytest.mark.slow
def test_the_shipped_weights_pass_their_exam(reader: CheckpointReader, answers: list[ExamAnswer]) -> None:
    """V3 is read, V0 is at chance, V1 and V2 are what the pixels of their rings predict."""
    assert judge(answers, measure(reader, pictures=160)).failures == ()


@pytest.mark.slow
def test_both_attributes_are_seen(answers: list[ExamAnswer]) -> None:
    """Neither makes up for the other."""
    for attribute in ATTRIBUTES:
        some = [one.right for one in answers if (one.condition, one.attribute) == ("V3", attribute)]
        assert np.mean(some) >= 0.85, attribute


@pytest.mark.slow
def test_without_a_picture_it_is_right_as_often_as_by_chance(answers: list[ExamAnswer]) -> None:
    """For either question; what it guesses is a letter."""
    for attribute in ATTRIBUTES:
        some = [one for one in answers if (one.condition, one.attribute) == ("V0", attribute)]
        found = wilson(sum(one.right for one in some) / len(some), len(some))
        assert (found.low or 0) <= CHANCE <= (found.high or 0), attribute
        assert {one.letter for one in some} <= set(LETTERS)


def test_a_failed_exam_says_what_failed() -> None:
    """Answers at chance fail V3, and V1 and V2 where a curve promises more."""
    chance = [
        ExamAnswer(condition, "colour", 50.0, "A", number % 4 == 0)
        for condition in ("V0", "V1", "V2", "V3", "V4")
        for number in range(128)
    ]
    told = judge(chance, [])
    assert told.failures == ("V3 is 0.250, below 0.9",)


def test_the_checkpoint_is_small_and_describes_itself() -> None:
    """At most 20 MB of weights; its preprocessing is the entry's, and the card says how to make it."""
    assert (SHIPPED / "model.safetensors").stat().st_size <= 20_000_000
    config = json.loads((SHIPPED / "preprocessor_config.json").read_text())
    assert config["size"] == ENTRY.visual_budget.processor_kwargs()["size"]
    assert ENTRY.visual_budget == budget()
    card = (SHIPPED / "README.md").read_text()
    assert "python -m gigavqa_acuity.sight --seed" in card and "license: apache-2.0" in card


def test_the_checkpoint_is_described_as_the_design_says(tmp_path: Path) -> None:
    """Tokenizer, template and configuration of today's design are those that lie beside the weights."""
    write_without_weights(SIGHT, tmp_path)
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (SHIPPED / path.name).read_bytes(), path.name


def test_every_word_of_an_option_is_one_token(speech: ChatEncoder) -> None:
    """So are the letters; and a question behind the largest picture stays short."""
    tokens = [speech.word(word) for words in WORDS.values() for word in words] + list(speech.letters)
    assert len(set(tokens)) == 12
    assert max(len(speech.prompt(one.text, (36,))) for one in questions("direction", "V3")) < 100


def test_rasters_and_chats_are_those_of_the_familys_processor(speech: ChatEncoder, pool: Pool) -> None:
    """Patches and token ids, of every size and of two pictures at once."""
    repair_torch_companions()
    from transformers import AutoProcessor

    processor = AutoProcessor.from_pretrained(SHIPPED)
    row = next(row for row in pool.rows if row.parts[0].side < 192)
    pictures = [np.array(pool.pixels(kept)) for kept in (row.whole, row.parts[0], row.small)]
    text = questions("colour", "V4")[5].text
    content = [*({"type": "image", "image": picture} for picture in pictures), {"type": "text", "text": text}]
    chat = [{"role": "user", "content": content}]
    made = processor.apply_chat_template(
        chat, add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="np"
    )
    tokens = tuple((picture.shape[0] // 32) ** 2 for picture in pictures)
    assert tuple(made["input_ids"][0].tolist()) == speech.prompt(text, tokens)
    assert np.allclose(made["pixel_values"], np.concatenate([patches(one) for one in pictures]), atol=1e-6)


@pytest.mark.slow
def test_lessons_look_as_what_is_rendered_of_a_file(tmp_path: Path) -> None:
    """The whole picture, made small, and a region: within two levels of 255 on average."""
    (tmp_path / "images").mkdir()
    for planned in plan_chart(5, BLOCK)[:6]:
        paint_picture(planned, tmp_path)
        path, painter = tmp_path / planned.image, ScenePainter(draw_scene(planned.picture, planned.seed))
        whole, small = render_whole(painter)
        views = {"full": whole, str(planned.evidence): render(painter, planned.evidence)}
        for region, lesson in views.items():
            assert _difference(render_file(path, View(image="", region=region), budget()).pixels, lesson) < 2
        thumbnail = View(image="", sizing="longest:64")
        assert _difference(render_file(path, thumbnail, budget()).pixels, small) < 2


def _difference(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    assert one.shape == other.shape
    return float(np.abs(one.astype(int) - other.astype(int)).mean())


def test_turned_pictures_are_said_to_show_what_they_show(pool: Pool, speech: ChatEncoder) -> None:
    """Of large rings the gap is looked for in the pixels; each direction and colour occurs."""
    drawer, seen = BatchSampler(pool, speech, 1), Counter[str]()
    for shown in (one for _ in range(4) for one in drawer.batch(16, "close").shown):
        assert _gap(shown) == DIRECTIONS[shown.direction]
        seen[DIRECTIONS[shown.direction]] += 1
    assert set(seen) == set(DIRECTIONS)


def _gap(shown: LessonRasters) -> str:
    """Where the stroke of a ring is missing, of its four sides' middles."""
    (pixels,) = shown.pixels
    ring = np.abs(pixels.astype(int) - PIGMENTS[COLOURS[shown.colour]]).sum(2) < 60
    rows, columns = np.flatnonzero(ring.any(1)), np.flatnonzero(ring.any(0))
    y, x = (int(some[0] + some[-1]) // 2 for some in (rows, columns))
    half = int(max(np.ptp(rows), np.ptp(columns)) * 0.4)
    sides = {"up": ring[y - half, x], "right": ring[y, x + half], "down": ring[y + half, x], "left": ring[y, x - half]}
    (missing,) = [name for name, there in sides.items() if not there]
    return missing


def test_chats_have_the_right_letters(pool: Pool, speech: ChatEncoder) -> None:
    """Letters are balanced, and nothing of a picture's answer stands in its prompt."""
    batch = BatchSampler(pool, speech, 2).batch(400, "all")
    letters = Counter(chat.target for chat in batch.chats[:400])
    assert set(letters) == set(speech.letters) and min(letters.values()) >= 70
    asked = {speech.prompt(one.text, (36,)) for attribute in ATTRIBUTES for one in questions(attribute, "V2")}
    assert all(
        chat.prompt in asked
        for chat in batch.chats[:400]
        if chat.about is not None and batch.shown[chat.about].condition == "V2"
    )


def test_the_same_seed_learns_the_same(pool: Pool, speech: ChatEncoder, tmp_path: Path) -> None:
    """Two steps give bit-identical weights and lower losses than none; another seed gives others."""
    one, two, other = (_learnt(pool, speech, tmp_path, seed) for seed in (1, 1, 2))
    assert all(np.array_equal(one[name], two[name]) for name in one)
    assert not all(np.array_equal(one[name], other[name]) for name in one)


def _learnt(pool: Pool, speech: ChatEncoder, folder: Path, seed: int) -> dict[str, Any]:
    from gigavqa_acuity.sight.training import TrainingRecipe, make_model, train

    write_without_weights(SIGHT, folder)
    model = make_model(folder, seed)
    recipe = TrainingRecipe(steps=2, showings=6, close=1, large=1)
    train(model, BatchSampler(pool, speech, seed), speech, recipe, lambda _: None)
    return {name: weight.detach().numpy().copy() for name, weight in model.named_parameters()}
