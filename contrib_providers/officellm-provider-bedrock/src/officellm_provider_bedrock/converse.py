"""Bedrock's Converse API as a wire format: requests and hooks. Turns, settings and replies have their own files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from officellm import (
    Fault,
    FaultError,
    Framing,
    HttpFactory,
    HttpRequest,
    OutputMode,
    Reply,
    Request,
    StreamParser,
    as_mapping,
    classify_payload,
    decode_object,
    dumps,
    hookimpl,
    join_body,
    legal,
    malformed,
    original_names,
)
from officellm_provider_bedrock import endpoint
from officellm_provider_bedrock.body import fields_of, offer, thinks, without_thinking
from officellm_provider_bedrock.converse_stream import ConverseStream
from officellm_provider_bedrock.reply import NAME, reply_of
from officellm_provider_bedrock.settings import BedrockSettings
from officellm_provider_bedrock.turns import encode_system, encode_tools, encode_turns, thought_is_missing

if TYPE_CHECKING:
    from officellm_provider_bedrock.frames import FrameDecoder
    from officellm_provider_bedrock.provider import BedrockProvider

#: Converse cannot forbid calls, and it wants the tools wherever the history has calls.
_NO_CALLS = "Call no tool now: answer in words."


class BedrockConverse:
    """`WireFormat` for `/model/{id}/converse` and `/converse-stream`.

    A call cannot be demanded from every model, nor from Claude while it thinks with a budget: the one wanted tool is
    then offered alone. Calls cannot be forbidden: where the history needs the tools, the model is told in words.
    """

    name = NAME
    framing: Framing = "eventstream"

    def __init__(self, *, cache: bool = False) -> None:
        self._cache = cache

    def decoder(self) -> FrameDecoder:
        """A decoder of one stream's frames."""
        from officellm_provider_bedrock.frames import FrameDecoder

        return FrameDecoder()

    def build(self, request: Request, base_url: str) -> HttpRequest:
        """The HTTP request; what the history and the tools become is encoded once."""
        messages = legal(request.messages)
        offered = offer(request, messages)
        fields, tool_fields, more_tools = fields_of(request, offered)
        if thinks(request) and thought_is_missing(messages, request.model):
            fields = without_thinking(fields)  # this turn goes on without; the next one thinks again
        encoded = {"messages": encode_turns(messages, request.model, cache=self._cache)}
        words = (_NO_CALLS,) if offered.forbidden else ()
        if system := encode_system(messages, *words, cache=self._cache):
            encoded["system"] = system
        if tools := encode_tools(offered.tools, cache=self._cache) + [dumps(tool) for tool in more_tools]:
            encoded["toolConfig"] = join_body(tool_fields, {"tools": b"[%b]" % b",".join(tools)})
        action = "converse-stream" if request.stream else "converse"
        return HttpRequest(endpoint.model_url(base_url, request.model, action), join_body(fields, encoded))

    def parse(self, body: bytes, request: Request) -> Reply:
        """The reply in a whole body. Raises `FaultError` for an error inside a 200 and for a body of another shape."""
        reply = decode_object(body)
        if isinstance(as_mapping(as_mapping(reply.get("output")).get("message")).get("content"), list):
            return reply_of(reply, request.model, _names(request))
        if any(key in reply for key in ("message", "Message", "__type", "error")):
            raise FaultError(classify_payload(reply))
        raise malformed("the reply has no content")

    def stream_parser(self, request: Request) -> StreamParser:
        """A parser for one streamed reply."""
        return ConverseStream(request.model, _names(request))

    def classify(self, status: int, headers: Mapping[str, str], body: bytes) -> Fault:
        """What went wrong, for a status that is not 2xx."""
        return endpoint.classify(status, headers, body)

    def auth(self, key: str) -> Mapping[str, str]:
        """The header that carries an API key."""
        return {"authorization": f"Bearer {key}"}

    def output_mode(self, request: Request) -> OutputMode:
        """In words: the service's parameter works with some models only, so the settings must ask for it."""
        return "prompt"

    def models_request(self, base_url: str) -> HttpRequest:
        """The request that lists models."""
        return endpoint.models_request(base_url)

    def parse_models(self, body: bytes) -> list[str]:
        """Model ids in that reply."""
        return endpoint.parse_models(body)


@hookimpl
def settings_model(kind: str, name: str) -> type[BedrockSettings]:
    """The settings of a provider block with `format: bedrock_converse`."""
    return BedrockSettings


@hookimpl
def make_provider(name: str, settings: BedrockSettings, http: HttpFactory) -> BedrockProvider:
    """A provider that speaks this format."""
    from officellm_provider_bedrock.provider import BedrockProvider

    return BedrockProvider(name, BedrockConverse(cache=settings.cache), settings, http)


def _names(request: Request) -> Callable[[str], str]:
    names = original_names(request.tools)
    return lambda name: names.get(name, name)
