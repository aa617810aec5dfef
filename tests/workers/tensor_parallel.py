"""Makes the layers of every family's small checkpoint as the first of four GPUs would, in a process of its own.

Prints a line of JSON for each: the entry, what was changed of it, whether vLLM made it, and what is said not to be
divided.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.load import read_entry
from gigavqa.catalogue.shape_configs import shape_of
from gigavqa.workers.engines.vllm.arguments import engine_arguments
from gigavqa.workers.engines.vllm.compat.torch_companions import repair_torch_companions
from gigavqa.workers.engines.vllm.division import divide
from tests.checkpoints.build import ensure_checkpoint
from tests.workers.forked_engines import inspect_models_here

NUMBER = 4
CHANGES: Mapping[str, tuple[Mapping[str, int], Mapping[str, str]]] = {
    "as they are": ({}, {}),
    "heads": ({"num_heads": 2, "num_attention_heads": 2}, {}),
    "heads, the encoder whole": ({"num_heads": 2, "num_attention_heads": 2}, {"mm_encoder_tp_mode": "data"}),
    "widths": ({"intermediate_size": 130}, {}),
}
"""Of the vision encoder's configuration, and of the entry's arguments."""


def changed(config: Mapping[str, Any], vision: Mapping[str, int], *, is_vision: bool = False) -> dict[str, Any]:
    """A configuration whose encoder says otherwise; heads of linear attention are as many as the GPUs."""
    others = vision if is_vision else {"linear_num_key_heads": NUMBER, "linear_num_value_heads": NUMBER}
    return {
        name: changed(value, vision, is_vision=is_vision or name in {"vision_config", "vit_config"})
        if isinstance(value, dict)
        else others.get(name, value)
        for name, value in config.items()
    }


def entries(folder: Path) -> Iterator[tuple[str, CatalogueEntry]]:
    """Every family's entry under each change, its checkpoint's configuration in a folder of its own."""
    for path in sorted((Path(__file__).parent / "families").glob("*.toml")):
        entry = read_entry(path)
        whole = ensure_checkpoint(entry.weights, folder)
        for number, (name, (vision, arguments)) in enumerate(CHANGES.items()):
            place = folder / f"{entry.id}-{number}"
            place.mkdir()
            for file in whole.iterdir():
                (place / file.name).symlink_to(file)
            config = json.loads((whole / "config.json").read_text())
            (place / "config.json").unlink()
            (place / "config.json").write_text(json.dumps(changed(config, vision)))
            yield name, entry.model_copy(update={"weights": str(place), "engine": {**entry.engine, **arguments}})


def be_first_of_many() -> None:
    """Have vLLM believe that three more processes make their part."""
    import vllm.distributed.parallel_state as groups

    for name in ("_TP", "_PP", "_DP", "_EP", "_DCP", "_PCP", "_EPLB"):
        size = NUMBER if name == "_TP" else 1
        group = MagicMock(world_size=size, rank_in_group=0, is_first_rank=True, is_last_rank=True)
        setattr(groups, name, group)


def is_made(entry: CatalogueEntry) -> bool:
    """Whether vLLM makes the model's layers."""
    from vllm.config import set_current_vllm_config
    from vllm.engine.arg_utils import AsyncEngineArgs
    from vllm.model_executor.model_loader.utils import initialize_model

    config = AsyncEngineArgs(**engine_arguments(entry, entry.weights, is_cpu=True)).create_engine_config()
    config.parallel_config.tensor_parallel_size = NUMBER
    try:
        with set_current_vllm_config(config):
            initialize_model(config)
    except AssertionError:
        return False
    return True


def main(folder: Path) -> None:
    """Print the lines."""
    repair_torch_companions()
    inspect_models_here()
    be_first_of_many()
    for change, entry in entries(folder):
        parts = divide(entry, shape_of(entry), NUMBER).parts
        print("TOLD", json.dumps([entry.id, change, is_made(entry), parts]), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
