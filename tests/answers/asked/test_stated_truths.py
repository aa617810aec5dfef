"""Statements in the words of a question of yes or no answer it, whatever they add; what holds of a part does not."""

from typing import NamedTuple

import pytest

from gigavqa.answers.asked import asked_of
from gigavqa.answers.booleans import read_boolean
from gigavqa.answers.normalization import said


def read(question: str, text: str) -> bool | None:
    """Return the truth that a text tells of a question."""
    truth: bool | None = read_boolean(said(text).text, asked=asked_of(question)).value
    return truth


class Wording(NamedTuple):
    """A question with statements that say yes to it, no, and neither."""

    question: str
    affirms: tuple[str, ...]
    denies: tuple[str, ...]
    neither: tuple[str, ...]


WEARING = {
    "en": Wording(
        "Is the woman wearing a helmet?",
        ("The woman is wearing a helmet with a visor.", "The woman is wearing a white helmet."),
        ("The woman is not wearing a helmet.",),
        (
            "The man next to the woman is wearing a helmet.",
            "The woman is wearing a helmet bag.",
            "The woman is not wearing a red helmet.",
            "The woman would be wearing a helmet if she rode a bike.",
            "A woman in a film poster is wearing a helmet.",
        ),
    ),
    "de": Wording(
        "Trägt die Frau eine Brille?",
        ("Die Frau trägt eine Brille mit rotem Gestell.", "Die Frau trägt eine runde Brille."),
        ("Die Frau trägt keine Brille.",),
        ("Die Frau trägt einen Karton neben der Brille.", "Der Mann hinter der Frau trägt eine Brille."),
    ),
    "fr": Wording(
        "La femme porte-t-elle un casque ?",
        ("La femme porte un casque blanc.",),
        ("La femme ne porte pas de casque.",),
        ("L'homme derrière la femme porte un casque.",),
    ),
    "zh": Wording(
        "工人戴手套了吗？",
        ("这名工人双手戴着蓝色橡胶手套。",),
        ("工人没有戴手套。",),
        ("工人旁边的人戴着手套。",),
    ),
}
OPEN = {
    "en": Wording(
        "Is the gate open?",
        ("The gate stands wide open.", "The gate appears to be open."),
        ("The gate appears to be closed.",),
        ("The gate is half open.", "The gate might be open.", "The gate to the open field is shut."),
    ),
    "es": Wording(
        "¿Está abierta la puerta?",
        ("La puerta está completamente abierta.",),
        ("La puerta no está abierta.",),
        ("La puerta está casi abierta.",),
    ),
    "ru": Wording("Дверь открыта?", ("Дверь открыта настежь.",), ("Дверь не открыта.",), ("Дверь почти открыта.",)),
    "zh": Wording("门开着吗？", ("门大开着。",), ("门紧闭着。",), ("门半开着。",)),
    "ja": Wording(
        "ドアは開いていますか。", ("ドアは開いています。",), ("ドアは開いていません。",), ("ドアは少し開いています。",)
    ),
    "ko": Wording("문이 열려 있습니까?", ("문이 활짝 열려 있습니다.",), (), ()),
}
ALL = {
    "en": Wording(
        "Are all lamps lit?",
        ("All lamps are lit.", "Every lamp is lit."),
        ("Not all lamps are lit.", "One lamp is not lit.", "Only two of the three lamps are lit."),
        ("All lamps but one are lit.", "The street sign is not lit.", "Two lamps are lit."),
    ),
    "de": Wording(
        "Sind alle Fenster offen?",
        ("Alle Fenster sind offen.",),
        ("Nur zwei der fünf Fenster sind offen.", "Ein Fenster ist nicht offen."),
        (),
    ),
    "fr": Wording(
        "Tous les feux sont-ils allumés ?", ("Tous les feux sont allumés.",), ("Un feu n'est pas allumé.",), ()
    ),
}
NOBODY = {
    "en": Wording(
        "Is there anyone on the roof?",
        (),
        ("Nobody is on the roof.", "The roof is deserted."),
        ("Nobody but a guard is on the roof.", "Nobody is on the bridge."),
    ),
    "fr": Wording(
        "Y a-t-il quelqu'un sur le toit ?", (), ("Personne n'est sur le toit.", "Il n'y a personne sur le toit."), ()
    ),
    "es": Wording("¿Hay alguien en el tejado?", (), ("No hay nadie en el tejado.",), ()),
    "ja": Wording("屋根の上に人はいますか。", (), ("屋根の上には誰もいません。",), ()),
    "zh": Wording("屋顶上有人吗？", (), ("屋顶上空无一人。",), ()),
}
COUNTED = {
    "least": Wording("Are there at least four tanks?", ("There are five tanks.",), ("There are three tanks.",), ()),
    "more": Wording(
        "Are there more cars than bicycles?",
        ("There are 12 cars and 5 bicycles.",),
        ("There are 8 cars and 11 bicycles.",),
        ("There are 8 cars.",),
    ),
    "fewer": Wording(
        "Gibt es weniger Boote als Kräne?",
        ("Es gibt 3 Boote und 9 Kräne.",),
        ("Es gibt 9 Boote und 3 Kräne.",),
        (),
    ),
}
THERE = {
    "en": Wording(
        "Are there clouds in the sky?",
        (),
        ("The sky is cloudless.", "I can't see any clouds."),
        ("The box holds toys.", "There are clouds, but they are painted on a wall."),
    ),
    "de": Wording("Gibt es Wolken am Himmel?", (), ("Der Himmel ist wolkenlos.",), ()),
}
CASES = [
    pytest.param(wording, id=f"{name}-{key}")
    for name, wordings in (
        ("wearing", WEARING), ("open", OPEN), ("all", ALL), ("nobody", NOBODY), ("counted", COUNTED), ("there", THERE)
    )
    for key, wording in wordings.items()
]  # fmt: skip


@pytest.mark.parametrize("wording", CASES)
def test_a_statement_says_yes_no_or_neither(wording: Wording) -> None:
    """By the words of the question in their order, by counts, and by words that say that nobody or nothing is there."""
    expected = [(wording.affirms, True), (wording.denies, False), (wording.neither, None)]
    for texts, truth in expected:
        for text in texts:
            assert read(wording.question, text) is truth, text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Does the image show a lesion?", 'The report states "no lesion seen", but the image shows one.'),
        ("Le feu est-il au vert ?", "Selon le témoin, le feu était au vert."),
        ("Is there a weapon in the bag?", "The bag holds clothes and shoes."),
    ],
)
def test_what_others_say_and_what_only_sounds_like_a_verdict_is_no_answer(question: str, text: str) -> None:
    """A bag that holds clothes does not make a claim hold."""
    assert read(question, text) is None
