"""Draws lessons, trains the small model that can see, examines it, and writes it with its card.

    python -m gigavqa_acuity.sight --out sight

Takes about an hour of one core behind four minutes of two. Fails with 1 where the exam does; the checkpoint is written
even so.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from gigavqa.workers.checkpoints.writing import write_without_weights
from gigavqa.workers.engines.vllm.compat.torch_companions import repair_torch_companions
from gigavqa_acuity.sight.batches import BatchSampler
from gigavqa_acuity.sight.card import TrainingSummary, write_card
from gigavqa_acuity.sight.chats import ChatEncoder
from gigavqa_acuity.sight.design import SIGHT
from gigavqa_acuity.sight.exam import judge, measure, sit
from gigavqa_acuity.sight.pool import Pool, write_pool
from gigavqa_acuity.sight.reading import CheckpointReader

POOL_SEED, LESSONS = 100, 10_000
_TOLD_EVERY = 50


def main(words: list[str] | None = None) -> int:
    """Train a checkpoint; returns 0 where it passes its exam."""
    asked = _parser().parse_args(words)
    asked.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        pool = asked.pool or Path(folder)
        if not (pool / "rows.json").exists():
            write_pool(pool, POOL_SEED, asked.lessons)
        made = _train(asked, Pool(pool))
    reader = CheckpointReader(asked.out)
    answers, curve = sit(reader), measure(reader)
    verdict = judge(answers, curve)
    write_card(asked.out, made, verdict, answers, curve)
    print(*(verdict.failures or ("The exam is passed.",)), sep="\n")
    return 1 if verdict.failures else 0


def _train(asked: argparse.Namespace, pool: Pool) -> TrainingSummary:
    repair_torch_companions()
    import torch

    from gigavqa_acuity.sight.training import StepLosses, TrainingRecipe, make_model, train

    torch.set_num_threads(1)  # more threads gain little, and another number of them gives other digits
    tokenizer = write_without_weights(SIGHT, asked.out)
    speech = ChatEncoder(tokenizer, (asked.out / "chat_template.jinja").read_text(encoding="utf-8"))
    recipe = TrainingRecipe() if asked.steps is None else TrainingRecipe(steps=asked.steps)
    model, start = make_model(asked.out, asked.seed), time.perf_counter()

    def progress(told: StepLosses) -> None:
        if told.step % _TOLD_EVERY == _TOLD_EVERY - 1:
            losses = ", ".join(f"{name} {value:.3f}" for name, value in told._asdict().items() if name != "step")
            print(f"step {told.step + 1}, {time.perf_counter() - start:.0f} s: {losses}", flush=True)

    train(model, BatchSampler(pool, speech, asked.seed), speech, recipe, progress)
    weights = sum(weight.numel() for weight in model.parameters())
    made = TrainingSummary(
        weights, asked.seed, len(pool.rows), recipe.steps, recipe.showings, time.perf_counter() - start
    )
    model.save_pretrained(asked.out)
    write_without_weights(SIGHT, asked.out)  # as the product writes it: transformers adds what it knows by default
    return made


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m gigavqa_acuity.sight", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("sight"), help="folder of the checkpoint")
    parser.add_argument("--seed", type=int, default=14, help="of the weights and of what is shown when")
    parser.add_argument("--steps", type=int, help="of 64 showings each, about 1.1 s; the recipe's if omitted")
    parser.add_argument("--lessons", type=int, default=LESSONS, help="pictures that are drawn; 3.5 GB on disk")
    parser.add_argument("--pool", type=Path, help="keep the drawn lessons in this folder, and take them from there")
    return parser


if __name__ == "__main__":
    sys.exit(main())
