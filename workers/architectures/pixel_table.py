"""Normalizes pictures where they are encoded: bytes cross to the engine, and a table makes the encoder's numbers.

A channel has 256 values at most, so the table holds what the family's own preprocessing makes of each, rounded once to
the model's type: bit for bit what vLLM 0.32 has of the same picture when the processor normalizes it in float32 and
`_postprocess_output` (multimodal/processing/context.py:361-372) rounds it. A byte is half of a bfloat16 to send and
to keep, and the host touches no float.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import nn

INTERLEAVED = -1
"""The channels lie side by side in the last dimension: red, green, blue, red ..."""
PLANAR = -2
"""They lie one after the other in the last dimension: all of red, all of green, all of blue."""
_IN_LAST_DIMENSION = {INTERLEAVED: (-1, 3), PLANAR: (3, -1)}
PIXEL_NAMES = ("pixel_values",)
"""The inputs of most models that are pictures."""


class PixelTable(nn.Module):  # type: ignore[misc]
    """Turns bytes into the numbers of `values`, 3 x 256 by channel and byte, in `dtype`; other numbers stay.

    `axis` is the dimension of the channels, or INTERLEAVED, or PLANAR.
    """

    values: torch.Tensor

    def __init__(self, values: torch.Tensor, dtype: torch.dtype, axis: int) -> None:
        super().__init__()
        self._axis = axis
        self._is_shared = bool((values == values[:1]).all())
        # Not of a checkpoint, which a loader would miss it in, or a dummy one fill it.
        device = torch.get_default_device()
        self.register_buffer("values", values.to(dtype).contiguous().to(device), persistent=False)

    def forward(self, pixels: Any) -> Any:
        """Look up a tensor, or those of a list of lists."""
        if not isinstance(pixels, torch.Tensor):
            return [self.forward(each) for each in pixels]
        if pixels.dtype != torch.uint8:
            return pixels
        if self._is_shared:
            return _look_up(self.values[0], pixels)
        parts = _IN_LAST_DIMENSION.get(self._axis)
        whole = pixels.unflatten(-1, parts) if parts else pixels
        found = torch.empty(whole.shape, dtype=self.values.dtype, device=pixels.device)
        for channel, values in enumerate(self.values):
            found.select(self._axis, channel).copy_(_look_up(values, whole.select(self._axis, channel)))
        return found.view(pixels.shape)


class DeviceNormalization:
    """Makes a model of vLLM's take bytes: the base that stands before it, with the table of its own preprocessing."""

    supports_mm_device_do_normalize: ClassVar[bool] = True
    supports_encoder_cudagraph: ClassVar[bool] = False  # graphs take pixels that did not pass `embed_multimodal`
    pixel_names: ClassVar[Sequence[str]] = PIXEL_NAMES
    channel_axis: ClassVar[int] = 1

    def __init__(self, *, vllm_config: Any, prefix: str = "") -> None:
        super().__init__(vllm_config=vllm_config, prefix=prefix)  # type: ignore[call-arg]
        config = vllm_config.model_config
        self.pixel_table = PixelTable(self.normalized_bytes(config), config.dtype, self.channel_axis)

    @staticmethod
    def normalized_bytes(config: Any) -> torch.Tensor:
        """What the preprocessing of the model of this vLLM configuration makes of each byte: 3 x 256, in float32."""
        raise NotImplementedError

    def embed_multimodal(self, **inputs: Any) -> Any:
        """Encode pictures, normalized or not."""
        found = look_up_inputs(self.pixel_table, inputs, self.pixel_names)
        return super().embed_multimodal(**inputs | found)  # type: ignore[misc]


def look_up_inputs(table: PixelTable, inputs: Mapping[str, Any], names: Sequence[str] = PIXEL_NAMES) -> dict[str, Any]:
    """Return those of a model's inputs that are pictures, in the encoder's numbers."""
    return {name: table(inputs[name]) for name in names if inputs.get(name) is not None}


def every_byte() -> torch.Tensor:
    """A picture, 3 x 1 x 256, in which each channel has each byte once."""
    return torch.arange(256, dtype=torch.uint8).expand(3, 1, 256)


def of_transformers(config: Any) -> torch.Tensor:
    """What transformers' image processor of this model makes of each byte, as its own settings say."""
    from vllm.transformers_utils.processor import get_image_processor

    # Not through vLLM's configuration, which has it leave out exactly this.
    processor = get_image_processor(config.model, revision=config.revision)
    return _normalized(processor, every_byte())


def _normalized(processor: Any, picture: torch.Tensor) -> torch.Tensor:
    names = ("do_rescale", "rescale_factor", "do_normalize", "image_mean", "image_std")
    settings: Mapping[str, Any] = {name: getattr(processor, name) for name in names}
    settings = {name: tuple(each) if isinstance(each, list) else each for name, each in settings.items()}
    values: torch.Tensor = processor.rescale_and_normalize(picture, **settings)
    return values.float().reshape(3, 256)


def _look_up(values: torch.Tensor, pixels: torch.Tensor) -> torch.Tensor:
    return values.index_select(0, pixels.reshape(-1).int()).view(pixels.shape)
