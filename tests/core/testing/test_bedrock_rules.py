"""What the fake server refuses on the wires of Bedrock: one bad request for each rule, and good ones that are near."""

# ruff: noqa: E501 - a table reads best with one case a line

import pytest

from officellm.testing import FakeLLM
from officellm.testing.wires.speaker import signature_of

SCHEMA = {"json": {"type": "object", "properties": {"x": {"type": "string"}}}}


def use(id="t1", input=None, name="search"):
    return {"toolUse": {"toolUseId": id, "name": name, "input": {} if input is None else input}}


def result(id="t1", *parts, **more):
    return {"toolResult": {"toolUseId": id, "content": list(parts) or [{"text": "r"}], **more}}


def thought(text="t", **more):
    return {"reasoningContent": {"reasoningText": {"text": text, **more}}}


def user(*blocks):
    return {"role": "user", "content": list(blocks)}


def made(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def tool(**more):
    return {"toolSpec": {"name": "search", "inputSchema": SCHEMA, **more}}


def offered(*tools, **more):
    return {"tools": list(tools), **more}


HI = user({"text": "hi"})
DOCUMENT = {"document": {"name": "d", "format": "txt", "source": {"bytes": "AA=="}}}
TOOLS = offered(tool())


def body(*messages, tools=TOOLS, **keys):
    return {"messages": [HI, *messages], **({"toolConfig": tools} if tools else {}), **keys}


GOOD = {
    "plain": body(tools=None),
    "nothing in it": body(system=[], inferenceConfig={}, tools=None),
    "system": body(system=[{"text": "Be brief."}, {"cachePoint": {"type": "default"}}]),
    "neighbours of one role": body(HI, tools=None),
    "blank beside words": {"messages": [user({"text": "hi"}, {"text": "\n"})]},
    "round": body(made(use(), use("t2")), user(result("t2"), result())),
    "words beside results": body(made(use()), user(result(), {"text": "and?"})),
    "result as json": body(made(use()), user(result("t1", {"json": {"n": 1}}, status="error"))),
    "ids of an earlier turn again": body(made(use()), user(result()), made(use()), user(result())),
    "document": {"messages": [user({"text": "read"}, DOCUMENT)]},
    "thought without signature": body(made(thought(), {"text": "x"})),
    "redacted thought": body(made({"reasoningContent": {"redactedContent": "AA=="}}, {"text": "x"})),
    "choices": body(tools=offered(tool(), toolChoice={"tool": {"name": "search"}})),
    "any": body(tools=offered(tool(), {"cachePoint": {"type": "default"}}, toolChoice={"any": {}})),
    "the vendor's own tool": body(tools=offered({"systemTool": {"name": "nova_grounding"}})),
    "limit": body(inferenceConfig={"maxTokens": 1, "temperature": 0}),
}  # fmt: skip
BAD = {
    "no messages": ({}, "Value at 'messages'"),
    "empty messages": ({"messages": []}, "must start with a user message"),
    "assistant first": ({"messages": [made({"text": "x"})]}, "must start with a user message"),
    "role": (body({"role": "system", "content": [{"text": "x"}]}), "'messages.2.member.role' failed"),
    "text as content": ({"messages": [{"role": "user", "content": "hi"}]}, "object at messages.0 is empty"),
    "empty content": (body(made()), "object at messages.1 is empty"),
    "empty text": (body(made({"text": ""}, {"text": "x"})), "ContentBlock object at messages.1.content.0 is blank"),
    "blank text": (body(made({"text": " "})), "text fields at messages.1.content are blank"),
    "two keys": (body(made({"text": "x", **use()})), "Invalid union at messages.1.content.0"),
    "document alone": ({"messages": [user(DOCUMENT)]}, "must contain a text block"),
    "system as text": (body(system="x"), "system can not be converted to a List"),
    "blank system": (body(system=[{"text": ""}]), "object at system.0 is blank"),
    "temperature": (body(inferenceConfig={"temperature": 1.5}), "'inferenceConfig.temperature' failed to satisfy constraint: Member must have value less than"),
    "top p": (body(inferenceConfig={"topP": -0.5}), "'inferenceConfig.topP' failed to satisfy constraint: Member must have value greater than"),
    "settings as list": (body(inferenceConfig=[]), "inferenceConfig can not be converted to a Structure"),
    "limit": (body(inferenceConfig={"maxTokens": 0}), "'inferenceConfig.maxTokens' failed"),
    "empty tools": (body(tools=offered()), "'toolConfig.tools' failed to satisfy constraint: Member must have length"),
    "openai's tool": (body(tools=offered({"type": "function", "function": {}})), "Invalid union at toolConfig.tools.1"),
    "tool name": (body(tools=offered(tool(name="web search"))), "regular expression pattern: [a-zA-Z0-9_-]{1,64}"),
    "tool twice": (body(tools=offered(tool(), tool())), "search is already defined at toolConfig.tools.2"),
    "empty description": (body(tools=offered(tool(description=""))), "toolSpec.description' failed"),
    "bare schema": (body(tools=offered(tool(inputSchema=SCHEMA["json"]))), "inputSchema.json.type must be one of"),
    "choice as text": (body(tools=offered(tool(), toolChoice="auto")), "exactly one of auto, any, tool"),
    "choice of none": (body(tools=offered(tool(), toolChoice={"none": {}})), "exactly one of auto, any, tool"),
    "choice not offered": (body(tools=offered(tool(), toolChoice={"tool": {"name": "y"}})), "The tool y of"),
    "no tools": (body(made(use()), user(result()), tools=None), "The toolConfig field must be defined"),
    "call of the user": (body(user(use())), "can only be in messages of the assistant role"),
    "call id": (body(made(use("a b")), user(result("a b"))), "toolUse.toolUseId' failed"),
    "call name": (body(made(use(name="")), user(result())), "toolUse.name' failed"),
    "arguments as text": (body(made(use(input="{}")), user(result())), "toolUse.input is invalid. Provide a json object"),
    "result of the assistant": (body(made(result())), "can only be in messages of the user role"),
    "result without content": (body(made(use()), user({"toolResult": {"toolUseId": "t1"}})), "toolResult.content' failed"),
    "empty error": (body(made(use()), user({"toolResult": {"toolUseId": "t1", "content": [], "status": "error"}})), "cannot be empty when status"),
    "status": (body(made(use()), user(result(status="ok"))), "enum value set: [success, error]"),
    "result with two keys": (body(made(use()), user(result("t1", {"text": "", "json": {}}))), "Invalid union at messages.2"),
    "number as result": (body(made(use()), user(result("t1", {"text": 5}))), "can not be converted to a String"),
    "list as json": (body(made(use()), user(result("t1", {"json": []}))), "json is invalid. Provide a json object"),
    "unanswered": (body(made(use(), use("t2")), user(result())), "Expected toolResult blocks at messages.2.content for the following Ids: t2"),
    "unanswered at the end": (body(made(use())), "messages.2.content for the following Ids: t1"),
    "results in two messages": (body(made(use(), use("t2")), user(result()), user(result("t2"))), "following Ids: t2"),
    "result without a call": (body(user(result())), "exceeds the number of toolUse blocks of previous turn"),
    "result twice": (body(made(use(), use("t2")), user(result(), result("t2"), result())), "contain duplicate Ids"),
    "same id twice": (body(made(use(), use()), user(result())), "toolUse blocks at messages.1.content contain duplicate Ids"),
    "thought of the user": (body(user(thought(), {"text": "x"})), "reasoningContent blocks can only be in"),
    "thought of another": (body(made(thought(signature="s"), {"text": "x"})), "Invalid `signature` in `thinking` block"),
}  # fmt: skip


@pytest.mark.parametrize("sent", GOOD.values(), ids=GOOD)
def test_a_request_that_converse_takes_is_taken(complaint, sent):
    assert complaint("bedrock", sent) == ""


@pytest.mark.parametrize(("sent", "reason"), BAD.values(), ids=BAD)
def test_a_request_that_converse_refuses_is_refused_with_its_reason(complaint, sent, reason):
    assert reason in complaint("bedrock", sent)


SIGNED = thought(signature=signature_of("t"))
ROUND = (made(use()), user(result()))
THINKING = {"additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": 1024}}}
FORCED = offered(tool(), toolChoice={"any": {}})


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (body(made(SIGNED, {"text": "x"})), ""),
        (body(made(thought(), {"text": "x"})), "messages.1.content.0.thinking.signature: Field required"),
        (body(made(thought(signature=""), {"text": "x"})), "Invalid `signature` in `thinking` block"),
        (body(made({"reasoningContent": {"redactedContent": "AA=="}}, {"text": "x"})), ""),
        (body(made(SIGNED, use()), user(result()), **THINKING), ""),
        (body(*ROUND), ""),
        (body(*ROUND, **THINKING), "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`"),
        (body(made({"text": "x"}, use()), user(result()), **THINKING), "but found `text`"),
        (body(*ROUND, made({"text": "x"}), HI, **THINKING), ""),
        (body(tools=FORCED, **THINKING), "Thinking may not be enabled when tool_choice forces tool use."),
        (body(inferenceConfig={"temperature": 0.5}, **THINKING), "`temperature` may only be set to 1"),
        (body(inferenceConfig={"temperature": 1}, **THINKING), ""),
    ],
    ids=[
        "signed", "not signed", "empty signature", "redacted", "thinks before a call", "does not think", "call alone",
        "words before a call", "an earlier run", "forced", "cold", "warm",
    ],
)  # fmt: skip
def test_converse_demands_of_a_claude_what_anthropic_does(complaint, sent, reason):
    said = complaint("bedrock", sent, path="/model/us.anthropic.claude-x-v1:0/converse")
    assert reason in said if reason else said == ""


CLAUDE = {"anthropic_version": "bedrock-2023-05-31", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, ""),
        ({"anthropic_beta": ["x"]}, ""),
        ({"anthropic_version": "2026-10-21"}, ""),
        ({"messages": CLAUDE["messages"] * 2}, ""),
        ({"anthropic_version": "2023-06-01"}, "anthropic_version: Input should be"),
        ({"anthropic_version": None}, "anthropic_version: Input should be"),
        ({"model": "claude"}, "model: Extra inputs are not permitted"),
        ({"stream": True}, "stream: Extra inputs are not permitted"),
        ({"messages": []}, "messages: at least one message is required"),
    ],
    ids=[
        "plain",
        "beta",
        "version of Anthropic's client",
        "neighbours",
        "version",
        "no version",
        "model",
        "stream",
        "no messages",
    ],
)
def test_invoke_model_refuses_what_anthropic_does_and_what_stands_in_the_path(complaint, changes, reason):
    said = complaint("bedrock_invoke", CLAUDE | changes, headers={})
    assert reason in said if reason else said == ""


@pytest.mark.parametrize("name", ["bedrock", "bedrock_invoke"])
@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        ("Bearer right", 200),
        ("Bearer wrong", 403),
        (
            "AWS4-HMAC-SHA256 Credential=right/20261201/us-east-1/bedrock/aws4_request, SignedHeaders=host, Signature=0",
            200,
        ),
        (
            "AWS4-HMAC-SHA256 Credential=wrong/20261201/us-east-1/bedrock/aws4_request, SignedHeaders=host, Signature=0",
            403,
        ),
        ("", 403),
    ],
    ids=["bearer", "wrong bearer", "signed", "signed by another", "none"],
)
async def test_the_key_is_a_bearer_token_or_who_signed(http, wires, name, authorization, status):
    wire = wires[name]
    async with FakeLLM(["x"], key="right") as llm:
        response = await http.post(wire.address(llm), json=wire.request(), headers={"authorization": authorization})
    assert response.status_code == status
    if status == 403:
        assert response.headers["x-amzn-errortype"].startswith("UnrecognizedClientException:")


@pytest.mark.parametrize(
    "model",
    ["m", "us.anthropic.claude-x-v1:0", "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-x"],
    ids=["short", "version", "arn"],
)
@pytest.mark.parametrize("name", ["bedrock", "bedrock_invoke"])
async def test_the_model_is_the_one_in_the_path(http, wires, name, model, stream):
    wire = wires[name]
    quoted = model.replace(":", "%3A").replace("/", "%2F")
    async with FakeLLM(["x"]) as llm:
        address = f"{llm.bedrock_url}/model/{quoted}/{wire.methods[stream]}"
        await http.post(address, json=wire.request())
        assert [(one.model, one.stream, one.wire) for one in llm.requests] == [(model, stream, name)]
