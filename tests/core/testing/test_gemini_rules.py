"""What the fake server refuses on the Gemini wire: one bad request for each rule, and good ones that are near."""

# ruff: noqa: E501 - a table reads best with one case a line

import pytest


def body(*contents, **keys):
    return {"contents": [user(), *contents], **keys}


def user(*parts):
    return {"role": "user", "parts": list(parts) or [{"text": "hi"}]}


def model(*parts):
    return {"role": "model", "parts": list(parts) or [{"text": "well"}]}


def call(name="search", **keys):
    return {"functionCall": {"name": name, "args": {}}, **keys}


def answer(name="search", response=None):
    return {"functionResponse": {"name": name, "response": {"result": "r"} if response is None else response}}


def tools(**keys):
    return {"tools": [{"functionDeclarations": [{"name": "search", **keys}]}]}


def schema(**keys):
    return body(**tools(parameters={"type": "object", **keys}))


def config(**keys):
    return {"toolConfig": {"functionCallingConfig": keys}}


GOOD = {
    "plain": body(),
    "snake": {
        "contents": [user()],
        "system_instruction": {"parts": [{"text": "x"}]},
        "generation_config": {"max_output_tokens": 5},
    },
    "round": body(model(call(), call("other")), user(answer(), answer("other")), model(), **tools()),
    "steps": body(model(call()), user(answer()), model(call()), user(answer())),
    "schema": schema(properties={"a": {"type": "ARRAY", "items": {"type": "string", "enum": ["x"]}}}, required=["a"]),
    "json schema": body(**tools(parametersJsonSchema={"type": "object", "additionalProperties": False})),
    "property called like a key": schema(
        properties={"additionalProperties": {"type": "string"}, "$ref": {"type": "string"}}
    ),
    "choice": body(**tools(), **config(mode="ANY", allowedFunctionNames=["search"])),
    "signature on empty text": body(model({"text": "", "thoughtSignature": "AA"}), user()),
}
BAD = {
    "no contents": ({}, "contents is not specified"),
    "unknown key": (body(max_tokens=5), 'Unknown name "max_tokens": Cannot find field'),
    "unknown generation key": (body(generationConfig={"maxTokens": 5}), "at 'generation_config'"),
    "role": (body({"role": "assistant", "parts": [{"text": "x"}]}), "valid role: user, model"),
    "model first": ({"contents": [model()]}, "first turn is a user turn"),
    "call first": ({"contents": [model(call()), user(answer())]}, "function call turn comes immediately after"),
    "empty parts": (body({"role": "model", "parts": []}), "parts must not be empty"),
    "empty part": (body(model({})), "must have one initialized field"),
    "missing response": (body(model(call(), call()), user(answer())), "number of function response parts"),
    "no response": (body(model(call()), user()), "number of function response parts"),
    "no turn after": (body(model(call())), "number of function response parts"),
    "too many": (body(model(call()), user(answer(), answer())), "number of function response parts"),
    "other order": (body(model(call(), call("b")), user(answer("b"), answer())), "in the order"),
    "response to nothing": (body(user(answer())), "function response turn comes immediately after"),
    "call after the model": (body(model(), model(call()), user(answer())), "function call turn comes immediately"),
    "response as text": (body(model(call()), user(answer(response="r"))), "protobuf.Struct"),
    "args as text": (body(model({"functionCall": {"name": "x", "args": "{}"}}), user(answer("x"))), "protobuf.Struct"),
    "no name": (body(model({"functionCall": {"args": {}}}), user(answer())), "Name cannot be empty"),
    "no declarations": (body(tools=[{"functionDeclarations": []}]), "must have one initialized field"),
    "config without tools": (body(**config(mode="AUTO")), "without function_declarations"),
    "names without any": (body(**tools(), **config(mode="AUTO", allowedFunctionNames=["search"])), "only when function calling mode is ANY"),
    "unknown allowed name": (body(**tools(), **config(mode="ANY", allowedFunctionNames=["x"])), "'x'"),
    "unknown mode": (body(**tools(), **config(mode="required")), "function_calling_config.mode"),
    "tool name": (body(tools=[{"functionDeclarations": [{"name": "1st"}]}]), "Must start with a letter"),
    "tool twice": (body(tools=[{"functionDeclarations": [{"name": "a"}, {"name": "a"}]}]), "Duplicate function declaration"),
    "strict": (body(**tools(strict=True)), 'Unknown name "strict"'),
    "both schemas": (body(**tools(parameters={"type": "object"}, parametersJsonSchema={})), "exclusive"),
    "integer enum": (schema(properties={"a": {"type": "integer", "enum": [1]}}), "TYPE_STRING"),
    "array without items": (schema(properties={"a": {"type": "array"}}), "items: missing field"),
    "undefined required": (schema(required=["a"]), "property is not defined"),
    "type list": (schema(properties={"a": {"type": ["string", "null"]}}), "cannot start list"),
    "json and tools": (body(**tools(), generationConfig={"responseMimeType": "application/json"}), "is unsupported"),
    "schema without json": (body(generationConfig={"responseSchema": {"type": "object"}}), "response_mime_type"),
    **{
        f"schema key {key}": (schema(properties={"a": {key: {}}}), f'Unknown name "{key}" at')
        for key in ("$ref", "$defs", "$schema", "additionalProperties", "const", "oneOf", "allOf", "exclusiveMinimum", "examples")
    },
}  # fmt: skip


@pytest.mark.parametrize("asked", GOOD.values(), ids=GOOD)
def test_a_request_that_gemini_takes_is_taken(complaint, asked):
    assert complaint("gemini", asked) == ""


@pytest.mark.parametrize(("asked", "reason"), BAD.values(), ids=BAD)
def test_a_request_that_gemini_refuses_is_refused_with_its_reason(complaint, asked, reason):
    assert reason in complaint("gemini", asked)


@pytest.mark.parametrize("key", ["$ref", "oneOf"])
def test_gemini_judges_the_response_schema_too(complaint, key):
    schema = {"responseMimeType": "application/json", "responseSchema": {"type": "object", key: {}}}
    assert f'Unknown name "{key}"' in complaint("gemini", body(generationConfig=schema))
