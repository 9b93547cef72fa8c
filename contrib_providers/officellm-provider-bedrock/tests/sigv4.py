"""Checks a signature as the service does, from the request on the wire alone; written from the public specification."""

from __future__ import annotations

import hashlib
import hmac
import re
from urllib.parse import quote

AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/]+)/"
    r"(?P<scope>(?P<day>\d{8})/(?P<region>[^/]+)/(?P<service>[^/]+)/aws4_request), "
    r"SignedHeaders=(?P<signed>[a-z0-9;-]+), Signature=(?P<signature>[0-9a-f]{64})"
)


def signature_of(method, path, query, headers, body, secret, authorization):
    """The signature that `authorization` should hold."""
    found = AUTHORIZATION.fullmatch(authorization)
    signed = found["signed"].split(";")
    lines = [f"{name}:{' '.join(headers[name].split())}" for name in signed]
    canonical = "\n".join(
        [method, quote(path, safe="/~"), query, *lines, "", found["signed"], hashlib.sha256(body).hexdigest()]
    )
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    to_sign = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], found["scope"], digest])
    key = f"AWS4{secret}".encode()
    for part in (found["day"], found["region"], found["service"], "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.new(key, to_sign.encode(), "sha256").hexdigest()
