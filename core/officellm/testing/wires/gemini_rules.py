"""What Gemini's generateContent refuses with a 400: the fake server's judgement of a request body. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from officellm.testing.wires.gemini_schema import schema_troubles
from officellm.testing.wires.speaker import Trouble, listed, mapped, signature_of, words

_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
_KEYS = words(
    "contents systemInstruction tools toolConfig generationConfig safetySettings cachedContent model labels "
    "modelArmorConfig serviceTier store"
)
_GENERATION_KEYS = words(
    "temperature topP topK candidateCount maxOutputTokens stopSequences responseMimeType responseSchema "
    "responseJsonSchema _responseJsonSchema presencePenalty frequencyPenalty seed responseLogprobs logprobs "
    "enableEnhancedCivicAnswers speechConfig thinkingConfig imageConfig mediaResolution responseModalities "
    "routingConfig audioTimestamp"
)
_DATA = words(
    "text inlineData fileData functionCall functionResponse executableCode codeExecutionResult toolCall toolResponse"
)
#: What stands for a signature in a history that another model made.
_DUMMIES = ("skip_thought_signature_validator", "context_engineering_is_the_way_to_go")
_AFTER_USER = (
    "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
)
_AFTER_CALL = "Please ensure that function response turn comes immediately after a function call turn."
_COUNT = (
    "Please ensure that the number of function response parts is equal to the number of function call parts of the "
    "function call turn."
)


def complain(body: Mapping[str, Any], model: str) -> Trouble | None:
    """The first thing that Gemini would refuse in this request."""
    return next((Trouble(400, message) for message in _troubles(body, model)), None)


def either(mapping: Mapping[str, Any], camel: str) -> Any:
    """The value under a camelCase name, or under its snake_case form, which Gemini takes too."""
    return mapping.get(camel, mapping.get(re.sub("([A-Z])", lambda found: "_" + found[1].lower(), camel)))


def _camel(key: str) -> str:
    return re.sub("(?<=[a-z])_([a-z])", lambda found: found[1].upper(), key)


def _troubles(body: Mapping[str, Any], model: str) -> Iterator[str]:
    yield from _unknown(body, _KEYS, "")
    generation = mapped(either(body, "generationConfig"))
    yield from _unknown(generation, _GENERATION_KEYS, " at 'generation_config'")
    declared = list(_declarations(body))
    yield from _tools(body, declared)
    yield from _config(body, [one.get("name") for one in declared])
    yield from _output(generation, bool(declared), model)
    contents = body.get("contents")
    if not isinstance(contents, list) or not contents:
        yield "* GenerateContentRequest.contents: contents is not specified\n"
        return
    for index, one in enumerate(contents):
        yield from _content(mapped(one), f"contents[{index}]")
    yield from _turns([mapped(one) for one in contents])
    if model.startswith("gemini-3"):
        yield from _signatures([mapped(one) for one in contents])


def _unknown(mapping: Mapping[str, Any], known: frozenset[str], place: str) -> Iterator[str]:
    for key in mapping:
        if key not in known and _camel(key) not in known:
            yield f'Invalid JSON payload received. Unknown name "{key}"{place}: Cannot find field.'


def _declarations(body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for one in listed(body.get("tools")):
        for declared in listed(either(mapped(one), "functionDeclarations")):
            yield mapped(declared)


def _tools(body: Mapping[str, Any], declared: list[dict[str, Any]]) -> Iterator[str]:
    for index, one in enumerate(mapped(tool) for tool in listed(body.get("tools"))):
        if not one or either(one, "functionDeclarations") == []:
            yield (
                f"* GenerateContentRequest.tools[{index}].tool_type: required one_of 'tool_type' must have one "
                "initialized field\n"
            )
    names: set[str] = set()
    for index, one in enumerate(declared):
        place = f"tools[0].function_declarations[{index}]"
        name = one.get("name")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            yield (
                f"* GenerateContentRequest.{place}.name: Invalid function name. Must start with a letter or an "
                "underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), "
                "with a maximum length of 64.\n"
            )
        if str(name) in names:
            yield f"Duplicate function declaration found: {name}"
        names.add(str(name))
        known = words("name description parameters parametersJsonSchema response responseJsonSchema behavior")
        yield from _unknown(one, known, f" at '{place}'")
        if "parameters" in one:
            if either(one, "parametersJsonSchema") is not None:
                yield f"* GenerateContentRequest.{place}: parameters and parameters_json_schema are exclusive\n"
            yield from schema_troubles(one["parameters"], f"{place}.parameters")


def _config(body: Mapping[str, Any], names: list[Any]) -> Iterator[str]:
    config = mapped(either(mapped(either(body, "toolConfig")), "functionCallingConfig"))
    if not config:
        return
    if not names:
        yield "Function calling config is set without function_declarations."
    mode = config.get("mode", "AUTO")
    if mode not in ("AUTO", "ANY", "NONE", "VALIDATED", "MODE_UNSPECIFIED"):
        place = "tool_config.function_calling_config.mode"
        yield f"Invalid value at '{place}' (type.googleapis.com/google.ai.generativelanguage.v1beta.Mode), \"{mode}\""
    allowed = listed(either(config, "allowedFunctionNames"))
    if allowed and mode not in ("ANY", "VALIDATED"):
        yield "Allowed function names should be set only when function calling mode is ANY."
    for name in allowed:
        if name not in names:
            yield f"The allowed function name {name!r} is not one of the function declarations."


def _output(generation: Mapping[str, Any], with_tools: bool, model: str) -> Iterator[str]:
    schema = either(generation, "responseSchema")
    json_schema = either(generation, "responseJsonSchema")
    mime = either(generation, "responseMimeType")
    if schema is not None:
        yield from schema_troubles(schema, "generation_config.response_schema")
    if (schema is not None or json_schema is not None) and mime != "application/json":
        yield "* GenerateContentRequest.generation_config.response_schema: only allowed with a JSON response_mime_type"
    if with_tools and mime == "application/json" and not model.startswith("gemini-3"):
        yield "Function calling with a response mime type: 'application/json' is unsupported"
    thinking = mapped(either(generation, "thinkingConfig"))
    if either(thinking, "thinkingBudget") is not None and either(thinking, "thinkingLevel") is not None:
        yield "You can only set only one of thinking budget and thinking level."


def _content(one: Mapping[str, Any], place: str) -> Iterator[str]:
    if one.get("role", "user") not in ("user", "model", "function"):
        yield "Please use a valid role: user, model."
    parts = one.get("parts")
    if not isinstance(parts, list) or not parts:
        yield f"* GenerateContentRequest.{place}.parts: contents.parts must not be empty.\n"
    for index, part in enumerate(mapped(inner) for inner in listed(parts)):
        where = f"{place}.parts[{index}]"
        if not any(either(part, key) is not None for key in _DATA):
            yield f"* GenerateContentRequest.{where}.data: required oneof field 'data' must have one initialized field"
        for key, inner in (("functionCall", "args"), ("functionResponse", "response")):
            value = either(part, key)
            if value is None:
                continue
            snake = "function_call" if key == "functionCall" else "function_response"
            if not mapped(value).get("name"):
                yield f"* GenerateContentRequest.{where}.{snake}.name: Name cannot be empty.\n"
            if not isinstance(mapped(value).get(inner, {}), dict):
                yield f"Invalid value at '{where}.{snake}.{inner}' (type.googleapis.com/google.protobuf.Struct)"


def _named(one: Mapping[str, Any], key: str) -> list[str]:
    found = [either(mapped(part), key) for part in listed(one.get("parts"))]
    return [str(mapped(value).get("name")) for value in found if value is not None]


def _turns(contents: list[dict[str, Any]]) -> Iterator[str]:
    if contents[0].get("role") == "model":
        yield (
            _AFTER_USER if _named(contents[0], "functionCall") else "Please ensure that the first turn is a user turn."
        )
    calls: list[str] = []
    before = "user"
    for one in [*contents, {"role": "end"}]:
        answers = _named(one, "functionResponse")
        if calls and sorted(answers) != sorted(calls):
            yield _COUNT
        elif calls and answers != calls:
            yield "Please ensure that the function response parts are in the order of the function call parts."
        if answers and not calls:
            yield _AFTER_CALL
        calls = _named(one, "functionCall")
        if calls and before == "model":
            yield _AFTER_USER
        before = str(one.get("role", "user"))


def _signatures(contents: list[dict[str, Any]]) -> Iterator[str]:
    """The first call of each step since the user last spoke must carry the signature that came with it."""
    for one in reversed(contents):
        parts = [mapped(part) for part in listed(one.get("parts"))]
        if one.get("role") != "model":
            if not _named(one, "functionResponse"):
                return
            continue
        called = [part for part in parts if either(part, "functionCall") is not None]
        for index, part in enumerate(called):
            sent = either(part, "thoughtSignature")
            if not index and not sent:
                yield (
                    "Function call is missing a thought_signature in functionCall parts. This is required for tools to "
                    "work correctly."
                )
            name = str(mapped(either(part, "functionCall")).get("name"))
            if sent and sent not in _DUMMIES and sent != signature_of(name):
                yield "Corrupted thought signature."
