"""Arbitrary neutral histories, legal or not, as other providers, transfers and interrupted runs leave them."""

from __future__ import annotations

from hypothesis import strategies as st

from officellm import Assistant, Media, System, Text, ToolCall, ToolResult, ToolSpec, User

TEXTS = st.sampled_from(["", " \n", "hello", "naïve \U0001f30a \ud800", '"quoted"\\'])
IDS = st.sampled_from(["", "a", "b", "call:1.2|x", "x" * 70, "qDEcl0n92"])
NAMES = st.sampled_from(["search", "board.create", "9lives", "n" * 90])
ARGUMENTS = st.sampled_from(["", "{}", '{"q":"x"}', '{"q":', "[1]", '{"a":1}{"b":2}'])
MEDIA = st.sampled_from(
    [
        Media("image/png", data=b"\x89PNG"),
        Media("image/jpeg", url="https://example.org/a.jpg"),
        Media("application/pdf", data=b"%PDF", name="a.pdf"),
        Media("text/plain", data=b"words"),
        Media("audio/mpeg", data=b"ID3", name="a.mp3"),
    ]
)
#: What must not reach the wire: it was made by another format or for another model.
FOREIGN = st.sampled_from(
    [
        (None, None),
        ({"reasoning_details": "FOREIGN"}, ("openai_compat", "model-a")),
        ([{"type": "thinking", "signature": "FOREIGN"}], ("anthropic", "model-a")),
        ({"tool_plan": "FOREIGN", "content": "FOREIGN"}, ("cohere", "model-b")),
        ({"content": [{"type": "thinking", "thinking": "FOREIGN"}]}, ("mistral", "model-b")),
    ]
)
CALLS = st.builds(ToolCall.parse, IDS, NAMES, ARGUMENTS, st.sampled_from([None, {"extra_content": "FOREIGN"}]))
REPLIES = st.builds(
    lambda text, calls, foreign: Assistant(text, tuple(calls), "FOREIGN", *foreign),
    TEXTS,
    st.lists(CALLS, max_size=3),
    FOREIGN,
)
PARTS = st.lists(st.one_of(st.builds(Text, TEXTS), MEDIA), max_size=3).map(tuple)
HISTORIES = st.lists(
    st.one_of(
        st.builds(System, TEXTS),
        st.builds(User, st.one_of(TEXTS, PARTS)),
        REPLIES,
        st.builds(ToolResult, IDS, NAMES, TEXTS, st.booleans()),
    ),
    max_size=9,
)
TOOL = ToolSpec("search", "Finds pages.", {"properties": {"q": {"type": ["string", "null"]}}, "required": ["q"]})
CHOICES = st.sampled_from(["auto", "none", "required", "search"])
