"""Turns the neutral history into one that Mistral takes once it is written as chat completions, each message once."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from officellm import (
    Assistant,
    Message,
    Part,
    Text,
    ToolResult,
    User,
    data_url,
    file_words,
    legal,
    legal_id,
)

#: The format's name: half of what says whether vendor fields may go back.
NAME = "mistral"

_ID = re.compile(r"[a-zA-Z0-9]{9}")
#: A user may not speak directly after a tool, and the last word must not be the model's.
_FILLER = Assistant("OK")
_CONTINUE = User("Continue.")


def translated(messages: Sequence[Message]) -> list[Message]:
    """The history with Mistral's order and ids."""
    out: list[Message] = []
    for message in legal(messages):
        if isinstance(message, Assistant) and not message.calls and not message.text.strip():
            continue  # a reply that is nothing but reasoning is refused
        if isinstance(message, User) and isinstance(out[-1] if out else None, ToolResult):
            out.append(_FILLER)
        out.append(_translated(message))
    if isinstance(out[-1], Assistant):
        out.append(_CONTINUE)
    return out


def _translated(message: Message) -> Message:
    """The message with ids that Mistral takes; itself where they are."""
    if isinstance(message, Assistant):
        ids = [legal_id(call.id, _ID, 9) for call in message.calls]
        if ids != [call.id for call in message.calls]:
            return message.encoded((NAME, "history"), lambda: _with_ids(message, ids))
    if isinstance(message, ToolResult):
        call_id = legal_id(message.call_id, _ID, 9)
        if call_id != message.call_id:
            return message.encoded((NAME, "history"), lambda: replace(message, call_id=call_id))
    return message


def _with_ids(message: Assistant, ids: Sequence[str]) -> Assistant:
    return replace(message, calls=tuple(map(lambda call, id: replace(call, id=id), message.calls, ids)))


def encode_part(part: Part) -> dict[str, Any]:
    """A text, an image, a sound or a file: documents and audio have forms of Mistral's own."""
    if isinstance(part, Text):
        return _text(part.text)
    kind = part.media_type.partition("/")[0]
    if kind == "image":
        return {"type": "image_url", "image_url": {"url": data_url(part)}}
    if kind == "audio":
        return {"type": "input_audio", "input_audio": _base64(part.data) if part.data is not None else part.url}
    if kind == "text" and part.data is not None:
        return _text(file_words(part))
    named = {"document_name": part.name} if part.name else {}
    return {"type": "document_url", "document_url": data_url(part), **named}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _base64(data: bytes) -> str:
    return b64encode(data).decode()
