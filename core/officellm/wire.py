"""What a wire format promises: the pure translation between neutral messages and one vendor's JSON. No I/O here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from officellm.codec import whole_number
from officellm.messages import Delta, Reply, Request

FaultKind = Literal[
    "auth",  # 401, 403: the key is missing, wrong or not allowed
    "bad_request",  # 400, 404, 413, 422: the same request will never work
    "context_overflow",  # the prompt is too long for the model
    "refused",  # a content filter blocked the request
    "quota",  # out of credit: retrying cannot help
    "rate_limit",  # too fast: retry after a wait
    "overloaded",  # 503, 529: retry
    "server",  # 5xx and unclear errors inside a 200: retry
    "network",  # no reply, or the connection broke: retry
    "timeout",  # no reply in time: retry while the deadline allows
    "malformed",  # a reply that is not what the format says: retry
    "bad_call",  # the server could not read its own model's tool call: retry
]

#: How the body of a streamed reply is cut into events.
Framing = Literal["sse", "ndjson", "eventstream"]
#: How a typed output is asked for: by the vendor's own parameter, or in words.
OutputMode = Literal["native", "prompt"]


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a request failed. `retry_after` is in seconds, as the server asked; `status` is None without a reply."""

    kind: FaultKind
    message: str
    status: int | None = None
    retryable: bool = False
    retry_after: float | None = None
    code: str | None = None
    #: What the vendor calls this exchange, for its support.
    request_id: str | None = None


class FaultError(Exception):
    """Raised by `parse`, `feed` and `finish` where a reply turns out to be an error; never leaves the provider."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        super().__init__(fault.message)


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request ready to send, but for the key, which the provider adds: it never passes through a wire format."""

    url: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    method: str = "POST"


class StreamEvent(tuple[str, str]):
    """One event of a stream: `(event name or "", data)`. For `ndjson` the name is empty; for `eventstream` its type."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The event's name; empty where there is none."""
        return self[0]

    @property
    def data(self) -> str:
        """The event's text."""
        return self[1]


class StreamDecoder(Protocol):
    """Cuts the bytes of one streamed reply into events."""

    def feed(self, chunk: bytes) -> list[StreamEvent]:
        """The events that this chunk completes. Raises `FaultError` (kind `malformed`) for what cannot be cut."""

    def close(self) -> list[StreamEvent]:
        """The event that the end of the stream completes, if any."""


class StreamParser(Protocol):
    """Folds the events of one streamed reply."""

    def feed(self, event: StreamEvent) -> list[Delta]:
        """Deltas to show for this event (never `Finished`). Raises `FaultError` for an error inside the stream."""

    def finish(self) -> Reply:
        """The whole reply, after the last event. Raises `FaultError` (kind `network`) for a stream that was cut."""


@runtime_checkable
class WireFormat(Protocol):
    """One vendor's JSON. Everything is pure: same input, same output, no clock, no network, no key.

    Two more attributes are optional. `decoder`, a callable without arguments that returns a fresh `StreamDecoder`, is
    used instead of the framing's own; a format whose framing is not built in (`eventstream`) needs it.
    `reported_usage(raw) -> Reported` reads the counters of `Reply.raw_usage`, where `Reported.read` does not find them.
    """

    name: str
    framing: Framing

    def build(self, request: Request, base_url: str) -> HttpRequest:
        """The HTTP request. `base_url` is the API's root, with or without its version, or the full endpoint."""

    def parse(self, body: bytes, request: Request) -> Reply:
        """The reply in a whole body. Raises `FaultError` for an error inside a 200 and for a body of another shape."""

    def stream_parser(self, request: Request) -> StreamParser:
        """A parser for one streamed reply to this request."""

    def classify(self, status: int, headers: Mapping[str, str], body: bytes) -> Fault:
        """What went wrong, for a status that is not 2xx. `headers` has lower-case names."""

    def auth(self, key: str) -> Mapping[str, str]:
        """The headers that carry the key."""

    def output_mode(self, request: Request) -> OutputMode:
        """How a typed output can be asked for in this request."""

    def models_request(self, base_url: str) -> HttpRequest:
        """The request that lists models, for `check --ping`: free of charge."""

    def parse_models(self, body: bytes) -> list[str]:
        """Model names in that reply."""


class Reported(NamedTuple):
    """The counters as the service itself put them; None where it sent none. `Reply.usage` is what they mean."""

    input: int | None = None
    output: int | None = None
    total: int | None = None

    @classmethod
    def read(cls, counters: Mapping[str, Any]) -> Reported:
        """Counters that stand side by side under names that are in use."""
        return cls(_counter(counters, _INPUT), _counter(counters, _OUTPUT), _counter(counters, _TOTAL))


_INPUT = ("prompt_tokens", "input_tokens", "inputTokens", "promptTokenCount", "prompt_eval_count")
_OUTPUT = ("completion_tokens", "output_tokens", "outputTokens", "candidatesTokenCount", "eval_count")
_TOTAL = ("total_tokens", "totalTokens", "totalTokenCount")


def reported_usage(wire: WireFormat, raw: Mapping[str, Any] | None) -> Reported:
    """What the service calls input, output and total in `Reply.raw_usage`: the format's word, else `Reported.read`."""
    if not raw:
        return Reported()
    own = getattr(wire, "reported_usage", None)
    return own(raw) if own is not None else Reported.read(raw)


def _counter(counters: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    found = (counters.get(name) for name in names)
    return next((count for count in map(whole_number, found) if count is not None), None)
