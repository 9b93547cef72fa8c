"""What a vendor would refuse in a history is said exactly where the transcript check repairs it."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from officellm import Assistant, System, ToolCall, ToolResult, User, legal
from officellm.complaints import complaints, odd_names

IDS = st.sampled_from(["", "a", "b", "c"])
NAMES = st.sampled_from(["search", "clock"])
HISTORIES = st.lists(
    st.one_of(
        st.builds(System, st.just("s")),
        st.builds(User, st.just("u")),
        st.builds(
            Assistant,
            st.sampled_from(["", " ", "text"]),
            st.lists(st.builds(ToolCall.parse, IDS, NAMES, st.just({})), max_size=3).map(tuple),
        ),
        st.builds(ToolResult, IDS, NAMES, st.just("r")),
    ),
    max_size=7,
)
ASK, CALLED = User("hi"), Assistant(calls=(ToolCall.parse("a", "search", {}),))
DONE = ToolResult("a", "search", "found")


@given(HISTORIES)
def test_there_are_complaints_exactly_where_something_is_repaired(history):
    assert bool(complaints(history)) == (legal(history) is not history)


@given(HISTORIES)
def test_a_repaired_history_has_no_complaints(history):
    assert complaints(legal(history)) == []


@pytest.mark.parametrize(
    ("history", "said"),
    [
        ([], "messages: there is no user message"),
        ([CALLED, DONE], "messages[0]: the first message after the system's is not the user's"),
        ([ASK, System("late")], "messages[1]: a system message that is not the first message"),
        ([ASK, Assistant(" ")], "messages[1]: an empty reply"),
        ([ASK, CALLED], "messages[1]: the call 'a' of 'search' has no result"),
        ([ASK, CALLED, DONE, DONE], "messages[3]: a result for 'a', which is no open call of the reply before it"),
        ([ASK, CALLED, DONE, CALLED, DONE], "messages[3].calls[0]: the id 'a' is in use already"),
        ([ASK, CALLED, ToolResult("a", "clock", "")], "messages[2]: a result of 'clock' for a call of 'search'"),
    ],
)
def test_a_complaint_says_what_and_where(history, said):
    assert said in complaints(history)


def test_a_name_that_a_vendor_refuses_is_told_with_its_alias():
    history = [ASK, Assistant(calls=(ToolCall.parse("a", "read file!", {}),))]

    assert len(odd_names(history)) == 1
    assert odd_names(history)[0].startswith("the tool name 'read file!' is sent as 'read_file_")
    assert odd_names([ASK, CALLED, DONE]) == []
