"""Turns the neutral history into one that Mistral takes once it is written as chat completions, each message once."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from officellm import Assistant, Media, Message, Part, Text, ToolResult, User, dumps, legal, legal_id

T = TypeVar("T")

#: The format's name: half of what says whether vendor fields may go back.
NAME = "mistral"
#: The format that writes the messages, under which it recognises what is its own.
_WRITER = "openai_compat"

_ID = re.compile(r"[a-zA-Z0-9]{9}")
#: A user may not speak directly after a tool, and the last word must not be the model's.
_FILLER = Assistant("OK")
_CONTINUE = User("Continue.")


def translated(messages: Sequence[Message], model: str) -> list[Message]:
    """The history with Mistral's order, ids and parts. Replies of other origin lose what only their vendor reads."""
    out: list[Message] = []
    for message in legal(messages):
        if isinstance(message, Assistant) and not message.calls and not message.text.strip():
            continue  # a reply that is nothing but reasoning is refused
        if isinstance(message, User) and isinstance(out[-1] if out else None, ToolResult):
            out.append(_FILLER)
        out.append(_translated(message, model))
    if isinstance(out[-1], Assistant):
        out.append(_CONTINUE)
    return out


def _translated(message: Message, model: str) -> Message:
    if isinstance(message, Assistant):
        ours = message.origin == (NAME, model)
        return message.encoded((NAME, "history", ours), lambda: _reply(message, ours))
    if isinstance(message, ToolResult):
        call_id = legal_id(message.call_id, _ID, 9)
        if call_id == message.call_id:
            return message
        return message.encoded((NAME, "history"), lambda: replace(message, call_id=call_id))
    if isinstance(message, User) and any(isinstance(part, Media) for part in message.content):
        return message.encoded((NAME, "history"), lambda: _UserWithMedia(message.content))
    return message


def _reply(message: Assistant, ours: bool) -> Assistant:
    calls = tuple(replace(call, id=legal_id(call.id, _ID, 9)) for call in message.calls)
    if not ours:
        return replace(message, calls=calls, native=None, origin=None)
    assert message.origin is not None
    return replace(message, calls=calls, origin=(_WRITER, message.origin[1]))


class _UserWithMedia(User):
    """A user message that is written here whoever asks: Mistral's documents and audio have forms of their own."""

    __slots__ = ()

    def encoded(self, key: Any, encode: Callable[[], T]) -> T:
        """The message in Mistral's JSON."""
        return cast(T, super().encoded(NAME, lambda: dumps({"role": "user", "content": self._parts()})))

    def _parts(self) -> list[dict[str, Any]]:
        return [_part(part) for part in self.content if not isinstance(part, Text) or part.text.strip()]


def _part(part: Part | str) -> dict[str, Any]:
    if not isinstance(part, Media):
        return _text(part if isinstance(part, str) else part.text)
    kind = part.media_type.partition("/")[0]
    if kind == "image":
        return {"type": "image_url", "image_url": {"url": _url(part)}}
    if kind == "audio":
        return {"type": "input_audio", "input_audio": _base64(part.data) if part.data is not None else part.url}
    if kind == "text" and part.data is not None:
        return _text(f"{part.name or 'file'}:\n{part.data.decode('utf-8', 'replace')}")
    named = {"document_name": part.name} if part.name else {}
    return {"type": "document_url", "document_url": _url(part), **named}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _url(part: Media) -> str:
    if part.data is None:
        return part.url or ""
    return f"data:{part.media_type};base64,{_base64(part.data)}"


def _base64(data: bytes) -> str:
    return b64encode(data).decode()
