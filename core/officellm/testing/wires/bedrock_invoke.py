"""How the fake LLM server speaks Anthropic's messages inside Bedrock's InvokeModel: other paths, other frames."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from officellm.codec import loads
from officellm.testing.replies import ScriptedReply
from officellm.testing.wires.anthropic import AnthropicSpeaker
from officellm.testing.wires.anthropic_rules import complain_of_body
from officellm.testing.wires.bedrock import failed, key_in, refused, streamed
from officellm.testing.wires.eventstream import chunk
from officellm.testing.wires.speaker import Answer, Heard, Trouble

_ANTHROPIC = AnthropicSpeaker()
_PATH = re.compile(r".*/model/(.+)/(invoke|invoke-with-response-stream)")
#: The documented one, and the one that Anthropic's own client sends to Bedrock.
_VERSIONS = ("bedrock-2023-05-31", "2026-10-21")
_TOO_LONG = "prompt is too long: 210000 tokens > 200000 maximum"


class BedrockInvokeSpeaker:
    """`POST /model/{id}/invoke` and `/invoke-with-response-stream`, for Anthropic's models."""

    name = "bedrock_invoke"

    def listens_to(self, path: str) -> bool:
        """Any path that ends in one of InvokeModel's."""
        return _PATH.fullmatch(path) is not None

    def hear(self, path: str, query: Mapping[str, str], headers: Mapping[str, str], body: Mapping[str, Any]) -> Heard:
        """The request in neutral terms; the model and whether it streams stand in the path."""
        asked = _PATH.fullmatch(path)
        streams = asked is not None and asked[2] != "invoke"
        heard = _ANTHROPIC.hear(path, query, headers, body)
        return replace(heard, wire=self.name, model=asked[1] if asked else "", stream=streams)

    def complain(self, heard: Heard) -> Trouble | None:
        """What Anthropic would refuse; the version stands in the body, and what the path says does not."""
        body = dict(heard.body)
        if body.pop("anthropic_version", None) not in _VERSIONS:
            return Trouble(400, f'anthropic_version: Input should be "{_VERSIONS[0]}"')
        for key in ("model", "stream"):
            if key in body:
                return Trouble(400, f"{key}: Extra inputs are not permitted")
        body.pop("anthropic_beta", None)
        return complain_of_body({**body, "model": heard.model}, alternating=False)

    def say(self, heard: Heard, reply: ScriptedReply) -> Answer:
        """Anthropic's message, or its events, each in a frame."""
        return _framed(_ANTHROPIC.say(heard, reply))

    def refuse(self, trouble: Trouble) -> Answer:
        """As everywhere at Bedrock."""
        return refused(trouble, _TOO_LONG)

    def refuse_in_200(self, heard: Heard, trouble: Trouble) -> Answer:
        """Anthropic's own error as a body; in a stream, a frame that is Amazon's."""
        answer = _framed(_ANTHROPIC.refuse_in_200(heard, trouble))
        return failed(answer.pieces[0], trouble) if heard.stream else answer

    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str | None:
        """The bearer token, or who signed the request."""
        return key_in(headers)

    def list_models(self, path: str, headers: Mapping[str, str], models: Sequence[str]) -> Answer | None:
        """None: the wire of Converse lists Bedrock's models."""
        return None


def _framed(answer: Answer) -> Answer:
    """The same answer; the data of each event of a stream in a frame."""
    if not answer.streamed:
        return answer
    frames = [chunk(loads(piece.partition(b"\ndata: ")[2])) for piece in answer.pieces]
    return streamed(frames, after=len(frames) - answer.unfinished)
