"""Regions of pictures that are sent: inside, of one size, and none twice."""

import base64
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from gigavqa.load.cutting import region_cutter
from gigavqa.load.errors import LoadSettingsError
from gigavqa.load.prompts import Picture, Question, QuestionPrompts, RegionOptions, name_region, questions_about
from gigavqa.load.regions import RegionSequence
from gigavqa.tiling.geometry import Region, Size


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 40), st.integers(0, 5))
def test_every_region_comes_once_and_lies_inside(width: int, height: int, side: int, seed: int) -> None:
    """All that there are, in an order that the seed draws."""
    regions = RegionSequence(Size(width, height), side, str(seed))
    drawn = [regions[place] for place in range(len(regions))]
    assert len(set(drawn)) == len(regions) == (width - min(side, width) + 1) * (height - min(side, height) + 1)
    assert all(x + w <= width and y + h <= height and (w, h) == (min(side, width), min(side, height))
               for x, y, w, h in drawn)  # fmt: skip


def shown(prompts: QuestionPrompts, number: int) -> list[str]:
    """The addresses of the pictures of a chat."""
    content: Any = prompts.messages(number)[0]["content"]
    return [part["image_url"]["url"] for part in content if "image_url" in part]


PICTURES = [Picture("d/a b.png", "", Size(30, 20)), Picture("d/c.png", "", Size(25, 25))]


def test_no_region_is_sent_twice() -> None:
    """Also where several questions are about one picture, and each chat shows several regions."""
    questions = [Question("?", PICTURES[0]), Question("!", PICTURES[0]), Question("?", PICTURES[1]), Question("none")]
    prompts = QuestionPrompts(questions, RegionOptions(3, 16), 0, name_region)
    sent = [address for number in range(prompts.most or 0) for address in shown(prompts, number)]
    assert len(sent) == len(set(sent)) == (prompts.most or 0) // 4 * 9
    assert "gigavqa:d/a%20b.png?region=" in "".join(sent)


def test_repeated_chats_are_the_same_again() -> None:
    """So many different ones, without an end."""
    prompts = QuestionPrompts(questions_about(PICTURES), RegionOptions(1, 16, repeated=3), 0, name_region)
    assert prompts.most is None
    assert [shown(prompts, number) for number in range(3)] == [shown(prompts, number) for number in range(3, 6)]
    assert len({shown(prompts, number)[0] for number in range(9)}) == 3


def test_a_picture_with_too_few_regions_is_named() -> None:
    """Before anything is sent."""
    with pytest.raises(LoadSettingsError, match=r"d/a b\.png has 1 different region of 512 pixels, and 2 are shown"):
        QuestionPrompts(questions_about(PICTURES[:1]), RegionOptions(2, 512), 0, name_region)


def test_without_regions_the_question_alone_is_asked() -> None:
    """As often as is wanted."""
    prompts = QuestionPrompts(questions_about(PICTURES), RegionOptions(0), 0, name_region)
    assert (prompts.most, prompts.messages(7)[0]["content"]) == (None, "Describe what is to be seen here, in detail.")


def test_a_region_is_sent_with_its_own_pixels(tmp_path: Path) -> None:
    """Nothing is scaled; JPEG changes each by little."""
    file = tmp_path / "wedge.png"
    Image.linear_gradient("L").resize((300, 200)).convert("RGB").save(file)
    address = region_cutter(tmp_path)(Picture("wedge.png", str(file), Size(300, 200)), Region(40, 100, 64, 32))
    kind, _, content = address.partition(",")
    assert kind == "data:image/jpeg;base64"
    pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(content)))).astype(int)
    own = np.asarray(Image.open(file).crop((40, 100, 104, 132))).astype(int)
    assert pixels.shape == own.shape
    assert abs(pixels - own).max() <= 8


def test_a_region_is_shown_as_its_picture_declares(tmp_path: Path) -> None:
    """By its pixels in the colours of the display, and by a name that asks for it."""
    file, show = tmp_path / "deep.tif", "stretch=range:0:1000"
    tifffile.imwrite(file, np.full((200, 300), 500, np.uint16))
    picture, region = Picture("deep.tif", str(file), Size(300, 200), show), Region(40, 100, 64, 32)
    content = region_cutter(tmp_path)(picture, region).partition(",")[2]
    assert abs(np.asarray(Image.open(io.BytesIO(base64.b64decode(content)))).astype(int) - 128).max() <= 1
    assert name_region(picture, region) == "gigavqa:deep.tif?region=40,100,64,32&show=stretch%3Drange%3A0%3A1000"
