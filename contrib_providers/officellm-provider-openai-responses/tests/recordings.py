"""Loads recorded exchanges from the folder in `OFFICELLM_RECORDINGS`, or from beside the repository."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from officellm_provider_openai_responses import OpenAIResponses

from officellm import Fault, FaultError, Reply, Request, SseDecoder, ToolSpec, dumps

FOLDER = Path(
    os.environ.get("OFFICELLM_RECORDINGS") or Path(__file__).resolve().parents[3].parent / "shared" / "recordings"
)
WIRE = OpenAIResponses()


@dataclass(frozen=True)
class Recording:
    """One recorded request and its reply."""

    name: str
    request: dict[str, Any]
    status: int
    headers: dict[str, str]
    streamed: bool
    body: bytes
    expect: dict[str, Any]

    @property
    def neutral(self) -> Request:
        """The recorded request, as far as parsing depends on it."""
        tools = [
            ToolSpec(tool["name"], tool.get("description") or "", tool.get("parameters") or {})
            for tool in self.request.get("tools") or []
            if "name" in tool
        ]
        return Request(model=self.request["model"], messages=(), tools=tools, stream=self.streamed)

    def read(self, chunk: int = 0) -> Reply | Fault:
        """What the format makes of the reply, served whole or in pieces of `chunk` bytes."""
        try:
            if not 200 <= self.status < 300:
                return WIRE.classify(self.status, self.headers, self.body)
            return self._streamed(chunk or len(self.body)) if self.streamed else WIRE.parse(self.body, self.neutral)
        except FaultError as error:
            return error.fault

    def _streamed(self, size: int) -> Reply:
        events, parser = SseDecoder(), WIRE.stream_parser(self.neutral)
        for at in range(0, len(self.body), size):
            for event in events.feed(self.body[at : at + size]):
                parser.feed(event)
        for event in events.close():
            parser.feed(event)
        return parser.finish()


def recordings() -> list[Recording]:
    """All of this format, sorted by name; empty where there is no folder."""
    return [_load(path) for path in sorted(FOLDER.glob("*/openai_responses.*.json"))]


def _load(path: Path) -> Recording:
    recorded = json.loads(path.read_text())
    response = recorded["response"]
    if "raw_text" in response:
        body = response["raw_text"].encode()
    elif response["framing"] == "sse":
        body = "\n".join(response["sse"]).encode()
    else:
        found = response.get("body", response.get("text", ""))
        body = found.encode() if isinstance(found, str) else dumps(found)
    return Recording(
        name=path.stem.removeprefix("openai_responses."),
        request=recorded["request"]["body"],
        status=response["status"],
        headers={key.lower(): value for key, value in response["headers"].items()},
        streamed=response["framing"] == "sse",
        body=body,
        expect=recorded["expect"],
    )
