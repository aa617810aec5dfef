"""Files in the shapes that the field's harnesses read become the questions that their authors meant, without a map.

Rows and pictures are made up; the columns are those that the harnesses' code reads.
"""

from pathlib import Path

from tests.truth.reading import FILES, imported, read, refusal


def test_mme_realworld_has_its_options_without_their_letters(tmp_path: Path) -> None:
    """Its options stand in a column of two words, as a list that Python wrote."""
    first, second = read("mme_realworld_lite.tsv", tmp_path)
    assert first.options == {
        "A": "2", "B": "3", "C": "5", "D": "7", "E": "The image does not feature cyclists.",
    }  # fmt: skip
    assert (first.kind, first.truth, second.truth) == ("choice", "B", "E")
    assert first.sorted_by["l2-category"] == "person/counting"


def test_xlrs_asks_for_several_letters_where_some_of_the_category_are_several(tmp_path: Path) -> None:
    """One true letter among questions with several is asked as they are, so that the form gives nothing away."""
    made, (several, one_of_several, plain) = imported(FILES / "xlrs_bench.parquet", tmp_path)
    assert (several.kind, several.answers) == ("choices", ("A", "D"))
    assert (one_of_several.kind, one_of_several.answers) == ("choices", ("A",))
    assert (plain.kind, plain.truth, plain.options) == ("choice", "B", {"A": "1", "B": "2", "C": "3", "D": "4"})
    assert "several letters are asked for" in made.notes[0].message


def test_vstar_has_its_options_out_of_its_text(tmp_path: Path) -> None:
    """All rows list them; the instruction behind them, alike in all rows, is left out, which is told."""
    made, (first, second) = imported(FILES / "vstar.parquet", tmp_path)
    assert first.question == "What colour is the buoy?"
    assert first.options == {"A": "red", "B": "green", "C": "white", "D": "black"}
    assert (first.truth, second.truth, second.category) == ("A", "B", "relative_position")
    (note,) = made.notes
    assert "all 2 rows list them" in note.message and "Answer with the option's letter" in note.message


def test_zoombench_has_its_options_out_of_its_query(tmp_path: Path) -> None:
    """The crops stay with the sample."""
    first, second = read("zoombench.json", tmp_path)
    assert (first.question, first.options) == (
        "What does the smallest sign say?",
        {"A": "STOP", "B": "WAIT", "C": "GO", "D": "SLOW"},
    )
    assert (first.truth, second.truth, first.extra["crop_images"]) == ("B", "A", ["street-crop.png"])


def test_hr_bench_asks_four_orders_about_one_picture(tmp_path: Path) -> None:
    """Other rows name the first one's picture by its index."""
    first, second = read("hr_bench_4k.tsv", tmp_path)
    assert first.images == second.images
    assert first.options is not None and second.options is not None
    assert first.options[first.truth] == second.options[second.truth] == "K9"


def test_treebench_has_its_options_out_of_lines(tmp_path: Path) -> None:
    """What it says of targets stays with the sample."""
    first, second = read("treebench.tsv", tmp_path)
    assert first.options == {"A": "leather", "B": "rope", "C": "chain", "D": "nylon"}
    assert (first.truth, second.truth) == ("D", "B") and "target_instances" in first.extra


def test_lrs_vqa_is_of_texts_numbers_and_yes_or_no(tmp_path: Path) -> None:
    """Its question is called `text`, its truth `ground_truth`."""
    assert [(one.kind, one.truth) for one in read("lrs_vqa.jsonl", tmp_path)] == [
        ("text", "grassland"),
        ("number", "4"),
        ("yes_no", "yes"),
    ]


def test_docvqa_has_equally_right_texts(tmp_path: Path) -> None:
    """And its ids."""
    first, second = read("docvqa.parquet", tmp_path)
    assert (first.id, first.answers, second.answers) == ("49153", ("1/8/93", "January 8, 1993"), ("Mary Park",))


def test_multipathqa_counts_from_1_in_a_column_that_holds_texts_too(tmp_path: Path) -> None:
    """Nothing is shifted by one, whatever may be left out; by itself, the column is named for what it counts."""
    for settings in ({}, {"leave_out_bad": True}):
        told = refusal(FILES / "multipathqa.csv", tmp_path, **settings)
        assert "answer: holds 4 of 4 options (row at line 4) and never 0" in told
        assert "`--map answer=answer_from_1`" in told
    low, necrosis = read("multipathqa_expert.csv", tmp_path, columns={"answer": "answer_from_1"})
    assert low.options is not None and necrosis.options is not None
    assert (low.options[low.truth], necrosis.options[necrosis.truth]) == ("Low", "None")
