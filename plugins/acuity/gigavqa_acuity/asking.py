"""Ask about a sign: in one turn, behind what the condition shows. The texts lie in `prompts/`."""

from gigavqa.contract.requests import Condition, Turn
from gigavqa.evaluation.benchmark import Chat, Scene
from gigavqa_acuity.evidence import ring_view
from gigavqa_acuity.prompts import read_texts
from gigavqa_acuity.samples import AcuitySample
from gigavqa_acuity.taxonomy import Attribute

DIRECT = "direct"


def write_question(attribute: Attribute) -> str:
    """Return the words in which a ring's colour, or the direction of its gap, is asked for."""
    return read_texts(DIRECT)[attribute]


def ask(sign: AcuitySample, condition: Condition, scene: Scene) -> Chat:
    """Ask in one turn behind the views of a condition. Raises EvidenceMissingError."""
    views = scene.views(condition, lambda: (ring_view(sign, scene),))
    texts, shown = read_texts(DIRECT), read_texts("shown")
    options = "\n".join(texts["option"].format(letter=at, text=text) for at, text in (sign.options or {}).items())
    text = texts["prompt"].format(shown=shown[condition], question=sign.question, options=options).strip()
    return Chat(views, (Turn(parts=(text,)),), f"{texts['version']}+{shown['version']}")
