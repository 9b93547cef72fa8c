"""Arbitrary neutral histories, legal or not, as other providers, transfers and interrupted runs leave them."""

from __future__ import annotations

from hypothesis import strategies as st

from officellm import Assistant, Media, System, Text, ToolCall, ToolResult, ToolSpec, User

MODEL = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"
TEXTS = st.sampled_from(["", " \n", "hello", "naïve \U0001f30a \ud800", '"quoted"\\'])
IDS = st.sampled_from(["", "a", "b", "call:1.2|x", "x" * 70, "übung", "functions.get:0"])
NAMES = st.sampled_from(["search", "board.create", "9lives", "n" * 90])
ARGUMENTS = st.sampled_from(["", "{}", '{"q":"x"}', '{"q":', "[1]", '{"a":1}{"b":2}'])
MEDIA = st.sampled_from(
    [
        Media("image/png", data=b"\x89PNG"),
        Media("image/jpeg", url="https://example.org/a.jpg"),
        Media("image/tiff", data=b"II*"),
        Media("application/pdf", data=b"%PDF", name="a_b  (1).pdf"),
        Media("text/plain; charset=utf-8", data=b"words"),
        Media("video/mp4", url="s3://bucket/film.mp4"),
        Media("audio/mpeg", data=b"ID3", name="a.mp3"),
        Media("application/zip", data=b"PK"),
    ]
)
SEALED = {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "SEALED"}}}
OWN = ("bedrock_converse", MODEL)
#: What must not reach the wire: it was made by another format or for another model.
FOREIGN = st.sampled_from(
    [
        (None, None),
        (None, OWN),
        ([{"type": "thinking", "signature": "FOREIGN"}], ("anthropic", MODEL)),
        ([{"reasoningContent": {"redactedContent": "FOREIGN"}}], ("bedrock_converse", "amazon.nova-lite-v1:0")),
        ([SEALED, {"text": "hello"}], OWN),
        ([SEALED, {"toolUse": {}}, {"reasoningContent": {"redactedContent": "AA=="}}, {"toolUse": {}}], OWN),
        ([{"text": "hello"}, SEALED], OWN),
        ([SEALED], OWN),
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
TOOL = ToolSpec("search", "Finds pages.", {"properties": {"q": {"type": "string"}}, "required": ["q"]})
CHOICES = st.sampled_from(["auto", "none", "required", "search"])
MODELS = st.sampled_from([MODEL, "meta.llama3-3-70b-instruct-v1:0", "amazon.nova-lite-v1:0", "writer.palmyra-x5-v1:0"])
