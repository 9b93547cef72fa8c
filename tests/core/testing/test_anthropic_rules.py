"""What the fake server refuses on the Anthropic wire: one bad request for each rule, and good ones that are near."""

# ruff: noqa: E501 - a table reads best with one case a line

import pytest


def body(*messages, **keys):
    return {"model": "claude-x", "max_tokens": 2048, "messages": list(messages), **keys}


def user(*content):
    return {"role": "user", "content": list(content) or "hi"}


def said(*content):
    return {"role": "assistant", "content": list(content) or "well"}


def use(id="t1", **keys):
    return {"type": "tool_use", "id": id, "name": "search", "input": {}, **keys}


def result(id="t1", **keys):
    return {"type": "tool_result", "tool_use_id": id, "content": "r", **keys}


TEXT = {"type": "text", "text": "and?"}
TOOLS = {"tools": [{"name": "search", "input_schema": {"type": "object"}}]}
THINK = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
GOOD = {
    "plain": body(user()),
    "round": body(user(), said(use(), use("t2")), user(result("t2"), result(), TEXT), **TOOLS),
    "empty result": body(user(), said(use()), user(result(content="")), **TOOLS),
    "prefill": body(user(), said()),
    "system blocks": body(user(), system=[TEXT]),
    "choice": body(user(), tool_choice={"type": "tool", "name": "search"}, **TOOLS),
    "thinking": body(user(), **THINK),
    "server tool": body(user(), tools=[{"type": "web_search_20250305", "name": "web_search"}]),
}
BAD = {
    "no max_tokens": ({"model": "m", "messages": [user()]}, "max_tokens: Field required"),
    "no model": ({"max_tokens": 1, "messages": [user()]}, "model: Field required"),
    "zero max_tokens": (body(user()) | {"max_tokens": 0}, "greater than or equal to 1"),
    "no messages": (body(), "at least one message"),
    "unknown key": (body(user(), parallel_tool_calls=True), "parallel_tool_calls: Extra inputs"),
    "system as a role": (body({"role": "system", "content": "x"}, user()), 'Unexpected role "system"'),
    "assistant first": (body(said()), 'first message must use the "user" role'),
    "user twice": (body(user(), user()), "roles must alternate"),
    "assistant twice": (body(user(), said(), said()), "roles must alternate"),
    "empty content": (body({"role": "user", "content": ""}), "non-empty content"),
    "empty list": (body(user(), {"role": "assistant", "content": []}, user()), "non-empty content"),
    "null content": (body({"role": "user", "content": None}), "content: Field required"),
    "empty text": (body(user({"type": "text", "text": ""})), "must be non-empty"),
    "blank text": (body(user({"type": "text", "text": " \n"})), "non-whitespace"),
    "empty system": (body(user(), system=[{"type": "text", "text": ""}]), "system: text content blocks"),
    "trailing blank": (body(user(), {"role": "assistant", "content": "so "}), "trailing whitespace"),
    "no result": (body(user(), said(use()), user(TEXT), **TOOLS), "without `tool_result` blocks"),
    "no message after": (body(user(), said(use()), **TOOLS), "without `tool_result` blocks"),
    "one of two results": (body(user(), said(use(), use("t2")), user(result()), **TOOLS), "after: t2"),
    "result not first": (body(user(), said(use()), user(TEXT, result()), **TOOLS), "without `tool_result`"),
    "result twice": (body(user(), said(use()), user(result(), result()), **TOOLS), "single result"),
    "foreign result": (body(user(result()), **TOOLS), "unexpected `tool_use_id`"),
    "same id twice": (body(user(), said(use(), use()), user(result()), **TOOLS), "must be unique"),
    "same id later": (body(user(), said(use()), user(result()), said(use()), user(result()), **TOOLS), "must be unique"),
    "input as text": (body(user(), said(use(input="{}")), user(result()), **TOOLS), "valid dictionary"),
    "bad id": (body(user(), said(use("a.b")), user(result("a.b")), **TOOLS), "should match pattern"),
    "history without tools": (body(user(), said(use()), user(result())), "must define tools"),
    "call by the user": (body(user(use()), **TOOLS), "only be in `assistant`"),
    "choice without tools": (body(user(), tool_choice={"type": "auto"}), "while providing tools"),
    "choice as text": (body(user(), tool_choice="auto", **TOOLS), "expected tags"),
    "choice of no tool": (body(user(), tool_choice={"type": "tool", "name": "x"}, **TOOLS), "not found in provided tools"),
    "tool name": (body(user(), tools=[{"name": "a.b", "input_schema": {"type": "object"}}]), "match pattern"),
    "tool twice": (body(user(), tools=TOOLS["tools"] * 2), "must be unique"),
    "tool without schema": (body(user(), tools=[{"name": "x"}]), "input_schema: Field required"),
    "schema without type": (body(user(), tools=[{"name": "x", "input_schema": {}}]), "should be 'object'"),
    "small budget": (body(user(), thinking={"type": "enabled", "budget_tokens": 5}), "greater than or equal to 1024"),
    "big budget": (body(user(), thinking={"type": "enabled", "budget_tokens": 2048}), "`max_tokens` must be greater"),
    "thinking and force": (body(user(), tool_choice={"type": "any"}, **TOOLS, **THINK), "forces tool use"),
    "thinking and temperature": (body(user(), temperature=0, **THINK), "only be set to 1"),
    "thinking dropped": (body(user(), said(use()), user(result()), **TOOLS, **THINK), "Expected `thinking`"),
    "thinking unsigned": (body(user(), said({"type": "thinking", "thinking": "x"}, TEXT), user()), "signature: Field required"),
    "thinking of another": (body(user(), said({"type": "thinking", "thinking": "x", "signature": "AAAA"}, TEXT), user()), "Invalid `signature`"),
}  # fmt: skip


@pytest.mark.parametrize("asked", GOOD.values(), ids=GOOD)
def test_a_request_that_anthropic_takes_is_taken(complaint, asked):
    assert complaint("anthropic", asked) == ""


@pytest.mark.parametrize(("asked", "reason"), BAD.values(), ids=BAD)
def test_a_request_that_anthropic_refuses_is_refused_with_its_reason(complaint, asked, reason):
    assert reason in complaint("anthropic", asked)


def test_anthropic_wants_its_version_header(complaint):
    assert complaint("anthropic", GOOD["plain"], headers={}) == "anthropic-version: header is required"
