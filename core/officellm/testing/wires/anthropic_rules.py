"""What Anthropic's messages refuse with a 400: the fake server's judgement of a request body. Pure.

One rule is stricter than today's service, which merges neighbours of one role: the turns must alternate here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from officellm.testing.wires.speaker import Trouble, listed, mapped, signature_of, words

_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_KEYS = words(
    "model messages max_tokens system tools tool_choice temperature top_p top_k stop_sequences stream metadata "
    "thinking service_tier container context_management mcp_servers output_config output_format cache_control "
    "inference_geo speed"
)


def complain(body: Mapping[str, Any], headers: Mapping[str, str]) -> Trouble | None:
    """The first thing that Anthropic would refuse in this request."""
    if "anthropic-version" not in headers:
        return Trouble(400, "anthropic-version: header is required")
    return complain_of_body(body)


def complain_of_body(body: Mapping[str, Any], *, alternating: bool = True) -> Trouble | None:
    """The first thing that Anthropic would refuse in this body. `alternating`: the rule of this server, too."""
    return next((Trouble(400, message) for message in _troubles(body, alternating)), None)


def _troubles(body: Mapping[str, Any], alternating: bool) -> Iterator[str]:
    for key in ("model", "max_tokens", "messages"):
        if key not in body:
            yield f"{key}: Field required"
    for key in body:
        if key not in _KEYS:
            yield f"{key}: Extra inputs are not permitted"
    if not isinstance(body["max_tokens"], int) or body["max_tokens"] < 1:
        yield "max_tokens: Input should be greater than or equal to 1"
    if not isinstance(body["messages"], list) or not body["messages"]:
        yield "messages: at least one message is required"
        return
    messages = [mapped(one) for one in body["messages"]]
    yield from _tools(body)
    yield from _thinking(body, messages)
    yield from _system(body)
    yield from _roles(messages, alternating)
    for index, one in enumerate(messages):
        yield from _content(one, index, last=index == len(messages) - 1)
    yield from _pairs(messages)
    if not body.get("tools") and any(block.get("type") in _TOOL_BLOCKS for one in messages for block in _blocks(one)):
        yield "tools: Requests which include `tool_use` or `tool_result` blocks must define tools"


_TOOL_BLOCKS = ("tool_use", "tool_result")


def _blocks(one: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [mapped(block) for block in listed(one.get("content"))]


def _tools(body: Mapping[str, Any]) -> Iterator[str]:
    names = []
    for index, one in enumerate(mapped(tool) for tool in listed(body.get("tools"))):
        if one.get("type", "custom") != "custom":
            continue
        place = f"tools.{index}.custom"
        name = one.get("name")
        if not isinstance(name, str) or not _TOOL_NAME.fullmatch(name):
            yield f"{place}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
        if name in names:
            yield "tools: Tool names must be unique."
        names.append(name)
        if "input_schema" not in one:
            yield f"{place}.input_schema: Field required"
        elif mapped(one["input_schema"]).get("type") != "object":
            yield f"{place}.input_schema.type: Input should be 'object'"
        for key in one:
            if key in ("parameters", "function"):
                yield f"{place}.{key}: Extra inputs are not permitted"
    if "tool_choice" not in body:
        return
    if not body.get("tools"):
        yield "tool_choice: tool_choice may only be specified while providing tools"
    choice = mapped(body["tool_choice"])
    if choice.get("type") not in ("auto", "any", "tool", "none"):
        yield "tool_choice: Input tag does not match any of the expected tags: 'auto', 'any', 'tool', 'none'"
    if choice.get("type") == "tool" and choice.get("name") not in [mapped(one).get("name") for one in body["tools"]]:
        yield f"Tool '{choice.get('name')}' not found in provided tools"


def _thinking(body: Mapping[str, Any], messages: list[dict[str, Any]]) -> Iterator[str]:
    thinking = mapped(body.get("thinking"))
    if thinking.get("type") != "enabled":
        return
    budget = thinking.get("budget_tokens")
    if not isinstance(budget, int) or budget < 1024:
        yield "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
    elif budget >= body["max_tokens"]:
        yield "`max_tokens` must be greater than `thinking.budget_tokens`"
    if mapped(body.get("tool_choice")).get("type") in ("any", "tool"):
        yield "Thinking may not be enabled when tool_choice forces tool use."
    if body.get("temperature", 1) != 1:
        yield "`temperature` may only be set to 1 when thinking is enabled."
    for index in range(len(messages) - 1, 0, -1):
        blocks = _blocks(messages[index])
        if messages[index].get("role") != "assistant":
            if not any(block.get("type") == "tool_result" for block in blocks):
                return
            continue
        first = blocks[0].get("type") if blocks else "text"
        if first not in ("thinking", "redacted_thinking") and any(block.get("type") == "tool_use" for block in blocks):
            yield (
                f"messages.{index}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{first}`. "
                "When `thinking` is enabled, a final `assistant` message must start with a thinking block"
            )


def _system(body: Mapping[str, Any]) -> Iterator[str]:
    system = body.get("system", "x")
    if isinstance(system, str):
        return
    if not isinstance(system, list):
        yield "system: Input should be a valid list"
    for block in listed(system):
        if not mapped(block).get("text"):
            yield "system: text content blocks must be non-empty"


def _roles(messages: list[dict[str, Any]], alternating: bool) -> Iterator[str]:
    before = None
    for one in messages:
        role = one.get("role")
        if role not in ("user", "assistant"):
            yield (
                f'messages: Unexpected role "{role}". The Messages API accepts a top-level `system` parameter, not '
                '"system" as an input message role.'
            )
        if before is None and role != "user":
            yield 'messages: first message must use the "user" role'
        if alternating and role == before:
            yield (
                'messages: roles must alternate between "user" and "assistant", but found multiple '
                f'"{role}" roles in a row'
            )
        before = role


def _content(one: Mapping[str, Any], index: int, *, last: bool) -> Iterator[str]:
    content = one.get("content")
    if not isinstance(content, (str, list)):
        yield f"messages.{index}.content: Field required"
        return
    final = last and one.get("role") == "assistant"
    if not content and not final:
        yield (
            f"messages.{index}: all messages must have non-empty content except for the optional final assistant "
            "message"
        )
    if isinstance(content, str) and content and not content.strip():
        yield "messages: text content blocks must contain non-whitespace text"
    text = content if isinstance(content, str) else mapped(content[-1]).get("text", "") if content else ""
    if final and isinstance(text, str) and text != text.rstrip():
        yield "messages: final assistant content cannot end with trailing whitespace"
    for position, block in enumerate(_blocks(one)):
        yield from _block(block, f"messages.{index}.content.{position}", one.get("role"))
    blocks = _blocks(one)
    if blocks and one.get("role") == "assistant" and blocks[-1].get("type") in ("thinking", "redacted_thinking"):
        yield f"messages.{index}: The final block in an assistant message cannot be `thinking`."


def _block(block: Mapping[str, Any], place: str, role: Any) -> Iterator[str]:
    kind = block.get("type")
    if not isinstance(kind, str):
        yield f"{place}.type: Field required"
    elif kind == "text":
        text = block.get("text")
        if not isinstance(text, str) or not text:
            yield "messages: text content blocks must be non-empty"
        elif not text.strip():
            yield "messages: text content blocks must contain non-whitespace text"
    elif kind == "tool_use":
        if role != "assistant":
            yield f"{place}: `tool_use` blocks can only be in `assistant` messages"
        yield from _ids(block.get("id"), f"{place}.tool_use.id")
        if not isinstance(block.get("name"), str) or not block["name"]:
            yield f"{place}.tool_use.name: String should have at least 1 character"
        if not isinstance(block.get("input"), dict):
            yield f"{place}.tool_use.input: Input should be a valid dictionary"
    elif kind == "tool_result":
        if role != "user":
            yield f"{place}: `tool_result` blocks can only be in `user` messages"
        yield from _ids(block.get("tool_use_id"), f"{place}.tool_result.tool_use_id")
        for inner in listed(block.get("content")):
            if mapped(inner).get("type") == "text" and not mapped(inner).get("text"):
                yield "messages: text content blocks must be non-empty"
    elif kind == "thinking":
        yield from _signature(block, place)


def _ids(id: Any, place: str) -> Iterator[str]:
    if not isinstance(id, str) or not _ID.fullmatch(id):
        yield f"{place}: String should match pattern '^[a-zA-Z0-9_-]+$'"


def _signature(block: Mapping[str, Any], place: str) -> Iterator[str]:
    if not block.get("signature"):
        yield f"{place}.thinking.signature: Field required"
    elif block["signature"] != signature_of(str(block.get("thinking", ""))):
        yield f"{place}: Invalid `signature` in `thinking` block"


def _pairs(messages: list[dict[str, Any]]) -> Iterator[str]:
    wanted: list[str] = []
    every: set[str] = set()
    for index, one in enumerate([*messages, {"content": []}]):
        blocks = _blocks(one)
        front: list[str] = []
        for block in blocks:
            if block.get("type") != "tool_result":
                break
            front.append(str(block.get("tool_use_id")))
        missing = [id for id in wanted if id not in front]
        if missing:
            yield (
                f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the "
                "next message."
            )
        if len(set(front)) != len(front):
            yield f"messages.{index}: each tool_use must have a single result. Found multiple `tool_result` blocks"
        for position, block in enumerate(blocks):
            id = str(block.get("tool_use_id"))
            if block.get("type") == "tool_result" and (id not in wanted or position >= len(front)):
                yield (
                    f"messages.{index}.content.{position}: unexpected `tool_use_id` found in `tool_result` blocks: "
                    f"{id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous "
                    "message."
                )
        wanted = [str(block.get("id")) for block in blocks if block.get("type") == "tool_use"]
        if len(set(wanted)) != len(wanted) or every & set(wanted):
            yield "messages: `tool_use` ids must be unique"
        every |= set(wanted)
