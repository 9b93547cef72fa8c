"""What Amazon Bedrock's Converse refuses with a 400: the fake server's judgement of a request body. Pure.

Models differ in what they take: a rule stands here where all of them have it, or Anthropic's do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from officellm.testing.wires.speaker import Trouble, listed, mapped, signature_of

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ID = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")
_FIRST = "A conversation must start with a user message. Try again with a conversation that starts with a user message."
_TOOLS_NEEDED = "The toolConfig field must be defined when using toolUse and toolResult content blocks."
#: How a message of the model's own maker begins.
_MODEL = "The model returned the following errors:"


def complain(body: Mapping[str, Any], model: str = "") -> Trouble | None:
    """The first thing that Converse would refuse in this body, were it sent to this model."""
    return next((Trouble(400, message) for message in _troubles(body, claude="anthropic" in model)), None)


def _constraint(place: str, constraint: str) -> str:
    return f"1 validation error detected: Value at '{place}' failed to satisfy constraint: Member must {constraint}"


def _blocks(one: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [mapped(block) for block in listed(one.get("content"))]


def _troubles(body: Mapping[str, Any], claude: bool) -> Iterator[str]:
    if not isinstance(body.get("messages"), list):
        yield _constraint("messages", "not be null")
    if not body["messages"]:
        yield _FIRST
    messages = [mapped(one) for one in body["messages"]]
    yield from _tools(body.get("toolConfig"))
    yield from _settings(body)
    yield from _roles(messages)
    for index, one in enumerate(messages):
        yield from _content(one, f"messages.{index}.content")
    yield from _thoughts(messages, claude)
    if claude:
        yield from _thinking(body, messages)
    yield from _pairs(messages)
    every = [block for one in messages for block in _blocks(one)]
    if body.get("toolConfig") is None and any("toolUse" in block or "toolResult" in block for block in every):
        yield _TOOLS_NEEDED


def _tools(config: Any) -> Iterator[str]:
    if config is None:
        return
    tools = mapped(config).get("tools")
    if not isinstance(tools, list) or not tools:
        yield _constraint("toolConfig.tools", "have length greater than or equal to 1")
        return
    names: list[str] = []
    for index, tool in enumerate(map(mapped, tools), start=1):
        if "toolSpec" not in tool:
            if len(tool) != 1 or not {"systemTool", "cachePoint"} & set(tool):
                yield f"Invalid union at toolConfig.tools.{index}: exactly one member must be set"
            continue
        spec, place = mapped(tool["toolSpec"]), f"toolConfig.tools.{index}.member.toolSpec"
        yield from _name(spec.get("name"), f"{place}.name")
        if spec["name"] in names:
            yield f"The tool {spec['name']} is already defined at {place}.name"
        names.append(spec["name"])
        if "description" in spec and not spec["description"]:
            yield _constraint(f"{place}.description", "have length greater than or equal to 1")
        schema = mapped(spec.get("inputSchema")).get("json")
        if not isinstance(schema, dict) or schema.get("type") != "object":
            yield f"The value at {place}.inputSchema.json.type must be one of the following: object."
    choice = mapped(config).get("toolChoice")
    if choice is not None and (len(mapped(choice)) != 1 or not {"auto", "any", "tool"} & set(mapped(choice))):
        yield "Invalid union at toolConfig.toolChoice: exactly one of auto, any, tool must be set"
    if "tool" in mapped(choice) and mapped(mapped(choice)["tool"]).get("name") not in names:
        yield f"The tool {mapped(mapped(choice)['tool']).get('name')} of toolConfig.toolChoice is not among the tools"


def _name(name: Any, place: str) -> Iterator[str]:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        yield _constraint(place, "satisfy regular expression pattern: [a-zA-Z0-9_-]{1,64}")


def _settings(body: Mapping[str, Any]) -> Iterator[str]:
    for key in ("system", "inferenceConfig"):
        wanted = list if key == "system" else dict
        if not isinstance(body.get(key, wanted()), (wanted, type(None))):
            yield f"The value at {key} can not be converted to a {'List' if wanted is list else 'Structure'}"
    for index, block in enumerate(listed(body.get("system"))):
        if "text" in mapped(block) and not _says(mapped(block)["text"]):
            place = f"system.{index}"
            yield f"The text field in the SystemContentBlock object at {place} is blank. Add text to the text field."
    limit = mapped(body.get("inferenceConfig")).get("maxTokens", 1)
    if not isinstance(limit, int) or limit < 1:
        yield _constraint("inferenceConfig.maxTokens", "have value greater than or equal to 1")
    for key in ("temperature", "topP"):
        share = mapped(body.get("inferenceConfig")).get(key)
        if isinstance(share, (int, float)) and not 0 <= share <= 1:
            bound = "greater than or equal to 0" if share < 0 else "less than or equal to 1"
            yield _constraint(f"inferenceConfig.{key}", f"have value {bound}")


def _says(text: Any) -> bool:
    return isinstance(text, str) and bool(text.strip())


def _roles(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for index, one in enumerate(messages):
        role = one.get("role")
        if role not in ("user", "assistant"):
            yield _constraint(f"messages.{index + 1}.member.role", "satisfy enum value set: [user, assistant]")
        if not index and role != "user":
            yield _FIRST


def _content(one: Mapping[str, Any], place: str) -> Iterator[str]:
    if not isinstance(one.get("content"), list) or not one["content"]:
        yield (
            f"The content field in the Message object at {place.removesuffix('.content')} is empty. Add a ContentBlock "
            "object to the content field and try again."
        )
    blocks, role = _blocks(one), one["role"]
    for index, block in enumerate(blocks):
        if len(block) != 1:
            yield f"Invalid union at {place}.{index}: exactly one member must be set"
        yield from _block(block, f"{place}.{index}", role)
    if blocks and all("text" in block and not _says(block["text"]) for block in blocks):
        yield f"The text fields at {place} are blank. Add text to a text field, and try again."
    if any("document" in block for block in blocks) and not any("text" in block for block in blocks):
        yield f"The content field at {place} must contain a text block when it contains a document block."


def _block(block: Mapping[str, Any], place: str, role: str) -> Iterator[str]:
    if "text" in block and (not block["text"] or not isinstance(block["text"], str)):
        yield (
            f"The text field in the ContentBlock object at {place} is blank. Add text to the text field, and try again."
        )
    if "toolUse" in block:
        use = mapped(block["toolUse"])
        if role != "assistant":
            yield f"{place}: toolUse blocks can only be in messages of the assistant role."
        yield from _tool_id(use.get("toolUseId"), f"{place}.toolUse.toolUseId")
        yield from _name(use.get("name"), f"{place}.toolUse.name")
        if not isinstance(use.get("input"), dict):
            yield (
                f"The format of the value at {place}.toolUse.input is invalid. Provide a json object for the field and "
                "try again."
            )
    if "toolResult" in block:
        if role != "user":
            yield f"{place}: toolResult blocks can only be in messages of the user role."
        yield from _result(mapped(block["toolResult"]), f"{place}.toolResult")
    if "reasoningContent" in block and role != "assistant":
        yield f"{place}: reasoningContent blocks can only be in messages of the assistant role."


def _tool_id(id: Any, place: str) -> Iterator[str]:
    if not isinstance(id, str) or not _ID.fullmatch(id):
        yield _constraint(place, "satisfy regular expression pattern: [a-zA-Z0-9_.:-]{1,64}")


def _result(result: Mapping[str, Any], place: str) -> Iterator[str]:
    yield from _tool_id(result.get("toolUseId"), f"{place}.toolUseId")
    content = result.get("content")
    if not isinstance(content, list):
        yield _constraint(f"{place}.content", "not be null")
    if result.get("status") not in (None, "success", "error"):
        yield _constraint(f"{place}.status", "satisfy enum value set: [success, error]")
    if not content and result.get("status") == "error":
        yield f"The content field at {place} cannot be empty when status value is error."
    for index, part in enumerate(map(mapped, listed(content))):
        if len(part) != 1:
            yield f"Invalid union at {place}.content.{index}: exactly one member must be set"
        if "text" in part and not isinstance(part["text"], str):
            yield f"The value at {place}.content.{index}.text can not be converted to a String"
        if "json" in part and not isinstance(part["json"], dict):
            yield (
                f"The format of the value at {place}.content.{index}.json is invalid. Provide a json object for the "
                "field and try again."
            )


def _thoughts(messages: Sequence[Mapping[str, Any]], claude: bool) -> Iterator[str]:
    for index, one in enumerate(messages):
        for position, block in enumerate(_blocks(one)):
            told = mapped(block.get("reasoningContent")).get("reasoningText")
            signature, place = mapped(told).get("signature"), f"messages.{index}.content.{position}"
            # Models of other makers do not sign what they think.
            if told is not None and signature is None and claude:
                yield f"{_MODEL} {place}.thinking.signature: Field required"
            if signature is not None and signature != signature_of(str(mapped(told).get("text", ""))):
                yield f"{_MODEL} {place}: Invalid `signature` in `thinking` block"


def _thinking(body: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What Anthropic's models demand while they think with a budget."""
    if mapped(mapped(body.get("additionalModelRequestFields")).get("thinking")).get("type") != "enabled":
        return
    if {"any", "tool"} & set(mapped(mapped(body.get("toolConfig")).get("toolChoice"))):
        yield f"{_MODEL} Thinking may not be enabled when tool_choice forces tool use."
    if mapped(body.get("inferenceConfig")).get("temperature", 1) != 1:
        yield f"{_MODEL} `temperature` may only be set to 1 when thinking is enabled."
    for index in range(len(messages) - 1, 0, -1):
        blocks = _blocks(messages[index])
        if messages[index].get("role") == "user":
            if not any("toolResult" in block for block in blocks):
                return
        elif "reasoningContent" not in blocks[0] and any("toolUse" in block for block in blocks):
            found = "tool_use" if "toolUse" in blocks[0] else "text"
            yield (
                f"{_MODEL} messages.{index}.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
                f"`{found}`. When `thinking` is enabled, a final `assistant` message must start with a thinking block"
            )


def _pairs(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    wanted: list[str] = []
    for index, one in enumerate([*messages, {"content": []}]):
        blocks, place = _blocks(one), f"messages.{index}.content"
        results = [str(mapped(block["toolResult"]).get("toolUseId")) for block in blocks if "toolResult" in block]
        missing = [id for id in wanted if id not in results]
        if missing:
            yield f"Expected toolResult blocks at {place} for the following Ids: {', '.join(missing)}"
        if len(set(results)) != len(results):
            yield f"The toolResult blocks at {place} contain duplicate Ids: {', '.join(results)}"
        if len(results) > len(wanted):
            yield f"The number of toolResult blocks at {place} exceeds the number of toolUse blocks of previous turn."
        wanted = [str(mapped(block["toolUse"]).get("toolUseId")) for block in blocks if "toolUse" in block]
        if len(set(wanted)) != len(wanted):
            yield f"The toolUse blocks at {place} contain duplicate Ids: {', '.join(wanted)}"
