"""A small Phi-4-Reasoning-Vision checkpoint. Tensors: vLLM, models/phi4siglip.py, under the published names.

As the published one it names code that it would bring; here that code does not exist.
"""

from typing import Any

from gigavqa.catalogue.families import phi4
from gigavqa.workers.checkpoints.tensors import (
    HEAD,
    HEADS,
    HIDDEN,
    KV_HEADS,
    LAYERS,
    MLP,
    NUM_TOKENS,
    Shapes,
    TokenIds,
    add_prefix,
    decoder,
    linear,
    norms,
    text_config,
)
from gigavqa.workers.checkpoints.writing import CheckpointDesign
from tests.checkpoints.siglip import VISION, siglip_block, siglip_config

MIN_PATCHES, MAX_PATCHES = 256, 1024
_PATCH, _POSITIONS = 16, 256
_TOWER = "model.vision_tower.vision_tower.vision_model"


def _config(token_ids: TokenIds) -> dict[str, Any]:
    return text_config("phi4-siglip", token_ids) | {
        "architectures": ["Phi4ForCausalLMV"],
        "auto_map": {"AutoConfig": "modeling_phi4_visionr.Phi4VisionRConfig"},
        "original_max_position_embeddings": 8192,
        "mm_hidden_size": VISION,
        "mm_projector_type": "mlp2x_gelu",
        "min_num_patches": MIN_PATCHES,
        "max_num_patches": MAX_PATCHES,
        # One layer more than is used: vLLM takes the last but one.
        "vision_config": siglip_config(_PATCH)
        | {"model_type": "siglip2_vision_model", "num_patches": _POSITIONS, "num_hidden_layers": LAYERS + 1},
    }


def _shapes() -> Shapes:
    yield "lm_head.weight", (NUM_TOKENS, HIDDEN)
    yield from decoder("model", *(_layer() for _ in range(LAYERS)))
    yield from add_prefix(f"{_TOWER}.embeddings.patch_embedding", linear(VISION, 3 * _PATCH**2))
    yield f"{_TOWER}.embeddings.position_embedding.weight", (_POSITIONS, VISION)
    for layer in range(LAYERS):
        yield from add_prefix(f"{_TOWER}.encoder.layers.{layer}", siglip_block())
    yield from add_prefix("model.mm_projector.0", linear(HIDDEN, VISION))
    yield from add_prefix("model.mm_projector.2", linear(HIDDEN, HIDDEN))


def _layer() -> Shapes:
    """A layer of Phi-3, whose projections are stored joined."""
    yield from norms()
    yield "self_attn.qkv_proj.weight", ((HEADS + 2 * KV_HEADS) * HEAD, HIDDEN)
    yield "self_attn.o_proj.weight", (HIDDEN, HEADS * HEAD)
    yield "mlp.gate_up_proj.weight", (2 * MLP, HIDDEN)
    yield "mlp.down_proj.weight", (HIDDEN, MLP)


PHI4_VISION = CheckpointDesign(
    image="<image>\n",
    special_tokens=("<image>",),
    special_marks=phi4.PHI4_VISION.marks.written,
    config=_config,
    shapes=_shapes,
    processing={
        "preprocessor_config.json": {
            "auto_map": {"AutoProcessor": "processing_phi4_visionr.Phi4VisionRProcessor"},
            "patch_size": _PATCH,
            "min_num_patches": MIN_PATCHES,
            "max_num_patches": MAX_PATCHES,
            "image_mean": [0.5, 0.5, 0.5],
            "image_std": [0.5, 0.5, 0.5],
        }
    },
    distant_tokens={"<|dummy_0|>": 100256},  # the image's token, whose id is fixed in vLLM
)
