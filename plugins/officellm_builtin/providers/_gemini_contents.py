"""Encodes the neutral history as Gemini's contents, each message once. What a reply means is not known here."""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from officellm import Assistant, Media, Message, Part, System, ToolCall, ToolResult, ToolSpec, User, dumps, legal_name
from officellm_builtin.providers._gemini_reply import NAME
from officellm_builtin.providers._gemini_schema import reduced

#: Stands for the signature of a call that another model made; the vendor documents it for that.
FOREIGN_SIGNATURE = "skip_thought_signature_validator"

_VERSION = re.compile(r"gemini-(\d+)")
_CONTINUE = dumps({"text": "Continue."})
_ROLES = {"user": b"user", "results": b"user", "model": b"model"}


def is_gemini_3(model: str) -> bool:
    """Whether the model has Gemini 3's rules; a name without a version, such as `gemini-flash-latest`, has."""
    found = _VERSION.search(model)
    return int(found.group(1)) >= 3 if found else "gemini-" in model


def encode_contents(messages: Sequence[Message], model: str) -> bytes:
    """The value of `contents`: neighbours of one kind joined, results apart from any other words of the user."""
    signs = is_gemini_3(model)
    contents: list[tuple[str, list[bytes]]] = []
    given: dict[str, str] = {}
    for message in messages:
        if isinstance(message, System):
            continue
        if isinstance(message, Assistant):
            given = _given_ids(message)
            kind, parts = "model", _model_parts(message, model, signs)
        elif isinstance(message, ToolResult):
            kind, parts = "results", _result(message, given.get(message.call_id, ""))
        else:
            kind, parts = "user", message.encoded(NAME, partial(_user, message))
        if not parts:
            continue
        if contents and contents[-1][0] == kind:
            contents[-1][1].append(parts)
        else:
            contents.append((kind, [parts]))
    if not contents or contents[0][0] != "user":
        contents.insert(0, ("user", [_CONTINUE]))
    if contents[-1][0] == "model":
        contents.append(("user", [_CONTINUE]))  # a conversation must end with the user's words or with results
    return b"[%b]" % b",".join(
        b'{"role":"%b","parts":[%b]}' % (_ROLES[kind], b",".join(parts)) for kind, parts in contents
    )


def encode_system(messages: Sequence[Message]) -> bytes:
    """The value of `systemInstruction`, empty where there are no instructions."""
    parts = [
        message.encoded(NAME, partial(dumps, {"text": message.text}))
        for message in messages
        if isinstance(message, System) and message.text.strip()
    ]
    return b'{"parts":[%b]}' % b",".join(parts) if parts else b""


def encode_tools(tools: Sequence[ToolSpec]) -> bytes:
    """One element of `tools`, empty where there are none."""
    found = [tool.encoded(NAME, partial(_tool, tool)) for tool in tools]
    return b'{"functionDeclarations":[%b]}' % b",".join(found) if found else b""


def _given_ids(message: Assistant) -> dict[str, str]:
    """The ids that this API gave to calls: it takes back those, and none that we made.

    Calls that were given one id keep none: without, they and their results are told apart by order.
    """
    if message.origin is None or message.origin[0] != NAME:
        return {}
    given = {call.id: id for call in message.calls if (id := _given_id(call))}
    times = Counter(given.values())
    return {call: id for call, id in given.items() if times[id] == 1}


def _given_id(call: ToolCall) -> str:
    given = call.extra.get("id") if call.extra else None
    return given if isinstance(given, str) else ""


def _model_parts(message: Assistant, model: str, signs: bool) -> bytes:
    """Comma-joined parts; empty where the message has nothing to say."""
    if message.native is not None and message.origin == (NAME, model):
        return message.encoded((NAME, "replay"), lambda: _replayed(message))
    return message.encoded((NAME, signs), lambda: _foreign(message, signs))


def _foreign(message: Assistant, signs: bool) -> bytes:
    given = _given_ids(message)
    parts: list[Mapping[str, Any]] = [{"text": message.text}] if message.text.strip() else []
    for place, call in enumerate(message.calls):
        signature = {"thoughtSignature": FOREIGN_SIGNATURE} if signs and place == 0 else {}
        parts.append({"functionCall": _call(call, given), **signature})
    return b",".join(dumps(part) for part in parts)


def _replayed(message: Assistant) -> bytes:
    """The parts as they came, but for calls: their arguments may be unreadable and their names ours."""
    native: Sequence[Mapping[str, Any]] = message.native
    if sum("functionCall" in part for part in native) != len(message.calls):
        return _foreign(message, True)
    given, calls = _given_ids(message), iter(message.calls)
    return b",".join(
        dumps({**part, "functionCall": _call(next(calls), given)} if "functionCall" in part else part)
        for part in native
    )


def _call(call: ToolCall, given: Mapping[str, str]) -> dict[str, Any]:
    id = given.get(call.id)
    return {**({"id": id} if id else {}), "name": legal_name(call.name), "args": call.sendable}


def _result(message: ToolResult, given: str) -> bytes:
    return message.encoded((NAME, given), lambda: _encoded_result(message, given))


def _encoded_result(message: ToolResult, given: str) -> bytes:
    response = {"error" if message.is_error else "result": message.content}
    id = {"id": given} if given else {}
    return dumps({"functionResponse": {**id, "name": legal_name(message.name), "response": response}})


def _user(message: User) -> bytes:
    content: Sequence[str | Part] = (message.content,) if isinstance(message.content, str) else message.content
    return b",".join(dumps(part) for item in content if (part := _part(item)))


def _part(part: str | Part) -> dict[str, Any]:
    if isinstance(part, Media):
        if part.data is not None:
            return {"inlineData": {"mimeType": part.media_type, "data": b64encode(part.data).decode()}}
        return {"fileData": {"mimeType": part.media_type, "fileUri": part.url or ""}}
    text = part if isinstance(part, str) else part.text
    return {"text": text} if text.strip() else {}


def _tool(tool: ToolSpec) -> bytes:
    declared: dict[str, Any] = {"name": legal_name(tool.name), "description": tool.description}
    parameters = reduced(tool.parameters)
    return dumps({**declared, "parameters": parameters} if parameters else declared)
