"""What OpenAI's chat completions share with the wires that took after them: the shape of a request, the bearer token.

`CompletionsSpeaker` is for the closest of them, whose replies are completions and chunks too.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from officellm.codec import dumps
from officellm.testing.replies import ScriptedReply
from officellm.testing.wires.speaker import Answer, Heard, Said, listed, mapped, said_text, text_of

JSON = "application/json"
SSE = "text/event-stream; charset=utf-8"
CREATED = 1_760_000_000
FINISH = {"stop": "stop", "tool_calls": "tool_calls", "length": "length", "refused": "stop", "error": "error"}

_SYSTEM = ("system", "developer")


class CompletionsSpeaker(ABC):
    """The half of a `Speaker` that chat completions have in common; a wire adds its paths, its replies and errors."""

    name: str

    def hear(self, path: str, query: Mapping[str, str], headers: Mapping[str, str], body: Mapping[str, Any]) -> Heard:
        """The request in neutral terms."""
        messages = messages_of(body)
        return Heard(
            wire=self.name,
            model=text_of(body.get("model", "")),
            stream=body.get("stream") is True,
            system=system_of(messages),
            said=tuple(said_in(messages)),
            tools=tool_names(body),
            body=body,
            headers=headers,
        )

    def say(self, heard: Heard, reply: ScriptedReply) -> Answer:
        """A completion, or its chunks with `[DONE]` at the end."""
        if heard.stream:
            return streamed(self.chunks(heard, reply))
        return Answer((dumps(self.completion(heard, reply)),), JSON)

    @abstractmethod
    def completion(self, heard: Heard, reply: ScriptedReply) -> dict[str, Any]:
        """The reply as a whole body."""

    @abstractmethod
    def chunks(self, heard: Heard, reply: ScriptedReply) -> Iterable[dict[str, Any]]:
        """The reply as the events of a stream."""

    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str | None:
        """The bearer token."""
        return bearer(headers)


def bearer(headers: Mapping[str, str]) -> str | None:
    """The token in the `authorization` header."""
    found = re.fullmatch(r"Bearer (.+)", headers.get("authorization", ""))
    return found[1] if found else None


def messages_of(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The conversation, with nothing but objects in it."""
    return [mapped(one) for one in listed(body.get("messages"))]


def system_of(messages: Sequence[Mapping[str, Any]]) -> str:
    """The texts that are no part of the conversation."""
    return "\n".join(said_text(one.get("content")) for one in messages if one.get("role") in _SYSTEM)


def tool_names(body: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the functions on offer."""
    functions = (mapped(mapped(one).get("function")) for one in listed(body.get("tools")))
    return tuple(text_of(function.get("name", "")) for function in functions)


def content_text(message: Mapping[str, Any]) -> str:
    """The text of a message whose content is one, or parts that have some."""
    return said_text(message.get("content"))


def said_in(
    messages: Sequence[Mapping[str, Any]], text_in: Callable[[Mapping[str, Any]], str] = content_text
) -> Iterator[Said]:
    """The turns of the conversation; `text_in` knows where a message has its text."""
    for one in messages:
        text = text_in(one)
        match one.get("role"):
            case "user":
                yield Said("user", text)
            case "assistant":
                calls = listed(one.get("tool_calls"))
                yield Said("assistant", text + (text_of(calls) if calls else ""))
            case "tool":
                yield Said("tool", text)


def streamed(chunks: Iterable[dict[str, Any]]) -> Answer:
    """The chunks as events."""
    every = list(chunks)
    pieces = [b"data: " + dumps(chunk) + b"\n\n" for chunk in every]
    unfinished = [not any(one["finish_reason"] for one in chunk.get("choices", ())) for chunk in every]
    opening = unfinished.index(False) if False in unfinished else len(every)
    return Answer((*pieces, b"data: [DONE]\n\n"), SSE, streamed=True, unfinished=opening)
