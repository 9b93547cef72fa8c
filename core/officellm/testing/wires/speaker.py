"""What a wire must do to be spoken by the fake LLM server: hear a request, say a reply or an error. No sockets here."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from officellm.codec import canonical, dump_text, loads
from officellm.testing.replies import ScriptedReply


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that was said in a conversation, as text. A turn of the model is one, with its calls as JSON."""

    role: Literal["user", "assistant", "tool"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A request in neutral terms, with the JSON it came as. `headers` has lower-case names."""

    wire: str
    model: str
    stream: bool
    system: str
    said: tuple[Said, ...]
    tools: tuple[str, ...]
    body: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)
    #: How a stream is cut: events, one JSON array, or a JSON object a line.
    framing: Literal["sse", "array", "ndjson"] = "sse"

    @property
    def turns(self) -> int:
        """How often the model has spoken so far."""
        return sum(one.role == "assistant" for one in self.said)

    @property
    def tool_results(self) -> int:
        """How many tool results the conversation holds."""
        return sum(one.role == "tool" for one in self.said)

    @property
    def task(self) -> str:
        """The first text of the user."""
        return next((one.text for one in self.said if one.role == "user"), "")

    @property
    def last_user(self) -> str:
        """The last text of the user."""
        return next((one.text for one in reversed(self.said) if one.role == "user"), "")

    @property
    def last_tool(self) -> str:
        """The last tool result."""
        return next((one.text for one in reversed(self.said) if one.role == "tool"), "")

    @property
    def all_tools(self) -> str:
        """All tool results, one a line."""
        return "\n".join(one.text for one in self.said if one.role == "tool")

    def mark(self, length: int = 24) -> str:
        """A text that only this very conversation has: ids made of it are the same in every run."""
        conversation = canonical([self.system, [[one.role, one.text] for one in self.said]])
        return hashlib.sha256(conversation.encode("utf-8", "replace")).hexdigest()[:length]


@dataclass(frozen=True, slots=True)
class Trouble:
    """An error to answer with. `code` is neutral: `quota`, `context_overflow`, or the vendor's own word."""

    status: int
    message: str
    code: str | None = None
    param: str | None = None
    retry_after: float = 0.0


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP response: one piece for a whole body, one a stream event otherwise."""

    pieces: tuple[bytes, ...]
    content_type: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    streamed: bool = False
    #: How many pieces of a stream can be sent before a client may take the reply for whole.
    unfinished: int = 0


@runtime_checkable
class Speaker(Protocol):
    """One wire of the fake LLM server: pure translation, one instance serves all requests."""

    name: str

    def listens_to(self, path: str) -> bool:
        """Whether a POST to `path` is a model request of this wire."""

    def hear(self, path: str, query: Mapping[str, str], headers: Mapping[str, str], body: Mapping[str, Any]) -> Heard:
        """The request in neutral terms. Must take any JSON object: `complain` says what is wrong with it."""

    def complain(self, heard: Heard) -> Trouble | None:
        """What the vendor would refuse in this request; None where it would not."""

    def say(self, heard: Heard, reply: ScriptedReply) -> Answer:
        """A reply, whole or as a stream, as the request asked."""

    def refuse(self, trouble: Trouble) -> Answer:
        """An error with its HTTP status."""

    def refuse_in_200(self, heard: Heard, trouble: Trouble) -> Answer:
        """An error inside a 200: a body, or an event of a stream that had begun well."""

    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str | None:
        """The API key that was sent."""

    def list_models(self, path: str, headers: Mapping[str, str], models: Sequence[str]) -> Answer | None:
        """The answer to a GET for the list of models; None where this is no such request of this wire."""


def said_text(content: Any) -> str:
    """The text of a message's content in any of the shapes that vendors use: a text, or parts that have texts."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        for key in ("text", "content"):
            if key in content:
                return said_text(content[key])
        return ""
    if isinstance(content, list):
        return "".join(said_text(part) for part in content)
    return ""


def listed(value: Any) -> list[Any]:
    """`value` where it is a list, else nothing: for requests that may hold anything."""
    return value if isinstance(value, list) else []


def mapped(value: Any) -> dict[str, Any]:
    """`value` where it is a mapping, else nothing."""
    return value if isinstance(value, dict) else {}


def text_of(value: Any) -> str:
    """`value` where it is a text, else its JSON."""
    return value if isinstance(value, str) else dump_text(value)


def text_within(value: Any) -> str:
    """The text of a tool's result that had to be put into an object: of its value where it has one only."""
    values = mapped(value)
    return text_of(next(iter(values.values())) if len(values) == 1 else value)


def is_object(text: str) -> bool:
    """Whether a text is a JSON object."""
    try:
        return isinstance(loads(text), dict)
    except (ValueError, RecursionError):
        return False


def words(names: str) -> frozenset[str]:
    """The words of a text: for long lists of names."""
    return frozenset(names.split())


def signature_of(thought: str) -> str:
    """What proves that a thought is one of this server's, unchanged and in its place."""
    return base64.b64encode(b"officellm:" + thought.encode("utf-8", "replace")).decode()


def pieces_of(text: str, size: int = 12) -> list[str]:
    """A text in the pieces that a stream gives it in."""
    return [text[start : start + size] for start in range(0, len(text), size)]
