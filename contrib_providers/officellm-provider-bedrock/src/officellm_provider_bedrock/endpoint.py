"""Addresses of Bedrock's API, what its lists of models say, and its errors. Nothing here depends on a wire format."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import quote

from officellm import (
    Fault,
    HttpRequest,
    as_mapping,
    as_sequence,
    classify_http,
    decode_object,
)
from officellm_provider_bedrock.settings import REGION

#: The name of a stream's event that is an error, in whichever of two ways the service sent it.
EXCEPTION = "exception"

_HOST = re.compile(rf"//bedrock-runtime(?:-fips)?\.({REGION})\.")
_MODEL_PATH = re.compile(r"/model(?:/.*)?$")
#: How services repeat the headers of a request whose signature they refuse: the token in it is a secret.
_ECHOED = re.compile(rb"(x-amz-security-token[\"']?\s*[:=]\s*[\"']?|\bCredential=)[^\s\"'/,\\]+[^\s\"',\\]*", re.I)


def runtime_url(region: str) -> str:
    """The API's root in a region."""
    suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return f"https://bedrock-runtime.{region}.{suffix}"


def region_of(base_url: str) -> str | None:
    """The region that one of Amazon's own hosts serves; None for any other host."""
    found = _HOST.search(base_url)
    return found[1] if found else None


def model_url(base_url: str, model: str, action: str) -> str:
    """`{root}/model/{id}/{action}` from the root or from a full endpoint; the id is one encoded segment."""
    return f"{_root(base_url)}/model/{quote(model, safe='')}/{action}"


def models_request(base_url: str) -> HttpRequest:
    """The request that lists models: another host, where the root is Amazon's."""
    root = _root(base_url).replace("//bedrock-runtime", "//bedrock", 1)
    return HttpRequest(f"{root}/foundation-models", b"", method="GET")


def parse_models(body: bytes) -> list[str]:
    """Model ids in that reply."""
    entries = map(as_mapping, as_sequence(decode_object(body).get("modelSummaries")))
    return [entry["modelId"] for entry in entries if isinstance(entry.get("modelId"), str)]


def classify(status: int, headers: Mapping[str, str], body: bytes) -> Fault:
    """What went wrong, for a status that is not 2xx; the code is the error's type, which stands in a header."""
    fault = classify_http(status, headers, _ECHOED.sub(rb"\1[key]", body))
    return replace(fault, code=fault.code or headers.get("x-amzn-errortype", "").partition(":")[0] or None)


def _root(base_url: str) -> str:
    return _MODEL_PATH.sub("", base_url.partition("?")[0].rstrip("/"))
