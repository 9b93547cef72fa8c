"""OpenAI's chat completions, as OpenAI and everyone compatible speaks them: requests, settings and hooks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal
from urllib.parse import urlsplit, urlunsplit

from officellm import (
    ConfigError,
    Fault,
    Framing,
    HttpFactory,
    HttpProvider,
    HttpRequest,
    OutputMode,
    OutputSchema,
    Part,
    ProviderSettings,
    Reply,
    Request,
    StreamParser,
    ToolSpec,
    as_mapping,
    as_sequence,
    classify_http,
    decode_json,
    dumps,
    hookimpl,
    is_strict,
    join_body,
    legal,
    legal_name,
    merged,
    original_names,
    taken_out,
)
from officellm_builtin.providers._openai_reply import refuse_errors, reply_of
from officellm_builtin.providers._openai_request import (
    SendReasoning,
    SystemRole,
    encode_messages,
    encode_part,
    encode_tools,
)
from officellm_builtin.providers._openai_stream import OpenAIStream

_VERSION = re.compile(r"v\d+\w*")
#: Path parts of endpoints that have no version of their own.
_UNVERSIONED_PARTS = frozenset({"deployments", "models"})
_UNVERSIONED_HOSTS = frozenset({"api.perplexity.ai"})
#: Settings that belong to the framework: the body gets these from elsewhere.
_OURS = frozenset({"extra", "max_tokens", "stream", "messages"})


class OpenAICompatSettings(ProviderSettings):
    """A provider block of this format. The options are what compatible servers disagree about.

    `max_tokens_field` is by default what the host knows. `system_role` is `developer` or `user` for models that refuse
    `system`. `send_reasoning` is `always` for models that think between calls and want a field on every reply.
    `stream_usage` and `forced_tool_choice` are switched off for servers that refuse them. `think_tags` is for servers
    that leave the model's `<think>` text in the answer.
    """

    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] | None = None
    system_role: SystemRole = "system"
    send_reasoning: SendReasoning = "received"
    stream_usage: bool = True
    forced_tool_choice: bool = True
    think_tags: bool = False


class OpenAICompat:
    """`WireFormat` for `/chat/completions`. Call ids stay as they came; `unique_calls` replaces missing ones.

    A format that is almost this one is a subclass: it has a `name` of its own, under which replies are known as its
    own, and it may write the parts of user messages in another way.
    """

    name = "openai_compat"
    framing: Framing = "sse"

    def __init__(self, settings: OpenAICompatSettings | None = None) -> None:
        self._settings = settings or OpenAICompatSettings()

    def build(self, request: Request, base_url: str) -> HttpRequest:
        """The HTTP request; what the history and the tools become is encoded once."""
        options = self._settings
        extra, extra_tools = taken_out(request.settings.get("extra"), "tools")
        encoded = {
            "messages": encode_messages(
                legal(request.messages),
                (self.name, request.model),
                self.part,
                system_role=options.system_role,
                send_reasoning=options.send_reasoning,
            )
        }
        fields = self._fields(request, base_url)
        tools, choice = self._offer(request)
        if offered := encode_tools(tools, self.name) + [dumps(tool) for tool in extra_tools]:
            encoded["tools"] = b"[%b]" % b",".join(offered)
            if choice is not None:
                fields["tool_choice"] = choice
            if request.parallel_calls is not None:
                fields["parallel_tool_calls"] = request.parallel_calls
        try:
            body = join_body(merged(fields, extra), encoded)
        except (ValueError, TypeError, RecursionError) as error:
            raise ConfigError(f"the model settings cannot be written as JSON: {error}") from None
        return HttpRequest(endpoint(base_url, "chat/completions"), body)

    def parse(self, body: bytes, request: Request) -> Reply:
        """The reply in a whole body. Raises `FaultError` for an error inside a 200 and for a body of another shape."""
        names, tags = original_names(request.tools), self._settings.think_tags
        return reply_of(refuse_errors(decode_json(body)), (self.name, request.model), names, think_tags=tags)

    def stream_parser(self, request: Request) -> StreamParser:
        """A parser for one streamed reply."""
        origin, tags = (self.name, request.model), self._settings.think_tags
        return OpenAIStream(origin, original_names(request.tools), think_tags=tags)

    def part(self, part: Part) -> Mapping[str, Any]:
        """One part of a user message that is more than text."""
        return encode_part(part)

    def classify(self, status: int, headers: Mapping[str, str], body: bytes) -> Fault:
        """What went wrong, for a status that is not 2xx."""
        return classify_http(status, headers, body)

    def auth(self, key: str) -> Mapping[str, str]:
        """The header that carries the key; Azure has its own."""
        host = urlsplit(self._settings.base_url).hostname or ""
        return {"api-key": key} if host.endswith(".azure.com") else {"authorization": f"Bearer {key}"}

    def output_mode(self, request: Request) -> OutputMode:
        """By the vendor's parameter, unless the settings know of a server that has none."""
        return "native"

    def models_request(self, base_url: str) -> HttpRequest:
        """The request that lists models."""
        return HttpRequest(endpoint(base_url, "models"), b"", method="GET")

    def parse_models(self, body: bytes) -> list[str]:
        """Model names in that reply."""
        payload = decode_json(body)
        listed = payload if isinstance(payload, list) else refuse_errors(payload).get("data")
        return [entry["id"] for entry in map(as_mapping, as_sequence(listed)) if isinstance(entry.get("id"), str)]

    def _fields(self, request: Request, base_url: str) -> dict[str, Any]:
        """The small values of the body. What the user did not set is not sent; what we do not know goes as it is."""
        fields: dict[str, Any] = {"model": request.model}
        fields |= {name: value for name, value in request.settings.items() if name not in _OURS and value is not None}
        if (most := request.settings.get("max_tokens")) is not None:
            fields[self._settings.max_tokens_field or _max_tokens_field(base_url)] = most
        if request.output is not None:
            fields["response_format"] = _response_format(request.output)
        if request.stream:
            fields["stream"] = True
            if self._settings.stream_usage:
                fields["stream_options"] = {"include_usage": True}
        return fields

    def _offer(self, request: Request) -> tuple[Sequence[ToolSpec], Any]:
        """The tools to send and `tool_choice`, None where the vendor's default says the same."""
        tools, wanted = request.tools, request.tool_choice
        if wanted == "auto":
            return tools, None
        if wanted == "none":
            return tools, "none"
        if not self._settings.forced_tool_choice:
            return [tool for tool in tools if tool.name == wanted] or tools, None
        if wanted == "required":
            return tools, "required"
        return tools, {"type": "function", "function": {"name": legal_name(wanted)}}


@hookimpl
def settings_model(kind: str, name: str) -> type[OpenAICompatSettings]:
    """The settings of a provider block with `format: openai_compat`."""
    return OpenAICompatSettings


@hookimpl
def make_provider(name: str, settings: OpenAICompatSettings, http: HttpFactory) -> HttpProvider:
    """A provider that speaks this format."""
    return HttpProvider(name, OpenAICompat(settings), settings, http)


@lru_cache(maxsize=64)
def endpoint(base_url: str, resource: str) -> str:
    """The resource's URL, from the API's root with or without its version, or from the full endpoint; keeps a query."""
    url = urlsplit(base_url)
    path = url.path.rstrip("/")
    if path.endswith("/chat/completions"):
        path = path.removesuffix("/chat/completions")
    elif url.hostname not in _UNVERSIONED_HOSTS and not any(
        _VERSION.fullmatch(part) or part in _UNVERSIONED_PARTS for part in path.split("/")
    ):
        path += "/v1"
    return urlunsplit((url.scheme, url.netloc, f"{path}/{resource}", url.query, ""))


@lru_cache(maxsize=64)
def _max_tokens_field(base_url: str) -> str:
    """Only OpenAI's reasoning models refuse `max_tokens`, and few other servers know its successor."""
    return "max_completion_tokens" if urlsplit(base_url).hostname == "api.openai.com" else "max_tokens"


def _response_format(output: OutputSchema) -> dict[str, Any]:
    wanted: dict[str, Any] = {"name": legal_name(output.name), "schema": output.schema}
    if is_strict(output.schema):
        wanted["strict"] = True
    return {"type": "json_schema", "json_schema": wanted}
