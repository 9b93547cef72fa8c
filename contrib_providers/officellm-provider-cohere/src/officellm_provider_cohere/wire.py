"""Cohere's chat API as a wire format: requests and settings. Messages, replies and streams have their own files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from officellm import (
    ConfigError,
    Fault,
    Framing,
    HttpRequest,
    OutputMode,
    Reply,
    Reported,
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
from officellm_provider_cohere.messages import NAME, encode_messages, encode_tools
from officellm_provider_cohere.reply import reply_of
from officellm_provider_cohere.schema import reduced
from officellm_provider_cohere.stream import CohereStream

_VERSION = re.compile(r"v\d+")
#: Neutral settings that Cohere has under another name.
_NAMES = {"top_p": "p", "top_k": "k", "stop": "stop_sequences", "max_completion_tokens": "max_tokens"}
_TOOL_CHOICES = {"none": "NONE", "required": "REQUIRED"}


class Cohere:
    """`WireFormat` for `/v2/chat`.

    One tool cannot be forced by name: the wanted one is offered alone, and some tool is required.
    """

    name = NAME
    framing: Framing = "sse"

    def build(self, request: Request, base_url: str) -> HttpRequest:
        """The HTTP request; what the history and the tools become is encoded once."""
        fields = _fields(request)
        extra, added = taken_out(request.settings.get("extra"), "tools")
        encoded = {"messages": encode_messages(request.messages, request.model)}
        tools, choice = _offer(request)
        try:
            if offered := encode_tools(tools) + [dumps(tool) for tool in added]:
                encoded["tools"] = b"[%b]" % b",".join(offered)
                if choice is not None:
                    fields["tool_choice"] = choice
            body = join_body(merged(fields, extra), encoded)
        except (ValueError, TypeError, RecursionError) as error:
            raise ConfigError(f"the model settings cannot be written as JSON: {error}") from None
        return HttpRequest(_endpoint(base_url, "v2/chat"), body)

    def parse(self, body: bytes, request: Request) -> Reply:
        """The reply in a whole body. Raises `FaultError` for an error inside a 200 and for a body of another shape."""
        return reply_of(decode_object(body), request.model, original_names(request.tools))

    def stream_parser(self, request: Request) -> StreamParser:
        """A parser for one streamed reply."""
        return CohereStream(request.model, original_names(request.tools))

    def classify(self, status: int, headers: Mapping[str, str], body: bytes) -> Fault:
        """What went wrong, for a status that is not 2xx."""
        return classify_http(status, headers, body)

    def auth(self, key: str) -> Mapping[str, str]:
        """The header that carries the key."""
        return {"authorization": f"Bearer {key}"}

    def output_mode(self, request: Request) -> OutputMode:
        """By the vendor's parameter, which goes with no tools and takes only objects with a required property."""
        schema = request.output.schema if request.output is not None else {}
        asked = schema.get("type") == "object" and bool(schema.get("required"))
        return "native" if asked and not request.tools else "prompt"

    def reported_usage(self, raw: Mapping[str, Any]) -> Reported:
        """The tokens that were read and written; what was billed stands apart."""
        return Reported.read(as_mapping(raw.get("tokens")))

    def models_request(self, base_url: str) -> HttpRequest:
        """The request that lists models, which only version 1 of the API has."""
        return HttpRequest(_endpoint(base_url, "v1/models") + "?page_size=1000&endpoint=chat", b"", method="GET")

    def parse_models(self, body: bytes) -> list[str]:
        """Model names in that reply."""
        entries = map(as_mapping, as_sequence(decode_object(body).get("models")))
        return [entry["name"] for entry in entries if isinstance(entry.get("name"), str)]


def _fields(request: Request) -> dict[str, Any]:
    """The small values of the body, under the vendor's names. What the user did not set is not sent."""
    fields: dict[str, Any] = {"model": request.model}
    for name, value in request.settings.items():
        if value is None or name in ("extra", "stream", "messages"):
            continue
        if name == "reasoning_effort":
            fields.setdefault("thinking", {"type": "disabled" if value == "none" else "enabled"})
        elif name == "stop" and isinstance(value, str):
            fields["stop_sequences"] = [value]
        else:
            fields[_NAMES.get(name, name)] = value
    if request.output is not None:
        fields["response_format"] = {"type": "json_object", "json_schema": reduced(request.output.schema)}
    if request.stream:
        fields["stream"] = True
    return fields


def _offer(request: Request) -> tuple[Sequence[ToolSpec], str | None]:
    """The tools to send and `tool_choice`, None where the vendor's default says the same."""
    wanted = request.tool_choice
    if wanted == "auto" or wanted in _TOOL_CHOICES:
        return request.tools, _TOOL_CHOICES.get(wanted)
    only = [tool for tool in request.tools if legal_name(tool.name) == legal_name(wanted)]
    return (only, "REQUIRED") if only else (request.tools, None)


def _endpoint(base_url: str, resource: str) -> str:
    """The resource's URL, from the API's root with or without a version, or from the full endpoint."""
    path = base_url.rstrip("/").removesuffix("/chat")
    root, _, last = path.rpartition("/")
    return f"{root if _VERSION.fullmatch(last) else path}/{resource}"
