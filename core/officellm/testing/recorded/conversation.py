"""What the readers of all formats share: what was sent, what it is in neutral terms, and how a history is put together.

A reader knows where its vendor puts things. What a reply means it does not know: the wire format itself reads replies,
so a turn of a recorded history is kept exactly as the reply that it once was.
"""

from __future__ import annotations

import mimetypes
from base64 import urlsafe_b64decode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from officellm.codec import dumps
from officellm.messages import Media, Message, Part, Request, System, Text, ToolResult, ToolSpec, User
from officellm.replyjson import as_mapping, as_sequence, as_text
from officellm.wire import WireFormat


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as it was sent: its JSON, and its URL without the query."""

    body: Mapping[str, Any]
    url: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """The same in neutral terms: the request, and the options of the provider block that it needs."""

    request: Request
    options: Mapping[str, Any] = field(default_factory=dict)


_URL_SAFE = str.maketrans("+/", "-_")

#: Turns a request of one format back. Raises `FaultError` where a turn of the model is no reply of that format.
Reader = Callable[[Sent, WireFormat], Asked]


class Conversation:
    """A history in the making. It knows the names of calls, which few vendors repeat in results."""

    def __init__(self, wire: WireFormat, model: str, tools: Sequence[ToolSpec] = ()) -> None:
        self.messages: list[Message] = []
        self._wire = wire
        self._request = Request(model=model, messages=(), tools=tools)
        self._names: dict[str, str] = {}

    def instruct(self, text: str) -> None:
        """Instructions."""
        self.messages.append(System(text))

    def ask(self, content: str | Sequence[Part]) -> None:
        """Words of the user. Parts that are one text are that text."""
        if not isinstance(content, str):
            only = content[0] if len(content) == 1 else None
            content = only.text if isinstance(only, Text) else tuple(content)
        self.messages.append(User(content))

    def reply(self, body: Mapping[str, Any]) -> None:
        """A turn of the model, in the body of a whole reply."""
        message = self._wire.parse(dumps(body), self._request).message
        self._names |= {call.id: call.name for call in message.calls}
        self.messages.append(message)

    def answer(self, call_id: str, content: str, *, name: str = "", is_error: bool = False) -> None:
        """The result of a call."""
        self.messages.append(ToolResult(call_id, name or self._names.get(call_id, ""), content, is_error))

    def last_call(self, name: str, seen: set[str]) -> str:
        """The id of the first call of this name that is not in `seen`: some vendors match results by name."""
        return next((id for id, called in self._names.items() if called == name and id not in seen), "")


def function(entry: Mapping[str, Any], parameters: object) -> ToolSpec:
    """A tool of the user's."""
    return ToolSpec(as_text(entry.get("name")), as_text(entry.get("description")), as_mapping(parameters))


def with_extra(settings: dict[str, Any], tools: Sequence[Any]) -> dict[str, Any]:
    """The settings with tools that the vendor itself runs, which a user adds by `extra`."""
    return {**settings, "extra": {"tools": list(tools)}} if tools else settings


def media(url: str, name: str | None = None, otherwise: str = "image/png") -> Media:
    """A file by its URL, which may hold the file itself."""
    if not url.startswith("data:"):
        return Media(mimetypes.guess_type(url)[0] or otherwise, url=url, name=name)
    head, _, data = url.removeprefix("data:").partition(",")
    return Media(head.partition(";")[0], from_base64(data), name=name)


def from_base64(text: object) -> bytes:
    """Bytes in either alphabet; none where it is no base64."""
    try:
        return urlsafe_b64decode(as_text(text).translate(_URL_SAFE))
    except ValueError:
        return b""


def joined(content: object, between: str = "") -> str:
    """The text of content that is a text, or parts with texts."""
    if isinstance(content, str):
        return content
    return between.join(as_text(as_mapping(part).get("text")) for part in as_sequence(content))
