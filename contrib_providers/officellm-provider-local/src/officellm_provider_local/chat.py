"""A neutral request as llama.cpp's chat completion: messages, sampling, and schemas that a small model can end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from officellm import Assistant, Message, Request, System, ToolResult, User, dump_text
from officellm_provider_local.model import clean

#: What a text of a schema may take where the schema does not say: a small model goes on until something stops it.
_TEXT_CHARS = 240
#: What every task's prompt says alike: it would blur what this one means.
_LABEL = re.compile(r"^(?:(?:Task|Description): |Priority: (?:low|medium|high)$)")
#: Settings of an agent that llama.cpp's server understands.
_PASSED = frozenset(
    [
        *("temperature", "top_p", "top_k", "min_p", "seed", "stop", "max_tokens"),
        *("frequency_penalty", "presence_penalty", "repeat_penalty"),
    ]
)


def body(request: Request, settings: Mapping[str, Any], max_tokens: int) -> dict[str, Any]:
    """The body of a chat completion."""
    wanted = {"temperature": 0, "max_tokens": max_tokens, **settings, **request.settings}
    made: dict[str, Any] = {key: value for key, value in wanted.items() if key in _PASSED}
    made["messages"] = _messages(request.messages)
    if request.output is not None:
        wanted = {"name": request.output.name, "schema": _bounded(request.output.schema)}
        made["response_format"] = {"type": "json_schema", "json_schema": wanted}
    return made


def question_of(messages: Sequence[Message]) -> str:
    """The user's latest words, without the labels that a task's prompt puts before its parts."""
    text = next((message.text for message in reversed(messages) if isinstance(message, User)), "")
    parts = [_LABEL.sub("", part).strip() for part in text.split("\n\n")]
    return " ".join(part if part[-1] in ".!?:" else f"{part}." for part in parts if part)


def results_of(messages: Sequence[Message]) -> list[ToolResult]:
    """Tool results since the last answer, those that are no errors."""
    found: list[ToolResult] = []
    for message in reversed(messages):
        if isinstance(message, Assistant) and not message.calls and message.text:
            break
        if isinstance(message, ToolResult) and not message.is_error:
            found.append(message)
    return found[::-1]


def _messages(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Turns of user and assistant in alternation; results become the user's notes."""
    made: list[dict[str, Any]] = []
    for message in messages:
        role, text = _turn(message)
        text = clean(text)
        if made and made[-1]["role"] == role:
            made[-1]["content"] += f"\n\n{text}"
        else:
            made.append({"role": role, "content": text})
    return made


def _turn(message: Message) -> tuple[str, str]:
    if isinstance(message, System):
        return "system", message.text
    if isinstance(message, ToolResult):
        return "user", f"Result of {message.name}:\n{message.content}"
    if isinstance(message, Assistant):
        calls = [dump_text({"tool": call.name, "arguments": call.sendable}) for call in message.calls]
        return "assistant", "\n".join([message.text, *calls] if message.text else calls)
    return "user", message.text


def _bounded(schema: Any) -> Any:
    """The same schema with an end to every free text and list."""
    if isinstance(schema, list):
        return [_bounded(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    made = {key: value if key in ("enum", "const", "default") else _bounded(value) for key, value in schema.items()}
    if made.get("type") == "string" and not made.keys() & {"enum", "const", "maxLength", "pattern", "format"}:
        made["maxLength"] = _TEXT_CHARS
    return made
