"""The shape of a model: what its size, its KV cache and its work are counted from."""

from collections.abc import Mapping
from dataclasses import dataclass

from gigavqa.catalogue.quantization import Quantization

_MLP = ("gate_proj", "up_proj", "down_proj")


@dataclass(frozen=True)
class AttentionShape:
    """Layers that keep keys and values: `window` is how many tokens back they see, None for all."""

    layers: int
    heads: int
    kv_heads: int
    head: int
    window: int | None = None

    def token_bytes(self, number: int, itemsize: float) -> float:
        """Bytes of a token's keys and values in one layer, on each of `number` GPUs: heads are divided, or copied."""
        return 2 * max(1, -(-self.kv_heads // number)) * self.head * itemsize


@dataclass(frozen=True)
class LatentShape:
    """Latent attention (MLA): one vector of `rank` and `turned` numbers a token, the same for all heads."""

    layers: int
    heads: int
    rank: int
    plain: int
    turned: int
    value: int

    def token_bytes(self, itemsize: float) -> float:
        """Bytes of a token's vector in one layer, on every GPU."""
        return (self.rank + self.turned) * itemsize


@dataclass(frozen=True)
class RecurrentShape:
    """Linear attention (gated delta rule): a state for each sequence, of whatever length."""

    layers: int
    key_heads: int
    value_heads: int
    key: int
    value: int
    kernel: int


@dataclass(frozen=True)
class LinearShape:
    """Matrices of one name, in `layers` of the layers, with `parameters` in all; `is_routed` where experts have them,
    each its own.
    """

    name: str
    layers: int
    parameters: int
    is_routed: bool = False


@dataclass(frozen=True)
class LanguageShape:
    """The language model. `dense_layers` have an MLP of `intermediate`, the others experts; `gated` queries are twice
    as wide; of experts each token goes through `active`, and through `shared` as one MLP of that width.
    """

    hidden: int
    vocabulary: int
    tied: bool
    gated: bool
    attention: tuple[AttentionShape, ...]
    latent: LatentShape | None
    recurrent: RecurrentShape | None
    intermediate: int
    dense_layers: int
    expert_layers: int = 0
    experts: int = 0
    active: int = 0
    expert_intermediate: int = 0
    shared: int = 0

    @property
    def layers(self) -> int:
        """Number of all layers."""
        others = (part.layers for part in (self.latent, self.recurrent) if part)
        return sum(part.layers for part in self.attention) + sum(others)

    @property
    def linears(self) -> tuple[LinearShape, ...]:
        """Matrices of the layers, under the names that checkpoints give them; routers are none that is quantized."""
        found = [each for part in self.attention for each in self._attention_linears(part)]
        if mla := self.latent:
            query, out = mla.heads * (mla.plain + mla.turned), mla.heads * mla.value
            widths = {"q_proj": query, "kv_a_proj_with_mqa": mla.rank + mla.turned, "o_proj": out}
            found += self._linears("self_attn", mla.layers, widths)
            up = mla.layers * mla.rank * mla.heads * (mla.plain + mla.value)
            found.append(LinearShape("self_attn.kv_b_proj", mla.layers, up))
        if rec := self.recurrent:
            keys, values, heads = rec.key_heads * rec.key, rec.value_heads * rec.value, rec.value_heads
            inner = {"in_proj_qkv": 2 * keys + values, "in_proj_z": values, "in_proj_b": heads, "in_proj_a": heads}
            found += self._linears("linear_attn", rec.layers, inner | {"out_proj": values})
        mlps = {"mlp": (self.dense_layers, self.intermediate), "mlp.shared_experts": (self.expert_layers, self.shared)}
        for name, (layers, width) in mlps.items():
            found += self._linears(name, layers, dict.fromkeys(_MLP, width))
        routed = self._linears("mlp.experts.0", self.expert_layers, dict.fromkeys(_MLP, self.expert_intermediate))
        found += [LinearShape(each.name, each.layers, self.experts * each.parameters, True) for each in routed]
        return tuple(each for each in found if each.parameters)

    def _attention_linears(self, part: AttentionShape) -> list[LinearShape]:
        query, keys = part.heads * part.head, part.kv_heads * part.head
        widths = {"q_proj": (1 + self.gated) * query, "k_proj": keys, "v_proj": keys, "o_proj": query}
        return self._linears("self_attn", part.layers, widths)

    def _linears(self, within: str, layers: int, widths: Mapping[str, int]) -> list[LinearShape]:
        """Matrices between the hidden size and these widths."""
        each = {f"{within}.{name}": layers * self.hidden * width for name, width in widths.items()}
        return [LinearShape(name, layers, parameters) for name, parameters in each.items()]

    @property
    def other_parameters(self) -> int:
        """Weights of the layers beside those matrices: routers, and convolutions of linear attention."""
        rec = self.recurrent
        convolution = (2 * rec.key_heads * rec.key + rec.value_heads * rec.value) * rec.kernel if rec else 0
        return self.expert_layers * self.hidden * self.experts + (rec.layers * convolution if rec else 0)

    def layer_parameters(self, experts: float) -> float:
        """Weights of all layers, with so many experts of each layer that has some."""
        shares = ((each.parameters, experts / self.experts if each.is_routed else 1) for each in self.linears)
        return sum(parameters * share for parameters, share in shares) + self.other_parameters

    @property
    def head_parameters(self) -> int:
        """Weights that make a token's scores of the last layer's output."""
        return self.vocabulary * self.hidden

    @property
    def parameters(self) -> int:
        """All weights but those of norms."""
        tables = self.head_parameters * (1 if self.tied else 2)
        return round(self.layer_parameters(self.experts)) + tables

    @property
    def active_parameters(self) -> int:
        """Weights that a token is multiplied with before its scores."""
        return round(self.layer_parameters(self.active))


@dataclass(frozen=True)
class VisionShape:
    """The vision encoder. `full_layers` see a whole picture or tile, the others `window` patches around; `merger` are
    the weights between it and the language model, `merged` patches become one of their inputs.
    """

    layers: int
    hidden: int
    intermediate: int
    matrices: int
    patch: int
    full_layers: int
    window: int
    merger: int
    merged: int
    levels: int = 1
    positions: int = 0
    heads: int = 0
    """0 where nothing says how many."""
    merger_intermediate: int = 0
    """Of an MLP in the merger whose width is another one; else 0."""

    @property
    def block_parameters(self) -> int:
        """Weights that each patch is multiplied with."""
        return self.layers * self.hidden * (4 * self.hidden + self.matrices * self.intermediate)

    @property
    def parameters(self) -> int:
        """All weights but those of norms."""
        return self.block_parameters + self.merger + self.positions * self.hidden


@dataclass(frozen=True)
class ModelShape:
    """A model's language model and vision encoder; `source` is the file that says so."""

    language: LanguageShape
    vision: VisionShape | None
    source: str
    quantization: Quantization | None = None

    @property
    def parameters(self) -> int:
        """All weights but those of norms."""
        return self.language.parameters + (self.vision.parameters if self.vision else 0)

    def quantized(self, experts: float) -> float:
        """Weights of the layers that are quantized, with so many experts of each layer that has some."""
        if (how := self.quantization) is None:
            return 0
        layers = self.language.layers
        return sum(
            each.parameters
            * how.share(each.name, each.layers, layers)
            * (experts / self.language.experts if each.is_routed else 1)
            for each in self.language.linears
        )

    def layer_bytes(self, experts: float, itemsize: float) -> float:
        """Bytes of the layers, with so many experts of each that has some; what is not quantized has `itemsize`."""
        saved = itemsize - self.quantization.bits / 8 if self.quantization else 0
        return self.language.layer_parameters(experts) * itemsize - self.quantized(experts) * saved

    def vision_bytes(self, itemsize: float) -> float:
        """Bytes of the vision encoder, and of what is between it and the language model."""
        if not self.vision:
            return 0
        is_quantized = self.quantization is not None and self.quantization.has_vision
        saved = itemsize - self.quantization.bits / 8 if self.quantization and is_quantized else 0
        return self.vision.parameters * itemsize - (self.vision.block_parameters + self.vision.merger) * saved

    def weight_bytes(self, itemsize: float) -> float:
        """Bytes of all weights; tables of tokens are never taken to be quantized."""
        tables = self.language.parameters - self.language.layer_parameters(self.language.experts)
        layers = self.layer_bytes(self.language.experts, itemsize)
        return layers + tables * itemsize + self.vision_bytes(itemsize)
