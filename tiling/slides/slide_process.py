"""The process that asks OpenSlide about slides for others: for each line with a path, one of facts or an error."""

import json
import resource
import sys
from pathlib import Path
from typing import Any

_MOST_BYTES = 4 * 2**30


def main() -> None:
    """Answer until nobody asks any more."""
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))
    for line in sys.stdin:
        print(_answer(json.loads(line)), flush=True)


def _answer(asked: dict[str, Any]) -> str:
    try:
        # Slow to import, and not on every machine.
        from gigavqa.tiling.slides.slide_library import look_at_slide  # noqa: PLC0415
    except ImportError as error:
        return json.dumps({"missing": str(error)})
    try:
        return look_at_slide(Path(asked["path"]), is_folder=asked["is_folder"]).as_json()
    except Exception as error:  # noqa: BLE001 - told to who asks
        return json.dumps({"error": " ".join(str(error).split()) or type(error).__name__})


if __name__ == "__main__":
    main()
