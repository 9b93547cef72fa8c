"""What the fake server refuses on the Mistral wire: one bad request for each rule, and good ones that are near."""

# ruff: noqa: E501 - a table reads best with one case a line

import pytest

from officellm.testing import SPEAKERS

ONE, TWO = "aB3dE6gH9", "000000001"


def call(id=ONE, arguments="{}", name="search", **more):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}, **more}


def said(*calls, **more):
    return {"role": "assistant", "content": "", "tool_calls": list(calls), **more}


def result(id=ONE, content="r", **more):
    return {"role": "tool", "tool_call_id": id, "content": content, **more}


def tool(**function):
    return {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}, **function}}


USER, OK = {"role": "user", "content": "hi"}, {"role": "assistant", "content": "OK"}


def body(*messages, **keys):
    return {"model": "mistral-small-latest", "messages": [USER, *messages], **keys}


GOOD = {
    "plain": body(),
    "nulls": body(tools=None, tool_choice=None, stop=None),
    "only a system message": {"model": "m", "messages": [{"role": "system", "content": "x"}]},
    "tools": body(tools=[tool()], tool_choice="any", parallel_tool_calls=False, random_seed=1),
    "one tool": body(tools=[tool()], tool_choice={"type": "function", "function": {"name": "search"}}),
    "tool without a type": body(tools=[{"function": {"name": "search", "parameters": {}}}]),
    "round": body(said(call(), call(TWO, index=1)), result(TWO), result(name="search"), tools=[tool()]),
    "filled in between result and user": body(said(call()), result(), OK, USER),
    "arguments as object": body(said(call(arguments={"a": 1})), result()),
    "null text beside calls": body(said(call(), content=None), result()),
    "neighbours of one role": body(USER, OK, OK, USER),
    "prefix at the end": body({"role": "assistant", "content": "Sure:", "prefix": True}),
    "thoughts": body({"role": "assistant", "content": [{"type": "thinking", "thinking": []}, {"type": "text", "text": "x"}]}, USER),
    "picture": body({"role": "user", "content": [{"type": "image_url", "image_url": "https://example.org/p.png"}]}),
}  # fmt: skip
BAD = {
    "no model": ({"messages": [USER]}, "Field required"),
    "no messages": ({"model": "m"}, "Field required"),
    "empty messages": ({"model": "m", "messages": []}, "at least one message"),
    "openai's key": (body(stream_options={"include_usage": True}), "Extra inputs are not permitted"),
    "openai's seed": (body(seed=1), "Extra inputs are not permitted"),
    "a key of the message": (body({**OK, "reasoning_content": "t"}, USER), "Extra inputs are not permitted"),
    "a name of the user": (body({**USER, "name": "Ada"}), "Extra inputs are not permitted"),
    "a key of the call": (body(said(call(extra=1)), result()), "Extra inputs are not permitted"),
    "role": (body({"role": "developer", "content": "x"}), "Input tag 'developer'"),
    "number as content": (body({"role": "user", "content": 5}), "valid string"),
    "null content of the user": (body({"role": "user", "content": None}), "valid string"),
    "part": (body({"role": "user", "content": [{"type": "video"}]}), "Input tag 'video'"),
    "call without arguments": (body(said(call(arguments=None)), result()), "valid string"),
    "call without name": (body(said(call(name=None)), result()), "valid string"),
    "tool without schema": (body(tools=[{"type": "function", "function": {"name": "x"}}]), "Field required"),
    "unknown choice": (body(tools=[tool()], tool_choice="must"), "'auto', 'none', 'any' or 'required'"),
    "choice of nothing": (body(tools=[tool()], tool_choice={"type": "function"}), "'auto', 'none', 'any' or 'required'"),
    "alone": ({"model": "m", "messages": [OK]}, "must start with a user message or system message"),
    "user after a result": (body(said(call()), result(), USER), "Unexpected role 'user' after role 'tool'"),
    "result after the user": (body(result()), "Unexpected role 'tool' after role 'user'"),
    "system after a reply": (body(OK, {"role": "system", "content": "x"}), "Unexpected role 'system' after role 'assistant'"),
    "reply at the end": (body(OK), "Expected last role User or Tool"),
    "unanswered": (body(said(call(), call(TWO)), result(), OK, USER), "Not the same number"),
    "unanswered at the end": (body(said(call()), USER), "Not the same number"),
    "result for another call": (body(said(call()), result(TWO)), f"Unexpected tool call id {TWO}"),
    "result twice": (body(said(call(), call(TWO)), result(), result()), f"Unexpected tool call id {ONE}"),
    "same id twice": (body(said(call(), call()), result(), result()), f"Duplicate tool call id {ONE}"),
    "openai's id": (body(said(call("call_1")), result("call_1")), "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9."),
    "no id": (body(said(call("")), result("")), "with a length of 9"),
    "result without id": (body(said(call(None)), result(None)), "with a length of 9"),
    "empty assistant": (body({"role": "assistant", "content": ""}, USER), "either content or tool_calls, but not none"),
    "empty list of calls": (body(said(), USER), "either content or tool_calls, but not none"),
    "prefix in the middle": (body({**OK, "prefix": True}, USER), "must be last message"),
    "arguments cut": (body(said(call(arguments='{"a"')), result()), "valid JSON object"),
    "name of a call": (body(said(call(name="a b")), result()), "Function name was a b"),
    "name of a result": (body(said(call()), result(name="a b")), "Function name was a b"),
    "name of a tool": (body(tools=[tool(name="board.read")]), "Function name was board.read"),
    "form without schema": (body(response_format={"type": "json_schema"}), "json_schema must be provided"),
}  # fmt: skip


@pytest.mark.parametrize("asked", GOOD.values(), ids=GOOD)
def test_a_request_that_mistral_takes_is_taken(complaint, asked):
    assert complaint("mistral", asked) == ""


@pytest.mark.parametrize(("asked", "reason"), BAD.values(), ids=BAD)
def test_a_request_that_mistral_refuses_is_refused_with_its_reason(complaint, asked, reason):
    assert reason in complaint("mistral", asked)


@pytest.mark.parametrize(
    ("asked", "status", "expected"),
    [
        (body({**OK, "name": "x"}, USER), 422, '"loc":["body","messages",1,"assistant","name"]'),
        (body(OK), 400, '"type":"invalid_request_message_order","param":null,"code":"3230","raw_status_code":400'),
        (body(said(call("x")), result("x")), 400, '"type":"invalid_function_call","param":null,"code":"3280"'),
    ],
    ids=["key too many", "order", "id"],
)
def test_a_body_of_the_wrong_shape_and_a_wrong_conversation_are_refused_in_two_forms(hear, asked, status, expected):
    speaker = next(one for one in SPEAKERS if one.name == "mistral")
    answer = speaker.refuse(speaker.complain(hear("mistral", asked)))
    assert answer.status == status
    assert expected in answer.pieces[0].decode()
