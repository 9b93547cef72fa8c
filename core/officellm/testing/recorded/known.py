"""What recorded requests say and ours do not, or say in another way: for each format, why, and what to leave out.

An entry is a limit of our requests that a user may meet, so its reason is written for one.
"""

from __future__ import annotations

from collections.abc import Mapping

from officellm.testing.recorded import forms
from officellm.testing.recorded.comparing import Known

_STRICT = Known(
    "tools are not held to their schemas by the vendor (strict): not all servers take the word, and arguments are "
    "checked here before a tool runs",
    ("body/tools/*/function/strict", "body/tools/*/strict", "body/toolConfig/tools/*/toolSpec/strict"),
    forms.gone,
    when=forms.is_not_built,
)
_DEFERRED = Known(
    "all tools are shown: none is left for the model to search for", ("body/tools/*/defer_loading",), forms.gone
)
_OPENED = Known(
    "a history that begins with a reply gets words of the user first: most vendors refuse it without",
    ("body/messages", "body/input"),
    forms.without_opening,
    when=forms.begins_with_reply,
)
_FILES = Known(
    "a tool returns text, no files: they are not sent",
    ("body/input/*/output", "body/messages/*/content/*/toolResult/content"),
    forms.gone,
    when=forms.holds_files,
)
_CACHE = "`cache: true` marks instructions, tools and the last words for the prompt cache: all of them, or none"

_MARKS = Known(_CACHE, ("**/cache_control",), forms.unless({"type": "ephemeral"}), when=forms.was_left_out)

_TABLE: Mapping[str, tuple[Known, ...]] = {
    "openai_chat": (
        *(_STRICT, _OPENED),
        Known(
            "prompts cannot be marked for the cache in chat completions",
            ("body/messages/*/content",),
            forms.text_without("cache_control"),
        ),
        Known(
            "prompts cannot be marked for the cache in chat completions", ("body/tools/*/cache_control",), forms.gone
        ),
        Known(
            "reasoning in the field `reasoning` is not sent back: there are servers that refuse what they sent",
            ("body/messages/*/reasoning",),
            forms.gone,
            when=forms.is_not_built,
        ),
        Known(
            "reasoning goes back with calls only: older models refuse it on other turns",
            ("body/messages/*",),
            forms.reasoning_beside_calls,
        ),
        Known(
            "instructions stand in front: several vendors take none between turns",
            ("body/messages",),
            forms.instructions_in_front,
        ),
        Known("a result has no name beside its id", ("body/messages/*/name",), forms.gone, when=forms.is_not_built),
        Known("what is no list of messages cannot be said", ("body/messages",), forms.gone, when=forms.is_no_list),
        Known(
            "a typed output is held to its schema wherever OpenAI's rules for that are kept",
            ("body/response_format/json_schema/strict",),
            forms.gone,
            when=forms.is_decided_by_us,
        ),
    ),
    "anthropic": (_STRICT, _DEFERRED, _MARKS),
    "anthropic_bedrock_invoke": (_MARKS,),
    "gemini": (
        Known(
            "what a tool returned is one text, also where it was an object",
            ("body/contents/*/parts/*/functionResponse/response",),
            forms.result_in_words,
        ),
        Known(
            "a default, which the vendor ignores, is told in the description",
            ("**/properties/*",),
            forms.default_in_words,
        ),
        Known(
            "properties come in the order of the schema", ("**/property_ordering",), forms.gone, when=forms.is_not_built
        ),
        Known(
            "a choice is one tool, any, none, or the model's: no choice of several, and no mode VALIDATED",
            ("body/toolConfig/functionCallingConfig/allowedFunctionNames", "body/toolConfig"),
            forms.gone,
            when=forms.is_not_built,
        ),
    ),
    "openai_responses": (
        *(_DEFERRED, _OPENED, _FILES),
        Known(
            "a function is held to its schema wherever OpenAI's rules for that are kept, and only there",
            ("body/tools/*/strict",),
            forms.gone,
            when=forms.is_decided_by_us,
        ),
        Known(
            "a conversation that the server keeps cannot be continued: results need their calls beside them",
            ("body/input",),
            forms.gone,
            when=forms.begins_with_result,
        ),
        Known(
            "arguments that are no object go back as an empty one",
            ("body/input/*/arguments",),
            forms.gone,
            when=forms.is_no_object,
        ),
        Known(
            "the cache cannot be told where to break",
            ("body/input/*/content",),
            forms.text_without("prompt_cache_breakpoint"),
        ),
    ),
    "bedrock_converse": (
        *(_STRICT, _FILES),
        Known(_CACHE, ("body/messages/*/content",), forms.without("cachePoint")),
        Known(
            "words cannot be marked for a guardrail",
            ("body/messages/*/content",),
            forms.gone,
            when=forms.holds("guardContent"),
        ),
        Known(
            "no two documents may share a name, so each has its number in it",
            ("body/messages/*/content/*/document/name",),
            forms.gone,
        ),
        Known(
            "a typed output has no description but the one in its schema",
            ("body/outputConfig/textFormat/structure/jsonSchema/description",),
            forms.gone,
            when=forms.is_not_built,
        ),
    ),
    "ollama_chat": (_OPENED,),
}


def known_of(format: str) -> tuple[Known, ...]:
    """What is known to differ in this format, as recordings name it."""
    return _TABLE.get(format, ())
