"""The one table of what means the same to a vendor: for each format, why, where, and in which form."""

from __future__ import annotations

from collections.abc import Mapping

from officellm.testing.recorded import forms
from officellm.testing.recorded.comparing import Equality

#: Below these stand the user's own names and values, in which nothing is the same but the same.
_USERS = (
    *("**/parameters/**", "**/input_schema/**", "**/schema/**", "**/json/**", "**/responseSchema/**"),
    *("**/args/**", "**/response/**", "**/content/*/input/**", "**/toolUse/input/**", "**/arguments/**"),
)

_COMMON = (
    Equality("null is what a field is that was left out", ("body/**",), forms.unless(None), but=_USERS),
    Equality(
        "an empty list of tools, calls or instructions, and settings of which none is set, say nothing",
        (
            *("body/tools", "body/system", "body/messages/*/tool_calls"),
            *("body/options", "body/generationConfig", "body/inferenceConfig"),
        ),
        forms.unless([], {}),
    ),
    Equality("an empty list of required properties says what none says", ("**/required",), forms.unless([])),
    Equality("tools are a set: the order means nothing", ("body/tools", "body/toolConfig/tools"), forms.ours_first),
)

_DESCRIPTION = Equality(
    "a tool needs no description, and an empty one says nothing",
    ("body/tools/*/description", "body/tools/*/functionDeclarations/*/description"),
    forms.unless(""),
)
#: Not so at Ollama, which streams unless told not to.
_WHOLE = Equality("a reply is whole unless a stream is asked for", ("body/stream",), forms.unless(False))
_CHOICE = Equality(
    "with tools the model decides whether to call",
    ("body/tool_choice", "body/toolConfig/toolChoice"),
    forms.unless("auto", {"type": "auto"}, {"auto": {}}),
)
_STRICT = Equality(
    "a tool is not held to its schema unless asked",
    ("body/tools/*/function/strict", "body/tools/*/strict"),
    forms.unless(False),
)
_NO_ERROR = Equality(
    "a result is no error unless it says so",
    ("body/messages/*/content/*/is_error", "body/messages/*/content/*/toolResult/status"),
    forms.unless(False, "success"),
)
_JSON_TEXT = Equality(
    "in JSON that stands in a text, white space means nothing",
    (
        *("body/messages/*/tool_calls/*/function/arguments", "body/input/*/arguments"),
        "body/outputConfig/textFormat/structure/jsonSchema/schema",
    ),
    forms.decoded,
)
_TEXTS = Equality(
    "servers join texts before the model reads them, and some take no list",
    ("body/messages/*/content", "body/input/*/content"),
    forms.words,
)
_NO_WORDS = Equality(
    "a turn that only calls has no words: an empty text, null or nothing",
    ("body/messages/*/content",),
    forms.unless("", None),
)
_ADDRESS = Equality("in an address an escaped character is the character", ("url",), forms.plain_url)

_CHAT = (
    *(_WHOLE, _CHOICE, _TEXTS, _NO_WORDS, _JSON_TEXT, _STRICT),
    Equality("instructions that stand together are read as one", ("body/messages",), forms.one_instruction),
)

_ANTHROPIC = (
    *(_WHOLE, _CHOICE, _STRICT, _NO_ERROR, _DESCRIPTION),
    Equality("a text and a block with it are the same", ("body/system", "body/messages/*/content"), forms.blocks),
    Equality("neighbours of one role are one turn", ("body/messages",), forms.turns("content")),
    Equality("the text of a result may stand in a block", ("body/messages/*/content/*/content",), forms.words),
    Equality("the cache keeps for five minutes unless asked", ("**/cache_control",), forms.five_minutes),
)

_GEMINI = (
    _DESCRIPTION,
    Equality("Google takes its names in both spellings", ("body",), forms.camel_names),
    Equality("nobody speaks instructions: they have no role", ("body/systemInstruction/role",), forms.unless("user")),
    Equality("an only part may stand without a list", ("body/systemInstruction/parts",), forms.alone_in_list),
    Equality(
        "instructions without a word are none", ("body/systemInstruction",), forms.unless({"parts": {"text": ""}})
    ),
    Equality("neighbours of one role are one turn", ("body/contents",), forms.turns("parts")),
    Equality(
        "a schema goes under one of two names, and both are read alike",
        ("body/tools/*/functionDeclarations/*", "body/generationConfig"),
        forms.schema_names,
    ),
    Equality("types are read in capitals and in small letters", ("**/type",), forms.lower, but=("**/properties/type",)),
    Equality(
        "the model writes no property that is not in the schema", ("**/additionalProperties",), forms.unless(False)
    ),
    Equality(
        "a tool without arguments has no schema or an empty one",
        ("body/tools/*/functionDeclarations/*/parameters",),
        forms.unless_empty_schema,
    ),
    Equality(
        "what a tool returned stands alone, under whatever name",
        ("body/contents/*/parts/*/functionResponse/response",),
        forms.result_under_one_name,
    ),
    Equality(
        "bytes are read in both alphabets of base64", ("body/contents/*/parts/*/inlineData/data",), forms.plain_base64
    ),
)

_RESPONSES = (
    *(_WHOLE, _CHOICE, _TEXTS, _JSON_TEXT, _DESCRIPTION),
    Equality("instructions may be the first item of the input", ("body",), forms.instructions_apart),
    Equality("empty instructions are none", ("body/instructions",), forms.unless("")),
    Equality("a text is one item, the user's words", ("body/input",), forms.items),
    Equality("an item with a role is a message", ("body/input/*",), forms.message_item),
    Equality("servers keep responses unless told not to", ("body/store",), forms.unless(True)),
    Equality(
        "an image is seen as the server thinks best unless asked",
        ("body/input/*/content/*/detail",),
        forms.unless("auto"),
    ),
)

_TABLE: Mapping[str, tuple[Equality, ...]] = {
    "openai_chat": (
        *_CHAT,
        Equality(
            "the address names the model, or the server has only one",
            ("body/model",),
            forms.gone,
            when=forms.is_named_by_us,
        ),
    ),
    "mistral": (
        *_CHAT,
        Equality("a tool without a type is a function", ("body/tools/*/type",), forms.unless("function")),
        Equality("a turn is no prefix unless it says so", ("body/messages/*/prefix",), forms.unless(False)),
        Equality("a URL may stand in an object", ("body/messages/*/content/*/image_url",), forms.url_object),
        Equality(
            "calls have their place in the list; `index` is left over from a stream",
            ("body/messages/*/tool_calls/*/index",),
            forms.gone,
        ),
    ),
    "anthropic": _ANTHROPIC,
    "anthropic_bedrock_invoke": (*_ANTHROPIC, _ADDRESS),
    "gemini": _GEMINI,
    "openai_responses": _RESPONSES,
    "bedrock_converse": (
        *(_CHOICE, _NO_ERROR, _JSON_TEXT, _ADDRESS),
        Equality("neighbours of one role are one turn", ("body/messages",), forms.turns("content")),
        Equality("blank text says nothing", ("body/messages/*/content",), forms.without_blanks),
    ),
    "cohere_v2": _CHAT,
    "ollama_chat": (
        Equality(
            "servers ignore what they do not know, and older ones know neither a call's id nor a result's name",
            ("body/messages/*/tool_calls/*/id", "body/messages/*/tool_call_id", "body/messages/*/tool_name"),
            forms.gone,
            when=forms.was_left_out,
        ),
    ),
}


def equalities_of(format: str) -> tuple[Equality, ...]:
    """What is the same in this format, as recordings name it."""
    return (*_COMMON, *_TABLE.get(format, ()))
