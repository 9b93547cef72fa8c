"""Credentials from the environment, and the headers that sign a request with them. Nothing is kept or written."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

import httpx
from botocore.auth import SIGV4_TIMESTAMP, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as SigningKeys

from officellm import Fault, FaultError, HttpRequest
from officellm_provider_bedrock.settings import ACCESS_KEY, SECRET_KEY, SESSION_TOKEN

_SIGNED = re.compile(r"content-type$|x-amz-", re.I)


@dataclass(frozen=True, slots=True)
class Credentials:
    """An access key, with the session token of temporary ones. Its text shows none of them."""

    access_key: str = field(repr=False)
    secret_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)

    @classmethod
    def from_environment(cls) -> Credentials | None:
        """What the environment holds now; None where a part is missing. Files are never read.

        Raises `FaultError` (kind `auth`) for a text that no header can hold.
        """
        access, secret, token = map(_from_environment, (ACCESS_KEY, SECRET_KEY, SESSION_TOKEN))
        return cls(access, secret, token or None) if access and secret else None


def signature(
    request: HttpRequest, headers: Mapping[str, str], credentials: Credentials, region: str, now: float
) -> dict[str, str]:
    """The headers to add: date, token and signature (version 4). `now` is in seconds since the epoch.

    Signed are the host, the body's type and Amazon's own headers; a proxy may change the others.
    """
    date = datetime.fromtimestamp(now, UTC).strftime(SIGV4_TIMESTAMP)
    added = {"X-Amz-Date": date}
    if credentials.session_token is not None:
        added["X-Amz-Security-Token"] = credentials.session_token
    own = {name: value for name, value in headers.items() if _SIGNED.match(name)}
    # The URL as the client sends it: the path in it is encoded, and is encoded once more for the signature.
    asked = AWSRequest(request.method, str(httpx.URL(request.url)), headers={**own, **added}, data=request.body)
    asked.context["timestamp"] = date
    # Step by step, because botocore's `add_auth` writes the token to its log.
    signer = SigV4Auth(SigningKeys(credentials.access_key, credentials.secret_key), "bedrock", region)
    names = signer.signed_headers(signer.headers_to_sign(asked))
    proof = signer.signature(signer.string_to_sign(asked, signer.canonical_request(asked)), asked)
    added["Authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={signer.scope(asked)}, SignedHeaders={names}, Signature={proof}"
    )
    return added


def _from_environment(variable: str) -> str:
    # Files that keys are read from end with a line break.
    value = os.environ.get(variable, "").strip()
    if not (value.isascii() and value.isprintable()):
        raise FaultError(Fault("auth", f"{variable} has characters that HTTP does not allow"))
    return value
