"""Arbitrary neutral histories for hypothesis, legal or not, as providers, transfers and interrupted runs leave them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from officellm.messages import Assistant, Media, Message, Part, System, Text, ToolCall, ToolResult, User

_TEXTS = st.sampled_from(["", " \n", "hello", "naïve \U0001f30a \ud800", '"quoted"\\'])
_IDS = st.sampled_from(["", "a", "b", "call:1.2|x", "x" * 70, "übung", "qDEcl0n92", "functions.get:0"])
_NAMES = st.sampled_from(["search", "board.create", "9lives", "a b", "n" * 90])
_ARGUMENTS = st.sampled_from(["", "{}", '{"q":"x"}', '{"q":', "[1]", '{"a":1}{"b":2}'])
_EXTRAS = st.sampled_from([None, {"id": "given"}, {"extra_content": "FOREIGN"}])
_MEDIA = (
    Media("image/png", data=b"\x89PNG"),
    Media("image/jpeg", url="https://example.org/a.jpg"),
    Media("application/pdf", data=b"%PDF", name="a.pdf"),
    Media("text/plain", data=b"words"),
    Media("audio/mpeg", data=b"ID3", name="a.mp3"),
)
#: What only its vendor can read, by format.
_NATIVE: dict[str, Any] = {
    "openai_compat": {"reasoning_details": "FOREIGN", "reasoning_content": "FOREIGN"},
    "openai_responses": [{"type": "reasoning", "encrypted_content": "FOREIGN"}],
    "anthropic": [{"type": "thinking", "thinking": "", "signature": "FOREIGN"}],
    "gemini": [{"text": "x", "thoughtSignature": "FOREIGN"}],
    "bedrock_converse": [{"reasoningContent": {"redactedContent": "FOREIGN"}}],
    "cohere": {"tool_plan": "FOREIGN", "content": "FOREIGN"},
    "mistral": {"content": [{"type": "thinking", "thinking": "FOREIGN"}]},
}
_CALLS = st.lists(st.builds(ToolCall.parse, _IDS, _NAMES, _ARGUMENTS, _EXTRAS), max_size=3).map(tuple)


def histories(
    format: str,
    model: str,
    *,
    natives: Sequence[Any] = (),
    replies: st.SearchStrategy[Assistant] | None = None,
    media: Sequence[Media] = (),
) -> st.SearchStrategy[list[Message]]:
    """Histories for a request to this model.

    Replies were made by other formats and other models: what must not reach the wire says FOREIGN in them. `natives`
    stand in replies of the model's own, `replies` are further ones as they are, `media` further parts.
    """
    foreign = [(native, (name, "another-model" if name == format else model)) for name, native in _NATIVE.items()]
    own = [(native, (format, model)) for native in natives]
    marked = st.builds(_reply, _TEXTS, _CALLS, st.sampled_from([(None, None), *foreign, *own]))
    parts: st.SearchStrategy[Part] = st.one_of(st.builds(Text, _TEXTS), st.sampled_from([*_MEDIA, *media]))
    contents: st.SearchStrategy[str | tuple[Part, ...]] = st.one_of(_TEXTS, st.lists(parts, max_size=3).map(tuple))
    message: st.SearchStrategy[Message] = st.one_of(
        st.builds(System, _TEXTS),
        st.builds(User, contents),
        marked if replies is None else st.one_of(marked, replies),
        st.builds(ToolResult, _IDS, _NAMES, _TEXTS, st.booleans()),
    )
    return st.lists(message, max_size=9)


def _reply(text: str, calls: tuple[ToolCall, ...], made: tuple[Any, tuple[str, str] | None]) -> Assistant:
    return Assistant(text, calls, "FOREIGN", *made)
