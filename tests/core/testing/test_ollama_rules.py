"""What the fake server refuses on the Ollama wire: one bad request for each rule, and good ones that are near."""

# ruff: noqa: E501 - a table reads best with one case a line

import pytest

FIELD = "Go struct field ChatRequest"


def call(arguments=None, **more):
    return {"function": {"name": "search", "arguments": {} if arguments is None else arguments}, **more}


def said(*calls):
    return {"role": "assistant", "content": "", "tool_calls": list(calls)}


def tool(**function):
    return {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}, **function}}


def message(**keys):
    return body({"role": "user", **keys})


USER = {"role": "user", "content": "hi"}
RESULT = {"role": "tool", "tool_name": "search", "content": "r"}


def body(*messages, **keys):
    return {"model": "qwen3", "messages": [USER, *messages], **keys}


GOOD = {
    "plain": body(),
    "nulls": body(tools=None, options=None, keep_alive=None, format=None, think=None, stream=None),
    "no messages": {"model": "m"},
    "keys that it does not know": body(tool_choice="auto", options={"new": "x"}),
    "round": body(said(call(id="c1")), RESULT, tools=[tool()]),
    "a result of nothing": body(RESULT, USER),
    "calls without results": body(said(call())),
    "null content": message(content=None),
    "picture": message(content="look", images=["aGk="]),
    "settings": body(options={"num_ctx": 4096, "seed": 7.0, "temperature": 0, "stop": ["x"]}, keep_alive="1h5m", think="low", format="json"),
    "more settings": body(keep_alive=-1, think=False, format={"type": "object"}),
    "older settings": body(keep_alive="-1m", format=""),
}  # fmt: skip
BAD = {
    "no model": ({"messages": [USER]}, "model is required"),
    "messages": ({"model": "m", "messages": "hi"}, f"cannot unmarshal string into {FIELD}.messages of type api.Message"),
    "message": (body("hi"), f"cannot unmarshal string into {FIELD}.messages of type api.Message"),
    "stream": (body(stream="yes"), f"cannot unmarshal string into {FIELD}.stream of type bool"),
    "parts": (message(content=[{"type": "text", "text": "x"}]), f"cannot unmarshal array into {FIELD}.messages.content of type string"),
    "picture with a prefix": (message(images=["data:image/png;base64,aGk="]), "illegal base64 data"),
    "picture as object": (message(images=[{}]), f"cannot unmarshal object into {FIELD}.messages.images of type api.ImageData"),
    "arguments as text": (body(said(call("{}"))), f"cannot unmarshal string into {FIELD}.messages.tool_calls.function.arguments of type api.ToolCallFunctionArguments"),
    "arguments as list": (body(said(call([1]))), f"cannot unmarshal array into {FIELD}.messages.tool_calls.function.arguments"),
    "id as number": (body(said(call(id=1))), f"cannot unmarshal number into {FIELD}.messages.tool_calls.id of type string"),
    "call": (body(said("search")), f"cannot unmarshal string into {FIELD}.messages.tool_calls of type api.ToolCall"),
    "tool": (body(tools=["search"]), f"cannot unmarshal string into {FIELD}.tools of type api.Tool"),
    "tool name": (body(tools=[tool(name=1)]), f"cannot unmarshal number into {FIELD}.tools.function.name of type string"),
    "two types of the whole": (body(tools=[tool(parameters={"type": ["object", "null"]})]), f"cannot unmarshal array into {FIELD}.tools.function.parameters.type"),
    "property": (body(tools=[tool(parameters={"type": "object", "properties": {"x": True}})]), f"cannot unmarshal bool into {FIELD}.tools.function.parameters.properties of type api.ToolProperty"),
    "whole option": (body(options={"num_ctx": 0.5}), 'option "num_ctx" must be of type integer'),
    "option as text": (body(options={"temperature": "0"}), 'option "temperature" must be of type float'),
    "stop as text": (body(options={"stop": "x"}), 'option "stop" must be of type array'),
    "think": (body(think="hard"), 'invalid think value: "hard"'),
    "think as number": (body(think=1), "think must be a boolean or string"),
    "format": (body(format="yaml"), 'invalid format: "yaml"; expected "json" or a valid JSON Schema object'),
    "keep_alive": (body(keep_alive="forever"), 'time: invalid duration "forever"'),
    "keep_alive as flag": (body(keep_alive=True), "Unsupported type"),
}  # fmt: skip


@pytest.mark.parametrize("asked", GOOD.values(), ids=GOOD)
def test_a_request_that_ollama_takes_is_taken(complaint, asked):
    assert complaint("ollama", asked) == ""


@pytest.mark.parametrize(("asked", "reason"), BAD.values(), ids=BAD)
def test_a_request_that_ollama_refuses_is_refused_with_its_reason(complaint, asked, reason):
    assert reason in complaint("ollama", asked)
