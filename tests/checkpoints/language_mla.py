"""The decoder of the small DeepSeek-VL2 and Kimi-VL checkpoints: latent attention, a dense layer and one of experts.

Tensor names: vLLM, models/deepseek_v2.py, as published checkpoints of both families have them.
"""

from collections.abc import Mapping
from typing import Any

from gigavqa.workers.checkpoints.tensors import (
    HEADS,
    HIDDEN,
    MLP,
    NUM_TOKENS,
    Shapes,
    TokenIds,
    add_prefix,
    decoder,
    gated_mlp,
    norms,
    text_config,
)

# vLLM on a CPU knows the published latent size alone: 512 and 64 turned by position.
_LATENT, _PLAIN, _TURNED, _VALUE = 512, 16, 64, 16
_EXPERTS, _EXPERT_MLP = 4, 64

SOFTMAX = {
    "model_type": "deepseek_v2",
    "topk_method": "greedy",
    "scoring_func": "softmax",
    "norm_topk_prob": False,
    "routed_scaling_factor": 1.0,
}
"""How DeepSeek-V2 chooses experts, which DeepSeek-VL2 has for its language model."""

SIGMOID = {
    "model_type": "deepseek_v3",
    "topk_method": "noaux_tc",
    "scoring_func": "sigmoid",
    "norm_topk_prob": True,
    "routed_scaling_factor": 2.446,
}
"""How DeepSeek-V3 chooses them, as Kimi-VL does: with a correction for each expert."""


def mla_config(token_ids: TokenIds, routing: Mapping[str, Any]) -> dict[str, Any]:
    """Configuration of the decoder."""
    return text_config(
        token_ids=token_ids,
        **routing,
        architectures=["DeepseekV2ForCausalLM"],
        num_key_value_heads=HEADS,
        head_dim=_TURNED,
        kv_lora_rank=_LATENT,
        q_lora_rank=None,
        qk_nope_head_dim=_PLAIN,
        qk_rope_head_dim=_TURNED,
        v_head_dim=_VALUE,
        first_k_dense_replace=1,
        moe_layer_freq=1,
        n_routed_experts=_EXPERTS,
        n_shared_experts=1,
        num_experts_per_tok=2,
        moe_intermediate_size=_EXPERT_MLP,
        n_group=1,
        topk_group=1,
    )


def mla_decoder(prefix: str, routing: Mapping[str, Any]) -> Shapes:
    """Tensors of the decoder, its head included."""
    yield f"{prefix}.lm_head.weight", (NUM_TOKENS, HIDDEN)
    yield from decoder(f"{prefix}.model", _layer(_dense()), _layer(_experts(corrected=routing is SIGMOID)))


def _layer(mlp: Shapes) -> Shapes:
    yield from norms()
    yield "self_attn.q_proj.weight", (HEADS * (_PLAIN + _TURNED), HIDDEN)
    yield "self_attn.kv_a_proj_with_mqa.weight", (_LATENT + _TURNED, HIDDEN)
    yield "self_attn.kv_a_layernorm.weight", (_LATENT,)
    yield "self_attn.kv_b_proj.weight", (HEADS * (_PLAIN + _VALUE), _LATENT)
    yield "self_attn.o_proj.weight", (HIDDEN, HEADS * _VALUE)
    yield from add_prefix("mlp", mlp)


def _dense() -> Shapes:
    return gated_mlp(HIDDEN, MLP)


def _experts(*, corrected: bool) -> Shapes:
    yield "gate.weight", (_EXPERTS, HIDDEN)
    if corrected:
        yield "gate.e_score_correction_bias", (_EXPERTS,)
    yield from add_prefix("shared_experts", gated_mlp(HIDDEN, _EXPERT_MLP))
    for expert in range(_EXPERTS):
        yield from add_prefix(f"experts.{expert}", gated_mlp(HIDDEN, _EXPERT_MLP))
