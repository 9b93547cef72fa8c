"""Ollama's own chat API as a wire format: requests and settings. Messages and replies have their own files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from officellm import (
    ConfigError,
    Fault,
    Framing,
    HttpRequest,
    OutputMode,
    Reply,
    Request,
    StreamParser,
    ToolSpec,
    as_mapping,
    as_sequence,
    classify_http,
    decode_object,
    dumps,
    join_body,
    legal_name,
    merged,
    original_names,
    taken_out,
)
from officellm_provider_ollama.messages import NAME, encode_messages, encode_tools
from officellm_provider_ollama.reply import OllamaStream, refuse_errors, reply_of

#: Settings that stand in the body itself; all others are options of the model.
_TOP_LEVEL = frozenset({"think", "keep_alive", "format", "truncate", "shift", "logprobs", "top_logprobs"})
#: Neutral settings that Ollama has under another name.
_OPTIONS = {"max_tokens": "num_predict", "max_completion_tokens": "num_predict"}
#: Settings that belong to the framework: the body gets these from elsewhere.
_OURS = frozenset({"extra", "stream", "messages", "tools"})
_EFFORTS: Mapping[Any, Any] = {"none": False, "minimal": "low"}
#: The endings of base URLs that people have at hand: this API's own, and that of the OpenAI-compatible one.
_ENDINGS = ("/chat/completions", "/chat", "/v1", "/api")


class Ollama:
    """`WireFormat` for `/api/chat`.

    There is no tool choice: where none is wanted no tools are offered, where one is wanted only that one, and a call
    cannot be forced. `defaults` are settings that hold where the request has none.
    """

    name = NAME
    framing: Framing = "ndjson"

    def __init__(self, defaults: Mapping[str, Any] | None = None) -> None:
        self._defaults = dict(defaults or {})

    def build(self, request: Request, base_url: str) -> HttpRequest:
        """The HTTP request; what the history and the tools become is encoded once."""
        extra, added = taken_out(request.settings.get("extra"), "tools")
        encoded = {"messages": encode_messages(request.messages, request.model)}
        try:
            if offered := encode_tools(_offer(request)) + [dumps(tool) for tool in added]:
                encoded["tools"] = b"[%b]" % b",".join(offered)
            body = join_body(merged(self._fields(request), extra), encoded)
        except (ValueError, TypeError, RecursionError) as error:
            raise ConfigError(f"the model settings cannot be written as JSON: {error}") from None
        return HttpRequest(_endpoint(base_url, "chat"), body)

    def parse(self, body: bytes, request: Request) -> Reply:
        """The reply in a whole body. Raises `FaultError` for an error inside a 200 and for a body of another shape."""
        return reply_of(refuse_errors(decode_object(body)), request.model, original_names(request.tools))

    def stream_parser(self, request: Request) -> StreamParser:
        """A parser for one streamed reply."""
        return OllamaStream(request.model, original_names(request.tools))

    def classify(self, status: int, headers: Mapping[str, str], body: bytes) -> Fault:
        """What went wrong, for a status that is not 2xx."""
        return classify_http(status, headers, body)

    def auth(self, key: str) -> Mapping[str, str]:
        """The header that carries the key: none for a server of one's own, one for ollama.com."""
        return {"authorization": f"Bearer {key}"}

    def output_mode(self, request: Request) -> OutputMode:
        """By the server's parameter, which leaves the model no way to call a tool."""
        return "prompt" if _offer(request) else "native"

    def models_request(self, base_url: str) -> HttpRequest:
        """The request that lists models: the ones that are pulled."""
        return HttpRequest(_endpoint(base_url, "tags"), b"", method="GET")

    def parse_models(self, body: bytes) -> list[str]:
        """Model names in that reply."""
        entries = map(as_mapping, as_sequence(refuse_errors(decode_object(body)).get("models")))
        return [entry["name"] for entry in entries if isinstance(entry.get("name"), str)]

    def _fields(self, request: Request) -> dict[str, Any]:
        """The small values of the body. What nobody set is not sent, but `stream`, which is on by default."""
        fields: dict[str, Any] = {"model": request.model, "stream": request.stream}
        options: dict[str, Any] = {}
        for name, value in {**self._defaults, **request.settings}.items():
            if value is None or name in _OURS:
                continue
            if name == "reasoning_effort":
                fields["think"] = _EFFORTS.get(value, value)
            elif name == "options" and isinstance(value, Mapping):
                options |= value
            elif name == "stop":
                options["stop"] = [value] if isinstance(value, str) else list(value)
            elif name in _TOP_LEVEL:
                fields[name] = value
            else:
                options[_OPTIONS.get(name, name)] = value
        if request.output is not None:
            fields["format"] = request.output.schema
        return {**fields, "options": options} if options else fields


def _offer(request: Request) -> Sequence[ToolSpec]:
    """The tools to send."""
    wanted = request.tool_choice
    if wanted == "none":
        return ()
    if wanted in ("auto", "required"):
        return request.tools
    return [tool for tool in request.tools if legal_name(tool.name) == legal_name(wanted)] or request.tools


def _endpoint(base_url: str, resource: str) -> str:
    """The resource's URL, from the server's root, from the API's, from either full endpoint or from the other API's."""
    root = base_url.rstrip("/")
    for ending in _ENDINGS:
        root = root.removesuffix(ending)
    return f"{root}/api/{resource}"
