"""Table 2 and stage 1: which pictures stay, and what in them can be a seed."""

import random
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from gigavqa.construction.calls.model_call import CallPicture
from gigavqa.construction.vistahop.knowledge.knowledge_index import KnowledgeIndex, open_knowledge
from gigavqa.construction.vistahop.picture_entities import (
    SIZING,
    DescriptionsQuestion,
    NamesQuestion,
    PictureEntities,
    picture_entities,
)
from gigavqa.construction.vistahop.picture_filter import filter_pictures, near_duplicates, perceptual_hash, size_fault
from gigavqa.tiling.geometry import Size
from tests.construction.vistahop.scripted import Script, play
from tests.construction.vistahop.triples import tsv


def scene(seed: int, width: int = 640, height: int = 400) -> Image.Image:
    """A picture of soft patches."""
    small = np.random.default_rng(seed).integers(0, 256, (5, 8, 3), np.uint8)
    return Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC)


def apart(one: int, other: int) -> int:
    """How many bits of two hashes differ."""
    return (one ^ other).bit_count()


def hashed(picture: Image.Image) -> int:
    """The hash of a picture in memory."""
    return perceptual_hash(np.asarray(picture))


@pytest.mark.parametrize(
    ("size", "fault"),
    [
        (Size(3840, 2160), ""),
        (Size(2160, 3840), ""),
        (Size(8000, 1000), "its shorter side has 1000 pixels; at least 2160"),
        (Size(4000, 2159), "its shorter side has 2159 pixels; at least 2160"),
        (Size(3703, 2160), "it has 8.00 megapixels; at least 8"),
        (Size(3704, 2160), ""),
        (Size(2828, 2828), "it has 8.00 megapixels; at least 8"),
    ],
)
def test_a_picture_is_large_enough_by_both_rules(size: Size, fault: str) -> None:
    """7,998,480 pixels are not 8 million."""
    assert size_fault(size) == fault


def test_a_hash_follows_what_a_picture_shows_and_not_its_size_or_quality(tmp_path: Path) -> None:
    """Other sizes and heavy compression stay within 6 bits; forty other pictures do not come near."""
    scenes = [scene(seed) for seed in range(40)]
    for picture in scenes[:10]:
        picture.save(tmp_path / "a.jpg", quality=30)
        small = picture.resize((211, 130), Image.Resampling.BICUBIC)
        assert apart(hashed(picture), hashed(Image.open(tmp_path / "a.jpg"))) <= 6
        assert apart(hashed(picture), hashed(small)) <= 6
    hashes = [hashed(picture) for picture in scenes]
    assert min(apart(a, b) for place, a in enumerate(hashes) for b in hashes[:place]) > 6


def test_a_hash_is_the_median_rule_over_a_transform_reckoned_term_by_term() -> None:
    """Against sums of cosines in plain Python; an even picture has no bit beside its mean."""
    picture = scene(3, 32, 32).convert("L")
    grey: NDArray[np.float64] = np.asarray(picture, np.float64)

    def term(down: int, across: int) -> float:
        total = sum(
            grey[y, x] * np.cos(np.pi * down * (2 * y + 1) / 64) * np.cos(np.pi * across * (2 * x + 1) / 64)
            for y in range(32)
            for x in range(32)
        )
        scale = (1 / 32) ** 0.5 if not down else (2 / 32) ** 0.5
        return float(total * scale * ((1 / 32) ** 0.5 if not across else (2 / 32) ** 0.5))

    terms = [term(down, across) for down in range(8) for across in range(8)]
    bits = "".join(str(int(one > np.median(terms))) for one in terms)
    assert hashed(picture.convert("RGB")) == int(bits, 2)
    assert hashed(Image.new("RGB", (99, 50), (90, 90, 90))) == 1 << 63


def test_near_duplicates_are_told_with_the_one_that_stays() -> None:
    """Six bits apart is near, seven is not; a picture is held against those that stay alone. Against a plain loop."""
    assert near_duplicates([("a", 0), ("b", 0b111111), ("c", 0b1111111), ("d", (1 << 64) - 1)]) == {"b": "a"}
    draw = random.Random(1)
    hashes = [(f"p{each}", draw.getrandbits(8) | draw.getrandbits(8) << 56) for each in range(200)]
    kept: list[tuple[str, int]] = []
    twins = {}
    for name, bits in hashes:
        near = [(apart(bits, other), place, there) for place, (there, other) in enumerate(kept)]
        if near and min(near)[0] <= 3:
            twins[name] = min(near)[2]
        else:
            kept.append((name, bits))
    assert near_duplicates(hashes, 3) == twins and twins


def test_a_folder_is_filtered_by_headers_and_hashes(tmp_path: Path) -> None:
    """Of two that are alike the larger stays; what is small is never decoded."""
    scene(1, 3840, 2200).save(tmp_path / "a.jpg", quality=60)
    scene(1, 4000, 2292).save(tmp_path / "b.jpg", quality=80)
    scene(2, 3840, 2160).save(tmp_path / "c.jpg")
    scene(2, 1000, 1000).save(tmp_path / "d.png")
    kept, left_out = filter_pictures(tmp_path, ["d.png", "c.jpg", "b.jpg", "a.jpg"])
    assert kept == {"b.jpg": Size(4000, 2292), "c.jpg": Size(3840, 2160)}
    assert left_out == {
        "a.jpg": ("near-duplicate", "it shows what 'b.jpg' shows"),
        "d.png": ("small", "it has 1.00 megapixels; at least 8"),
    }


@pytest.fixture(scope="module")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeIndex:
    """Four entities, of which two are called Ansel."""
    folder = tmp_path_factory.mktemp("pictures")
    rows = [("n", "P361", "a1", "Norrland Works", "Ansel"), ("q", "P361", "a2", "Quay 4", "Ansel")]
    return open_knowledge(tsv(folder / "facts.tsv", rows), folder)


def found(knowledge: KnowledgeIndex, names: str, descriptions: str) -> PictureEntities:
    """What two replies come to."""
    script: Script = lambda question: names if isinstance(question, NamesQuestion) else descriptions  # noqa: E731
    picture = CallPicture(Path("harbour.tif"), "0" * 64, sizing=SIZING)
    return play(picture_entities(picture, Size(60000, 40000), knowledge), script)  # type: ignore[no-any-return]


def test_entities_are_those_that_are_visible_and_one_entity_of_the_file(knowledge: KnowledgeIndex) -> None:
    """Duplicates by case, names of several entities, unknown ones and invisible ones are counted."""
    told = found(
        knowledge,
        "- Norrland Works\n2. QUAY 4\nquay 4\n\nAnsel\nNobody\nHidden Firm\n" + "x" * 200,
        "Norrland Works | blue mark on a crane\nquay 4 | sign on the left\nQuay 4 | other\nAnsel | flag\n"
        "Nobody | a man\nHidden Firm | Not clearly visible.",
    )
    assert [(one.name, one.description, one.entity.id) for one in told.entities] == [
        ("Norrland Works", "blue mark on a crane", "n"),
        ("QUAY 4", "sign on the left", "q"),
    ]
    assert told.counts == {"ambiguous": 1, "named": 5, "not_visible": 1, "unknown": 1} and told.is_rich


def test_one_entity_is_too_few_for_a_picture(knowledge: KnowledgeIndex) -> None:
    """Nor is there a second pass where nothing has a name."""
    assert not found(knowledge, "Norrland Works", "Norrland Works | mark").is_rich
    assert found(knowledge, "", "never asked").counts == {"named": 0}


def test_both_passes_show_the_picture_alike_and_tell_its_shown_size(knowledge: KnowledgeIndex) -> None:
    """So its raster is rendered and encoded once."""
    picture = CallPicture(Path("harbour.tif"), "0" * 64, sizing=SIZING)
    first = NamesQuestion(picture, Size(60000, 40000)).call("m")
    second = DescriptionsQuestion(picture, Size(60000, 40000), ("a",)).call("m")
    assert first.pictures == second.pictures and "4096×2731 pixels" in first.text and "4096×2731" in second.text
