"""OpenAI's Responses API as a wire format: the request. The history, the schemas and replies have their own files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from officellm import (
    ConfigError,
    Fault,
    Framing,
    HttpRequest,
    OutputMode,
    OutputSchema,
    Reply,
    Request,
    StreamParser,
    ToolSpec,
    as_mapping,
    as_sequence,
    classify_http,
    decode_json,
    dumps,
    is_strict,
    join_body,
    legal,
    legal_name,
    merged,
    original_names,
    taken_out,
)
from officellm_provider_openai_responses.history import encode_input, encode_instructions
from officellm_provider_openai_responses.reply import NAME, refuse_errors, reply_of
from officellm_provider_openai_responses.stream import ResponseStream

#: Reasoning that can be sent back to a server that keeps nothing.
ENCRYPTED = "reasoning.encrypted_content"

_VERSION = re.compile(r"v\d+\w*")
_UNVERSIONED_HOSTS = frozenset({"api.deepseek.com"})
#: Models without reasoning refuse to be asked for it.
_NO_REASONING = re.compile(r"(?:^|[/:.])(?:gpt-3|gpt-4|chatgpt-)|-chat(?:-latest)?$")
#: Settings that the body gets from elsewhere.
_OURS = frozenset({"extra", "include", "input", "stream"})
#: Where settings that have one name in all formats stand in this one.
_PLACES = {"max_tokens": ("max_output_tokens",), "reasoning_effort": ("reasoning", "effort")}


class OpenAIResponses:
    """`WireFormat` for `/responses`: stateless, unless the model's settings say `store: true`."""

    name = NAME
    framing: Framing = "sse"

    def __init__(
        self, *, azure_key: bool = False, encrypted_reasoning: bool | None = None, forced_tool_choice: bool = True
    ) -> None:
        self._azure_key = azure_key
        self._encrypted_reasoning = encrypted_reasoning
        self._forced_tool_choice = forced_tool_choice

    def build(self, request: Request, base_url: str) -> HttpRequest:
        """The HTTP request; what the history and the tools become is encoded once."""
        messages = legal(request.messages)
        extra, extra_tools = taken_out(request.settings.get("extra"), "tools")
        extra, extra_include = taken_out(extra, "include")
        fields = merged({"store": False, **_fields(request)}, extra)
        stored = fields["store"] is not False
        if include := self._included(request, stored, extra_include):
            fields["include"] = include
        encoded = {"input": encode_input(messages, request.model, stored=stored)}
        if instructions := encode_instructions(messages):
            encoded["instructions"] = instructions
        tools, choice = self._offer(request)
        offered = [tool.encoded(NAME, partial(_tool, tool)) for tool in tools]
        if offered or extra_tools:
            if choice is not None:
                fields.setdefault("tool_choice", choice)
            if request.parallel_calls is not None:
                fields.setdefault("parallel_tool_calls", request.parallel_calls)
        try:
            if offered or extra_tools:
                encoded["tools"] = b"[%b]" % b",".join([*offered, *map(dumps, extra_tools)])
            body = join_body(fields, encoded)
        except (ValueError, TypeError, RecursionError) as error:
            raise ConfigError(f"the model settings cannot be written as JSON: {error}") from None
        return HttpRequest(endpoint(base_url, "responses"), body)

    def parse(self, body: bytes, request: Request) -> Reply:
        """The reply in a whole body. Raises `FaultError` for an error inside a 200 and for a body of another shape."""
        return reply_of(decode_json(body), request.model, original_names(request.tools))

    def stream_parser(self, request: Request) -> StreamParser:
        """A parser for one streamed reply."""
        return ResponseStream(request.model, original_names(request.tools))

    def classify(self, status: int, headers: Mapping[str, str], body: bytes) -> Fault:
        """What went wrong, for a status that is not 2xx."""
        return classify_http(status, headers, body)

    def auth(self, key: str) -> Mapping[str, str]:
        """The header that carries the key; Azure has its own."""
        return {"api-key": key} if self._azure_key else {"authorization": f"Bearer {key}"}

    def output_mode(self, request: Request) -> OutputMode:
        """By the vendor's parameter."""
        return "native"

    def models_request(self, base_url: str) -> HttpRequest:
        """The request that lists models."""
        return HttpRequest(endpoint(base_url, "models"), b"", method="GET")

    def parse_models(self, body: bytes) -> list[str]:
        """Model names in that reply."""
        payload = decode_json(body)
        listed = payload if isinstance(payload, list) else refuse_errors(payload).get("data")
        return [entry["id"] for entry in map(as_mapping, as_sequence(listed)) if isinstance(entry.get("id"), str)]

    def _wants_encrypted(self, model: str) -> bool:
        if self._encrypted_reasoning is not None:
            return self._encrypted_reasoning
        return not _NO_REASONING.search(model)

    def _included(self, request: Request, stored: bool, extra: Sequence[Any]) -> list[Any]:
        """What the reply shall hold beyond the usual, each once."""
        chosen = request.settings.get("include") or ()
        if not isinstance(chosen, (list, tuple)):
            raise ConfigError(f"the model settings: include must be a list, not {chosen!r}")
        wanted = [*chosen, *extra]
        if not stored and self._wants_encrypted(request.model):
            wanted.append(ENCRYPTED)
        return [name for place, name in enumerate(wanted) if name not in wanted[:place]]

    def _offer(self, request: Request) -> tuple[Sequence[ToolSpec], Any]:
        """The tools to send and `tool_choice`, None where the vendor's default says the same."""
        tools, wanted = request.tools, request.tool_choice
        if wanted in ("auto", "none"):
            return tools, "none" if wanted == "none" else None
        if not self._forced_tool_choice:
            return [tool for tool in tools if tool.name == wanted] or tools, None
        if wanted == "required":
            return tools, "required"
        return tools, {"type": "function", "name": legal_name(wanted)}


@lru_cache(maxsize=64)
def endpoint(base_url: str, resource: str) -> str:
    """The resource's URL, from the API's root with or without its version, or from the full endpoint; keeps a query."""
    url = urlsplit(base_url)
    path = url.path.rstrip("/")
    if path.endswith("/responses"):
        path = path.removesuffix("/responses")
    elif not (
        url.hostname in _UNVERSIONED_HOSTS
        or any(map(_VERSION.fullmatch, path.split("/")))
        # Azure's older API has its version there.
        or "api-version=" in url.query
    ):
        path += "/v1"
    return urlunsplit((url.scheme, url.netloc, f"{path}/{resource}", url.query, ""))


def _fields(request: Request) -> dict[str, Any]:
    """The small values of the body. What the user did not set is not sent; what we do not know goes as it is."""
    fields: dict[str, Any] = {"model": request.model}
    for name, value in request.settings.items():
        if value is not None and name not in _OURS:
            for key in reversed(_PLACES.get(name, (name,))):
                value = {key: value}
            fields = merged(fields, value)
    if request.output is not None:
        fields = merged(fields, {"text": {"format": _format(request.output)}})
    if request.stream:
        fields["stream"] = True
    return fields


def _format(output: OutputSchema) -> dict[str, Any]:
    strict = is_strict(output.schema)
    return {"type": "json_schema", "name": legal_name(output.name), "schema": output.schema, "strict": strict}


def _tool(tool: ToolSpec) -> bytes:
    """A flat function. The vendor's own default is `strict`, under which a schema that is not would be refused."""
    parameters = {"type": "object", "properties": {}, **tool.parameters}
    if not parameters.get("required", True):
        # Some servers refuse an empty list.
        del parameters["required"]
    shown: dict[str, Any] = {"type": "function", "name": legal_name(tool.name)}
    if tool.description.strip():
        shown["description"] = tool.description
    return dumps({**shown, "parameters": parameters, "strict": is_strict(parameters)})
