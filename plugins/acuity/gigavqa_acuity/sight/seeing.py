"""Forward passes of a step: each raster is looked at once, however many chats are about it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from transformers.models.qwen3_vl.modeling_qwen3_vl import BaseModelOutputWithDeepstackFeatures

from gigavqa_acuity.sight.batches import ANYTHING, Batch, LessonRasters, patches
from gigavqa_acuity.sight.chats import ChatEncoder
from gigavqa_acuity.sight.design import PATCH
from gigavqa_acuity.taxonomy import COLOURS, DIRECTIONS

_CLEAR = 3
"""Pixels from which on the heads are asked about a ring."""
Seen = Sequence[Any]
"""What becomes of one raster: its visual tokens, and those of each deepstack level."""


class SightModel:
    """The model, with heads on its visual tokens that learning needs and nothing else does."""

    def __init__(self, model: Any) -> None:
        self.model = model
        width = model.config.text_config.hidden_size
        self.attend, self.tell = nn.Linear(width, 1), nn.Linear(width, len(COLOURS) + len(DIRECTIONS))
        # A convolution whose stride is its kernel is one product of matrices, which a CPU makes in half the time.
        projection = model.model.visual.patch_embed.proj
        self._embed = lambda rows: functional.linear(rows, projection.weight.flatten(1), projection.bias)

    def parameters(self) -> list[Any]:
        """Return all that is learned."""
        return [*self.model.parameters(), *self.attend.parameters(), *self.tell.parameters()]

    def see(self, shown: Sequence[LessonRasters]) -> tuple[list[Seen], Any]:
        """Return what becomes of the rasters of each showing, and the loss of the heads."""
        rasters = [pixels for one in shown for pixels in one.pixels]
        values = torch.from_numpy(np.concatenate([patches(each) for each in rasters]))
        grid = torch.tensor([[1, each.shape[0] // PATCH, each.shape[1] // PATCH] for each in rasters])
        visual = self.model.model.visual
        made, visual.patch_embed.forward = visual.patch_embed.forward, self._embed
        try:
            out = self.model.model.get_image_features(values, grid, return_dict=True)
        finally:
            visual.patch_embed.forward = made
        seen = list(zip(out.pooler_output, *out.deepstack_features, strict=True))
        loss = self._told([raster[0] for raster in seen], shown)
        rest = iter(seen)
        return [[next(rest) for _ in one.pixels] for one in shown], loss

    def _told(self, tokens: Sequence[Any], shown: Sequence[LessonRasters]) -> Any:
        labels = [(one.colour, one.direction, size) for one in shown for size in one.shown]
        clear = [at for at, (*_, size) in enumerate(labels) if size >= _CLEAR]
        pooled = [(self.attend(tokens[at]).softmax(0) * tokens[at]).sum(0) for at in clear]
        colours, directions = self.tell(torch.stack(pooled)).split((len(COLOURS), len(DIRECTIONS)), -1)
        wanted = torch.tensor([labels[at][:2] for at in clear])
        return functional.cross_entropy(colours, wanted[:, 0]) + functional.cross_entropy(directions, wanted[:, 1])


def answers(model: Any, speech: ChatEncoder, batch: Batch, seen: Sequence[Seen]) -> Any:
    """Logits of the two tokens that answer each chat, chats x 2 x tokens."""
    longest = max(len(chat.prompt) for chat in batch.chats) + 1
    ids = torch.zeros(len(batch.chats), longest, dtype=torch.long)
    places = torch.zeros(3, len(batch.chats), longest, dtype=torch.long)
    for row, chat in enumerate(batch.chats):
        size = len(chat.prompt)
        ids[row, :size] = torch.tensor(chat.prompt)
        ids[row, size] = speech.letters[row % len(speech.letters)] if chat.target == ANYTHING else chat.target
        pixels = () if chat.about is None else batch.shown[chat.about].pixels
        places[:, row, : size + 1] = _places(model, chat.prompt, [each.shape[0] // PATCH for each in pixels])
    about = [raster for chat in batch.chats if chat.about is not None for raster in seen[chat.about]]
    tokens, *levels = zip(*about, strict=True) if about else ((),)
    features = BaseModelOutputWithDeepstackFeatures(pooler_output=tokens, deepstack_features=levels)
    hidden = model.model(
        input_ids=ids,
        attention_mask=torch.ones_like(ids),  # what pads a row stands behind its answer
        position_ids=places,
        mm_encoder_outputs={"image": features} if about else None,
        use_cache=False,
    ).last_hidden_state
    ends = torch.tensor([len(chat.prompt) for chat in batch.chats])
    rows = torch.arange(len(ends))
    return model.lm_head(torch.stack([hidden[rows, ends - 1], hidden[rows, ends]], 1))


def _places(model: Any, prompt: tuple[int, ...], sides: Sequence[int]) -> Any:
    """Positions of a prompt and of one token behind it."""
    ids = torch.tensor([[*prompt, 0]])
    grid = torch.tensor([[1, side, side] for side in sides]) if sides else None
    kinds = (ids == model.config.image_token_id).int()
    return model.model.get_rope_index(ids, kinds, grid)[0][:, 0]
