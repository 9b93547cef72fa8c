"""Anthropic's Messages API as a wire format: requests, settings and hooks. Turns and replies have their own files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from officellm import (
    Fault,
    FaultError,
    Framing,
    HttpFactory,
    HttpProvider,
    HttpRequest,
    Message,
    OutputMode,
    ProviderSettings,
    Reply,
    Request,
    StreamParser,
    ToolSpec,
    as_mapping,
    as_sequence,
    classify_http,
    classify_payload,
    closed_schema,
    decode_object,
    dumps,
    hookimpl,
    join_body,
    legal,
    legal_name,
    malformed,
    merged,
    original_names,
    taken_out,
)
from officellm_builtin.providers._anthropic_messages import (
    encode_system,
    encode_tools,
    encode_turns,
    thought_is_missing,
    tools_of_history,
)
from officellm_builtin.providers._anthropic_reply import NAME, AnthropicStream, reply_of

#: The API has no default of its own and refuses a request without a maximum.
DEFAULT_MAX_TOKENS = 4096

_HEADERS = {"anthropic-version": "2023-06-01"}
_VERSION = re.compile(r"v\d+\w*")


class AnthropicSettings(ProviderSettings):
    """A provider block of this format. `cache` marks instructions, tools and history for Anthropic's prompt cache."""

    cache: bool = False


class Anthropic:
    """`WireFormat` for `/v1/messages`.

    Extended thinking with a budget takes no forced tool choice: the one wanted tool is then offered alone, with `auto`.
    """

    name = NAME
    framing: Framing = "sse"

    def __init__(self, *, cache: bool = False) -> None:
        self._cache = cache

    def build(self, request: Request, base_url: str) -> HttpRequest:
        """The HTTP request; what the history and the tools become is encoded once."""
        messages = legal(request.messages)
        fields = _fields(request)
        if _thinking_budget(fields) and thought_is_missing(messages, request.model):
            del fields["thinking"]  # this turn goes on without; the next one thinks again
        extra, extra_tools = taken_out(request.settings.get("extra"), "tools")
        tools, choice = _offer(request, messages, fields)
        if choice is not None:
            fields["tool_choice"] = choice
        encoded = {"messages": encode_turns(messages, request.model, cache=self._cache)}
        if system := encode_system(messages, cache=self._cache):
            encoded["system"] = system
        if offered := encode_tools(tools, cache=self._cache) + [dumps(tool) for tool in extra_tools]:
            encoded["tools"] = b"[%b]" % b",".join(offered)
        body = join_body(merged(fields, extra), encoded)
        return HttpRequest(_endpoint(base_url, "messages"), body, _HEADERS)

    def parse(self, body: bytes, request: Request) -> Reply:
        """The reply in a whole body. Raises `FaultError` for an error inside a 200 and for a body of another shape."""
        message = decode_object(body)
        if message.get("type") == "error" or message.get("error"):
            raise FaultError(classify_payload(message))
        if not isinstance(message.get("content"), list):
            raise malformed("the reply has no content")
        return reply_of(message, request.model, _names(request))

    def stream_parser(self, request: Request) -> StreamParser:
        """A parser for one streamed reply."""
        return AnthropicStream(request.model, _names(request))

    def classify(self, status: int, headers: Mapping[str, str], body: bytes) -> Fault:
        """What went wrong, for a status that is not 2xx."""
        return classify_http(status, headers, body)

    def auth(self, key: str) -> Mapping[str, str]:
        """The header that carries the key."""
        return {"x-api-key": key}

    def output_mode(self, request: Request) -> OutputMode:
        """In words: the vendor's parameter exists on newer models only, so it is used where the settings ask for it."""
        return "prompt"

    def models_request(self, base_url: str) -> HttpRequest:
        """The request that lists models."""
        return HttpRequest(_endpoint(base_url, "models") + "?limit=1000", b"", _HEADERS, "GET")

    def parse_models(self, body: bytes) -> list[str]:
        """Model names in that reply."""
        entries = map(as_mapping, as_sequence(decode_object(body).get("data")))
        return [entry["id"] for entry in entries if isinstance(entry.get("id"), str)]


@hookimpl
def settings_model(kind: str, name: str) -> type[AnthropicSettings]:
    """The settings of a provider block with `format: anthropic`."""
    return AnthropicSettings


@hookimpl
def make_provider(name: str, settings: AnthropicSettings, http: HttpFactory) -> HttpProvider:
    """A provider that speaks this format."""
    return HttpProvider(name, Anthropic(cache=settings.cache), settings, http)


def _endpoint(base_url: str, resource: str) -> str:
    """`{root}/v1/{resource}` from a root with or without its version, or from the full endpoint, query and all."""
    path, mark, query = base_url.partition("?")
    path = path.rstrip("/").removesuffix("/messages")
    if not _VERSION.fullmatch(path.rpartition("/")[2]):
        path += "/v1"
    return f"{path}/{resource}{mark + query if resource == 'messages' else ''}"


def _names(request: Request) -> Callable[[str], str]:
    names = original_names(request.tools)
    return lambda name: names.get(name, name)


def _fields(request: Request) -> dict[str, Any]:
    """The small values of the body, under the vendor's names. What the user did not set is not sent."""
    fields: dict[str, Any] = {"model": request.model, "max_tokens": 0}
    for name, value in request.settings.items():
        if value is None or name == "extra":
            continue
        if name == "stop":
            fields["stop_sequences"] = [value] if isinstance(value, str) else list(value)
        elif name == "reasoning_effort":
            fields = merged(fields, _effort(value))
        else:
            fields = merged(fields, {name: value})
    if not fields["max_tokens"]:
        fields["max_tokens"] = DEFAULT_MAX_TOKENS + _thinking_budget(fields)
    if request.output is not None:
        form = {"type": "json_schema", "schema": closed_schema(request.output.schema)}
        fields["output_config"] = {**fields.get("output_config", {}), "format": form}
    if request.stream:
        fields["stream"] = True
    return fields


def _effort(value: object) -> dict[str, Any]:
    if value == "none":
        return {"thinking": {"type": "disabled"}}
    return {"output_config": {"effort": "low" if value == "minimal" else value}}


def _thinking_budget(fields: Mapping[str, Any]) -> int:
    """Tokens set aside for extended thinking; 0 where there is none or where the model decides."""
    thinking = fields.get("thinking")
    budget = thinking.get("budget_tokens") if isinstance(thinking, Mapping) else None
    return budget if isinstance(budget, int) else 0


def _offer(
    request: Request, messages: Sequence[Message], fields: Mapping[str, Any]
) -> tuple[Sequence[ToolSpec], dict[str, Any] | None]:
    """The tools to send and `tool_choice`, None where the vendor's default says the same."""
    tools, wanted = request.tools, request.tool_choice
    if not tools:
        tools, wanted = tools_of_history(messages), "none"
    if not tools:
        return (), None
    if wanted == "none":
        return tools, {"type": "none"}
    if wanted != "auto" and _thinking_budget(fields):
        tools, wanted = [tool for tool in tools if tool.name == wanted] or tools, "auto"
    choice: dict[str, Any] = {"type": {"auto": "auto", "required": "any"}.get(wanted, "tool")}
    if choice["type"] == "tool":
        choice["name"] = legal_name(wanted)
    if request.parallel_calls is False:
        choice["disable_parallel_tool_use"] = True
    return tools, choice if choice != {"type": "auto"} else None
