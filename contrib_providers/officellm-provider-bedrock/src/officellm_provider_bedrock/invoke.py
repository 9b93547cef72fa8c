"""Claude by Bedrock's InvokeModel: Anthropic's own format, wrapped in Bedrock's addresses, frames and errors."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from officellm import (
    Delta,
    Fault,
    Framing,
    HttpFactory,
    HttpRequest,
    OutputMode,
    Reply,
    Request,
    StreamEvent,
    StreamParser,
    decode_object,
    dumps,
    hookimpl,
    malformed,
)
from officellm_builtin.providers.anthropic import Anthropic
from officellm_provider_bedrock import endpoint
from officellm_provider_bedrock.endpoint import EXCEPTION
from officellm_provider_bedrock.settings import BedrockSettings

if TYPE_CHECKING:
    from officellm_provider_bedrock.frames import FrameDecoder
    from officellm_provider_bedrock.provider import BedrockProvider

_VERSION = dumps({"anthropic_version": "bedrock-2023-05-31"})[:-1]
#: What the address says here; in the body it is refused.
_IN_ADDRESS = ("model", "stream")
_END = StreamEvent(("message_stop", '{"type":"message_stop"}'))


class InvokeStream:
    """`StreamParser` over Anthropic's: each frame holds one of its events, encoded."""

    def __init__(self, inner: StreamParser) -> None:
        self._inner = inner
        self._stopped = False
        self._ended = False

    def feed(self, event: StreamEvent) -> list[Delta]:
        """What this frame adds for show. Raises `FaultError` for an error inside the stream."""
        name, text = event
        if name == EXCEPTION:
            return self._inner.feed(event)
        packed = decode_object(text).get("bytes")
        if name != "chunk" or not isinstance(packed, str):
            return []
        try:
            data = b64decode(packed, validate=True).decode("utf-8", "replace")
        except ValueError:
            raise malformed("a frame of the stream holds no base64") from None
        deltas = self._inner.feed(StreamEvent(("", data)))
        if '"message_' in data:  # few events have it, and none is worth reading twice
            self._note(decode_object(data))
        return deltas

    def _note(self, fields: Mapping[str, Any]) -> None:
        kind, delta = fields.get("type"), fields.get("delta")
        self._ended = self._ended or kind == "message_stop"
        if kind == "message_delta" and isinstance(delta, Mapping) and delta.get("stop_reason"):
            self._stopped = True

    def finish(self) -> Reply:
        """The whole reply. Raises `FaultError` for a stream that was cut.

        Some streams end after the stop reason, without Anthropic's last event.
        """
        if self._stopped and not self._ended:
            self._inner.feed(_END)
        return self._inner.finish()


class AnthropicInvoke:
    """`WireFormat` for `/model/{id}/invoke` and `/invoke-with-response-stream`."""

    name = "anthropic_bedrock_invoke"
    framing: Framing = "eventstream"

    def __init__(self, *, cache: bool = False) -> None:
        # The class itself, not what stands under the name `anthropic` on this machine: both must fit each other.
        self._anthropic = Anthropic(cache=cache)

    def decoder(self) -> FrameDecoder:
        """A decoder of one stream's frames."""
        from officellm_provider_bedrock.frames import FrameDecoder

        return FrameDecoder()

    def build(self, request: Request, base_url: str) -> HttpRequest:
        """The HTTP request: Anthropic's body, with the version in the place of the model; streams have an address."""
        plain = replace(request, stream=False, settings=_without_address(request.settings))
        body = self._anthropic.build(plain, "").body
        named = dumps({"model": request.model})[:-1]
        action = "invoke-with-response-stream" if request.stream else "invoke"
        url = endpoint.model_url(base_url, request.model, action)
        return HttpRequest(url, _VERSION + body.removeprefix(named))

    def parse(self, body: bytes, request: Request) -> Reply:
        """The reply in a whole body. Raises `FaultError` for an error inside a 200 and for a body of another shape."""
        return self._anthropic.parse(body, request)

    def stream_parser(self, request: Request) -> StreamParser:
        """A parser for one streamed reply."""
        return InvokeStream(self._anthropic.stream_parser(request))

    def classify(self, status: int, headers: Mapping[str, str], body: bytes) -> Fault:
        """What went wrong, for a status that is not 2xx."""
        return endpoint.classify(status, headers, body)

    def auth(self, key: str) -> Mapping[str, str]:
        """The header that carries an API key."""
        return {"authorization": f"Bearer {key}"}

    def output_mode(self, request: Request) -> OutputMode:
        """As Anthropic's."""
        return self._anthropic.output_mode(request)

    def models_request(self, base_url: str) -> HttpRequest:
        """The request that lists models."""
        return endpoint.models_request(base_url)

    def parse_models(self, body: bytes) -> list[str]:
        """Model ids in that reply, Anthropic's among them."""
        return endpoint.parse_models(body)


@hookimpl
def settings_model(kind: str, name: str) -> type[BedrockSettings]:
    """The settings of a provider block with `format: anthropic_bedrock_invoke`."""
    return BedrockSettings


@hookimpl
def make_provider(name: str, settings: BedrockSettings, http: HttpFactory) -> BedrockProvider:
    """A provider that speaks this format."""
    from officellm_provider_bedrock.provider import BedrockProvider

    return BedrockProvider(name, AnthropicInvoke(cache=settings.cache), settings, http)


def _without_address(settings: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in settings.items() if name not in _IN_ADDRESS}
    extra = kept.get("extra")
    if isinstance(extra, Mapping):
        kept["extra"] = {name: value for name, value in extra.items() if name not in _IN_ADDRESS}
    return kept
