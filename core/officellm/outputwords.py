"""Asks for typed output in words, for models and formats that have no parameter for it."""

from __future__ import annotations

from dataclasses import replace

from officellm.codec import dump_text
from officellm.messages import OutputSchema, Request, System


def with_output_in_words(request: Request) -> Request:
    """The same request, with the wanted JSON described in the instructions instead of by a vendor's parameter."""
    assert request.output is not None
    words = output_instructions(request.output)
    messages = list(request.messages)
    first = messages[0] if messages else None
    if isinstance(first, System):
        text = first.text
        messages[0] = first.encoded(("output", words), lambda: System(f"{text}\n\n{words}"))
    else:
        messages.insert(0, System(words))
    return replace(request, messages=messages, output=None)


def output_instructions(output: OutputSchema) -> str:
    """What to tell a model that has no parameter for typed output."""
    return (
        "Your final answer must be one JSON value that satisfies this JSON Schema, with no other text around it:\n"
        + dump_text(output.schema)
    )
