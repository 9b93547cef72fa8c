"""`officellm wire`: wire formats on their own, for plugin authors. Translates files; nothing is ever sent."""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from officellm.cli.output import Outlet
from officellm.errors import ConfigError

if TYPE_CHECKING:
    from officellm.wire import WireFormat

_format = click.argument("format")
_file = click.argument("file", default="-")


@click.group()
def wire() -> None:
    """Translate between neutral messages and the JSON of one wire format; nothing is sent.

    FORMAT is an installed provider driver, such as openai_compat. FILE is a path, or - for stdin.
    """


@wire.command()
@_format
@_file
@click.option("--base-url", metavar="URL", help="The API's root; else that of the format's best known service.")
def build(format: str, file: str, base_url: str | None) -> None:
    """Print the HTTP request that the neutral request in FILE becomes, without the key."""
    from officellm.codec import loads
    from officellm.host import Host
    from officellm.neutral import request_from_dict
    from officellm.wireformats import usual_url, wire_format

    outlet = Outlet()
    request = request_from_dict(_json(file))
    # An address that cannot be one is refused as in a team file.
    found = _wire(format) if base_url is None else wire_format(Host(), format, {"base_url": base_url})
    http = found.build(request, base_url or usual_url(format))
    body = loads(http.body) if http.body else None
    _show(outlet, {"method": http.method, "url": http.url, "headers": dict(http.headers), "body": body})


@wire.command()
@click.argument("arguments", nargs=-1, metavar="FORMAT [FILE] | --exchange FILE...")
@click.option("--exchange", is_flag=True, help="Read recorded exchanges; print one JSON line a file.")
def parse(arguments: tuple[str, ...], exchange: bool) -> int:
    """Print the neutral reply that the body or the stream in FILE is.

    An error inside it is printed as {"fault": ...}, with exit code 1. With --exchange the files are recordings: a
    request and its reply, streamed or not; exit code 1 if one of them cannot be read.
    """
    outlet = Outlet()
    if exchange:
        return _exchanges(outlet, arguments)
    if len(arguments) not in (1, 2):
        raise click.UsageError("say FORMAT and FILE, or --exchange and files")
    return _parse(outlet, arguments[0], arguments[1] if len(arguments) == 2 else "-")


@wire.command()
@_format
@_file
def check(format: str, file: str) -> int:
    """Say what a vendor would refuse in a history, and print the repaired one.

    FILE holds a list of neutral messages, or a request with them; the repaired one has the same form. Exit code 1 if
    something had to be repaired.
    """
    from officellm.cli import say
    from officellm.complaints import complaints, odd_names
    from officellm.messages import Request
    from officellm.neutral import message_to_dict, messages_from_list, request_from_dict
    from officellm.transcript import legal
    from officellm.wireformats import usual_url

    outlet = Outlet()
    value = _json(file)
    whole = isinstance(value, dict)
    request = request_from_dict(value) if whole else Request(model="m", messages=messages_from_list(value))
    found = complaints(request.messages)
    for line in [*found, *(f"note: {one}" for one in odd_names(request.messages))]:
        say(line)
    repaired = list(legal(request.messages))
    request.messages = repaired
    # A history that this format cannot say at all fails here, with its own words.
    _wire(format).build(request, usual_url(format))
    messages = [message_to_dict(message) for message in repaired]
    _show(outlet, {**value, "messages": messages} if whole else messages)
    return 1 if found else 0


def _exchanges(outlet: Outlet, files: tuple[str, ...]) -> int:
    from officellm.cli.exchangelines import exchange_line

    if not files:
        raise click.UsageError("--exchange needs at least one file")
    lines = (exchange_line(file, _wire) for file in files)
    failed = False
    for line in lines:
        failed = failed or "error" in line
        outlet.json(line)
    return 1 if failed else 0


def _parse(outlet: Outlet, format: str, file: str) -> int:
    from officellm.messages import Request
    from officellm.neutral import reply_to_dict
    from officellm.testing.exchanges import looks_streamed, play_stream
    from officellm.wire import FaultError

    found, body = _wire(format), _bytes(file)
    streamed = looks_streamed(body)
    request = Request(model="", messages=(), stream=streamed)
    try:
        reply = play_stream(found, body, request) if streamed else found.parse(body, request)
    except FaultError as error:
        fault = error.fault
        names = ("kind", "message", "status", "retryable", "retry_after", "code")
        _show(outlet, {"fault": {name: getattr(fault, name) for name in names}})
        return 1
    _show(outlet, reply_to_dict(reply))
    return 0


@cache
def _wire(format: str) -> WireFormat:
    from officellm.host import Host
    from officellm.wireformats import wire_format

    return wire_format(Host(), format)


def _json(file: str) -> Any:
    from officellm.codec import loads

    try:
        return loads(_bytes(file))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"not valid JSON: {error}", place=file) from None


def _bytes(file: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror or error}", place=file) from None


def _show(outlet: Outlet, value: Any) -> None:
    outlet.text(json.dumps(value, indent=2, ensure_ascii=False))
