"""Answers of the simulated engine: an option's letter by the seed, or what somebody declares, tool calls among it."""

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from gigavqa.contract.requests import Sampling
from gigavqa.contract.responses import TokenLogprob
from gigavqa.runtime.errors import SettingsInvalidError
from gigavqa.workers.engines.engine import Message
from gigavqa.workers.engines.simulation.schemas import smallest_value

_CHATS = TypeAdapter(tuple[tuple[str, ...], ...])
_OPTION = re.compile(r"^\s*\(?([A-H])[.):]", re.MULTILINE)


class AnswerScript:
    """Some lists of answers. A chat has one of them, by the text of its first question, and goes through it in order.

    The last answer of a list is given again and again. `{chat}` in an answer is a name of the chat's own.
    """

    def __init__(self, chats: Sequence[Sequence[str]]) -> None:
        self._chats = chats

    def write(self, chat: Sequence[Message]) -> str:
        """Return the answer to a chat's last message."""
        first = next((message.text for message in chat if message.role == "user"), "")
        name = hashlib.blake2b(first.encode("utf-8", "replace"), digest_size=8).hexdigest()
        answers = self._chats[int(name, 16) % len(self._chats)]
        given = sum(message.role == "assistant" for message in chat)
        return answers[min(given, len(answers) - 1)].replace("{chat}", name)


def read_answer_script(path: Path) -> AnswerScript:
    """Return the script of a JSON file, a list of lists of texts. Raises SettingsInvalidError."""
    try:
        chats = _CHATS.validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise SettingsInvalidError(f"the script {path} cannot be read: {error}") from error
    if not chats or not all(chats):
        raise SettingsInvalidError(f"the script {path} is to have a list of answers at least, none of them empty")
    return AnswerScript(chats)


def draw_answer(question: str, sampling: Sampling, prompt: bytes) -> str:
    """Return a letter of the question's options in a sentence, or a choice alone, by the seed and a prompt's name.

    What is held to JSON is the smallest that is allowed.
    """
    structure = sampling.steering.structure if sampling.steering else None
    if structure and (structure.json_object or isinstance(structure.json_schema, dict)):
        return json.dumps(smallest_value(structure.json_schema or {"type": "object"}))
    held = structure.choice if structure else None
    letters = held or _OPTION.findall(question) or ["A", "B", "C", "D"]
    drawn = hashlib.blake2b(f"{sampling.seed}:{prompt.hex()}".encode(), digest_size=8).digest()
    letter = letters[int.from_bytes(drawn, "big") % len(letters)]
    return letter if held else f"The answer is {letter}."


def draw_logprobs(pieces: Sequence[str], prompt: bytes) -> tuple[TokenLogprob, ...]:
    """Return a logprob from -8 to 0 of each piece of a given answer, by itself, its place and the prompt's name."""
    return tuple(_draw_logprob(piece, f"{prompt.hex()}:{number}:{piece}") for number, piece in enumerate(pieces))


def _draw_logprob(piece: str, name: str) -> TokenLogprob:
    said = piece.encode("utf-8", "replace")
    drawn = hashlib.blake2b(name.encode("utf-8", "replace"), digest_size=4).digest()
    return TokenLogprob(token=piece, logprob=-8 * int.from_bytes(drawn, "big") / 2**32, bytes=tuple(said))


def cut_at_stop(text: str, sampling: Sampling) -> str:
    """Return what stands before the first of the texts that are to stop it."""
    stops = sampling.steering.stop if sampling.steering else ()
    return text[: min((at for stop in stops if (at := text.find(stop)) >= 0), default=len(text))]
