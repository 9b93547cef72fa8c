"""Reads any vendor's error, once for all wire formats: what went wrong, in which words, whether and when to retry."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from officellm.codec import loads
from officellm.errorbody import ErrorBody, clean, read_error
from officellm.retryafter import retry_after
from officellm.wire import Fault, FaultError, FaultKind

__all__ = ["classify_http", "classify_payload", "clean", "cut_short", "error_text", "malformed", "retry_after"]

_RETRIED = frozenset({408, 409, 425, 429})
#: No wait, and no header that asks for a retry, helps against these.
_FINAL: frozenset[FaultKind] = frozenset({"quota", "refused", "context_overflow"})

#: What a code inside a 200 or inside a stream stands for, where it is no number. Lower case, without `_` and `-`.
_STATUS_OF_CODE = {
    "invalidrequesterror": 400,
    "invalidargument": 400,
    "failedprecondition": 400,
    "validationexception": 400,
    "contextlengthexceeded": 400,
    "toolusefailed": 400,
    "authenticationerror": 401,
    "unauthenticated": 401,
    "invalidapikey": 401,
    "billingerror": 402,
    "permissionerror": 403,
    "permissiondenied": 403,
    "accessdeniedexception": 403,
    "notfounderror": 404,
    "notfound": 404,
    "modelnotfound": 404,
    "resourcenotfoundexception": 404,
    "modeltimeoutexception": 408,
    "aborted": 409,
    "requesttoolarge": 413,
    "ratelimiterror": 429,
    "ratelimitexceeded": 429,
    "insufficientquota": 429,
    "resourceexhausted": 429,
    "throttlingexception": 429,
    "toomanyrequestsexception": 429,
    "apierror": 500,
    "servererror": 500,
    "internalservererror": 500,
    "internal": 500,
    "internalserverexception": 500,
    "modelstreamerrorexception": 500,
    "unavailable": 503,
    "serviceunavailable": 503,
    "serviceunavailableexception": 503,
    "timeouterror": 504,
    "deadlineexceeded": 504,
    "overloadederror": 529,
    "overloaded": 529,
}

_REFUSED_CODES = frozenset(
    {
        "contentfilter",
        "contentpolicyviolation",
        "imagecontentpolicyviolation",
        "invalidprompt",
        "responsibleaipolicyviolation",
        "contentmoderation",
        "datainspectionfailed",
        "moderationblocked",
    }
)
_REFUSED_TEXT = re.compile(r"input was flagged|flagged by (?:the )?moderation|content management policy", re.I)
_BAD_CALL_CODES = frozenset({"toolusefailed", "outputparsefailed"})
_BAD_CALL_TEXT = re.compile(
    r"output that does not match the expected|failed to (?:parse|call) (?:the )?(?:tool|function)"
    r"|error parsing tool call|xml syntax error",
    re.I,
)
_QUOTA_CODES = frozenset(
    {
        "insufficientquota",
        "billinghardlimitreached",
        "billingnotactive",
        "billingerror",
        "insufficientbalance",
        "servicequotaexceededexception",
    }
)
_QUOTA_TEXT = re.compile(
    r"credit balance is too low|insufficient (?:account )?(?:balance|quota|credits?|funds)"
    r"|(?:out of|no|used all available|exceeded your monthly included) credits|spending limit"
    r"|inactive subscription or usage limit",
    re.I,
)
_AUTH_CODES = frozenset(
    {"invalidapikey", "apikeyinvalid", "apikeyexpired", "unrecognizedclientexception", "authenticationerror"}
)
_AUTH_TEXT = re.compile(r"(?:incorrect|invalid) api[ -]key|api[ -]key (?:is )?(?:not valid|invalid|expired)", re.I)
_THROTTLE_CODES = frozenset(
    {"throttlingexception", "toomanyrequestsexception", "ratelimitexceeded", "ratelimiterror", "ratelimitreached"}
)
_OVERFLOW_CODES = frozenset(
    {
        "contextlengthexceeded",
        "contextwindowexceeded",
        "modelcontextwindowexceeded",
        "exceedcontextsizeerror",
        "toomanyprompttokens",
        "toomanytokens",
        "tokenslimitreached",
        "stringabovemaxlength",
    }
)
_OVERFLOW_TEXT = re.compile(
    r"maximum (?:context|prompt) length|context[ _](?:length|window|size|limit)"
    r"|prompt (?:is )?too long|prompt exceeds max|input (?:is )?too long|inputs? (?:token count|tokens exceeded)"
    r"|too many (?:input |prompt )?tokens|exceeded model token limit|all messages is too long"
    r"|inputs.? tokens \+ .?max_new_tokens|range of input length|must have less than \d+ tokens"
    r"|request body too large for \S+ model|reduce the length of the (?:messages|prompt|input)",
    re.I,
)


def malformed(message: str) -> FaultError:
    """To raise for a reply that is not what its format says; retryable."""
    return FaultError(Fault("malformed", clean(message), status=200, retryable=True))


def cut_short(message: str = "the stream ended before the reply did") -> FaultError:
    """To raise for a stream that ended without the format's last event; retryable."""
    return FaultError(Fault("network", clean(message), retryable=True))


def error_text(body: bytes) -> str:
    """What a body of any shape says for a person: cleaned, capped, empty where it says nothing."""
    return read_error(_payload(body)).text


def classify_http(status: int, headers: Mapping[str, str], body: bytes) -> Fault:
    """What went wrong, for any vendor's reply. `headers` has lower-case names.

    With a 2xx status the body is an error inside a success: the code in it decides, and one without a code is retried.
    """
    return classify_payload(_payload(body), status=status, headers=headers)


def classify_payload(payload: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Fault:
    """Like `classify_http`, for decoded JSON: an error inside a body or an event. `Fault.status` is the code inside."""
    headers = headers or {}
    error = read_error(payload)
    codes = {_plain(code) for code in (*error.codes, headers.get("x-amzn-errortype", "").partition(":")[0]) if code}
    if status < 300:
        inside = error.status or next((_STATUS_OF_CODE[code] for code in codes if code in _STATUS_OF_CODE), None)
        known = inside or 500
    else:
        inside, known = status, status
    kind = _kind(known, codes, error)
    return Fault(
        kind,
        error.text or _phrase(known if inside else status),
        status=inside or status,
        retryable=_retryable(kind, known, headers),
        retry_after=retry_after(headers, payload),
        code=error.code,
    )


def _kind(status: int, codes: set[str], error: ErrorBody) -> FaultKind:
    text = error.text
    if codes & _REFUSED_CODES or (status in (400, 403) and _REFUSED_TEXT.search(text)):
        return "refused"
    if codes & _BAD_CALL_CODES or (status in (400, 500) and _BAD_CALL_TEXT.search(text)):
        return "bad_call"
    if status == 402 or error.per_day or codes & _QUOTA_CODES or (status < 500 and _QUOTA_TEXT.search(text)):
        return "quota"
    if codes & _OVERFLOW_CODES:
        return "context_overflow"
    if status == 429 or codes & _THROTTLE_CODES:
        return "rate_limit"
    if status in (401, 403) or codes & _AUTH_CODES or (status == 400 and _AUTH_TEXT.search(text)):
        return "auth"
    if status != 404 and _OVERFLOW_TEXT.search(text):
        return "context_overflow"
    return _kind_of_status(status)


def _kind_of_status(status: int) -> FaultKind:
    if status in (408, 504, 524):
        return "timeout"
    if status in (503, 529):
        return "overloaded"
    if status >= 500 or status in _RETRIED:
        return "server"
    return "bad_request"


def _retryable(kind: FaultKind, status: int, headers: Mapping[str, str]) -> bool:
    if kind in _FINAL:
        return False
    wish = headers.get("x-should-retry", "").strip().lower()
    if wish in ("true", "false"):
        return wish == "true"
    return kind == "rate_limit" or status in _RETRIED or status >= 500


def _payload(body: bytes) -> Any:
    """Decoded JSON, or the text of anything else."""
    text = body.decode("utf-8", "replace").removeprefix("\ufeff").strip()
    if text[:1] in ("{", "[", '"'):
        try:
            return loads(text)
        except (ValueError, RecursionError):
            return text
    return text


def _plain(code: str) -> str:
    return code.lower().replace("_", "").replace("-", "").replace(" ", "")


def _phrase(status: int) -> str:
    try:
        return f"HTTP {status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"HTTP {status}"
