"""Mistral's chat API as a wire format: what it has in common with chat completions is left to `openai_compat`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from officellm import (
    Delta,
    HttpRequest,
    Part,
    Reply,
    Request,
    StreamEvent,
    StreamParser,
)

# Ships in officellm's own wheel. Only what every wire format has, and `part`, is used of it, so it may change inside.
from officellm_builtin.providers.openai_compat import OpenAICompat, OpenAICompatSettings
from officellm_provider_mistral.history import NAME, encode_part, translated
from officellm_provider_mistral.reply import as_ours, without_null_ids

#: Neutral settings that Mistral, which refuses keys it does not know, has under another name.
_NAMES = {"seed": "random_seed", "max_completion_tokens": "max_tokens"}


class Mistral(OpenAICompat):
    """`WireFormat` for Mistral's `/v1/chat/completions`.

    Requests are chat completions over a history and settings that Mistral takes; replies are read as chat completions
    and corrected where Mistral means something else.
    """

    name = NAME

    def __init__(self, *, base_url: str = "", think_tags: bool = False) -> None:
        super().__init__(
            OpenAICompatSettings(
                base_url=base_url, max_tokens_field="max_tokens", stream_usage=False, think_tags=think_tags
            )
        )

    def build(self, request: Request, base_url: str) -> HttpRequest:
        """The HTTP request; what the history and the tools become is encoded once."""
        forced = request.tool_choice == "required" and bool(request.tools)
        settings: dict[str, Any] = {_NAMES.get(name, name): value for name, value in request.settings.items()}
        if forced:
            extra = settings.get("extra")
            settings["extra"] = {"tool_choice": "any", **(extra if isinstance(extra, Mapping) else {})}
        ours = replace(
            request,
            messages=translated(request.messages),
            tool_choice="auto" if forced else request.tool_choice,
            settings=settings,
        )
        return super().build(ours, base_url)

    def part(self, part: Part) -> Mapping[str, Any]:
        """One part of a user message that is more than text."""
        return encode_part(part)

    def parse(self, body: bytes, request: Request) -> Reply:
        """The reply in a whole body. Raises `FaultError` for an error inside a 200 and for a body of another shape."""
        if b'"null"' in body:
            body = without_null_ids(body.decode("utf-8", "replace")).encode()
        return as_ours(super().parse(body, request))

    def stream_parser(self, request: Request) -> StreamParser:
        """A parser for one streamed reply."""
        return _MistralStream(super().stream_parser(request))


class _MistralStream:
    """`StreamParser` over the one for chat completions."""

    def __init__(self, completions: StreamParser) -> None:
        self._completions = completions

    def feed(self, event: StreamEvent) -> list[Delta]:
        """Deltas to show for this event. Raises `FaultError` for an error inside the stream."""
        if '"null"' in event.data:
            event = StreamEvent((event.name, without_null_ids(event.data)))
        return self._completions.feed(event)

    def finish(self) -> Reply:
        """The whole reply. Raises `FaultError` for a stream that was cut."""
        return as_ours(self._completions.finish())
