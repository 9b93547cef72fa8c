"""Tools for models that have no tool calls of their own: each reply is one written step, a call or the answer.

`schema` mode asks for it with a JSON Schema that the server enforces; `prompt` mode asks in words.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from officellm.codec import dump_text
from officellm.messages import (
    Assistant,
    Delta,
    Finished,
    Message,
    OutputSchema,
    Reply,
    Request,
    System,
    TextDelta,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
    User,
)
from officellm.protocols import Provider, ToolMode
from officellm.steps import examples, instructions, read_step, step_schema, written_call

ANSWER_NOW = "Answer now, in plain words, from the results that you have."


def adapted(provider: Provider) -> Provider:
    """The provider itself where it speaks tools natively, or wrapped so that it does."""
    mode: ToolMode = getattr(provider, "tool_mode", "native")
    return provider if mode == "native" else WrittenTools(provider, mode)


class WrittenTools:
    """Offers tools in the instructions and reads calls from the reply's JSON.

    Two attributes of the provider say more of it. `offer_once`: a tool that has answered this question is not offered
    again, since a weak model never stops calling it. `reads_results`: where only an answer is left, the provider gets
    calls and results as they are, instead of as words.
    """

    def __init__(self, provider: Provider, mode: ToolMode) -> None:
        self._provider = provider
        self._mode = mode
        self._once = bool(getattr(provider, "offer_once", False))
        self._reads_results = bool(getattr(provider, "reads_results", False))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._provider, name)

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Deltas of one reply. Text that may be part of a JSON object is not shown while it is written."""
        tools = self._offered(request)
        if tools:
            sent = self._asking(request, tools)
        elif request.tools or any(isinstance(message, ToolResult) for message in request.messages):
            sent = self._answering(request)
        else:
            sent = request
        typed = not tools and request.output is not None
        written: list[str] = []
        begun = ""
        async with aclosing(self._provider.stream(sent)) as deltas:  # type: ignore[type-var]
            async for delta in deltas:
                if isinstance(delta, Finished):
                    yield delta if sent is request else Finished(_read(delta.reply, request, typed))
                    return
                if isinstance(delta, TextDelta):
                    begun = begun or delta.text.lstrip()[:1]
                    written.append(delta.text)
                if sent is request or (not tools and begun != "{"):
                    yield delta
        reply = Reply(Assistant("".join(written)), "stop", Usage(complete=False))
        yield Finished(reply if sent is request else _read(reply, request, typed))

    def _offered(self, request: Request) -> Sequence[ToolSpec]:
        choice = request.tool_choice
        if choice == "none":
            return ()
        if choice not in ("auto", "required"):
            return [tool for tool in request.tools if tool.name == choice]
        done = _answered(request.messages) if self._once else ()
        return [tool for tool in request.tools if tool.name not in done]

    def _asking(self, request: Request, tools: Sequence[ToolSpec]) -> Request:
        """The request for one step."""
        may_answer = request.tool_choice == "auto"
        # A schema says what may come now; words that stay the same keep the prompt in the server's cache.
        listed = request.tools if self._mode == "schema" and request.tool_choice in ("auto", "required") else tools
        messages = _instructed(map(_as_step, request.messages), instructions(listed, may_answer))
        messages[1:1] = examples(listed)
        output = None
        if self._mode == "schema":
            answer = request.output.schema if request.output is not None else {"type": "string"}
            output = OutputSchema("step", step_schema(tools, answer if may_answer else None))
        return replace(request, messages=messages, tools=(), tool_choice="auto", parallel_calls=None, output=output)

    def _answering(self, request: Request) -> Request:
        """The request for the answer alone: its text, or the typed output itself."""
        messages: Sequence[Message] = request.messages
        if not self._reads_results:
            plain = map(_plain, messages)
            messages = list(plain) if request.output is not None else _instructed(plain, ANSWER_NOW)
        return replace(request, messages=messages, tools=(), tool_choice="auto", parallel_calls=None)


def _answered(messages: Sequence[Message]) -> set[str]:
    """Names of the tools whose results are there, and no errors, since the last answer."""
    names: set[str] = set()
    for message in reversed(messages):
        if isinstance(message, Assistant) and not message.calls and message.text.strip():
            break
        if isinstance(message, ToolResult) and not message.is_error:
            names.add(message.name)
    return names


def _instructed(messages: Iterable[Message], words: str) -> list[Message]:
    made = list(messages)
    first = made[0] if made else None
    if isinstance(first, System):
        text = first.text
        made[0] = first.encoded(("written", words), lambda: System(f"{text}\n\n{words}"))
    else:
        made.insert(0, System(words))
    return made


def _plain(message: Message) -> Message:
    """The same message without native calls: steps as the model writes them, and results as the user's words."""
    if isinstance(message, Assistant) and message.calls:
        steps = (written_call(call.name, call.sendable) for call in message.calls)
        return message.encoded(("written",), lambda: Assistant("\n".join(steps)))
    if isinstance(message, ToolResult):
        words = f"Result of {message.name}:\n{message.content}"
        return message.encoded(("written",), lambda: User(words))
    return message


def _as_step(message: Message) -> Message:
    """Like `_plain`, and answers as the model would have written them in this mode."""
    if isinstance(message, Assistant) and not message.calls:
        text = message.text
        return message.encoded(("written",), lambda: Assistant(dump_text({"answer": text})))
    return _plain(message)


def _read(reply: Reply, request: Request, typed: bool) -> Reply:
    """The reply with its step understood; text that is none, or is the typed output itself, is the answer as it is."""
    if typed:
        return reply
    turn = sum(isinstance(message, Assistant) for message in request.messages)
    step = read_step(reply.message.text, [tool.name for tool in request.tools], f"call_{turn}_0")
    if step is None:
        return reply
    if isinstance(step, ToolCall):
        return replace(reply, message=Assistant("", (step,), reply.message.reasoning), stop="tool_calls")
    return replace(reply, message=Assistant(step, (), reply.message.reasoning))
