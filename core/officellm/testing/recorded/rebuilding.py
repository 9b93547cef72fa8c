"""Reads a recorded request, builds it again, and compares the two. Which formats can be read stands here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from officellm.codec import canonical, loads
from officellm.replyjson import as_mapping
from officellm.testing.exchanges import RecordedExchange
from officellm.testing.recorded.anthropic import read_anthropic, read_invoke
from officellm.testing.recorded.chat import read_chat, read_mistral
from officellm.testing.recorded.cohere import read_cohere
from officellm.testing.recorded.comparing import NOTHING, Comparison, Difference, Equality, compare
from officellm.testing.recorded.conversation import Asked, Reader, Sent
from officellm.testing.recorded.converse import read_converse
from officellm.testing.recorded.equalities import equalities_of
from officellm.testing.recorded.gemini import read_gemini
from officellm.testing.recorded.known import known_of
from officellm.testing.recorded.ollama import read_ollama
from officellm.testing.recorded.responses import read_responses
from officellm.wire import FaultError, WireFormat
from officellm.wireformats import driver_of, wire_format

if TYPE_CHECKING:
    from officellm.host import Host

#: For each format that recordings name: its reader.
READERS: Mapping[str, Reader] = {
    "openai_chat": read_chat,
    "anthropic": read_anthropic,
    "gemini": read_gemini,
    "openai_responses": read_responses,
    "bedrock_converse": read_converse,
    "anthropic_bedrock_invoke": read_invoke,
    "cohere_v2": read_cohere,
    "mistral": read_mistral,
    "ollama_chat": read_ollama,
}

#: Formats whose requests are not compared, and why.
UNREAD: Mapping[str, str] = {"ollama_generate": "its endpoint takes one prompt and no tools: requests go to /api/chat"}

#: A wire format by its driver's name and the options of the provider block.
Find = Callable[[str, Mapping[str, Any]], WireFormat]


def finder(host: Host) -> Find:
    """Finds wire formats among the installed drivers, each made once."""
    made: dict[str, WireFormat] = {}

    def find(driver: str, options: Mapping[str, Any]) -> WireFormat:
        key = f"{driver} {canonical(options)}"
        if key not in made:
            made[key] = wire_format(host, driver, options)
        return made[key]

    return find


def holds_request(exchange: RecordedExchange) -> bool:
    """Whether the whole request was recorded, in a format that can be read."""
    return exchange.format in READERS and isinstance(as_mapping(exchange.file.get("request")).get("body"), Mapping)


def asked_in(exchange: RecordedExchange, find: Find) -> Asked:
    """The request in neutral terms, where the exchange `holds_request`. Raises `FaultError`; see `Reader`."""
    return READERS[exchange.format](_sent(exchange), find(driver_of(exchange.format), {}))


def rebuilt(exchange: RecordedExchange, find: Find) -> Comparison:
    """How the request, read and built again, differs from what was sent."""
    sent = _sent(exchange)
    try:
        asked = asked_in(exchange, find)
    except FaultError as error:
        return Comparison((Difference("body", f"a turn of the model that is no reply ({error})", NOTHING),))
    http = find(driver_of(exchange.format), asked.options).build(asked.request, sent.url)
    return compare(
        {"url": sent.url, "body": sent.body},
        {"url": http.url.partition("?")[0], "body": loads(http.body)},
        rules_of(exchange.format),
    )


def rules_of(format: str) -> tuple[Equality, ...]:
    """What means the same in this format, and what is known to differ."""
    return (*equalities_of(format), *known_of(format))


def _sent(exchange: RecordedExchange) -> Sent:
    request = exchange.file["request"]
    path = str(request.get("path") or "").partition("?")[0]
    return Sent(request["body"], f"https://{request.get('host') or 'service.invalid'}{path}")
