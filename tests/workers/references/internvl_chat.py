"""InternVL's chat checkpoints: transformers' InternVL, which is the same architecture, under the other names."""

import re
from typing import Any

import torch
from PIL import Image

from tests.workers.references.composed import ComposedReference, Tensors, cut, model_of, values

_MEAN, _STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
_LLAMA_NAMES = {
    "attention.wo": "self_attn.o_proj",
    "feed_forward.w1": "mlp.gate_proj",
    "feed_forward.w3": "mlp.up_proj",
    "feed_forward.w2": "mlp.down_proj",
    "attention_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "tok_embeddings": "embed_tokens",
    "language_model.output": "language_model.lm_head",
}
_NAMES = {
    r"^vision_model\.embeddings\.class_embedding$": "vision_tower.embeddings.cls_token",
    r"^vision_model\.embeddings\.position_embedding$": "vision_tower.embeddings.position_embeddings",
    r"^vision_model\.embeddings\.patch_embedding": "vision_tower.embeddings.patch_embeddings.projection",
    r"^vision_model\.encoder\.layers\.": "vision_tower.encoder.layer.",
    r"\.ls([12])$": r".lambda_\1",
    r"\.norm1\.": ".layernorm_before.",
    r"\.norm2\.": ".layernorm_after.",
    r"\.attn\.proj\.": ".attention.projection_layer.",
    r"\.attn\.([qk])_norm\.": r".attention.\1_norm.",
    r"^mlp1\.0\.": "multi_modal_projector.layer_norm.",
    r"^mlp1\.1\.": "multi_modal_projector.linear_1.",
    r"^mlp1\.3\.": "multi_modal_projector.linear_2.",
}


class InternVLChatReference(ComposedReference):
    """Tiles of 448 pixels in the grid nearest to the picture's shape, and the whole picture in one behind them."""

    mark = "<image>"
    place = "<IMG_CONTEXT>"

    def assemble(self, tensors: Tensors) -> None:
        """Rename, and part the joined projections of queries, keys and values."""
        from transformers import InternVLConfig, InternVLForConditionalGeneration

        chat, language = self.config, self.config["llm_config"]
        if language["model_type"] == "internlm2":
            language = language | {"model_type": "llama"}
            tensors = _as_llama(tensors, language["num_attention_heads"], language["num_key_value_heads"])
        vision = {name: value for name, value in chat["vision_config"].items() if name != "model_type"}
        vision |= {name: [vision[name], vision[name]] for name in ("image_size", "patch_size")}
        config = InternVLConfig(
            vision_config=vision
            | {"attention_bias": vision["qkv_bias"], "use_qk_norm": vision.get("qk_normalization", False)},
            text_config=language,
            downsample_ratio=chat["downsample_ratio"],
            image_token_id=self.tokenizer.convert_tokens_to_ids(self.place),
            tie_word_embeddings=False,
        )
        self.model: Any = model_of(InternVLForConditionalGeneration, config, _renamed(tensors))
        self._side: int = chat["force_image_size"]

    def see(self, picture: Image.Image, number: int, of: int) -> tuple[str, torch.Tensor]:
        """All tiles, then the thumbnail where there are several."""
        columns, rows = self._grid(picture)
        tiles = cut(self._resized(picture, columns, rows), columns, rows)
        if len(tiles) > 1:
            tiles.append(self._resized(picture, 1, 1))
        found = self.model.get_image_features(
            pixel_values=torch.stack([values(tile, _MEAN, _STD) for tile in tiles]),
            vision_feature_layer=-1,
            vision_feature_select_strategy="default",
        )
        embeddings = found.pooler_output.flatten(0, 1)
        return f"<img>{self.place * len(embeddings)}</img>", embeddings

    def _resized(self, picture: Image.Image, columns: int, rows: int) -> Image.Image:
        return picture.resize((columns * self._side, rows * self._side), Image.Resampling.BICUBIC)

    def _grid(self, picture: Image.Image) -> tuple[int, int]:
        """The grid of the nearest shape; of equally near ones a larger one, if the picture fills half of it."""
        most = self.config["max_dynamic_patch"]
        grids = [(c, r) for c in range(1, most + 1) for r in range(1, most + 1) if c * r <= most]
        best, nearest = (1, 1), float("inf")
        for columns, rows in sorted(grids, key=lambda grid: grid[0] * grid[1]):
            distance = abs(picture.width / picture.height - columns / rows)
            fills = picture.width * picture.height > 0.5 * self._side**2 * columns * rows
            if distance < nearest or (distance == nearest and fills):
                best, nearest = (columns, rows), distance
        return best


def _renamed(tensors: Tensors) -> Tensors:
    renamed: Tensors = {}
    for chat_name, tensor in tensors.items():
        name = chat_name
        for old, new in _NAMES.items() if name.startswith(("vision_model.", "mlp1.")) else ():
            name = re.sub(old, new, name)
        if ".attn.qkv." in name:
            for part, piece in zip("qkv", tensor.chunk(3), strict=True):
                renamed[name.replace(".attn.qkv.", f".attention.{part}_proj.")] = piece
        else:
            renamed[name] = tensor
    return renamed


def _as_llama(tensors: Tensors, heads: int, groups: int) -> Tensors:
    """InternLM2 is Llama with joined projections: of each group of heads its queries, their key, and their value."""
    renamed: Tensors = {}
    for published, tensor in tensors.items():
        name = published
        for old, new in _LLAMA_NAMES.items() if name.startswith("language_model.") else ():
            name = name.replace(f"{old}.", f"{new}.")
        if ".attention.wqkv." in name:
            joined = tensor.unflatten(0, (groups, heads // groups + 2, -1))
            for part, piece in zip("qkv", joined.split([heads // groups, 1, 1], 1), strict=True):
                renamed[name.replace("attention.wqkv", f"self_attn.{part}_proj")] = piece.flatten(0, 2)
        else:
            renamed[name] = tensor
    return renamed
