from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from officellm.faults import classify_http, classify_payload, cut_short, error_text, malformed, retry_after


def body(value) -> bytes:
    return json.dumps(value).encode()


def error(**fields) -> bytes:
    return body({"error": fields})


RETRIED = [408, 409, 425, 429, 500, 502, 503, 504, 529]
FINAL = [300, 400, 401, 402, 403, 404, 405, 413, 422]


@pytest.mark.parametrize("status", RETRIED)
def test_a_status_that_may_pass_is_retried(status):
    assert classify_http(status, {}, b"").retryable


@pytest.mark.parametrize("status", FINAL)
def test_any_other_status_ends_at_once(status):
    assert not classify_http(status, {}, b"").retryable


KINDS = {
    "no key": (401, error(message="no", code="invalid_api_key"), "auth"),
    "a refused key with a wrong status": (
        400,
        body({"code": "invalid-argument", "error": "Incorrect API key provided."}),
        "auth",
    ),
    "not allowed": (403, b"", "auth"),
    "unpaid": (402, b"", "quota"),
    "out of credit": (429, error(code="insufficient_quota", message="You exceeded your current quota"), "quota"),
    "credit in words": (400, error(message="Your credit balance is too low to access the API"), "quota"),
    "too fast": (429, error(code="rate_limit_exceeded", message="slow down"), "rate_limit"),
    "too fast in tokens": (429, body({"message": "Too many tokens, please wait"}), "rate_limit"),
    "busy": (503, b"", "overloaded"),
    "overloaded": (529, error(type="overloaded_error", message="Overloaded"), "overloaded"),
    "a gateway's timeout": (504, b"<html><title>Gateway Time-out</title></html>", "timeout"),
    "broken": (500, error(message="oops"), "server"),
    "unknown model": (404, error(message="The model `x` does not exist"), "bad_request"),
    "filtered": (400, error(code="content_filter", message="filtered"), "refused"),
    "filtered, by the inner code": (
        400,
        error(code="400", innererror={"code": "ResponsibleAIPolicyViolation"}),
        "refused",
    ),
    "a prompt against the rules": (400, error(code="invalid_prompt", message="usage policy"), "refused"),
    "an image against the rules": (400, error(code="image_content_policy_violation", message="no"), "refused"),
    "a call that Ollama could not read": (500, body({"error": "error parsing tool call: raw='{'"}), "bad_call"),
    "a call in XML that Ollama could not read": (500, body({"error": "XML syntax error on line 2"}), "bad_call"),
    "a call the server could not read": (400, error(code="tool_use_failed", failed_generation=""), "bad_call"),
    "output the server could not read": (
        500,
        error(message="The model produced output that does not match the expected peg-native format"),
        "bad_call",
    ),
}


@pytest.mark.parametrize(("status", "reply", "kind"), KINDS.values(), ids=KINDS)
def test_a_fault_has_the_kind_that_says_what_to_do(status, reply, kind):
    assert classify_http(status, {}, reply).kind == kind


OVERFLOWS = {
    "openai": error(code="context_length_exceeded", message="too long"),
    "anthropic": error(type="invalid_request_error", message="prompt is too long: 210000 tokens > 200000 maximum"),
    "deepseek": error(code="invalid_request_error", message="This model's maximum context length is 1048565 tokens."),
    "perplexity": error(type="too_many_prompt_tokens", code=400, message="The total length is too long."),
    "cohere": body({"error_type": "TOO_MANY_TOKENS", "message": "too many tokens"}),
    "gemini": error(code=400, status="INVALID_ARGUMENT", message="The input token count (9) exceeds the maximum"),
    "bedrock": body({"message": "The model returned the following errors: Input Tokens Exceeded: x"}),
    "llama.cpp": error(code=400, type="exceed_context_size_error", n_ctx=4096, message="request (6021 tokens)"),
    "vllm": body({"object": "error", "message": "maximum context length is 4096 tokens", "code": 400}),
}


@pytest.mark.parametrize("reply", OVERFLOWS.values(), ids=OVERFLOWS)
def test_a_prompt_that_is_too_long_is_recognised_and_not_retried(reply):
    fault = classify_http(400, {"x-should-retry": "true"}, reply)

    assert (fault.kind, fault.retryable) == ("context_overflow", False)


INSIDE = {
    "a number": ({"error": {"code": 502, "message": "bad gateway"}}, 502, "server", True),
    "a number as text": ({"error": {"code": "429"}}, 429, "rate_limit", True),
    "a status code": (
        {"error": {"message": "x", "code": "tool_use_failed", "status_code": 400}},
        400,
        "bad_call",
        False,
    ),
    "a type": ({"type": "error", "error": {"type": "overloaded_error"}}, 529, "overloaded", True),
    "a status word": ({"error": {"status": "RESOURCE_EXHAUSTED"}}, 429, "rate_limit", True),
    "a client's mistake": ({"error": {"type": "invalid_request_error", "message": "no"}}, 400, "bad_request", False),
    "a filter": ({"error": {"code": "content_filter", "status": 400}}, 200, "refused", False),
    "nothing known": ({"error": {"message": "hm"}}, 200, "server", True),
    "text": ({"error": "hm"}, 200, "server", True),
}


@pytest.mark.parametrize(("payload", "status", "kind", "retryable"), INSIDE.values(), ids=INSIDE)
def test_an_error_inside_a_success_is_what_its_code_says(payload, status, kind, retryable):
    fault = classify_payload(payload)

    assert (fault.status, fault.kind, fault.retryable) == (status, kind, retryable)


TEXTS = {
    "openai": (error(message="no", type="t", param=None, code=None), "no"),
    "google on a stream": (body([{"error": {"code": 400, "message": "no", "status": "X"}}]), "no"),
    "bedrock": (body({"message": "no"}), "no"),
    "mistral 401": (body({"detail": "no"}), "no"),
    "mistral 422": (
        body({"detail": [{"loc": ["body", "x"], "msg": "Field required", "type": "m"}]}),
        "body.x: Field required",
    ),
    "xai": (body({"code": "invalid-argument", "error": "no"}), "no"),
    "ollama": (body({"error": "no"}), "no"),
    "a gateway and its upstream": (
        error(message="Provider returned error", metadata={"raw": "limited upstream"}),
        "Provider returned error: limited upstream",
    ),
    "html": (
        b"<!doctype html><html><head><title> 502 Bad\nGateway </title></head><body>x</body></html>",
        "502 Bad Gateway",
    ),
    "html without a title": (b"<html><style>p{}</style><p>Sorry</p></html>", "Sorry"),
    "plain": (b"upstream connect error\x00\x1b[0m", "upstream connect error [0m"),
    "empty": (b"", ""),
    "null": (b"null", "null"),
    "no words": (body({"error": {"code": 7}}), '{"error":{"code":7}}'),
    "broken json": (b'{"error": {"message": "x', '{"error": {"message": "x'),
    "not utf-8": (b"\xff\xfe", "��"),
    "a key": (
        error(message="Incorrect API key provided: sk-proj-abcdefgh12345678."),
        "Incorrect API key provided: [key].",
    ),
}


@pytest.mark.parametrize(("reply", "text"), TEXTS.values(), ids=TEXTS)
def test_the_text_is_found_in_every_shape(reply, text):
    assert error_text(reply) == text


def test_a_text_is_capped():
    assert len(error_text(b"x" * 100_000)) == 500


def test_a_fault_without_a_body_still_says_something():
    assert classify_http(502, {}, b"").message == "HTTP 502 Bad Gateway"
    assert classify_http(599, {}, b"").message == "HTTP 599"


PER_DAY = error(
    code=429,
    status="RESOURCE_EXHAUSTED",
    details=[{"@type": "x/google.rpc.QuotaFailure", "violations": [{"quotaId": "GenerateRequestsPerDayPerProject"}]}],
)


@pytest.mark.parametrize("reply", [error(code="insufficient_quota"), PER_DAY], ids=["openai", "google per day"])
def test_a_used_up_quota_is_never_retried(reply):
    fault = classify_http(429, {"retry-after": "1", "x-should-retry": "true"}, reply)

    assert (fault.kind, fault.retryable) == ("quota", False)


@pytest.mark.parametrize(
    ("status", "wish", "retryable"), [(404, "true", True), (500, "false", False), (500, "?", True)]
)
def test_the_servers_wish_overrides_the_status(status, wish, retryable):
    assert classify_http(status, {"x-should-retry": wish}, b"").retryable is retryable


WAITS = {
    "milliseconds first": ({"retry-after-ms": "1500", "retry-after": "9"}, b"", 1.5),
    "zero falls through": ({"retry-after-ms": "0", "retry-after": "1"}, b"", 1.0),
    "less than zero": ({"retry-after": "-5"}, b"", None),
    "a fraction": ({"retry-after": "0.25"}, b"", 0.25),
    "a date, by the server's clock": (
        {"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT", "date": "Wed, 21 Oct 2015 07:28:00 GMT"},
        b"",
        30.0,
    ),
    "a date gone by": ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, b"", None),
    "nonsense": ({"retry-after": "soon"}, b"", None),
    "google": ({}, error(details=[{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "48s"}]), 48.0),
    "words": ({}, error(message="Please retry in 48.93s."), 48.93),
    "words with minutes": ({}, error(message="Please try again in 7m12.5s."), 432.5),
    "words in milliseconds": ({}, error(message="Please try again in 340ms."), 0.34),
    "azure's words": ({}, error(message="Please retry after 10 seconds."), 10.0),
    "no wish": ({}, error(message="Please retry in a while"), None),
}


@pytest.mark.parametrize(("headers", "reply", "seconds"), WAITS.values(), ids=WAITS)
def test_the_wait_that_the_server_asks_for_is_found(headers, reply, seconds):
    assert retry_after(headers, reply) == seconds
    assert classify_http(429, headers, reply).retry_after == seconds


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(
                ["error", "message", "code", "detail", "details", "status", "metadata", "raw", "type", "loc"]
            ),
            inner,
        )
    ),
)


@given(
    status=st.integers(100, 599),
    value=JSON,
    headers=st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms", "date"]), st.text()),
)
def test_no_body_of_any_shape_raises(status, value, headers):
    fault = classify_http(status, headers, json.dumps(value).encode())

    assert fault.message
    assert len(fault.message) <= 500


@given(raw=st.binary())
def test_no_bytes_raise(raw):
    assert classify_http(500, {}, raw).retryable


def test_a_reply_of_the_wrong_shape_and_a_cut_stream_are_retried():
    assert (malformed("x").fault.kind, malformed("x").fault.retryable) == ("malformed", True)
    assert (cut_short().fault.kind, cut_short().fault.retryable) == ("network", True)
