"""Names that charts which people have made, and stored answers to them, are read by."""

from gigavqa_acuity.samples import AcuitySample, Optotype

OF_A_SAMPLE = "answer attribute evidence extra id images options optotype place question scene"
OF_AN_OPTOTYPE = "colour diameter direction x y"


def test_no_field_of_a_record_is_lost() -> None:
    """New ones may come."""
    assert {*OF_A_SAMPLE.split()} <= {field.alias or name for name, field in AcuitySample.model_fields.items()}
    assert {*OF_AN_OPTOTYPE.split()} <= {field.alias or name for name, field in Optotype.model_fields.items()}
