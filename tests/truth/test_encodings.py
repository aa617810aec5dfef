"""Files of text are read in the encoding that is sure, which is told; any other is named first, with the remedy."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gigavqa.evaluation.encodings import EncodingUnknownError, detect_encoding
from tests.truth.reading import FILES, imported, refusal, written

GERMAN = {"Bild": "image", "Frage": "question", "Antwort": "answer"}


def test_excels_plain_csv_is_read_and_told(tmp_path: Path) -> None:
    """With words of it, so that a reader sees whether they are right."""
    made, samples = imported(FILES / "excel_cp1252.csv", tmp_path, columns=GERMAN)
    assert samples[0].question == "Wie breit ist die Straße am Ufer in m?"
    (note,) = made.notes
    assert note.message.startswith("is not UTF-8, and is read as Windows-1252 ('Straße, Gebäude, größer')")


def test_excels_unicode_text_is_read_by_its_first_bytes(tmp_path: Path) -> None:
    """UTF-16 with tabs."""
    made, samples = imported(FILES / "excel_unicode.csv", tmp_path, columns=GERMAN, decimal=",")
    assert [(one.question, one.kind, one.truth) for one in samples] == [
        ("Wie breit ist die Straße?", "number", "3.5"),
        ("Ist die Brücke gesperrt?", "yes_no", "no"),
    ]
    assert "is read as UTF-16" in made.notes[0].message


@pytest.mark.parametrize("columns", [{}, GERMAN, {"nothing": "image"}])
def test_an_unknown_encoding_is_told_before_anything_else(tmp_path: Path, columns: dict[str, str]) -> None:
    """Cyrillic of one byte a letter, whatever is said of its columns."""
    told = refusal(FILES / "cyrillic_cp1251.csv", tmp_path, columns=columns)
    assert told.startswith("cyrillic_cp1251.csv: is not UTF-8 text: byte 0x") and 'in Excel: "CSV UTF-8"' in told
    assert "there is no column" not in told


@pytest.mark.parametrize(
    "encoding", ["cp437", "cp850", "mac_roman", "cp1251", "cp1253", "gb18030", "shift_jis", "utf-16-le"]
)
def test_other_encodings_are_never_read_as_western(tmp_path: Path, encoding: str) -> None:
    """They are refused, and no wrong letter is read."""
    texts = {"cp1251": "Сколько кораблей", "cp1253": "πόσα πλοία", "gb18030": "有几艘船", "shift_jis": "船は何隻ですか"}
    text = texts.get(encoding, "Wie groß ist das Gebäude für die Übung? Déjà vu, señor")
    with pytest.raises(EncodingUnknownError):
        detect_encoding(written(tmp_path, "some.csv", f"image,question\nharbour.png,{text}\n", encoding))


_WORDS = st.sampled_from("Straße Gebäude größer Übung élève garçon señor coração città blåbær naïve où".split())  # noqa: SIM905 - shorter


@given(
    words=st.lists(_WORDS, min_size=1, max_size=6), encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"])
)
def test_every_encoding_that_is_read_gives_the_same_text(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], encoding: str
) -> None:
    """Words of languages that Windows-1252 can write."""
    text = io.StringIO()
    csv.writer(text).writerows([["question"], [" ".join(words)]])
    path = written(tmp_path_factory.mktemp("encoded"), "some.csv", text.getvalue(), encoding)
    assert path.read_text(encoding=detect_encoding(path).name) == path.read_bytes().decode(encoding).replace(
        "\r\n", "\n"
    )
