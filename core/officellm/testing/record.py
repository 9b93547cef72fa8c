"""What the fake LLM server remembers of a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from officellm.testing.wires.speaker import Heard

_SECRETS = ("authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie", "proxy-authorization")


@dataclass(slots=True)
class Record:
    """A request as it was received; keys in its headers are redacted. `at` is in seconds since the server began.

    `outcome` is `answered`, `fault NAME`, `refused: why`, `left` where the client closed before the end, or `open`.
    """

    path: str
    heard: Heard
    at: float
    outcome: str = "open"

    def __post_init__(self) -> None:
        shown = {name: "redacted" if name in _SECRETS else value for name, value in self.heard.headers.items()}
        self.heard = replace(self.heard, headers=shown)

    @property
    def wire(self) -> str:
        """The wire it came by."""
        return self.heard.wire

    @property
    def model(self) -> str:
        """The model that was asked."""
        return self.heard.model

    @property
    def system(self) -> str:
        """The system text."""
        return self.heard.system

    @property
    def stream(self) -> bool:
        """Whether a stream was asked for."""
        return self.heard.stream

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools on offer."""
        return self.heard.tools

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers by lower-case name."""
        return self.heard.headers

    @property
    def body(self) -> Mapping[str, Any]:
        """The JSON that came."""
        return self.heard.body

    @property
    def messages(self) -> list[Any]:
        """The conversation as it was sent: `messages`, Gemini's `contents`, or the `input` of OpenAI's responses."""
        found = next((self.body[key] for key in ("messages", "contents", "input") if key in self.body), None)
        return found if isinstance(found, list) else []

    def to_dict(self) -> dict[str, Any]:
        """The JSON form, as `GET /requests` gives it."""
        return {
            "wire": self.wire,
            "path": self.path,
            "model": self.model,
            "system": self.system,
            "stream": self.stream,
            "tools": list(self.tools),
            "messages": self.messages,
            "body": self.body,
            "headers": self.headers,
            "at": round(self.at, 6),
            "outcome": self.outcome,
        }
