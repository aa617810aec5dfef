"""Phi-4-Reasoning-Vision: SigLIP2's tower up to its last layer but one, two linear layers, and Phi-3."""

import math

import torch
from PIL import Image

from tests.workers.references.composed import ComposedReference, Tensors, model_of, patches, perceptron, values, within

_TOWER = "model.vision_tower.vision_tower.vision_model."


class Phi4Reference(ComposedReference):
    """One embedding for every patch of a picture in its native resolution."""

    mark = place = "<image>"

    def assemble(self, tensors: Tensors) -> None:
        """The tower's layer that nobody uses is not in the checkpoint, nor is the norm behind it."""
        from transformers import Phi3Config, Phi3ForCausalLM, Siglip2VisionConfig
        from transformers.models.siglip2.modeling_siglip2 import Siglip2EncoderLayer, Siglip2VisionEmbeddings

        vision = dict(self.config["vision_config"])
        layers = vision.pop("num_hidden_layers") - 1
        tower = Siglip2VisionConfig(**vision, num_hidden_layers=layers, attn_implementation="eager")
        self._embed = Siglip2VisionEmbeddings(tower)
        self._embed.load_state_dict(within(tensors, f"{_TOWER}embeddings."))
        self._layers = [Siglip2EncoderLayer(tower) for _ in range(layers)]
        for number, layer in enumerate(self._layers):
            layer.load_state_dict(within(tensors, f"{_TOWER}encoder.layers.{number}."))
        self._project = perceptron(tensors, "model.mm_projector.0", "model.mm_projector.2")
        own = {name: value for name, value in self.config.items() if not name.startswith(("vision", "auto_map"))}
        language = {n: t for n, t in tensors.items() if "vision_tower" not in n and "mm_projector" not in n}
        self.model = model_of(Phi3ForCausalLM, Phi3Config(**own | {"model_type": "phi3"}), language)

    def see(self, picture: Image.Image, number: int, of: int) -> tuple[str, torch.Tensor]:
        """Patches of the largest size whose patches are as many as the picture's own, within the limits."""
        side = self._embed.patch_size
        columns, rows = self._grid(picture)
        picture = picture.resize((columns * side, rows * side), Image.Resampling.BILINEAR)
        # Colours are innermost in a patch's values.
        pixels = patches(values(picture), side).permute(0, 2, 3, 1).flatten(1)[None]
        found = self._embed(pixels, torch.tensor([[rows, columns]]))
        for layer in self._layers:
            found = layer(found, attention_mask=None)
        return self.place * (columns * rows), self._project(found[0])

    def _grid(self, picture: Image.Image) -> tuple[int, int]:
        side = self._embed.patch_size
        own = (picture.width // side) * (picture.height // side)
        most = max(min(own, self.config["max_num_patches"]), self.config["min_num_patches"])
        low, high = 1e-6, 100.0
        grid = (1, 1)
        while high - low >= 1e-5:
            scale = (low + high) / 2
            columns, rows = (max(1, math.ceil(length * scale / side)) for length in picture.size)
            if columns * rows <= most:
                low, grid = scale, (columns, rows)
            else:
                high = scale
        return grid
