from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from officellm.messages import Assistant, Message, System, ToolCall, ToolResult, ToolSpec, User
from officellm.transcript import NO_RESULT, OPENING, legal, legal_id, legal_name, original_names, unique_calls


def call(id: str, name: str = "f", x: int = 0) -> ToolCall:
    return ToolCall.parse(id, name, {"x": x})


def result(id: str, content: str = "ok", name: str = "f") -> ToolResult:
    return ToolResult(id, name, content)


def reply(*calls: ToolCall, text: str = "") -> Assistant:
    return Assistant(text, calls)


def missing(id: str) -> ToolResult:
    return ToolResult(id, "f", NO_RESULT, is_error=True)


USER, SYSTEM, DONE = User("go"), System("be brief"), Assistant("done")

LEGAL = {
    "a question": [USER],
    "instructions and a question": [SYSTEM, USER],
    "a conversation": [SYSTEM, USER, DONE, User("more"), DONE],
    "calls and results": [USER, reply(call("a"), call("b")), result("a"), result("b"), DONE],
    "calls in a row": [USER, reply(call("a")), result("a"), reply(call("b")), result("b")],
    "a thought without words": [USER, Assistant(native={"thinking": 1})],
}


@pytest.mark.parametrize("history", LEGAL.values(), ids=LEGAL)
def test_a_legal_history_is_returned_as_it_is(history):
    assert legal(history) is history


REPAIRED: dict[str, tuple[list[Message], list[Message]]] = {
    "a call without a result": ([USER, reply(call("a"))], [USER, reply(call("a")), missing("a")]),
    "one of two results": (
        [USER, reply(call("a"), call("b")), result("b"), DONE],
        [USER, reply(call("a"), call("b")), missing("a"), result("b"), DONE],
    ),
    "results in another order": (
        [USER, reply(call("a"), call("b")), result("b", "B"), result("a", "A")],
        [USER, reply(call("a"), call("b")), result("a", "A"), result("b", "B")],
    ),
    "a result behind a question": (
        [USER, reply(call("a")), User("well?"), result("a")],
        [USER, reply(call("a")), result("a"), User("well?")],
    ),
    "a result without a call": ([USER, result("z"), DONE], [USER, DONE]),
    "a result before its call": ([USER, result("a"), reply(call("a"))], [USER, reply(call("a")), missing("a")]),
    "two results of one call": (
        [USER, reply(call("a")), result("a", "1"), result("a", "2")],
        [USER, reply(call("a")), result("a", "1")],
    ),
    "a result under another name": (
        [USER, reply(call("a")), result("a", name="g")],
        [USER, reply(call("a")), result("a")],
    ),
    "one id for two calls of a reply": (
        [USER, reply(call("a", x=1), call("a", x=2)), result("a", "1"), result("a", "2")],
        [USER, reply(call("a", x=1), call("a_2", x=2)), result("a", "1"), result("a_2", "2")],
    ),
    "an id used again later": (
        [USER, reply(call("a")), result("a", "1"), reply(call("a")), result("a", "2")],
        [USER, reply(call("a")), result("a", "1"), reply(call("a_2")), result("a_2", "2")],
    ),
    "an id used again while it is unanswered": (
        [USER, reply(call("a")), reply(call("a")), result("a", "2")],
        [USER, reply(call("a")), missing("a"), reply(call("a_2")), result("a_2", "2")],
    ),
    "no ids": (
        [USER, reply(call("", x=1), call("", x=2)), result("", "1"), result("", "2")],
        [USER, reply(call("call_1_0", x=1), call("call_1_1", x=2)), result("call_1_0", "1"), result("call_1_1", "2")],
    ),
    "an empty reply": ([USER, Assistant(" \n"), User("hello?")], [USER, User("hello?")]),
    "instructions later": ([USER, SYSTEM, DONE], [SYSTEM, USER, DONE]),
    "instructions twice": ([System("a"), USER, System("b")], [System("a\n\nb"), USER]),
    "a reply first": ([SYSTEM, DONE, USER], [SYSTEM, User(OPENING), DONE, USER]),
    "no question": ([SYSTEM], [SYSTEM, User(OPENING)]),
    "nothing": ([], [User(OPENING)]),
}


@pytest.mark.parametrize(("history", "wanted"), REPAIRED.values(), ids=REPAIRED)
def test_an_illegal_history_is_repaired(history, wanted):
    before = list(history)

    assert legal(history) == wanted
    assert history == before


def test_what_is_repaired_again_keeps_its_encoding():
    history = [USER, reply(call("")), result("")]

    first, second = legal(history), legal(history)

    assert all(one is other for one, other in zip(first, second, strict=True))


IDS = st.sampled_from(["", "a", "b", "a_2", "call_1_0"])
MESSAGES = st.one_of(
    st.builds(System, st.sampled_from(["s", "t"])),
    st.builds(User, st.sampled_from(["u", ""])),
    st.builds(
        Assistant,
        st.sampled_from(["", " ", "text"]),
        st.lists(st.builds(call, IDS, st.sampled_from(["f", "g"])), max_size=3).map(tuple),
    ),
    st.builds(result, IDS, st.sampled_from(["1", "2"])),
)


@given(history=st.lists(MESSAGES, max_size=12))
def test_any_history_becomes_legal(history):
    fixed = legal(history)

    body = fixed[1:] if isinstance(fixed[0], System) else fixed
    assert isinstance(body[0], User)
    assert not any(isinstance(message, System) for message in body)
    calls = [each for message in body if isinstance(message, Assistant) for each in message.calls]
    assert all(each.id for each in calls)
    assert len({each.id for each in calls}) == len(calls)
    for place, message in enumerate(body):
        if isinstance(message, Assistant):
            assert message.text.strip() or message.calls
            answers = body[place + 1 : place + 1 + len(message.calls)]
            assert [(a.call_id, a.name) for a in answers] == [(c.id, c.name) for c in message.calls]
    assert sum(isinstance(message, ToolResult) for message in body) == len(calls)
    assert [m for m in body if isinstance(m, User)][-1:] == (
        [m for m in history if isinstance(m, User)] or [User(OPENING)]
    )[-1:]
    assert legal(fixed) is fixed


def test_a_new_reply_gets_ids_that_are_free():
    history = [USER, reply(call("a")), result("a")]

    new = unique_calls(reply(call("a"), call(""), call("b"), call("b"), text="now"), history)

    assert [each.id for each in new.calls] == ["a_2", "call_3_1", "b", "b_2"]
    assert new.text == "now"
    assert legal([*history, new, *(result(each.id) for each in new.calls)])[3] is new


@pytest.mark.parametrize("message", [DONE, reply(call("b"), call("c"))], ids=["no calls", "free ids"])
def test_a_reply_with_free_ids_stays_the_same_object(message):
    assert unique_calls(message, [USER, reply(call("a")), result("a")]) is message


@pytest.mark.parametrize("name", ["f", "_x-1", "a" * 64])
def test_a_legal_name_stays(name):
    assert legal_name(name) == name


@pytest.mark.parametrize("name", ["", "1st", "mcp.files/read", "a" * 65, "größe", "-x", "a b"])
def test_any_other_name_has_a_stable_alias_and_a_way_back(name):
    alias = legal_name(name)

    assert re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}", alias)
    assert legal_name(name) == alias
    assert original_names([ToolSpec("plain", "", {}), ToolSpec(name, "", {})]) == {alias: name}


def test_names_that_look_alike_have_different_aliases():
    assert len({legal_name(name) for name in ["a.b", "a/b", "a b", "a_b"]}) == 4


def test_an_id_is_kept_or_hashed_to_the_length_a_vendor_wants():
    mistral = re.compile(r"[a-zA-Z0-9]{9}")

    assert legal_id("abcdefghi", mistral, 9) == "abcdefghi"
    assert mistral.fullmatch(legal_id("call_abc", mistral, 9))
    assert legal_id("call_abc", mistral, 9) != legal_id("call_abd", mistral, 9)
