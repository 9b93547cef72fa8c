"""What the fake server refuses on the OpenAI wire: one bad request for each rule, and good ones that are near."""

# ruff: noqa: E501 - a table reads best with one case a line

import pytest


def call(id="c1", arguments="{}"):
    return {"id": id, "type": "function", "function": {"name": "search", "arguments": arguments}}


def said(*calls):
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def result(id="c1", content="r"):
    return {"role": "tool", "tool_call_id": id, "content": content}


def tool(**function):
    return {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}, **function}}


USER = {"role": "user", "content": "hi"}


def body(*messages, **keys):
    return {"model": "gpt-4.1", "messages": [USER, *messages], **keys}


GOOD = {
    "plain": body(),
    "nulls": body(tools=None, tool_choice=None),
    "nulls in a message": body(
        {"role": "assistant", "content": "x", "tool_calls": None, "name": None, "refusal": None}
    ),
    "tools": body(tools=[tool()], tool_choice="required", parallel_tool_calls=False),
    "round": body(said(call(), call("c2")), result("c2"), result(), tools=[tool()]),
    "tool history without tools": body(said(call()), result()),
    "ids of an earlier turn again": body(said(call()), result(), said(call()), result()),
    "empty text": body({"role": "assistant", "content": ""}),
    "strict": body(
        tools=[
            tool(
                strict=True,
                parameters={"type": "object", "properties": {}, "required": [], "additionalProperties": False},
            )
        ]
    ),
    "picture": body(
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}]}
    ),
    "reasoning model": body() | {"model": "gpt-5-mini", "max_completion_tokens": 5, "temperature": 1},
    "json": body({"role": "user", "content": "as JSON"}, response_format={"type": "json_object"}),
}
BAD = {
    "no model": ({"messages": [USER]}, "provide a model"),
    "no messages": ({"model": "m"}, "'messages'"),
    "empty messages": ({"model": "m", "messages": []}, "empty array"),
    "role": (body({"role": "model", "content": "x"}), "Supported values"),
    "null content": (body({"role": "user", "content": None}), "got null"),
    "empty assistant": (body({"role": "assistant", "content": None}), "got null"),
    "number as content": (body({"role": "user", "content": 5}), "Invalid type"),
    "result without a call": (body(result()), "must be a response to a preceeding message"),
    "result for another call": (body(said(call()), result("c9"), result()), "unknown value"),
    "result twice": (body(said(call(), call("c2")), result(), result()), "Duplicate or unknown"),
    "result after another message": (body(said(call()), USER, result()), "must be followed by tool messages"),
    "unanswered": (body(said(call(), call("c2")), result()), "did not have response messages: c2"),
    "unanswered at the end": (body(said(call())), "did not have response messages: c1"),
    "same id twice": (body(said(call(), call()), result(), result()), "Duplicate value"),
    "empty calls": (body({"role": "assistant", "content": "x", "tool_calls": []}), "empty array"),
    "calls of the user": (body({**USER, "tool_calls": [call()]}), "Unrecognized"),
    "call without type": (body(said({"id": "c1", "function": {"name": "x", "arguments": "{}"}})), ".type"),
    "arguments as object": (body(said(call(arguments={})), result()), "expected a string"),
    "arguments cut": (body(said(call(arguments='{"a"')), result()), "not a JSON object"),
    "arguments empty": (body(said(call(arguments="")), result()), "not a JSON object"),
    "empty id": (body(said(call("")), result("")), "Missing required parameter"),
    "long id": (body(said(call("c" * 41)), result("c" * 41)), "maximum length 40"),
    "null result": (body(said(call()), result(content=None)), "expected a string"),
    "picture in a result": (body(said(call()), result(content=[{"type": "image_url"}])), "Supported values are: 'text'"),
    "empty tools": (body(tools=[]), "Invalid 'tools'"),
    "choice without tools": (body(tool_choice="auto"), "only allowed when 'tools'"),
    "parallel without tools": (body(parallel_tool_calls=True), "only allowed when 'tools'"),
    "unknown choice": (body(tools=[tool()], tool_choice="any"), "Supported values are: 'none'"),
    "choice of no tool": (body(tools=[tool()], tool_choice={"type": "function", "function": {"name": "x"}}), "not found"),
    "flat tool": (body(tools=[{"type": "function", "name": "search"}]), "pattern"),
    "tool name": (body(tools=[tool(name="board.read")]), "pattern"),
    "tool schema": (body(tools=[tool(parameters={})]), "type: \"object\""),
    "strict and open": (body(tools=[tool(strict=True)]), "additionalProperties"),
    "strict and optional": (body(tools=[tool(strict=True, parameters={"type": "object", "additionalProperties": False, "properties": {"unit": {"type": "string"}}})]), "Missing 'unit'"),
    "author": (body({**USER, "name": "Ada L"}), "does not match pattern"),
    "stream options": (body(stream_options={"include_usage": True}), "only allowed when 'stream'"),
    "json unsaid": (body(response_format={"type": "json_object"}), "must contain the word 'json'"),
    "max_tokens of a reasoning model": (body(max_tokens=5) | {"model": "o3"}, "max_completion_tokens"),
    "temperature of a reasoning model": (body(temperature=0) | {"model": "gpt-5"}, "temperature"),
}  # fmt: skip


@pytest.mark.parametrize("asked", GOOD.values(), ids=GOOD)
def test_a_request_that_openai_takes_is_taken(complaint, asked):
    assert complaint("openai", asked) == ""


@pytest.mark.parametrize(("asked", "reason"), BAD.values(), ids=BAD)
def test_a_request_that_openai_refuses_is_refused_with_its_reason(complaint, asked, reason):
    assert reason in complaint("openai", asked)
