"""What the fake server refuses on the Cohere wire: one bad request for each rule, and good ones that are near."""

# ruff: noqa: E501 - a table reads best with one case a line

import pytest


def call(id="search_1", arguments="{}", type="function", name="search"):
    return {"id": id, "type": type, "function": {"name": name, "arguments": arguments}}


def said(*calls, **more):
    return {"role": "assistant", "tool_calls": list(calls), **more}


def result(id="search_1", content="r"):
    return {"role": "tool", "tool_call_id": id, "content": content}


def tool(type="function", **function):
    return {"type": type, "function": {"name": "search", "parameters": {"type": "object"}, **function}}


def typed(kind):
    return {"type": "object", "properties": {"x": {"type": "array", "items": {"type": kind}}}}


def form(**schema):
    return {"type": "json_object", "json_schema": {"type": "object", "properties": {"x": {"type": "string"}}, **schema}}


USER = {"role": "user", "content": "hi"}


def body(*messages, **keys):
    return {"model": "command-a", "messages": [USER, *messages], **keys}


GOOD = {
    "plain": body(),
    "nulls": body(tools=None, tool_choice=None, response_format=None),
    "tools": body(tools=[tool()], tool_choice="REQUIRED", strict_tools=True),
    "round": body(said(call(), call("b")), result("b"), result(), tools=[tool()]),
    "calls beside empty text": body(said(call(), content=[{"type": "text", "text": ""}]), result()),
    "plan": body(said(call(), tool_plan="I will search."), result()),
    "result as document": body(said(call()), result(content=[{"type": "document", "document": {"data": "r"}}])),
    "empty result": body(said(call()), result(content="")),
    "user after a result": body(said(call()), result(), USER),
    "ids of an earlier turn again": body(said(call()), result(), said(call()), result()),
    "system in the middle": body({"role": "system", "content": "be brief"}, USER),
    "picture": body({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}]}),
    "form": body(response_format=form(required=["x"])),
    "documents": body(documents=[{"id": "d", "data": {"text": "t"}}]),
    "one type": body(tools=[tool(parameters=typed("string"))]),
}  # fmt: skip
BAD = {
    "no model": ({"messages": [USER]}, "a model parameter is required"),
    "no messages": ({"model": "m"}, "messages must not be empty"),
    "empty messages": ({"model": "m", "messages": []}, "messages must not be empty"),
    "openai's key": (body(parallel_tool_calls=True), "unknown field: parameter 'parallel_tool_calls'"),
    "openai's strict tool": (body(tools=[tool(strict=True)]), "unknown field: parameter 'strict'"),
    "flat tool": (body(tools=[{"type": "function", "name": "search"}]), "unknown field: parameter 'name'"),
    "role": (body({"role": "developer", "content": "x"}), "Invalid role in messages at index 1"),
    "empty user": (body({"role": "user", "content": ""}), "must not be empty"),
    "null user": (body({"role": "user", "content": None}), "must not be empty"),
    "number as content": (body({"role": "user", "content": 5}), "must be a string or a list"),
    "empty assistant": (body({"role": "assistant", "content": ""}), "must not be empty"),
    "only thoughts": (body({"role": "assistant", "content": [{"type": "thinking", "thinking": "t"}]}), "must not be empty"),
    "calls of the user": (body({**USER, "tool_calls": [call()]}), "belong to an assistant"),
    "call without type": (body(said(call(type=None)), result()), "must be of type function"),
    "call without id": (body(said(call(id="")), result("")), "tool call id must be provided with tool call"),
    "call without name": (body(said(call(name="")), result()), "must have a name"),
    "arguments as object": (body(said(call(arguments={})), result()), "text of a JSON object"),
    "arguments cut": (body(said(call(arguments='{"a"')), result()), "text of a JSON object"),
    "arguments empty": (body(said(call(arguments="")), result()), "text of a JSON object"),
    "same id twice": (body(said(call(), call()), result(), result()), "cannot have duplicate tool ids"),
    "result without id": (body(said(call()), {"role": "tool", "content": "r"}), "must be provided with tool message"),
    "result without a call": (body(result()), "not found in previous tool calls"),
    "result twice": (body(said(call(), call("b")), result(), result()), "not found in previous tool calls"),
    "unanswered": (body(said(call(), call("b")), result(), USER), "did not have response messages: b"),
    "unanswered at the end": (body(said(call())), "did not have response messages: search_1"),
    "tool type": (body(tools=[tool(type="search")]), "must be of type function"),
    "tool name with a dash": (body(tools=[tool(name="web-search")]), "(provided name: 'web-search')"),
    "tool name with a digit first": (body(tools=[tool(name="3d")]), "can't begin with a digit"),
    "tool schema": (body(tools=[tool(parameters=[])]), "schema must be an object"),
    "two types": (body(tools=[tool(parameters=typed(["string", "null"]))]), "property x must have a type"),
    "choice auto": (body(tools=[tool()], tool_choice="auto"), "one of 'REQUIRED', 'NONE'"),
    "choice of one tool": (body(tools=[tool()], tool_choice={"type": "function"}), "one of 'REQUIRED', 'NONE'"),
    "form and tools": (body(tools=[tool()], response_format=form(required=["x"])), "not supported with tools"),
    "form and documents": (body(documents=["d"], response_format=form(required=["x"])), "not supported with RAG"),
    "form of a list": (body(response_format=form(type="array", required=["x"])), "schema must be an object"),
    "form that requires nothing": (body(response_format=form()), "at least one required field"),
    "form that requires what is not there": (body(response_format=form(required=["y"])), "required field y not found"),
}  # fmt: skip


@pytest.mark.parametrize("asked", GOOD.values(), ids=GOOD)
def test_a_request_that_cohere_takes_is_taken(complaint, asked):
    assert complaint("cohere", asked) == ""


@pytest.mark.parametrize(("asked", "reason"), BAD.values(), ids=BAD)
def test_a_request_that_cohere_refuses_is_refused_with_its_reason(complaint, asked, reason):
    assert reason in complaint("cohere", asked)
