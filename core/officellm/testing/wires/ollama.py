"""How the fake LLM server speaks Ollama's own chat API. What it refuses stands in `ollama_rules.py`.

Arguments are objects: a call whose arguments cannot be one is missing, as the server withholds what it cannot read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from officellm.codec import dump_text, parse_arguments
from officellm.messages import Usage
from officellm.testing.replies import ScriptedCall, ScriptedReply
from officellm.testing.wires.completions import JSON, bearer, messages_of, said_in, system_of, tool_names
from officellm.testing.wires.ollama_rules import complain
from officellm.testing.wires.speaker import Answer, Heard, Trouble, pieces_of, text_of

_NDJSON = "application/x-ndjson"
_CREATED = "2026-01-01T00:00:00.000000Z"
_ESCAPED = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})
_SPENT = "you've reached your hourly usage limit, please upgrade to continue"
_TOO_LONG = "prompt too long; exceeded max context length by 4096 tokens"


class OllamaSpeaker:
    """`POST .../api/chat`, streamed unless the request says `"stream": false`."""

    name = "ollama"

    def listens_to(self, path: str) -> bool:
        """Any path that ends in `/api/chat`."""
        return path.endswith("/api/chat")

    def hear(self, path: str, query: Mapping[str, str], headers: Mapping[str, str], body: Mapping[str, Any]) -> Heard:
        """The request in neutral terms."""
        messages = messages_of(body)
        return Heard(
            wire=self.name,
            model=text_of(body.get("model", "")),
            stream=body.get("stream") is not False,
            system=system_of(messages),
            said=tuple(said_in(messages)),
            tools=tool_names(body),
            body=body,
            headers=headers,
            framing="ndjson",
        )

    def complain(self, heard: Heard) -> Trouble | None:
        """What Ollama would refuse."""
        return complain(heard.body)

    def say(self, heard: Heard, reply: ScriptedReply) -> Answer:
        """A reply, or its lines, of which the last has `done` and the counts."""
        if heard.stream:
            return _streamed(_lines(heard, reply))
        return Answer((_go_json(_body(heard, reply)),), JSON)

    def refuse(self, trouble: Trouble) -> Answer:
        """`{"error": "the words"}`."""
        headers = {"retry-after": f"{trouble.retry_after:g}"} if trouble.retry_after else {}
        status = 402 if trouble.code == "quota" else trouble.status
        return Answer((_go_json({"error": _worded(trouble)}),), JSON, status, headers)

    def refuse_in_200(self, heard: Heard, trouble: Trouble) -> Answer:
        """The same object as a body, or as a line after one that was well."""
        inside = {"error": trouble.message}
        if not heard.stream:
            return Answer((_go_json(inside),), JSON)
        return _streamed([_line(heard, content=""), inside])

    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str | None:
        """The bearer token, which only the hosted service asks for."""
        return bearer(headers)

    def list_models(self, path: str, headers: Mapping[str, str], models: Sequence[str]) -> Answer | None:
        """`GET .../api/tags`."""
        if not path.endswith("/api/tags"):
            return None
        details = {"format": "gguf", "family": "officellm", "parameter_size": "1B", "quantization_level": "Q4_K_M"}
        about = {"modified_at": _CREATED, "size": 1_000_000_000, "digest": "0" * 64, "details": details}
        return Answer((_go_json({"models": [{"name": one, "model": one, **about} for one in models]}),), JSON)


def _worded(trouble: Trouble) -> str:
    # There are no codes: clients go by the words.
    return {"context_overflow": _TOO_LONG, "quota": _SPENT}.get(trouble.code or "", trouble.message)


def _counts(usage: Usage | None) -> dict[str, Any]:
    """How long it took, in nanoseconds, and how many tokens it were."""
    made: dict[str, Any] = {"total_duration": 1_000_000_000, "load_duration": 100_000_000}
    if usage is not None:
        made["prompt_eval_count"] = usage.input
    made["prompt_eval_duration"] = 200_000_000
    if usage is not None:
        made["eval_count"] = usage.output
    return {**made, "eval_duration": 700_000_000}


def _calls(heard: Heard, reply: ScriptedReply) -> list[dict[str, Any]]:
    made = []
    for position, one in enumerate(reply.calls):
        arguments = parse_arguments(one.raw)[0]
        if arguments is None:
            continue
        odd = {"index_collision": 0, "index_gap": 2 * position + 1} if heard.stream else {}
        index = odd.get(reply.fault_name, position)
        function = {"index": index, "name": one.name, "arguments": None if one.arguments is None else arguments}
        made.append({**_id(heard, one, position), "function": function})
    return made


def _id(heard: Heard, one: ScriptedCall, position: int) -> dict[str, str]:
    """Older servers send no ids."""
    if one.id == "":
        return {}
    return {"id": f"call_{heard.mark(6)}{position:02d}" if one.id is None else one.id}


def _line(heard: Heard, *, done: bool = False, **message: Any) -> dict[str, Any]:
    said = {"role": "assistant", **message}
    return {"model": heard.model, "created_at": _CREATED, "message": said, "done": done}


def _ending(reply: ScriptedReply) -> dict[str, Any]:
    # A reply with calls stops like any other, and there is no word for a refusal.
    return {"done_reason": "length" if reply.ending == "length" else "stop", **_counts(reply.usage)}


def _body(heard: Heard, reply: ScriptedReply) -> dict[str, Any]:
    message: dict[str, Any] = {"content": reply.text}
    if reply.reasoning:
        message["thinking"] = reply.reasoning
    if calls := _calls(heard, reply):
        message["tool_calls"] = calls
    return _line(heard, done=True, **message) | _ending(reply)


def _lines(heard: Heard, reply: ScriptedReply) -> Iterator[dict[str, Any]]:
    for piece in pieces_of(reply.reasoning):
        yield _line(heard, content="", thinking=piece)
    for piece in pieces_of(reply.text):
        yield _line(heard, content=piece)
    for call in _calls(heard, reply):
        yield _line(heard, content="", tool_calls=[call])
    yield _line(heard, done=True, content="") | _ending(reply)


def _go_json(value: Any) -> bytes:
    """JSON as Go writes it: clients that cut lines at every Unicode line break rely on it."""
    return dump_text(value).translate(_ESCAPED).encode()


def _streamed(lines: Iterable[dict[str, Any]]) -> Answer:
    pieces = tuple(_go_json(line) + b"\n" for line in lines)
    return Answer(pieces, _NDJSON, streamed=True, unfinished=len(pieces) - 1)
