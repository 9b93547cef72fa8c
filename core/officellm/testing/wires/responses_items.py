"""What OpenAI's Responses API refuses in the items of a conversation, beside what `responses_rules.py` says. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from officellm.codec import loads
from officellm.testing.wires.openai_rules import name_troubles
from officellm.testing.wires.speaker import Trouble, listed, mapped, said_text, signature_of

_ROLES = ("assistant", "system", "developer", "user")
_GIVEN = ("input_text", "input_image", "input_file", "input_audio")
_MADE = ("output_text", "refusal")
_KINDS = {"message": "msg", "function_call": "fc", "reasoning": "rs"}
_FOLLOWER = re.compile(r"(?:msg|fc)_([0-9a-f]{24})01r")


def item_id(kind: str, mark: str, index: int, thinks: bool) -> str:
    """The id of an item of the reply. It shows whether the item rests on a thought, without which it is refused."""
    return f"{_KINDS[kind]}_{mark}{index:02d}" + ("r" if thinks and index == 1 else "")


def refused(message: str, param: str | None = None, code: str | None = None) -> Trouble:
    """A 400 in OpenAI's words."""
    return Trouble(400, message, code, param)


def missing(place: str) -> Trouble:
    """What is said of something that must be there."""
    return refused(f"Missing required parameter: '{place}'.", place, "missing_required_parameter")


def item_troubles(items: Sequence[Mapping[str, Any]], *, stored: bool, whole: bool) -> Iterator[Trouble]:
    """What is wrong with these items. `stored`: thoughts may come by their id alone. `whole`: nothing came before."""
    for index, item in enumerate(items):
        yield from _item(item, f"input[{index}]")
    yield from _ids(items)
    if whole:
        yield from _pairs(items)
    yield from _thoughts(items, stored=stored)


def _item(item: Mapping[str, Any], place: str) -> Iterator[Trouble]:
    kind = item.get("type", "message" if "role" in item else None)
    if not isinstance(kind, str):
        yield missing(f"{place}.type")
    elif kind == "message":
        yield from _message(item, place)
    elif kind == "item_reference":
        message = (
            f"Item with id '{item.get('id')}' not found. Items are not persisted when `store` is set to false. Try "
            "again with `store` set to true, or remove this item from your input."
        )
        yield refused(message, "input")
    elif kind in ("function_call", "function_call_output"):
        yield from _call_id(item.get("call_id"), f"{place}.call_id")
        if kind == "function_call_output":
            yield from _output(item.get("output"), f"{place}.output")
            return
        yield from name_troubles(item.get("name"), f"{place}.name")
        arguments = item.get("arguments")
        if not isinstance(arguments, str) or not _is_json(arguments):
            message = f"Invalid value for '{place}.arguments': expected the text of a JSON value."
            yield refused(message, f"{place}.arguments", "invalid_value")
    elif kind == "reasoning" and not isinstance(item.get("summary"), list):
        yield missing(f"{place}.summary")


def _is_json(text: str) -> bool:
    try:
        loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _message(item: Mapping[str, Any], place: str) -> Iterator[Trouble]:
    role, content = item.get("role"), item.get("content")
    if role not in _ROLES:
        supported = ", ".join(repr(known) for known in _ROLES)
        message = f"Invalid value: {role!r}. Supported values are: {supported}."
        yield refused(message, f"{place}.role", "invalid_value")
    if content is None:
        yield missing(f"{place}.content")
    elif not isinstance(content, (str, list)):
        message = f"Invalid type for '{place}.content': expected one of a string or array of objects."
        yield refused(message, f"{place}.content", "invalid_type")
    if "tool_calls" in item:
        yield refused(f"Unknown parameter: '{place}.tool_calls'.", f"{place}.tool_calls", "unknown_parameter")
    yield from _parts(listed(content), _MADE if role == "assistant" else _GIVEN, f"{place}.content")


def _parts(parts: list[Any], allowed: Sequence[str], place: str) -> Iterator[Trouble]:
    for index, part in enumerate(map(mapped, parts)):
        kind = part.get("type")
        if kind not in allowed:
            supported = ", ".join(repr(known) for known in allowed)
            message = f"Invalid value: {kind!r}. Supported values are: {supported}."
            yield refused(message, f"{place}[{index}].type", "invalid_value")
        elif kind == "input_image" and not isinstance(part.get("image_url", part.get("file_id")), str):
            message = (
                f"Invalid type for '{place}[{index}].image_url': expected an image URL, but got an object instead."
            )
            yield refused(message, f"{place}[{index}].image_url", "invalid_type")
        elif kind in ("input_text", "output_text") and not isinstance(part.get("text"), str):
            yield missing(f"{place}[{index}].text")


def _call_id(id: Any, place: str) -> Iterator[Trouble]:
    if not isinstance(id, str) or not id:
        yield missing(place)
    elif len(id) > 64:
        message = f"Invalid '{place}': string too long. Expected a string with maximum length 64, but got {len(id)}."
        yield refused(message, place, "string_above_max_length")


def _output(output: Any, place: str) -> Iterator[Trouble]:
    if not isinstance(output, (str, list)):
        yield refused(
            f"Invalid type for '{place}': expected one of a string or array of objects.", place, "invalid_type"
        )
    yield from _parts(listed(output), _GIVEN, place)


def _ids(items: Sequence[Mapping[str, Any]]) -> Iterator[Trouble]:
    seen = set()
    for item in items:
        id = item.get("id")
        if isinstance(id, str) and id in seen:
            message = f"Duplicate item found with id {id}. Remove duplicate items from your input and try again."
            yield refused(message, "input")
        seen.add(str(id))


def _pairs(items: Sequence[Mapping[str, Any]]) -> Iterator[Trouble]:
    """A result may come at any place after its call."""
    waiting: list[str] = []
    for item in items:
        id = str(item.get("call_id"))
        if item.get("type") == "function_call":
            if id in waiting:
                yield refused(f"Duplicate function call with call_id {id}.", "input")
            waiting.append(id)
        elif item.get("type") == "function_call_output":
            if id not in waiting:
                yield refused(f"No tool call found for function call output with call_id {id}.", "input")
                return
            waiting.remove(id)
    for id in waiting:
        yield refused(f"No tool output found for function call {id}.", "input")


def _thoughts(items: Sequence[Mapping[str, Any]], *, stored: bool) -> Iterator[Trouble]:
    before: Mapping[str, Any] = {}
    for item in [*items, {"role": "user"}]:
        id, thought = before.get("id"), before.get("type") == "reasoning"
        given = item.get("role", "assistant") != "assistant" or str(item.get("type")).endswith("_output")
        if thought and given and id is not None:
            message = f"Item '{id}' of type 'reasoning' was provided without its required following item."
            yield refused(message, "input")
        rests_on = _FOLLOWER.fullmatch(str(item.get("id")))
        if rests_on and (not thought or id not in (None, f"rs_{rests_on[1]}00")):
            kind = item.get("type", "message")
            message = (
                f"Item '{item['id']}' of type '{kind}' was provided without its required 'reasoning' item: "
                f"'rs_{rests_on[1]}00'."
            )
            yield refused(message, "input")
        before = item
    for item in items:
        if item.get("type") == "reasoning":
            yield from _encrypted(item, stored=stored)


def _encrypted(item: Mapping[str, Any], *, stored: bool) -> Iterator[Trouble]:
    encrypted = item.get("encrypted_content")
    if encrypted is None:
        if not stored and "id" in item and not item.get("content"):
            message = (
                f"Item with id '{item.get('id')}' not found. Items are not persisted when `store` is set to false."
            )
            yield refused(message, "input")
    elif encrypted != signature_of(said_text(item.get("summary"))):
        message = f"The encrypted content {str(encrypted)[:12]}... could not be verified."
        yield refused(message, "input", "invalid_encrypted_content")
