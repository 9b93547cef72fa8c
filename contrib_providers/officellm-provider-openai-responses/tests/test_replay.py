"""What a model made goes back to it unchanged, and the history stays legal whatever became of it since."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from officellm import Assistant, Message, ToolResult, User
from officellm.testing import histories

from .samples import MODEL, check_legal, function_call, message, reasoning, reply_to, sent

THOUGHT, LOOK = reasoning("rs_1", "AAAA"), message("Let me look.", "msg_1")
FIRST = function_call("call_1", "f", '{"q": "tide"}', "fc_1")
SECOND = function_call("call_2", "g", "{}", "fc_2")


def untied(item: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name not in ("id", "status")}


def items_of(reply: Assistant, **fields: Any) -> list[dict[str, Any]]:
    """What the reply became, without the user's words and the results."""
    results = [ToolResult(call.id, call.name, "ok") for call in reply.calls]
    body = sent(User("go"), reply, *results, **fields)
    check_legal(body)
    return [item for item in body["input"] if item.get("type") not in (None, "function_call_output")]


def test_reasoning_goes_back_right_before_what_followed_it_over_many_turns() -> None:
    turns = [
        (THOUGHT, LOOK, FIRST),
        (reasoning("rs_2", "BBBB"), SECOND),
        (reasoning("rs_3", "CCCC", summary=[{"type": "summary_text", "text": "Done."}]), message("It is 6.", "msg_2")),
    ]
    history: list[Any] = [User("When is low tide?")]
    wanted: list[dict[str, Any]] = [{"role": "user", "content": "When is low tide?"}]
    for turn in turns:
        reply = reply_to(*turn).message
        history += [reply, *(ToolResult(call.id, call.name, "6") for call in reply.calls)]
        wanted += turn
        wanted += [{"type": "function_call_output", "call_id": call.id, "output": "6"} for call in reply.calls]
        body = sent(*history, User("And then?")) if not reply.calls else sent(*history)
        assert body["input"][: len(wanted)] == wanted
        check_legal(body)


@pytest.mark.parametrize("origin", [("openai_responses", "gpt-4.1"), ("openai_compat", MODEL), None])
def test_nothing_of_the_vendors_goes_to_another_model_or_format(origin: Any) -> None:
    foreign = replace(reply_to(THOUGHT, LOOK, FIRST).message, origin=origin)

    assert items_of(foreign) == [untied(LOOK), {**untied(FIRST), "arguments": '{"q":"tide"}'}]


def test_a_message_whose_text_is_no_text_is_not_sent_back() -> None:
    odd = {**message("x"), "content": [{"type": "output_text", "text": ["x"]}]}

    assert items_of(reply_to(odd, FIRST).message) == [FIRST]


def made_unique(reply: Assistant) -> Assistant:
    return replace(reply, calls=(replace(reply.calls[0], id="call_1_2"), *reply.calls[1:]))


def test_a_call_whose_id_was_made_unique_loses_the_ids_that_tie_it_to_its_reasoning() -> None:
    changed = {**untied(FIRST), "call_id": "call_1_2"}

    assert items_of(made_unique(reply_to(THOUGHT, FIRST, SECOND).message)) == [
        untied(THOUGHT),
        changed,
        untied(SECOND),
    ]


def test_a_change_after_the_first_follower_leaves_what_stands_before_it() -> None:
    second, third = reasoning("rs_2", "BBBB"), function_call("call_3", "h", "{}", "fc_3")
    reply = reply_to(THOUGHT, LOOK, FIRST, second, third).message

    assert items_of(made_unique(reply)) == [
        THOUGHT,
        LOOK,
        {**untied(FIRST), "call_id": "call_1_2"},
        second,
        third,
    ]


def test_a_call_that_could_not_be_read_goes_back_with_an_empty_object() -> None:
    assert items_of(reply_to(THOUGHT, {**FIRST, "arguments": '{"q":'}).message) == [
        untied(THOUGHT),
        {**untied(FIRST), "arguments": "{}"},
    ]


CUT = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}


@pytest.mark.parametrize(
    "output",
    [(THOUGHT,), (THOUGHT, message("  ")), (THOUGHT, message("", content=[]))],
    ids=["alone", "before-blank-text", "before-no-parts"],
)
def test_reasoning_that_nothing_followed_stays_behind(output: tuple[Any, ...]) -> None:
    assert items_of(reply_to(*output, **CUT).message) == []


def test_reasoning_before_an_empty_message_goes_with_the_call_after_it() -> None:
    assert items_of(reply_to(THOUGHT, message(""), FIRST).message) == [untied(THOUGHT), untied(FIRST)]


def test_reasoning_that_the_server_does_not_keep_and_did_not_encrypt_stays_behind() -> None:
    bare, search = reasoning("rs_1", None), {"id": "ws_1", "type": "web_search_call", "status": "completed"}
    reply = reply_to(bare, search, FIRST).message

    assert items_of(reply) == [untied(FIRST)]
    assert items_of(reply, settings={"store": True}) == [bare, search, FIRST]
    assert items_of(reply) == [untied(FIRST)]


@pytest.mark.parametrize(
    "item",
    [
        reasoning("a073e640", None, content=[{"type": "reasoning_text", "text": "We need 4."}]),
        {"id": "rs", "type": "reasoning", "content": [{"type": "reasoning_text", "text": "hm"}], "summary": []},
    ],
    ids=["deepseek", "open-model"],
)
def test_raw_reasoning_goes_back_too(item: dict[str, Any]) -> None:
    assert items_of(reply_to(item, FIRST).message) == [item, FIRST]


def test_the_vendors_own_work_and_refusals_go_back_in_their_places() -> None:
    search = {"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {"type": "search"}}
    refused = message("", "msg_2", content=[{"type": "refusal", "refusal": "No."}])
    output = [THOUGHT, search, reasoning("rs_2"), {**LOOK, "phase": "commentary"}, {**FIRST, "namespace": "n"}, refused]

    assert items_of(reply_to(*output).message) == output


def test_a_part_without_text_is_left_out() -> None:
    odd = message("", content=[{"type": "output_text", "text": None}, *LOOK["content"]])

    assert items_of(reply_to(THOUGHT, odd).message) == [untied(THOUGHT), untied(LOOK)]


def test_an_edited_reply_goes_back_as_it_was_edited() -> None:
    edited = replace(reply_to(THOUGHT, LOOK, FIRST).message, text="I looked.", calls=())

    [item] = items_of(edited)
    assert item["content"] == [{"type": "output_text", "text": "I looked.", "annotations": []}]


def test_a_long_id_of_the_server_s_own_is_kept() -> None:
    long = "call_1__thought__" + "A" * 80
    reply = reply_to(function_call(long, "f")).message
    body = sent(User("go"), reply, ToolResult(long, "f", "ok"))

    assert [item["call_id"] for item in body["input"][1:]] == [long, long]


IDS = st.sampled_from(["", "a", "b", "call:1.2|x", "x" * 64, "übung"])
NAMES = st.sampled_from(["search", "board.create", "9lives", "a b", "n" * 90])
ARGUMENTS = st.sampled_from(["", "{}", '{"q":"x"}', '{"q":', "[1]", '{"a":1}{"b":2}'])
OUTPUT = st.lists(
    st.one_of(
        st.builds(reasoning, st.sampled_from(["rs_1", "rs_2"]), st.sampled_from([None, "AAAA"])),
        st.builds(message, st.sampled_from(["", " ", "hello"])),
        st.builds(function_call, IDS, NAMES, ARGUMENTS, status=st.sampled_from(["completed", "incomplete"])),
        st.just({"id": "ws_1", "type": "web_search_call", "status": "completed"}),
    ),
    max_size=6,
)


@st.composite
def own_replies(draw: st.DrawFn) -> Assistant:
    own = reply_to(*draw(OUTPUT)).message
    return replace(own, text=own.text + "!") if draw(st.sampled_from([False, False, True])) else own


@settings(max_examples=400, deadline=None)
@given(history=histories("openai_responses", MODEL, replies=own_replies()), stored=st.booleans())
def test_any_history_becomes_a_legal_body_without_foreign_blobs(history: list[Message], stored: bool) -> None:
    body = sent(*history, settings={"store": True} if stored else {})

    check_legal(body)
    assert "FOREIGN" not in str(body)
