"""The messages of a chat as models get them: calls of tools, their results and their declaration as text."""

from collections.abc import Sequence

from gigavqa.contract.requests import PriorMessage
from gigavqa.service.errors import ChatInvalidError, ProblemFinding
from gigavqa.service.openai.chat_messages import ChatMessage
from gigavqa.service.openai.chat_request import ChatCompletionRequest
from gigavqa.service.openai.tool_calls import write_calls, write_result
from gigavqa.service.openai.tools import declare_tools
from gigavqa.tiling.views import View

Parts = Sequence[str | View]


def write_history(asked: ChatCompletionRequest, parts: Sequence[Parts]) -> list[PriorMessage]:
    """Return the messages of a chat, whose texts and views are `parts`, up to the one that is answered.

    Tools are declared behind the system's message. Results that follow one another are one message of the user's, as
    in Qwen's chat templates. Raises ChatInvalidError naming a call that cannot be written, or a result of none.
    """
    said: list[PriorMessage] = []
    called: set[str] = set()
    results = False
    for row, (message, shown) in enumerate(zip(asked.messages, parts, strict=True)):
        if message.role != "tool":
            said.append(PriorMessage(role=_role(message), parts=_with_calls(message, shown, row)))
        elif message.tool_call_id not in called:
            raise _at(row, "tool_call_id", f"no message before it has a call '{message.tool_call_id}'")
        elif results:
            said[-1] = PriorMessage(role="user", parts=(*said[-1].parts, "\n", *write_result(shown)))
        else:
            said.append(PriorMessage(role="user", parts=tuple(write_result(shown))))
        results = message.role == "tool"
        called |= {call.id for call in message.tool_calls}
    return said if asked.tool_form is None else _with_tools(said, declare_tools(asked.tools, asked.tool_form))


def _role(message: ChatMessage) -> str:
    return "system" if message.role == "developer" else message.role


def _with_calls(message: ChatMessage, shown: Parts, row: int) -> tuple[str | View, ...]:
    if not message.tool_calls:
        return tuple(shown) or ("",)
    if message.role != "assistant":
        raise _at(row, "tool_calls", f"a message of the {message.role}'s calls no tools")
    if any(isinstance(part, View) for part in shown):
        raise _at(row, "content", "a message that calls tools shows no pictures")
    try:
        return (write_calls("".join(map(str, shown)), message.tool_calls),)
    except ValueError as error:
        raise _at(row, "tool_calls", "the arguments of a call are no JSON object") from error


def _with_tools(said: Sequence[PriorMessage], told: str) -> list[PriorMessage]:
    if said[0].role == "system":
        return [said[0].model_copy(update={"parts": (*said[0].parts, f"\n\n{told}")}), *said[1:]]
    return [PriorMessage(role="system", parts=(told,)), *said]


def _at(row: int, field: str, detail: str) -> ChatInvalidError:
    return ChatInvalidError(detail, [ProblemFinding(detail=detail, pointer=f"#/messages/{row}/{field}")])
