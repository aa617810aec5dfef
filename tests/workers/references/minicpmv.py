"""MiniCPM-V 4.5 and MiniCPM-o 2.6: a SigLIP tower, a cross attention from 64 queries, and Qwen3 or Qwen2."""

import math
from typing import Any

import torch
from PIL import Image

from tests.workers.references.composed import ComposedReference, Tensors, cut, model_of, values, within

MOST_SLICES, SLICE, PATCH = 4, 448, 14
"""As preprocessor_config.json of the small checkpoint has them."""


class MiniCPMVReference(ComposedReference):
    """The whole picture in one small view, and slices of it in the grid nearest to its shape, 64 embeddings each."""

    mark = "(<image>./</image>)"
    place = "<unk>"

    def assemble(self, tensors: Tensors) -> None:
        """The tower is Idefics2's, which is SigLIP's with positions that fit any shape."""
        from transformers import Qwen2Config, Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM
        from transformers.models.idefics2.configuration_idefics2 import Idefics2VisionConfig
        from transformers.models.idefics2.modeling_idefics2 import Idefics2VisionTransformer

        vision = {name: value for name, value in self.config["vision_config"].items() if name != "model_type"}
        self._tower = model_of(Idefics2VisionTransformer, Idefics2VisionConfig(**vision), within(tensors, "vpm."))
        self._resampler = Resampler(within(tensors, "resampler."), heads=self.config["hidden_size"] // 128)
        own = {name: value for name, value in self.config.items() if not name.startswith(("vision", "auto_map"))}
        if own.pop("model_type") == "minicpmo":
            kind, config = Qwen2ForCausalLM, Qwen2Config(**own)
        else:
            kind, config = Qwen3ForCausalLM, Qwen3Config(**own)
        self.model: Any = model_of(kind, config, within(tensors, "llm."))

    def see(self, picture: Image.Image, number: int, of: int) -> tuple[str, torch.Tensor]:
        """The small view first, then the slices row by row, each row of them on a line of its own."""
        columns, rows = _grid(picture.width, picture.height)
        pieces = [picture.resize(_best(*picture.size, may_grow=columns * rows == 1), Image.Resampling.BICUBIC)]
        places = self.place * self.config["query_num"]
        text = f"<image_id>{number}</image_id><image>{places}</image>"
        if columns * rows > 1:
            width, height = (_round(s, n) / n for s, n in zip(picture.size, (columns, rows), strict=True))
            width, height = _best(width, height, may_grow=True)
            large = picture.resize((width * columns, height * rows), Image.Resampling.BICUBIC)
            pieces += cut(large, columns, rows)
            text += "\n".join([f"<slice>{places}</slice>" * columns] * rows)
        return text, torch.cat([self._piece(piece) for piece in pieces])

    def _piece(self, piece: Image.Image) -> torch.Tensor:
        found = self._tower(values(piece)[None]).last_hidden_state[0]
        return self._resampler(found, piece.height // PATCH, piece.width // PATCH)


class Resampler(torch.nn.Module):
    """Attention from learned queries to patches, whose keys know their row and column."""

    def __init__(self, tensors: Tensors, heads: int) -> None:
        super().__init__()
        hidden, vision = tensors["kv_proj.weight"].shape
        self.query = torch.nn.Parameter(torch.empty_like(tensors["query"]))
        self.proj = torch.nn.Parameter(torch.empty(hidden, hidden))
        self.kv_proj = torch.nn.Linear(vision, hidden, bias=False)
        self.attn = torch.nn.MultiheadAttention(hidden, heads, batch_first=True)
        for name in ("ln_q", "ln_kv", "ln_post"):
            self.add_module(name, torch.nn.LayerNorm(hidden, eps=1e-6))
        self.load_state_dict(tensors)

    def forward(self, found: torch.Tensor, rows: int, columns: int) -> torch.Tensor:
        """Patches (N x vision) to embeddings (queries x hidden)."""
        patches = self.ln_kv(self.kv_proj(found))
        keys = patches + positions(rows, columns, patches.shape[1])
        queries = self.ln_q(self.query)
        read, _ = self.attn(queries[None], keys[None], patches[None], need_weights=False)
        result: torch.Tensor = self.ln_post(read[0]) @ self.proj
        return result


def positions(rows: int, columns: int, width: int) -> torch.Tensor:
    """Sines and cosines of the column in the first half of each vector, of the row in the second."""
    frequencies = 10000.0 ** -(torch.arange(width // 4) / (width / 4))
    of_columns, of_rows = (torch.outer(torch.arange(n).float(), frequencies) for n in (columns, rows))
    column, row = (torch.cat([angles.sin(), angles.cos()], 1) for angles in (of_columns, of_rows))
    across, down = column.expand(rows, -1, -1), row[:, None].expand(-1, columns, -1)
    return torch.cat([across, down], -1).flatten(0, 1)


def _grid(width: int, height: int) -> tuple[int, int]:
    wanted = min(math.ceil(width * height / SLICE**2), MOST_SLICES)
    if wanted <= 1:
        return 1, 1
    numbers = [n for n in (wanted - 1, wanted, wanted + 1) if n not in (1, MOST_SLICES + 1)]
    grids = [(c, n // c) for n in numbers for c in range(1, n + 1) if n % c == 0]
    return min(grids, key=lambda grid: abs(math.log(width / height) - math.log(grid[0] / grid[1])))


def _best(width: float, height: float, *, may_grow: bool) -> tuple[int, int]:
    if may_grow or width * height > SLICE**2:
        shape = width / height
        height = int(SLICE / math.sqrt(shape))
        width = int(height * shape)
    return _round(width, PATCH), _round(height, PATCH)


def _round(length: float, unit: int) -> int:
    return max(round(length / unit) * unit, unit)
