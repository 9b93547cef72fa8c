"""Loads recorded exchanges and compares what a wire format makes of one with what the vendor's own SDK made of it.

The folder is `OFFICELLM_RECORDINGS`, or `../shared/recordings` beside the repository; tests skip where there is none.
"""

from __future__ import annotations

import base64
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from officellm import Fault, FaultError, Reply, Request, ToolSpec, WireFormat, dumps
from officellm.framing import decoder

FOLDER = Path(
    os.environ.get("OFFICELLM_RECORDINGS") or Path(__file__).resolve().parents[3].parent / "shared" / "recordings"
)


@dataclass(frozen=True)
class Exchange:
    """One recorded request and its reply."""

    name: str
    format: str
    vendor: str
    request: dict[str, Any]
    status: int
    headers: dict[str, str]
    framing: str
    body: bytes
    expect: dict[str, Any]
    features: dict[str, Any] = field(default_factory=dict)

    @property
    def streamed(self) -> bool:
        """Whether the reply comes as events; a Gemini stream without `alt=sse` is one JSON array, read whole."""
        return self.framing not in ("json", "json-array", "text")

    @property
    def neutral(self) -> Request:
        """The recorded request, as far as parsing depends on it."""
        body = self.request.get("body") if isinstance(self.request.get("body"), dict) else {}
        return Request(model=str(body.get("model", "m")), messages=(), tools=_tools(body), stream=self.streamed)


def exchanges(*formats: str) -> list[Exchange]:
    """All recordings of these formats, sorted by name; empty where there is no folder."""
    paths = [path for name in formats for path in FOLDER.glob(f"*/{name}.*.json")]
    return [_load(path) for path in sorted(paths)]


def _load(path: Path) -> Exchange:
    recorded = json.loads(path.read_text())
    response = recorded["response"]
    return Exchange(
        name=path.stem,
        format=recorded["format"],
        vendor=recorded["vendor"],
        request=recorded["request"],
        status=response["status"],
        headers={key.lower(): value for key, value in response["headers"].items()},
        framing=response["framing"],
        body=_body(response),
        expect=recorded["expect"],
        features=recorded.get("features", {}),
    )


def _body(response: dict[str, Any]) -> bytes:
    if response["framing"] == "eventstream":
        return base64.b64decode(response["eventstream_b64"])
    if "raw_text" in response:
        return response["raw_text"].encode()
    if response["framing"] in ("sse", "ndjson"):
        return "\n".join(response[response["framing"]]).encode()
    body = response.get("body", response.get("text", ""))
    return body.encode() if isinstance(body, str) else dumps(body)


def _tools(body: dict[str, Any]) -> list[ToolSpec]:
    found = []
    for entry in body.get("tools") or []:
        for tool in entry.get("functionDeclarations", [entry]) if isinstance(entry, dict) else []:
            tool = tool.get("function", tool)
            if isinstance(tool.get("name"), str):
                found.append(ToolSpec(tool["name"], tool.get("description") or "", tool.get("parameters") or {}))
    return found


def read(wire: WireFormat, exchange: Exchange, *, chunk: int = 0, request: Request | None = None) -> Reply | Fault:
    """What the format makes of the exchange, served whole or in pieces of `chunk` bytes."""
    request = request or exchange.neutral
    try:
        if not 200 <= exchange.status < 300:
            return wire.classify(exchange.status, exchange.headers, exchange.body)
        if not exchange.streamed:
            return wire.parse(exchange.body, request)
        return read_stream(wire, exchange.body, request, chunk=chunk)
    except FaultError as error:
        return error.fault


def read_stream(wire: WireFormat, body: bytes, request: Request, *, chunk: int = 0) -> Reply:
    """The reply of a streamed body. Raises `FaultError`."""
    events, parser = decoder(wire.framing), wire.stream_parser(request)
    size = chunk or len(body) or 1
    for start in range(0, len(body), size):
        for event in events.feed(body[start : start + size]):
            parser.feed(event)
    for event in events.close():
        parser.feed(event)
    return parser.finish()


def differences(exchange: Exchange, result: Reply | Fault) -> list[str]:
    """Where `result` is not what the recording expects; empty where all is well."""
    expect = exchange.expect
    wanted = expect.get("error")
    if wanted is not None:
        if isinstance(result, Reply):
            return [f"a reply instead of an error: {result.message.text[:80]!r}"]
        found = {"status": result.status, "retryable": result.retryable}
        return [
            f"{key}: {found[key]!r}, not {wanted[key]!r}"
            for key in ("status", "retryable")
            if wanted.get(key) is not None and found[key] != wanted[key]
        ]
    if isinstance(result, Fault):
        return [f"a fault instead of a reply: {result}"]
    return _reply_differences(expect, result)


def _reply_differences(expect: dict[str, Any], reply: Reply) -> list[str]:
    pairs: dict[str, tuple[Any, Any]] = {
        "text": (reply.message.text, expect["text"]),
        "calls": (_calls(reply), _expected_calls(reply, expect)),
        "finish": (reply.raw_stop or None, str(expect["finish_reason"] or "") or None),
    }
    if expect.get("refusal"):
        pairs["refusal"] = (reply.refusal, expect["refusal"])
    return [f"{what}: {found!r}, not {want!r}" for what, (found, want) in pairs.items() if found != want]


def _calls(reply: Reply) -> list[dict[str, Any]]:
    return [
        {"id": call.id, "name": call.name, "arguments": call.raw if call.problem else dict(call.arguments or {})}
        for call in reply.message.calls
    ]


def _expected_calls(reply: Reply, expect: dict[str, Any]) -> list[dict[str, Any]]:
    """A recording has no id where the service sent none; a call in OpenAI's oldest form stands apart."""
    found = reply.message.calls
    legacy = expect.get("legacy_function_call") or {}
    calls = expect["tool_calls"] or ([legacy] if legacy.get("name") else [])
    return [
        {
            "id": call.get("id") or (found[place].id if place < len(found) else ""),
            "name": call["name"],
            "arguments": call["arguments"],
        }
        for place, call in enumerate(calls)
    ]
