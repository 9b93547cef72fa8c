"""Arbitrary neutral histories, legal or not, as any provider, transfer or interrupted run may leave them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from officellm import Assistant, Media, System, Text, ToolCall, ToolResult, ToolSpec, User

TEXTS = st.sampled_from(["", " \n", "hello", "naïve \U0001f30a \ud800", '"quoted"\\'])
IDS = st.sampled_from(["", "a", "b", "call:1.2|x", "x" * 70, "übung"])
NAMES = st.sampled_from(["search", "board.create", "9lives", "a b", "n" * 90])
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

#: Replies of other formats, and of another model of the same format: none of it may reach the wire.
FOREIGN = st.sampled_from(
    [
        (None, None),
        ([{"type": "reasoning", "encrypted_content": "FOREIGN"}], ("openai_compat", "gpt")),
        ([{"type": "thinking", "thinking": "", "signature": "FOREIGN"}], ("anthropic", "another-model")),
        ([{"text": "x", "thoughtSignature": "FOREIGN"}], ("gemini", "another-model")),
    ]
)


def calls() -> st.SearchStrategy[ToolCall]:
    return st.builds(
        ToolCall.parse, IDS, NAMES, ARGUMENTS, st.sampled_from([None, {"id": "given"}, {"extra_content": {}}])
    )


@st.composite
def replies(draw: st.DrawFn) -> Assistant:
    native, origin = draw(FOREIGN)
    return Assistant(draw(TEXTS), tuple(draw(st.lists(calls(), max_size=3))), draw(TEXTS), native, origin)


def histories() -> st.SearchStrategy[list[Any]]:
    parts = st.lists(st.one_of(st.builds(Text, TEXTS), MEDIA), max_size=3).map(tuple)
    message = st.one_of(
        st.builds(System, TEXTS),
        st.builds(User, st.one_of(TEXTS, parts)),
        replies(),
        st.builds(ToolResult, IDS, NAMES, TEXTS, st.booleans()),
    )
    return st.lists(message, max_size=9)


TOOL = ToolSpec(
    "search", "Finds pages.", {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
)
