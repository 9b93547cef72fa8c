"""Keys and other secrets: whatever a server echoes, and wherever they stand, they are shown nowhere."""

import base64
import json
import logging
import traceback

import pytest

from officellm import ConfigError, Limits, ProviderError, StopReason

from .scenes import Liar, both_ways, every_wire, office_at, run, says, sends

SECRET = "tok-ABCDEFGHIJKLMNOP-1234567890"
WIRES = {"openai": "openai_compat", "anthropic": "anthropic", "gemini": "gemini"}


def error(message, **more):
    return json.dumps({"error": {"message": message, **more}}).encode()


ECHOES = {
    "in words": sends("HTTP/1.1 401 X", error(f"the key {SECRET} is wrong")),
    "in lower case": sends("HTTP/1.1 401 X", error(f"the key {SECRET.lower()} is wrong")),
    "as a code": sends("HTTP/1.1 401 X", error("wrong", code=SECRET, type=SECRET)),
    "cut at the end": sends("HTTP/1.1 401 X", error("x" * 475 + SECRET)),
    "on a page": sends("HTTP/1.1 500 X\r\nContent-Type: text/html", f"<title>{SECRET}</title>".encode()),
    "inside a success": sends("HTTP/1.1 200 X\r\nContent-Type: application/json", error(f"not {SECRET}")),
    "inside a stream": sends("HTTP/1.1 200 X\r\nContent-Type: text/event-stream", b"data: " + error(SECRET) + b"\n\n"),
    "as the reason": sends(f"HTTP/1.1 401 {SECRET}"),
    "as a redirect": sends(f"HTTP/1.1 307 X\r\nLocation: http://{SECRET}.test/{SECRET}"),
    "as no header": sends(f"HTTP/1.1 200 X\r\n{SECRET}"),
}


async def all_that_is_shown(office, streamed, caplog):
    """Everything that a user can come to see of a run that fails."""
    caplog.set_level(logging.DEBUG)
    result, events = await run(office, streamed)
    assert not result.success
    provider = office.providers.provider("p")
    shown = [repr(provider), repr(office), repr(result), json.dumps(result.to_dict()), repr(events), caplog.text]
    shown += [json.dumps(event.to_dict()) for event in events]
    try:
        await provider.models()
    except ProviderError as raised:
        shown += [*traceback.format_exception(raised), repr(raised.fault)]
    return "\n".join(shown)


@pytest.mark.parametrize("act", ECHOES.values(), ids=ECHOES)
@every_wire
@both_ways
async def test_a_key_that_a_server_echoes_is_shown_nowhere(act, wire, streamed, monkeypatch, caplog):
    monkeypatch.setenv("THE_KEY", SECRET)
    async with Liar(act) as server:
        block = {"format": WIRES[wire], "api_key_env": "THE_KEY", "limits": Limits(provider_retries=1)}
        async with office_at(server.url, **block) as office:
            shown = await all_that_is_shown(office, streamed, caplog)
    assert "tok-abcdef" not in shown.lower()


@pytest.mark.parametrize(
    ("block", "user"),
    [
        ({"headers": {"x-api-key": SECRET}}, ""),
        ({"headers": {"Authorization": f"Bearer {SECRET}"}}, ""),
        ({}, f"user:{SECRET}@"),
    ],
    ids=["header", "bearer", "password"],
)
async def test_secrets_of_headers_and_of_the_address_are_shown_no_more_than_keys(block, user, caplog):
    async with Liar(ECHOES["in words"]) as server, office_at(server.url.replace("//", f"//{user}"), **block) as office:
        shown = await all_that_is_shown(office, False, caplog)
    assert SECRET not in shown


async def test_a_key_in_the_address_is_not_in_what_the_provider_says_of_itself():
    office = office_at(f"http://127.0.0.1:1/v1?key={SECRET}")
    assert SECRET not in repr(office.providers.provider("p"))


@pytest.mark.parametrize("ending", ["\n", " ", "\r\n"], ids=repr)
async def test_blanks_around_a_key_are_no_part_of_it(ending, monkeypatch):
    monkeypatch.setenv("THE_KEY", SECRET + ending)
    async with Liar(ECHOES["in words"]) as server, office_at(server.url, api_key_env="THE_KEY") as office:
        result, _ = await run(office)
    assert (len(server.requests), result.stop_reason) == (1, StopReason.PROVIDER_ERROR_4XX)
    assert result.error.endswith("the key [key] is wrong")


@pytest.mark.parametrize("key", [f"{SECRET}\nX-Evil: 1", f"{SECRET}\u201d", f"{SECRET}\x07x"], ids=ascii)
async def test_a_key_that_no_header_can_hold_is_named_by_its_variable(key, monkeypatch):
    monkeypatch.setenv("THE_KEY", key)
    async with Liar(ECHOES["in words"]) as server, office_at(server.url, api_key_env="THE_KEY") as office:
        result, _ = await run(office)
    assert (server.requests, result.stop_reason) == ([], StopReason.PROVIDER_ERROR_4XX)
    assert "THE_KEY" in result.error
    assert SECRET not in result.error


async def test_a_user_in_the_address_is_sent_as_a_header():
    async with Liar(says()) as server, office_at(server.url.replace("//", f"//user:{SECRET}@")) as office:
        result, _ = await run(office)
    assert result.content == "fine"
    assert base64.b64encode(f"user:{SECRET}".encode()).decode() in server.heads[0]


@pytest.mark.parametrize(
    "headers", [{"x-key": f"{SECRET}\r\nEvil: 1"}, {"x-key": f"\u201c{SECRET}"}, {"x key:": SECRET}], ids=ascii
)
def test_a_header_that_cannot_be_sent_is_refused_without_its_value(headers):
    with pytest.raises(ConfigError, match=r"'x.key:?'") as raised:
        office_at("http://127.0.0.1:1/v1", headers=headers)
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize(
    "url",
    [
        "/v1",
        "localhost:1234/v1",
        "ftp://x/y",
        "http://",
        "http://[::1",
        "http://x:99999/",
        "http://a b/",
        "http://a\0/",
    ],
)
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(ConfigError, match="base_url"):
        office_at(url)
