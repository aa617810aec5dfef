"""Questions of yes or no that deny or ask for a change, and what others said or what is denied of something else."""

import pytest

from gigavqa.answers.asked import asked_of
from gigavqa.answers.booleans import read_boolean
from gigavqa.answers.normalization import said


def read(question: str, text: str) -> bool | None:
    """Return the truth that a text tells of a question."""
    truth: bool | None = read_boolean(said(text).text, asked=asked_of(question)).value
    return truth


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Is the bus empty?", "There is no one on the bus."),
        ("Is the shop open?", "The shutters are down and no light is on."),
        ("Ist die Straße trocken?", "Es gibt keine einzige Pfütze."),
        ("Le ciel est-il dégagé ?", "Il n'y a pas un nuage."),
        ("¿Está vacío el autobús?", "No hay nadie en el autobús."),
        ("O céu está limpo?", "Não há nenhuma nuvem."),
        ("Чистое ли небо?", "Нет ни одного облака."),
        ("空は晴れていますか。", "雲ひとつありません。"),
        ("天空晴朗吗？", "没有一片云。"),
        ("하늘이 맑습니까?", "구름이 하나도 없습니다."),
        ("هل السماء صافية؟", "لا توجد أي غيمة."),
        ("क्या आसमान साफ़ है?", "एक भी बादल नहीं है।"),
        ("Há um barco no cais?", "No trilho está um vagão."),
    ],
)
def test_a_denial_of_something_else_says_no_to_nothing(question: str, text: str) -> None:
    """It may even say yes."""
    assert read(question, text) is None


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Is the gate closed?", "The gate isn't closed."),
        ("Is the gate closed?", "The gate is open."),
        ("Is the man armed?", "He is not armed."),
        ("Does the biopsy show perineural invasion?", "One nerve is seen.\nSo perineural invasion is **not** present."),
        ("Ist die Tür offen?", "Die Tür ist geschlossen."),
        ("Is there anyone on the roof?", "Nobody is on the roof."),
    ],
)  # fmt: skip
def test_a_denial_of_what_was_asked_says_no(question: str, text: str) -> None:
    """In the question's words, or by the contrary of its last one."""
    assert read(question, text) is False


SAID_BY_OTHERS = {
    "Is the gate closed?": ("The guard said yes.", "The image shows the opposite."),
    "Ist das Tor zu?": ("Der Wachmann sagt ja.", "Das Bild zeigt das Gegenteil."),
    "Le portail est-il fermé ?": ("Le gardien dit que oui.", "L'image montre le contraire."),
    "¿Está cerrada la puerta?": ("El guardia dice que sí.", "La imagen muestra lo contrario."),
    "Закрыты ли ворота?": ("Охранник говорит, что да.", "На снимке видно обратное."),
    "门关着吗？": ("保安说是的，", "但画面显示相反。"),
    "門は閉まっていますか。": ("警備員は「はい」と言いました。", "画像では逆です。"),
    "هل الباب مغلق؟": ("قال الحارس نعم.", "الصورة تظهر العكس."),
    "क्या दरवाज़ा बंद है?": ("चौकीदार ने हाँ कहा।", "तस्वीर उलटा दिखाती है।"),
}


@pytest.mark.parametrize("question", SAID_BY_OTHERS)
def test_what_others_said_is_no_answer(question: str) -> None:
    """Unless the text says that the contrary is so."""
    told, contrary = SAID_BY_OTHERS[question]

    assert read(question, told) is None
    assert read(question, f"{told} {contrary}") is False


def test_the_model_itself_may_say_that_it_says_so() -> None:
    """In the first person."""
    assert read("Is the gate closed?", "I'd say yes.") is read("Is the gate closed?", "I say yes.") is True


@pytest.mark.parametrize(
    ("question", "text", "truth"),
    [
        ("Is it false that the gate is open?", "The gate is open.", False),
        ("Is it false that the gate is open?", "Yes, it is false.", True),
        ("Is it false that the gate is open?", "That's false.", None),
        ("¿No hay árboles en el patio?", "Hay tres árboles en el patio.", False),
        ("Is there no one in the room?", "Two people are in the room.", False),
        ("院子里没有树吗？", "院子里有两棵树。", False),
        ("Are there no guards at the gate?", "Yes, there are none.", True),
        ("Gibt es keinen Baum im Hof?", "Doch, zwei sogar.", None),
        ("Is it not true that the door is open?", "Yes, that's it.", None),
        ("क्या यह सच नहीं है कि दरवाज़ा खुला है?", "हाँ।", None),
    ],
)
def test_a_question_that_denies_is_answered_by_what_goes_against_it(
    question: str, text: str, truth: bool | None
) -> None:
    """A plain yes or no stands as it is."""
    assert read(question, text) is truth


CHANGES = {
    "Did the number of ships increase?": ("The total rose from {} to {}.", "The total fell from {} to {}."),
    "Ist die Zahl der Schiffe gestiegen?": ("Sie stieg von {} auf {}.", "Sie sank von {} auf {}."),
    "¿Aumentó el número de barcos?": ("El total subió de {} a {}.", "El total bajó de {} a {}."),
    "O número de navios aumentou?": ("O total subiu de {} para {}.", "O total caiu de {} para {}."),
    "Увеличилось ли число судов?": ("Число выросло с {} до {}.", "Число уменьшилось с {} до {}."),
    "船の数は増えましたか。": ("{}隻から{}隻に増えました。", "{}隻から{}隻に減りました。"),
    "船只数量增加了吗？": ("总数从{}艘增加到{}艘。", "总数从{}艘减少到{}艘。"),
    "배의 수가 늘었습니까?": ("{}척에서 {}척으로 늘었습니다.", "{}척에서 {}척으로 줄었습니다."),
    "هل زاد عدد السفن؟": ("ارتفع العدد من {} إلى {}.", "انخفض العدد من {} إلى {}."),
    "क्या जहाज़ों की संख्या बढ़ी?": ("संख्या {} से बढ़कर {} हो गई।", "संख्या {} से घटकर {} हो गई।"),
}


@pytest.mark.parametrize("question", CHANGES)
def test_a_change_is_told_by_its_numbers(question: str) -> None:
    """Where they agree with the word for it."""
    rose, fell = CHANGES[question]

    assert read(question, rose.format(17, 21)) is True
    assert read(question, fell.format(21, 17)) is False
    assert read(question, rose.format(21, 17)) is None
