"""Makes a history legal for any vendor: calls and results in pairs, ids and names that all take. No vendor here."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from officellm.messages import Assistant, Message, System, ToolCall, ToolResult, ToolSpec, User

#: The result of a call for which the history has none.
NO_RESULT = "no result was recorded"
#: The first words of a history that begins with a reply.
OPENING = "Continue."

#: Safe as a function name on every wire, and what it says in words.
LEGAL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}\Z")
LEGAL_NAME_IN_WORDS = "a letter or _, then letters, digits, _ or -, 64 at most"
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]+")


def legal(messages: Sequence[Message]) -> Sequence[Message]:
    """The history as every vendor takes it; the same object where nothing had to be repaired.

    One System, in front; a User next; no empty reply; call ids unique and not empty; each call answered once, in call
    order, directly after its reply. Results without a call are dropped; a call without a result gets `NO_RESULT`.
    """
    return messages if _is_legal(messages) else _repaired(messages)


def unique_calls(message: Assistant, history: Sequence[Message]) -> Assistant:
    """A new reply with call ids that are neither empty nor in use; the same object where they are already.

    The one place where a vendor's missing or repeated ids are replaced: parsers leave them as they came.
    """
    if not message.calls:
        return message
    taken = {call.id for earlier in history if isinstance(earlier, Assistant) for call in earlier.calls}
    return _with_ids(message, _fresh_ids(message.calls, taken, len(history)))


def legal_name(name: str) -> str:
    """A tool name that every vendor takes: the name itself, or a stable alias of it."""
    if LEGAL_NAME.match(name):
        return name
    base = _ILLEGAL.sub("_", name)[:54]
    return f"{base if base[:1].isalpha() or base[:1] == '_' else '_' + base}_{_digest(name)[:8]}"


def original_names(tools: Iterable[ToolSpec]) -> dict[str, str]:
    """From alias to name, for the tools whose name had to change: the way back from `legal_name`."""
    return {alias: tool.name for tool in tools if (alias := legal_name(tool.name)) != tool.name}


def legal_id(call_id: str, pattern: re.Pattern[str], length: int = 24) -> str:
    """A call id for a vendor that takes only `pattern`: the id itself, or a stable hash of `length` hex digits."""
    return call_id if pattern.fullmatch(call_id) else _digest(call_id)[:length]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _is_empty(message: Assistant) -> bool:
    return not message.calls and message.native is None and (not message.text or message.text.isspace())


def _is_legal(messages: Sequence[Message]) -> bool:
    start = 1 if messages and isinstance(messages[0], System) else 0
    if len(messages) <= start or not isinstance(messages[start], User):
        return False
    seen: set[str] = set()
    waiting: list[ToolCall] = []
    for position in range(start, len(messages)):
        message = messages[position]
        if isinstance(message, ToolResult):
            if not waiting or waiting[-1].id != message.call_id or waiting[-1].name != message.name:
                return False
            waiting.pop()
            continue
        if waiting or isinstance(message, System):
            return False
        if isinstance(message, Assistant):
            if message.calls:
                for call in message.calls:
                    if not call.id or call.id in seen:
                        return False
                    seen.add(call.id)
                waiting = list(reversed(message.calls))
            elif _is_empty(message):
                return False
    return not waiting


def _repaired(messages: Sequence[Message]) -> list[Message]:
    results = _paired(messages)
    taken: set[str] = set()
    body: list[Message] = []
    for index, message in enumerate(messages):
        if isinstance(message, Assistant):
            if _is_empty(message):
                continue
            reply = _with_ids(message, _fresh_ids(message.calls, taken, index))
            body.append(reply)
            body.extend(_result(call, results.get((index, place))) for place, call in enumerate(reply.calls))
        elif isinstance(message, User):
            body.append(message)
    if not body or not isinstance(body[0], User):
        body.insert(0, User(OPENING))
    systems = [message for message in messages if isinstance(message, System)]
    return [_merged(systems), *body] if systems else body


def _paired(messages: Sequence[Message]) -> dict[tuple[int, int], ToolResult]:
    """The result of each call, by the call's position.

    Calls that share an id are answered in the order they were made; a later reply that uses the id again closes it.
    """
    found: dict[tuple[int, int], ToolResult] = {}
    unanswered: dict[str, list[tuple[int, int]]] = {}
    for index, message in enumerate(messages):
        if isinstance(message, Assistant):
            unanswered.update({call.id: [] for call in message.calls})
            for place, call in enumerate(message.calls):
                unanswered[call.id].append((index, place))
        elif isinstance(message, ToolResult) and unanswered.get(message.call_id):
            found[unanswered[message.call_id].pop(0)] = message
    return found


def _fresh_ids(calls: Sequence[ToolCall], taken: set[str], index: int) -> tuple[str, ...]:
    """Ids for the calls of the reply at `index`, all different from `taken`, which grows by them."""
    ids: list[str] = []
    for place, call in enumerate(calls):
        wanted = call.id or f"call_{index}_{place}"
        fresh, count = wanted, 1
        while fresh in taken:
            count += 1
            fresh = f"{wanted}_{count}"
        taken.add(fresh)
        ids.append(fresh)
    return tuple(ids)


def _with_ids(message: Assistant, ids: tuple[str, ...]) -> Assistant:
    if all(call.id == fresh for call, fresh in zip(message.calls, ids, strict=True)):
        return message
    # Kept with the message, so that what formats make of the repaired one is made once too.
    return message.encoded(
        ("ids", ids),
        lambda: replace(
            message, calls=tuple(replace(call, id=fresh) for call, fresh in zip(message.calls, ids, strict=True))
        ),
    )


def _result(call: ToolCall, result: ToolResult | None) -> ToolResult:
    if result is None:
        return ToolResult(call.id, call.name, NO_RESULT, is_error=True)
    if result.call_id == call.id and result.name == call.name:
        return result
    return result.encoded(("for", call.id, call.name), lambda: replace(result, call_id=call.id, name=call.name))


def _merged(systems: Sequence[System]) -> System:
    if len(systems) == 1:
        return systems[0]
    text = "\n\n".join(system.text for system in systems)
    return systems[0].encoded(("merged", text), lambda: System(text))
