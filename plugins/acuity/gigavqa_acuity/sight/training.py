"""Trains the small model with transformers' own classes: seeded, on one core of a CPU."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn import functional
from transformers import AutoConfig, Qwen3VLForConditionalGeneration

from gigavqa_acuity.sight.batches import ANYTHING, Batch, BatchSampler, Stage
from gigavqa_acuity.sight.chats import ChatEncoder
from gigavqa_acuity.sight.seeing import SightModel, answers

_WORTH = {"answers": 1.0, "ends": 0.1, "anything": 0.1, "heads": 0.5}
_CLIP = 1.0
_LAST_RATE = 0.02


@dataclass(frozen=True)
class TrainingRecipe:
    """The recipe of training; the stages before the last end at the steps that `close` and `large` name.

    In the first `apart` steps what sees and what speaks learn side by side: the one by its heads, the other by chats
    that tell the answer.
    """

    steps: int = 2400
    showings: int = 64
    rate: float = 2e-3
    warm_up: int = 100
    decay: float = 0.05
    apart: int = 850
    close: int = 480
    large: int = 640

    def stage(self, step: int) -> Stage:
        """Return what is shown in a step."""
        return "close" if step < self.close else "large" if step < self.large else "all"


class StepLosses(NamedTuple):
    """A step's number and its losses."""

    step: int
    answers: float
    ends: float
    anything: float
    heads: float


def make_model(folder: Path, seed: int) -> Any:
    """Return a model of random weights, as a folder's configuration describes it."""
    torch.manual_seed(seed)
    model = Qwen3VLForConditionalGeneration(AutoConfig.from_pretrained(folder))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name.endswith(("embed_tokens.weight", "pos_embed.weight")):
                weight.normal_(0, 0.1)
            elif weight.dim() > 1:
                weight.normal_(0, 1 / math.sqrt(weight[0].numel()))
    return model


def train(
    model: Any,
    drawer: BatchSampler,
    speech: ChatEncoder,
    recipe: TrainingRecipe,
    progress: Callable[[StepLosses], None],
) -> None:
    """Teach a model for all steps of a recipe."""
    eyes = SightModel(model)
    optimizer = torch.optim.AdamW(_groups(eyes, recipe), lr=recipe.rate, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step, recipe))
    model.train()
    for step in range(recipe.steps):
        batch = drawer.batch(recipe.showings, recipe.stage(step), apart=step < recipe.apart)
        losses = _losses(eyes, speech, batch)
        torch.stack([_WORTH[name] * loss for name, loss in losses.items()]).sum().backward()
        nn.utils.clip_grad_norm_(eyes.parameters(), _CLIP)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        progress(StepLosses(step, **{name: float(loss.detach()) for name, loss in losses.items()}))
    model.eval()


def _losses(eyes: SightModel, speech: ChatEncoder, batch: Batch) -> dict[str, Any]:
    """Losses of letters and words, of the ends behind them, of chats that no letter answers, and of the heads."""
    seen, heads = eyes.see(batch.shown)
    logits = answers(eyes.model, speech, batch, seen)
    targets = torch.tensor([chat.target for chat in batch.chats])
    blind = targets == ANYTHING
    letters = functional.log_softmax(logits[blind, 0], -1)[:, torch.tensor(speech.letters)]
    return {
        "answers": functional.cross_entropy(logits[~blind, 0], targets[~blind]),
        "ends": functional.cross_entropy(logits[:, 1], torch.full_like(targets, speech.end)),
        "anything": -letters.mean(),
        "heads": heads,
    }


def _rate(step: int, recipe: TrainingRecipe) -> float:
    """Share of the highest rate: a warm-up, another one where all begins to learn together, then half a cosine."""
    since = step - recipe.apart if step >= recipe.apart else step
    if since < recipe.warm_up:
        return (since + 1) / recipe.warm_up
    if step < recipe.apart:
        return 1.0
    done = (since - recipe.warm_up) / max(1, recipe.steps - recipe.apart - recipe.warm_up)
    return _LAST_RATE + (1 - _LAST_RATE) * 0.5 * (1 + math.cos(math.pi * done))


def _groups(eyes: SightModel, recipe: TrainingRecipe) -> list[dict[str, Any]]:
    """Matrices decay; biases and norms do not."""
    matrices = [weight for weight in eyes.parameters() if weight.dim() > 1]
    others = [weight for weight in eyes.parameters() if weight.dim() <= 1]
    return [{"params": matrices, "weight_decay": recipe.decay}, {"params": others, "weight_decay": 0.0}]
