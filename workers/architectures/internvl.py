"""InternVL in its original layout with pixels as bytes."""

from typing import Any

import numpy as np
import torch
from PIL import Image
from vllm.model_executor.models.internvl import (
    InternVLChatModel,
    InternVLDummyInputsBuilder,
    InternVLMultiModalProcessor,
    InternVLProcessingInfo,
)
from vllm.multimodal import MULTIMODAL_REGISTRY
from vllm.transformers_utils.processors.internvl import (
    InternVLImageProcessor,
    InternVLVideoProcessor,
    build_transform,
    dynamic_preprocess_internvl,
    get_internvl_target_ratios,
)

from gigavqa.workers.architectures.pixel_table import DeviceNormalization, every_byte

_FLAGS = ("do_normalize", "do_rescale")


class ByteTiles(InternVLImageProcessor):  # type: ignore[misc]
    """vLLM's image processor up to its tiles, which are left as bytes."""

    def _images_to_pixel_values_lst(
        self,
        images: list[Image.Image],
        min_dynamic_patch: int | None = None,
        max_dynamic_patch: int | None = None,
        dynamic_image_size: bool | None = None,
    ) -> list[torch.Tensor]:
        least, most = self.resolve_min_max_num(
            min_dynamic_patch=min_dynamic_patch,
            max_dynamic_patch=max_dynamic_patch,
            dynamic_image_size=dynamic_image_size,
            use_thumbnail=False,  # which has no part in the choice of the grid
        )
        return [self._tiles(image.convert("RGB"), get_internvl_target_ratios(least, most)) for image in images]

    def _tiles(self, image: Image.Image, ratios: list[tuple[int, int]]) -> torch.Tensor:
        tiles = dynamic_preprocess_internvl(
            image, target_ratios=ratios, image_size=self.image_size, use_thumbnail=self.use_thumbnail
        )
        found = np.empty((len(tiles), 3, self.image_size, self.image_size), np.uint8)
        for values, tile in zip(found, tiles, strict=True):
            values[:] = np.asarray(tile).transpose(2, 0, 1)
        return torch.from_numpy(found)


class _ProcessingInfo(InternVLProcessingInfo):  # type: ignore[misc]
    def get_image_processor(self, **kwargs: Any) -> InternVLImageProcessor:
        config, asked = self.get_hf_config(), self.ctx.get_merged_mm_kwargs(kwargs)
        kind = ByteTiles if asked.get("do_normalize") is False else InternVLImageProcessor
        limits = ("min_dynamic_patch", "max_dynamic_patch", "dynamic_image_size", "use_thumbnail")
        declared = {"image_size": config.vision_config.image_size} | {name: getattr(config, name) for name in limits}
        return kind(**declared | {name: value for name, value in asked.items() if name not in _FLAGS})

    def get_video_processor(self, **_: Any) -> InternVLVideoProcessor:
        return InternVLVideoProcessor(image_size=self.get_hf_config().vision_config.image_size)


@MULTIMODAL_REGISTRY.register_processor(
    InternVLMultiModalProcessor, info=_ProcessingInfo, dummy_inputs=InternVLDummyInputsBuilder
)
class ByteInternVLChat(DeviceNormalization, InternVLChatModel):  # type: ignore[misc]
    """vLLM's model, on bytes."""

    pixel_names = ("pixel_values_flat",)

    @staticmethod
    def normalized_bytes(config: Any) -> torch.Tensor:
        """As vLLM's transform does it, of whose input no size changes."""
        values: torch.Tensor = build_transform(256)(_square())
        return values[:, 0]


def _square() -> Image.Image:
    """Return a square of 256 pixels whose columns have each byte."""
    return Image.fromarray(every_byte().expand(3, 256, 256).permute(1, 2, 0).contiguous().numpy())
