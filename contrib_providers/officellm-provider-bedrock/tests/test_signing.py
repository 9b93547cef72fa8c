"""Who asks: keys, signatures, regions, and that none of the secrets is seen anywhere."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import httpx
import pytest
from officellm_provider_bedrock.signing import Credentials, signature

from officellm import ConfigError, Host, HttpRequest, Kind, ProviderError, Request, User
from officellm.testing.contracts.playback import Answer, Playback

from .sigv4 import AUTHORIZATION, signature_of

# The example credentials of Amazon's documentation.
ACCESS, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
TOKEN = "FwoGZXIvYXdzEJr//////////wEaDMEXAMPLETOKEN" * 20
MODEL = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"
ARN = "arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.anthropic.claude-sonnet-4-5-20250929-v1:0"
REPLY = json.dumps({"output": {"message": {"content": [{"text": "fine"}]}}, "stopReason": "end_turn"}).encode()


def provider(http, driver="bedrock_converse", **block):
    host = Host(discover=False)
    return host.provider(driver, "bedrock", host.settings(Kind.PROVIDER, driver, block), http)


def send(http, model=MODEL, request=None, **block):
    async def all_of() -> list:
        asked = request or Request(model=model, messages=(User("hello"),), retries=0)
        return [delta async for delta in provider(http, **block).stream(asked)]

    asyncio.run(all_of())
    return http.sent[0]


def playing(**answer):
    return Playback(Answer(chunks=[REPLY], **answer))


@pytest.fixture
def pair(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)


def is_rightly_signed(sent: httpx.Request) -> bool:
    path, _, query = sent.url.raw_path.decode().partition("?")
    headers = {name.lower(): value for name, value in sent.headers.items()}
    authorization = sent.headers["authorization"]
    wanted = signature_of(sent.method, path, query, headers, sent.content, SECRET, authorization)
    return AUTHORIZATION.fullmatch(authorization)["signature"] == wanted


def test_the_checker_itself_agrees_with_amazons_published_vector():
    """`get-vanilla` of the Signature Version 4 test suite."""
    signature = "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
    authorization = (
        f"AWS4-HMAC-SHA256 Credential={ACCESS}/20150830/us-east-1/service/aws4_request, "
        f"SignedHeaders=host;x-amz-date, Signature={signature}"
    )
    headers = {"host": "example.amazonaws.com", "x-amz-date": "20150830T123600Z"}

    assert signature_of("GET", "/", "", headers, b"", SECRET, authorization) == signature


@pytest.mark.parametrize("driver", ["bedrock_converse", "anthropic_bedrock_invoke"])
@pytest.mark.parametrize("model", [MODEL, ARN], ids=["id", "arn"])
@pytest.mark.parametrize("token", [None, TOKEN], ids=["lasting", "temporary"])
def test_a_request_is_signed_as_it_goes_over_the_wire(pair, monkeypatch, driver, model, token):
    if token:
        monkeypatch.setenv("AWS_SESSION_TOKEN", token)
    body = REPLY if driver == "bedrock_converse" else b'{"content": [], "stop_reason": "end_turn"}'

    sent = send(Playback(Answer(chunks=[body])), model, driver=driver, region="eu-central-1")

    found = AUTHORIZATION.fullmatch(sent.headers["authorization"])
    assert is_rightly_signed(sent)
    assert (found["key"], found["region"], found["service"]) == (ACCESS, "eu-central-1", "bedrock")
    assert {"host", "x-amz-date"} <= set(found["signed"].split(";"))
    assert sent.headers.get("x-amz-security-token") == token
    assert ("x-amz-security-token" in found["signed"]) == bool(token)
    assert b"%3A" in sent.url.raw_path
    assert b":" not in sent.url.raw_path


def test_the_date_is_the_clocks():
    request = HttpRequest("https://bedrock-runtime.us-east-1.amazonaws.com/model/a%3A0/converse", b"{}")
    headers = {"content-type": "application/json", "user-agent": "x", "X-Amz-Meta": " a  b "}

    added = signature(request, headers, Credentials(ACCESS, SECRET, TOKEN), "us-east-1", 1440938160.9)

    assert added["X-Amz-Date"] == "20150830T123600Z"
    assert AUTHORIZATION.fullmatch(added["Authorization"])["day"] == "20150830"
    assert AUTHORIZATION.fullmatch(added["Authorization"])["signed"] == (
        "content-type;host;x-amz-date;x-amz-meta;x-amz-security-token"
    )


def test_a_changed_body_would_be_noticed(pair):
    sent = send(playing(), region="eu-central-1")
    other = httpx.Request(sent.method, sent.url, headers=sent.headers, content=sent.content + b" ")

    assert not is_rightly_signed(other)


def test_the_address_is_the_one_that_amazons_own_client_builds(pair):
    from botocore.awsrequest import AWSResponse
    from botocore.session import Session

    seen = []

    def stop(request, **_):
        seen.append(request)
        return AWSResponse(request.url, 400, {}, None)

    client = Session().create_client("bedrock-runtime", region_name="eu-central-1")
    client.meta.events.register("before-send", stop)
    for model in (MODEL, ARN):
        asked = {"modelId": model, "messages": [{"role": "user", "content": [{"text": "hello"}]}]}
        with pytest.raises(AttributeError):  # the reply of nothing cannot be read
            client.converse(**asked)

    ours = [str(send(playing(), model, region="eu-central-1").url) for model in (MODEL, ARN)]
    assert ours == [request.url for request in seen]


def test_the_list_of_models_is_signed_for_its_own_host(pair):
    http = Playback(Answer(chunks=[b'{"modelSummaries": [{"modelId": "amazon.nova-lite-v1:0"}, {}, 3]}']))

    names = asyncio.run(provider(http, region="us-west-2").models())

    assert names == ["amazon.nova-lite-v1:0"]
    assert str(http.sent[0].url) == "https://bedrock.us-west-2.amazonaws.com/foundation-models"
    assert is_rightly_signed(http.sent[0])


def test_an_api_key_goes_before_a_signature(pair, monkeypatch):
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "bedrock-api-key-1")

    sent = send(playing(), region="eu-central-1")

    assert sent.headers["authorization"] == "Bearer bedrock-api-key-1"
    assert "x-amz-date" not in sent.headers


def test_a_named_variable_is_the_only_way(pair):
    http = playing()

    with pytest.raises(ProviderError, match="MY_KEY is not set"):
        send(http, region="eu-central-1", api_key_env="MY_KEY")
    assert not http.sent


@pytest.mark.parametrize(
    ("set_to", "missing"),
    [
        ({}, "AWS_ACCESS_KEY_ID"),
        ({"AWS_ACCESS_KEY_ID": ACCESS}, "AWS_SECRET_ACCESS_KEY"),
        ({"AWS_SECRET_ACCESS_KEY": SECRET}, "AWS_ACCESS_KEY_ID"),
        ({"AWS_ACCESS_KEY_ID": ACCESS, "AWS_SECRET_ACCESS_KEY": SECRET + "\n"}, None),
        ({"AWS_BEARER_TOKEN_BEDROCK": "key"}, None),
    ],
    ids=["nothing", "no-secret", "no-id", "pair", "api-key"],
)
def test_what_is_missing_is_said_before_anything_is_sent(monkeypatch, set_to, missing):
    for name, value in set_to.items():
        monkeypatch.setenv(name, value)
    http = playing()

    assert provider(http, region="eu-central-1").missing_key() == missing
    if missing is None:
        send(http, region="eu-central-1")
    else:
        with pytest.raises(ProviderError, match=f"{missing} is not set"):
            send(http, region="eu-central-1")
    assert bool(http.sent) == (missing is None)


def test_a_server_on_this_machine_needs_no_credentials():
    assert "authorization" not in send(playing(), base_url="http://127.0.0.1:9").headers


def test_a_header_of_the_users_own_is_left_alone(pair):
    headers = {"Authorization": "Gateway 7"}

    assert send(playing(), region="eu-central-1", headers=headers).headers["authorization"] == "Gateway 7"


def test_credentials_are_read_for_each_request(pair, monkeypatch):
    http = playing()
    one = provider(http, region="eu-central-1")
    request = Request(model=MODEL, messages=(User("hello"),), retries=0)

    async def twice() -> None:
        [_ async for _ in one.stream(request)]
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDRENEWED")
        [_ async for _ in one.stream(request)]

    asyncio.run(twice())
    assert [AUTHORIZATION.fullmatch(sent.headers["authorization"])["key"] for sent in http.sent] == [
        ACCESS,
        "AKIDRENEWED",
    ]


@pytest.mark.parametrize("variable", ["AWS_ACCESS_KEY_ID", "AWS_SESSION_TOKEN", "AWS_SECRET_ACCESS_KEY"])
def test_a_credential_that_no_header_can_hold_is_a_fault(pair, monkeypatch, variable):
    monkeypatch.setenv(variable, "a\nb\u2026")

    with pytest.raises(ProviderError, match=variable) as caught:
        send(playing(), region="eu-central-1")
    assert caught.value.fault.kind == "auth"


REGIONS = [
    ({"region": "eu-west-1"}, {"AWS_REGION": "us-east-1"}, "eu-west-1", "bedrock-runtime.eu-west-1.amazonaws.com"),
    ({}, {"AWS_REGION": "us-east-1"}, "us-east-1", "bedrock-runtime.us-east-1.amazonaws.com"),
    ({}, {"AWS_DEFAULT_REGION": "us-east-2"}, "us-east-2", "bedrock-runtime.us-east-2.amazonaws.com"),
    ({"region": "cn-north-1"}, {}, "cn-north-1", "bedrock-runtime.cn-north-1.amazonaws.com.cn"),
    (
        {"base_url": "https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com/"},
        {"AWS_REGION": "us-east-1"},
        "us-gov-west-1",
        "bedrock-runtime-fips.us-gov-west-1.amazonaws.com",
    ),
    (
        {"base_url": "https://vpce.example/x/model/old/converse"},
        {"AWS_REGION": "us-east-1"},
        "us-east-1",
        "vpce.example",
    ),
]


@pytest.mark.parametrize(("block", "environment", "region", "host"), REGIONS)
def test_the_region_comes_from_the_settings_the_host_or_the_environment(
    pair, monkeypatch, block, environment, region, host
):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    sent = send(playing(), **block)

    assert sent.url.host == host
    assert sent.url.raw_path.count(b"/model/") == 1
    assert AUTHORIZATION.fullmatch(sent.headers["authorization"])["region"] == region


def test_no_region_at_all_is_an_error_of_the_team_file(pair):
    with pytest.raises(ConfigError, match="no region"):
        provider(playing())


def test_a_gateway_without_a_region_cannot_be_signed_for(pair):
    with pytest.raises(ProviderError, match="no region to sign for"):
        send(playing(), base_url="https://gateway.example")


@pytest.mark.parametrize("region", ["evil.example/", "EU", "-", "eu west"])
def test_a_region_that_is_none_is_refused(monkeypatch, region):
    with pytest.raises(ConfigError, match="region"):
        provider(playing(), region=region)
    monkeypatch.setenv("AWS_REGION", region)
    with pytest.raises(ConfigError, match="AWS_REGION"):
        provider(playing())


def test_nothing_shows_a_secret(pair, monkeypatch, caplog):
    """Amazon echoes the signed headers of a request whose signature it refuses."""
    monkeypatch.setenv("AWS_SESSION_TOKEN", TOKEN)
    caplog.set_level(0)
    echo = f"The Canonical String should have been 'POST\nhost:x\nx-amz-security-token:{TOKEN}\n' Credential={ACCESS}/1"
    body = json.dumps({"message": echo}).encode()
    http = Playback(Answer(status=403, chunks=[body]))

    with pytest.raises(ProviderError) as caught:
        send(http, region="eu-central-1")

    one = provider(http, region="eu-central-1")
    shown = f"{caught.value!r} {caught.value} {caught.value.fault!r} {one!r} {caplog.text}"
    assert "[key]" in shown
    assert not [secret for secret in (ACCESS, SECRET, TOKEN[:20]) if secret in shown]
    assert SECRET.encode() not in http.sent[0].content + str(http.sent[0].headers.raw).encode()


def test_importing_the_drivers_does_not_load_botocore():
    modules = "officellm_provider_bedrock.converse, officellm_provider_bedrock.invoke"
    code = f"import sys, {modules}; print('botocore' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout.strip() == "False"
