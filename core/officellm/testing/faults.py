"""The faults that a script can ask for by name, and on which wires each makes sense. What each does is done elsewhere:

`error` and `body` faults by the server (`answers.py`), `reply` faults before rendering (`replies.py`), `delta` faults
by the wire that has them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from officellm.errors import ConfigError, nearest
from officellm.wire import Fault, FaultKind

#: `error`: the vendor answers an error. `body`: bytes that are not what was promised. `reply`: what the model says is
#: odd. `delta`: only the pieces of a stream are odd.
Family = Literal["error", "body", "reply", "delta"]
EVERY_WIRE = ("openai", "anthropic", "gemini", "cohere", "mistral", "ollama", "responses", "bedrock", "bedrock_invoke")

#: The wires whose streams number the calls.
_INDEXED = ("openai", "cohere", "mistral", "ollama")


@dataclass(frozen=True, slots=True)
class NamedFault:
    """A fault that scripts can name. `params` holds each parameter with its usual value.

    `delivers`: the client still gets a turn of the model. `status` is what an `error` fault answers with.
    """

    name: str
    family: Family
    meaning: str
    wires: tuple[str, ...] = EVERY_WIRE
    params: Mapping[str, Any] = field(default_factory=dict)
    delivers: bool = False
    needs_calls: bool = False
    status: int = 200
    #: What a provider would make of it: how a scripted model, which has no wire, raises it.
    kind: FaultKind = "server"

    def as_fault(self, params: Mapping[str, Any]) -> Fault:
        """The fault that a provider reports once its retries are used up."""
        retryable = self.kind not in ("auth", "bad_request", "context_overflow", "refused", "quota")
        status = self.status if self.family == "error" else None
        retry_after = params.get("retry_after", self.params.get("retry_after")) or None
        return Fault(self.kind, self.message(params), status, retryable, retry_after)

    def message(self, params: Mapping[str, Any]) -> str:
        """What the vendor says."""
        return params.get("message") or self.params.get("message") or f"scripted fault: {self.meaning}"


def _error(name: str, kind: FaultKind, message: str, status: int, retry_after: float = 0.0) -> NamedFault:
    params = {"message": message, "retry_after": retry_after}
    return NamedFault(name, "error", f"HTTP {status}: {kind}", params=params, status=status, kind=kind)


def _body(name: str, meaning: str, kind: FaultKind = "malformed", delivers: bool = False, **params: Any) -> NamedFault:
    return NamedFault(name, "body", meaning, params=params, kind=kind, delivers=delivers)


def _reply(name: str, meaning: str, wires: tuple[str, ...] = EVERY_WIRE) -> NamedFault:
    return NamedFault(name, "reply", meaning, wires, delivers=True, needs_calls=True)


def _delta(name: str, meaning: str, *wires: str) -> NamedFault:
    return NamedFault(name, "delta", meaning, wires, delivers=True, needs_calls=True)


_ALL = (
    _error("400", "bad_request", "The request is not valid.", 400),
    _error("401", "auth", "Incorrect API key provided.", 401),
    _error("429", "rate_limit", "Rate limit reached, slow down.", 429, retry_after=1.0),
    _error("500", "server", "The server had an error while processing your request.", 500),
    _error("503", "overloaded", "The service is unavailable, try again later.", 503),
    _error("529", "overloaded", "Overloaded", 529),
    _error("quota", "quota", "You exceeded your current quota, check your plan and billing details.", 429),
    _error("context_overflow", "context_overflow", "The prompt is too long for this model.", 400),
    _body("error_in_200", "HTTP 200 whose body, or whose stream, holds an error", "overloaded", message="Overloaded"),
    _body("html_body", "a proxy's HTML page instead of JSON", status=200),
    _body("empty_body", "no body at all", status=200),
    _body("malformed_json", "a body, or one event of a stream, cut in the middle of its JSON"),
    _body("dropped_stream", "the reply ends too early: no terminal event, or half a body", "network", after=-1),
    _body("dropped_connection", "the connection breaks before the first byte", "network"),
    _body("slow_bytes", "`size` bytes at a time, `delay` seconds apart", delivers=True, size=7, delay=0.001),
    _body("hang", "silence for `seconds`, then the connection breaks", "timeout", seconds=5.0),
    NamedFault("empty_reply", "reply", "neither text nor calls, and it ends as if all were well", kind="malformed"),
    NamedFault("no_usage", "reply", "no token counts", delivers=True),
    _reply("cut_arguments", "the token limit cuts the last call's arguments (Gemini, Ollama: the call is missing)"),
    _reply("null_arguments", "arguments are null (Gemini: `args` is missing)"),
    _reply(
        "glued_arguments",
        "two JSON objects glued (Anthropic, Bedrock: streams only; Gemini: MALFORMED_FUNCTION_CALL; Ollama: no call)",
    ),
    _reply("duplicate_ids", "all calls share one id"),
    _reply("empty_ids", 'ids are "" (Gemini, Ollama: no ids)'),
    _reply(
        "stop_with_calls",
        "calls, and the finish reason of a plain answer",
        ("openai", "anthropic", "cohere", "mistral", "bedrock", "bedrock_invoke"),
    ),
    _delta("index_collision", "all parallel calls have index 0 (streams only)", *_INDEXED),
    _delta("index_gap", "call indexes 1, 3, 5 (streams only)", *_INDEXED),
    _delta("repeated_name_deltas", "id and name stand in every piece of a call (streams only)", "openai", "cohere"),
)
#: Every named fault. Beside these, any status from 400 to 599 is a name too: `fault: "502"`.
FAULTS: Mapping[str, NamedFault] = {known.name: known for known in _ALL}


def fault_named(name: str) -> NamedFault:
    """The fault of that name. Raises `ConfigError` with the nearest name."""
    found = FAULTS.get(name)
    if found:
        return found
    if re.fullmatch(r"[45]\d\d", name):
        status = int(name)
        kind: FaultKind = "server" if status >= 500 else "bad_request"
        if status in (408, 504):
            kind = "timeout"
        elif status == 403:
            kind = "auth"
        return _error(name, kind, f"scripted status {name}", status)
    raise ConfigError(f"unknown fault {name!r}.{nearest(name, FAULTS)}")


def fault_table() -> str:
    """All faults as a Markdown table: name, meaning, wires, parameters."""
    rows = ["| fault | meaning | wires | parameters |", "|---|---|---|---|"]
    for known in _ALL:
        wires = "all" if known.wires == EVERY_WIRE else ", ".join(known.wires)
        params = ", ".join(f"{key}={value!r}" for key, value in known.params.items())
        rows.append(f"| {known.name} | {known.meaning} | {wires} | {params} |")
    return "\n".join(rows)
