"""A column that is missing is named with those that there are, and with the map that helps."""

from pathlib import Path

from tests.truth.reading import refusal, written

TABLE = "Bild;Frage;A;B;Antwort;Region\nharbour.png;Was?;rot;blau;A;1,1,2,2\nstreet.png;Was?;rot;blau;B;1,1,2,2\n"


def test_a_missing_image_is_named_with_the_column_that_holds_names_of_pictures(tmp_path: Path) -> None:
    """And not by what follows from it, such as evidence without a picture."""
    columns = {"Frage": "question", "Antwort": "answer", "Region": "region"}
    told = refusal(written(tmp_path, "own.csv", TABLE), tmp_path, columns=columns)
    assert "images: is missing" in told and "the columns are Bild, Frage, A, B, Antwort, Region" in told
    assert "`--map Bild=image`" in told and "evidence" not in told


def test_a_missing_question_is_named_with_the_column_that_asks(tmp_path: Path) -> None:
    """By the question mark that its text ends with."""
    told = refusal(written(tmp_path, "own.csv", TABLE), tmp_path, columns={"Bild": "image"})
    assert "own.csv:2: own-1: question: is missing; the columns are Bild, Frage, A, B, Antwort, Region" in told
    assert "`--map Frage=question`" in told


def test_a_question_that_is_only_empty_is_told_so(tmp_path: Path) -> None:
    """Its column is there."""
    told = refusal(written(tmp_path, "own.csv", "image,question,answer\nharbour.png,,yes\n"), tmp_path)
    assert "own.csv:2: own-1: question: is empty here" in told


def test_a_choice_without_options_lists_the_columns(tmp_path: Path) -> None:
    """What holds them is for its author to say."""
    table = "image,question,type,answer,alternatives\nharbour.png,Which?,choice,A,red / blue\n"
    told = refusal(written(tmp_path, "own.csv", table), tmp_path)
    assert "options: is missing; the columns are image, question, type, answer, alternatives" in told
    assert "`--map COLUMN=options`" in told


def test_a_column_is_called_as_its_file_calls_it(tmp_path: Path) -> None:
    """Also where it was mapped."""
    table = "image,question,A,B,Lösung\nharbour.png,Which?,red,blue,2\n"
    told = refusal(written(tmp_path, "own.csv", table), tmp_path, columns={"Lösung": "answer"})
    assert "Lösung: holds 2 of 2 options" in told and "`--map Lösung=answer_from_1`" in told
