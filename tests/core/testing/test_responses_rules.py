"""What the fake server refuses on OpenAI's Responses wire: one bad request for each rule, and good ones that are near."""

# ruff: noqa: E501 - a table reads best with one case a line

import pytest

from officellm.testing import FakeLLM, call, reply

USER = {"role": "user", "content": "hi"}
LOOSE = {"type": "object", "properties": {"x": {"type": "string"}}}
TIGHT = {**LOOSE, "required": ["x"], "additionalProperties": False}


def made(call_id="call_1", arguments="{}", name="search", **more):
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments, **more}


def result(call_id="call_1", output="r"):
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def thought(text="t", **more):
    return {"type": "reasoning", "summary": [{"type": "summary_text", "text": text}], **more}


def said(*parts):
    return {"type": "message", "role": "assistant", "content": list(parts)}


def asked(*parts):
    return {"role": "user", "content": list(parts)}


def tool(**more):
    return {"type": "function", "name": "search", "parameters": LOOSE, **more}


def form(**more):
    return {"format": {"type": "json_schema", "name": "answer", "schema": TIGHT, **more}}


def body(*items, **keys):
    return {"model": "gpt-4.1", "input": [USER, *items], **keys}


PICTURE = {"type": "input_image", "image_url": "data:image/png;base64,AA"}

GOOD = {
    "plain": body(),
    "text": {"model": "m", "input": "hi"},
    "nulls": body(tools=None, tool_choice=None, previous_response_id=None),
    "no tools at all": body(tools=[], tool_choice="auto"),
    "loose tool": body(tools=[tool()]),
    "loose tool, told so": body(tools=[tool(strict=False)]),
    "strict tool": body(tools=[tool(strict=True, parameters=TIGHT)]),
    "tool without parameters": body(tools=[{"type": "function", "name": "search"}]),
    "the vendor's own tool": body(tools=[{"type": "web_search"}], tool_choice={"type": "web_search"}),
    "round": body(made(), made("b"), result("b"), result()),
    "words between call and result": body(made(), USER, result()),
    "ids of an earlier turn again": body(made(), result(), made(), result()),
    "result in parts": body(made(), result(output=[{"type": "input_text", "text": "r"}, PICTURE])),
    "arguments that are no object": body(made(arguments="[]"), result()),
    "foreign thought": body(thought(), USER),
    "stored thought": body(thought(id="rs_x"), made(), result()),
    "two thoughts": body(thought(id="rs_1"), thought(id="rs_2"), said()),
    "assistant text": body({"role": "assistant", "content": "x"}, USER),
    "assistant parts": body(said({"type": "output_text", "text": "x"}, {"type": "refusal", "refusal": "no"})),
    "picture": body(asked({"type": "input_text", "text": "?"}, PICTURE)),
    "form": body(text=form(strict=True)),
    "json": body({"role": "user", "content": "as JSON"}, text={"format": {"type": "json_object"}}),
    "temperature of a model that thinks if asked": {**body(temperature=0), "model": "gpt-5.4-nano"},
}  # fmt: skip
BAD = {
    "no model": ({"input": "hi"}, "Missing required parameter: 'model'"),
    "no input": ({"model": "m"}, 'One of "input" or'),
    "empty input": ({"model": "m", "input": [], "instructions": "x"}, 'One of "input" or'),
    "number as input": ({"model": "m", "input": 5}, "Invalid type for 'input'"),
    "chat's messages": (body(messages=[USER]), "has moved to 'input'"),
    "chat's limit": (body(max_tokens=9), "has moved to 'max_output_tokens'"),
    "chat's form": (body(response_format={"type": "json_object"}), "has moved to 'text.format'"),
    "key": (body(seed=1), "Unknown parameter: 'seed'"),
    "tools as object": (body(tools={}), "Invalid type for 'tools'"),
    "chat's tool": (body(tools=[{"type": "function", "function": {"name": "search"}}]), "parameter: 'tools[0].name'"),
    "tool without type": (body(tools=[{"name": "search"}]), "parameter: 'tools[0].type'"),
    "tool name": (body(tools=[tool(name="web search")]), "Invalid 'tools[0].name'"),
    "tool twice": (body(tools=[tool(), tool()]), "Duplicate tool names"),
    "tool schema": (body(tools=[tool(parameters={})]), "got 'type: None'"),
    "strict tool with a loose schema": (body(tools=[tool(strict=True)]), "'additionalProperties' is required"),
    "strict tool with a key left out": (body(tools=[tool(strict=True, parameters={**TIGHT, "required": []})]), "Missing 'x'"),
    "choice": (body(tools=[tool()], tool_choice="any"), 'Invalid value: "any"'),
    "choice required of nothing": (body(tools=[], tool_choice="required"), "must be specified with 'tools' parameter"),
    "choice not offered": (body(tools=[tool()], tool_choice={"type": "function", "name": "y"}), "Tool choice 'y' not found"),
    "chat's choice": (body(tools=[tool()], tool_choice={"type": "function", "function": {"name": "search"}}), "'tool_choice.name'"),
    "stream options": (body(stream_options={}), "only allowed when 'stream'"),
    "loose form": (body(text=form(strict=True, schema=LOOSE)), "Invalid schema for response_format 'answer'"),
    "form without schema": (body(text=form(schema=None)), "'text.format.schema'"),
    "form without name": (body(text=form(name=None)), "'text.format.name'"),
    "json unsaid": (body(text={"format": {"type": "json_object"}}), "must contain the word 'json'"),
    "limit": (body(max_output_tokens=5), "Expected a value >= 16"),
    "temperature": ({**body(temperature=0), "model": "gpt-5-mini"}, "'temperature' is not supported"),
    "item without type": (body({"text": "x"}), "parameter: 'input[1].type'"),
    "role": (body({"role": "tool", "content": "x"}), "Invalid value: 'tool'"),
    "no content": (body({"role": "user", "content": None}), "'input[1].content'"),
    "number as content": (body({"role": "user", "content": 5}), "Invalid type for 'input[1].content'"),
    "chat's calls": (body({"role": "assistant", "content": "", "tool_calls": []}), "Unknown parameter: 'input[1].tool_calls'"),
    "chat's part": (body(asked({"type": "text", "text": "x"})), "Invalid value: 'text'. Supported values are: 'input_text'"),
    "part of the other side": (body(said({"type": "input_text", "text": "x"})), "Supported values are: 'output_text', 'refusal'"),
    "chat's picture": (body(asked({"type": "input_image", "image_url": {"url": "x"}})), "but got an object instead"),
    "part without text": (body(asked({"type": "input_text"})), "'input[1].content[0].text'"),
    "call without id": (body(made(call_id="")), "'input[1].call_id'"),
    "long id": (body(made("x" * 65), result("x" * 65)), "maximum length 64, but got 65"),
    "call name": (body(made(name="a b"), result()), "Invalid 'input[1].name'"),
    "arguments as object": (body(made(arguments={}), result()), "'input[1].arguments'"),
    "arguments cut": (body(made(arguments='{"a"'), result()), "'input[1].arguments'"),
    "result as object": (body(made(), result(output={})), "Invalid type for 'input[2].output'"),
    "result part": (body(made(), result(output=[{"type": "output_text", "text": "x"}])), "Invalid value: 'output_text'"),
    "result without a call": (body(result()), "No tool call found for function call output with call_id call_1"),
    "result before its call": (body(result(), made()), "No tool call found"),
    "result twice": (body(made(), result(), result()), "No tool call found"),
    "unanswered": (body(made(), made("b"), result()), "No tool output found for function call b"),
    "same id twice": (body(made(), made(), result(), result()), "Duplicate function call"),
    "same item twice": (body(made(id="fc_1"), result(), made(id="fc_1"), result()), "Duplicate item found with id fc_1"),
    "thought without summary": (body({"type": "reasoning"}), "'input[1].summary'"),
    "thought before the user": (body(thought(id="rs_1"), USER), "'rs_1' of type 'reasoning' was provided without its required following item"),
    "thought at the end": (body(thought(id="rs_1")), "without its required following item"),
    "thought before a result": (body(made(), thought(id="rs_1"), result()), "without its required following item"),
    "thought nowhere": (body(thought(id="rs_1"), said(), store=False), "Items are not persisted"),
    "thought of another": (body(thought(id="rs_1", encrypted_content="AAAA"), said()), "AAAA... could not be verified"),
    "reference": (body({"type": "item_reference", "id": "msg_1"}), "Item with id 'msg_1' not found"),
    "earlier response": (body(previous_response_id="resp_1"), "Previous response with id 'resp_1' not found"),
}  # fmt: skip


@pytest.mark.parametrize("sent", GOOD.values(), ids=GOOD)
def test_a_request_that_openai_takes_is_taken(complaint, sent):
    assert complaint("responses", sent) == ""


@pytest.mark.parametrize(("sent", "reason"), BAD.values(), ids=BAD)
def test_a_request_that_openai_refuses_is_refused_with_its_reason(complaint, sent, reason):
    assert reason in complaint("responses", sent)


async def test_items_go_back_together_and_as_they_came_or_without_their_ids(ask, wires, complaint, stream):
    wire = wires["responses"]
    async with FakeLLM([reply("So.", calls=[call("search", query="a")], reasoning="Let me look.")]) as llm:
        read = wire.read(await ask(llm, wire, stream=stream), stream)
    wire_turn = wire.turn(read, ["r"])
    first, text, called, answered = wire_turn
    free = [{key: value for key, value in one.items() if key != "id"} for one in wire_turn]
    verdicts = {
        "": [wire_turn, free, free[1:]],
        "without its required 'reasoning' item": [[text, called, answered], [called, answered, text]],
        "could not be verified": [[first | {"encrypted_content": "lie"}, text, called, answered]],
        "without its required following item": [[text | {"id": "msg_0"}, called, first, answered]],
    }
    for verdict, histories in verdicts.items():
        for history in histories:
            said = complaint("responses", wire.request(history=history))
            assert said == verdict if not verdict else verdict in said


async def test_thoughts_are_encrypted_only_where_that_is_asked_for(http, wires, stream):
    wire = wires["responses"]
    async with FakeLLM([reply("x", reasoning="Hm.", repeat=True)]) as llm:
        for include in (["reasoning.encrypted_content"], [], None):
            sent = wire.request(stream=stream) | {"include": include}
            read = wire.read(await http.post(wire.address(llm), json=sent), stream)
            assert ("encrypted_content" in read["items"][0]) is bool(include)
