"""The vision tower of SigLIP's kind, which the small MiniCPM-V and Phi-4 checkpoints share."""

from typing import Any

from gigavqa.workers.checkpoints.tensors import Shapes, add_prefix, linear

VISION, _VISION_MLP, _VISION_HEADS, _VISION_LAYERS = 64, 128, 4, 2


def siglip_config(patch: int) -> dict[str, Any]:
    """Sizes of the tower, as its configuration names them."""
    return {
        "hidden_size": VISION,
        "intermediate_size": _VISION_MLP,
        "num_hidden_layers": _VISION_LAYERS,
        "num_attention_heads": _VISION_HEADS,
        "patch_size": patch,
    }


def siglip_block() -> Shapes:
    """One layer of the tower."""
    yield from add_prefix("layer_norm1", linear(VISION))
    yield from add_prefix("layer_norm2", linear(VISION))
    for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
        yield from add_prefix(f"self_attn.{name}", linear(VISION, VISION))
    yield from add_prefix("mlp.fc1", linear(_VISION_MLP, VISION))
    yield from add_prefix("mlp.fc2", linear(VISION, _VISION_MLP))
