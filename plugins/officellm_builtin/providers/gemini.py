"""Gemini's generateContent as a wire format: requests and hooks. Contents, schemas and replies have their own files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from officellm import (
    Fault,
    Framing,
    HttpFactory,
    HttpProvider,
    HttpRequest,
    OutputMode,
    ProviderSettings,
    Reply,
    Request,
    StreamParser,
    as_mapping,
    as_sequence,
    classify_http,
    dumps,
    hookimpl,
    join_body,
    legal,
    legal_name,
    merged,
    original_names,
    taken_out,
)
from officellm_builtin.providers._gemini_contents import encode_contents, encode_system, encode_tools, is_gemini_3
from officellm_builtin.providers._gemini_reply import NAME, GeminiFold, GeminiStream, responses
from officellm_builtin.providers._gemini_schema import reduced_output

_VERSION = re.compile(r"v\d+\w*")
_METHOD = re.compile(r"/models/[^/]*:\w+$")
#: Settings that stand at the top of the body; all others belong to `generationConfig`.
_TOP_LEVEL = ("safetySettings", "cachedContent", "labels", "toolConfig", "serviceTier", "store", "modelArmorConfig")
_RENAMED = {"maxTokens": "maxOutputTokens", "stop": "stopSequences"}
#: Thinking tokens for each effort: before Gemini 3 a budget takes the place of a level.
_BUDGETS = {"none": 0, "minimal": 512, "low": 1024, "medium": 8192, "high": 24576}


class GeminiSettings(ProviderSettings):
    """A provider block of this format."""


class Gemini:
    """`WireFormat` for `:generateContent` and `:streamGenerateContent`.

    A reply that the model spoilt itself (`MALFORMED_FUNCTION_CALL` and the like) is a reply with stop `error`, not a
    fault: it was paid for. Parallel calls cannot be switched off here.
    """

    name = NAME
    framing: Framing = "sse"

    def build(self, request: Request, base_url: str) -> HttpRequest:
        """The HTTP request; what the history and the tools become is encoded once."""
        messages = legal(request.messages)
        extra, extra_tools = taken_out(request.settings.get("extra"), "tools")
        fields = merged(_fields(request), extra)
        encoded = {"contents": encode_contents(messages, request.model)}
        if system := encode_system(messages):
            encoded["systemInstruction"] = system
        declared = encode_tools(request.tools)
        if tools := [*([declared] if declared else []), *(dumps(tool) for tool in extra_tools)]:
            encoded["tools"] = b"[%b]" % b",".join(tools)
        return HttpRequest(_endpoint(base_url, request), join_body(fields, encoded))

    def parse(self, body: bytes, request: Request) -> Reply:
        """The reply in a whole body, also where a stream came as one JSON array. Raises `FaultError`."""
        fold = _fold(request)
        for response in responses(body):
            fold.add(response)
        return fold.reply()

    def stream_parser(self, request: Request) -> StreamParser:
        """A parser for one streamed reply."""
        return GeminiStream(_fold(request))

    def classify(self, status: int, headers: Mapping[str, str], body: bytes) -> Fault:
        """What went wrong, for a status that is not 2xx."""
        return classify_http(status, headers, body)

    def auth(self, key: str) -> Mapping[str, str]:
        """The header that carries the key; in the URL it would reach logs."""
        return {"x-goog-api-key": key}

    def output_mode(self, request: Request) -> OutputMode:
        """By the vendor's parameter, but before Gemini 3 not beside tools."""
        return "prompt" if request.tools and not is_gemini_3(request.model) else "native"

    def models_request(self, base_url: str) -> HttpRequest:
        """The request that lists models."""
        root, query = _models_url(base_url)
        return HttpRequest(f"{root}?{urlencode([*query, ('pageSize', '1000')])}", b"", method="GET")

    def parse_models(self, body: bytes) -> list[str]:
        """Model names in that reply."""
        entries = map(as_mapping, as_sequence(responses(body)[0].get("models")))
        return [entry["name"].removeprefix("models/") for entry in entries if isinstance(entry.get("name"), str)]


@hookimpl
def settings_model(kind: str, name: str) -> type[GeminiSettings]:
    """The settings of a provider block with `format: gemini`."""
    return GeminiSettings


@hookimpl
def make_provider(name: str, settings: GeminiSettings, http: HttpFactory) -> HttpProvider:
    """A provider that speaks this format."""
    return HttpProvider(name, Gemini(), settings, http)


def _fold(request: Request) -> GeminiFold:
    names = original_names(request.tools)
    return GeminiFold(request.model, lambda name: names.get(name, name))


def _endpoint(base_url: str, request: Request) -> str:
    root, query = _models_url(base_url)
    method = "streamGenerateContent" if request.stream else "generateContent"
    if request.stream:
        query = [*query, ("alt", "sse")]
    url = f"{root}/{quote(request.model.removeprefix('models/'), safe='')}:{method}"
    return f"{url}?{urlencode(query)}" if query else url


def _models_url(base_url: str) -> tuple[str, list[tuple[str, str]]]:
    """`{root}/{version}/models` from a root with or without its version, that folder, or a full endpoint; and what the
    query holds beyond what is ours to say."""
    path, _, query = base_url.partition("?")
    path = _METHOD.sub("/models", path.rstrip("/"))
    if not path.endswith("/models"):
        last = path.rpartition("/")[2]
        path += "/models" if _VERSION.fullmatch(last) or last == "google" else "/v1beta/models"
    return path, [(name, value) for name, value in parse_qsl(query) if name not in ("key", "alt")]


def _fields(request: Request) -> dict[str, Any]:
    """The small values of the body, under the vendor's names. What the user did not set is not sent."""
    fields: dict[str, Any] = {}
    config: dict[str, Any] = {}
    for given, value in request.settings.items():
        name = _camel(given)
        if value is None or name == "extra":
            continue
        if name in _TOP_LEVEL:
            fields[name] = value
        elif name in ("thinking", "thinkingConfig", "reasoningEffort"):
            thinking = value if isinstance(value, Mapping) else _effort(str(value), request.model)
            config["thinkingConfig"] = merged(config.get("thinkingConfig", {}), thinking)
        elif name == "stop":
            config["stopSequences"] = [value] if isinstance(value, str) else list(value)
        elif name == "generationConfig" and isinstance(value, Mapping):
            config = merged(config, value)
        else:
            config[_RENAMED.get(name, name)] = value
    if request.output is not None:
        schema = reduced_output(request.output.schema)
        config |= {"responseMimeType": "application/json", "responseSchema": schema}
    if config:
        fields["generationConfig"] = config
    choice = _tool_choice(request)
    if choice is not None:
        fields["toolConfig"] = merged(fields.get("toolConfig", {}), {"functionCallingConfig": choice})
    return fields


def _effort(effort: str, model: str) -> dict[str, Any]:
    if is_gemini_3(model):
        return {"thinkingLevel": "minimal" if effort == "none" else effort}
    return {"thinkingBudget": _BUDGETS[effort]} if effort in _BUDGETS else {"thinkingLevel": effort}


def _tool_choice(request: Request) -> dict[str, Any] | None:
    """`functionCallingConfig`; None where the vendor's default says the same and without tools, where it is refused."""
    if not request.tools or request.tool_choice == "auto":
        return None
    modes = {"none": "NONE", "required": "ANY"}
    if request.tool_choice in modes:
        return {"mode": modes[request.tool_choice]}
    return {"mode": "ANY", "allowedFunctionNames": [legal_name(request.tool_choice)]}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)
