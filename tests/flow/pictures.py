"""A small data set of real pictures with known answers, drawn with a seed."""

import json
from pathlib import Path

import numpy as np
from PIL import Image

LETTERS = "ABCD"


def draw_dataset(folder: Path, *, images: int, questions: int, size: tuple[int, int] = (1600, 1200)) -> Path:
    """Write a UltraVR data set of `images` textured PNG files with `questions` CCTV samples each."""
    rng = np.random.default_rng(7)
    (folder / "images").mkdir(parents=True)
    (folder / "samples").mkdir()
    title = f'name = "{folder.name}"\nbenchmark = "ultravr"\ntitle = "{folder.name}"\n'
    (folder / "dataset.toml").write_text(title, encoding="utf-8")
    records = []
    for number in range(images):
        coarse = rng.integers(0, 255, (size[1] // 40, size[0] // 40, 3), dtype=np.uint8)
        picture = Image.fromarray(coarse).resize(size, Image.Resampling.BICUBIC)
        picture.save(folder / "images" / f"{number}.png", compress_level=1)
        records += [_record(number, question) for question in range(questions)]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (folder / "samples" / "cctv.jsonl").write_text(lines, encoding="utf-8")
    return folder


def _record(image: int, question: int) -> dict[str, object]:
    return {
        "id": f"plaza-{image}-{question}",
        "domain": "cctv",
        "category": "comparison",
        "subcategory": "attribute_bundle_count_difference",
        "image": f"images/{image}.png",
        "question": f"How many people of kind {question} stand on plaza {image}?",
        "options": dict(zip(LETTERS, ["none", "one", "two", "three"], strict=True)),
        "answer": LETTERS[(image + question) % 4],
        "evidence": {"quadrants": ["upper-left"]},
        "reasoning_supervision": {"step_type": "multi_step_qa", "steps": []},
    }
