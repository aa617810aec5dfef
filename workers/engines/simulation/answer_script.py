"""What the simulated engine writes when somebody declares it: answers by chat and round, tool calls among them."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from gigavqa.runtime.errors import SettingsInvalidError
from gigavqa.workers.engines.engine import Message

_CHATS = TypeAdapter(tuple[tuple[str, ...], ...])


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
