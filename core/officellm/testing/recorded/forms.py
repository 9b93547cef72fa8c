"""Forms in which two ways to say one thing become the same value. Which of them hold where stands in `equalities`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote

from officellm.codec import dump_text, loads
from officellm.replyjson import as_mapping, as_sequence, as_text
from officellm.testing.recorded.comparing import NOTHING
from officellm.testing.recorded.conversation import joined
from officellm.testing.recorded.gemini import RESULT_KEYS, camel, result_words
from officellm.transcript import OPENING

Form = Callable[[Any], Any]


def gone(value: Any) -> Any:
    """Whatever it is, it says nothing."""
    return NOTHING


def unless(*nothings: Any) -> Form:
    """These say what is said without them."""

    def form(value: Any) -> Any:
        same = any(type(value) is type(nothing) and value == nothing for nothing in nothings)
        return NOTHING if same else value

    return form


def was_left_out(recorded: Any, built: Any) -> bool:
    """Whether we say what was not said."""
    return recorded is NOTHING


def is_named_by_us(recorded: Any, built: Any) -> bool:
    """Whether we give a name where none was given."""
    return recorded is NOTHING and isinstance(built, str)


def is_decided_by_us(recorded: Any, built: Any) -> bool:
    """Whether we say yes or no where nothing, or the other, was said."""
    return isinstance(built, bool) and (recorded is NOTHING or isinstance(recorded, bool))


def is_not_built(recorded: Any, built: Any) -> bool:
    """Whether we do not say what was said."""
    return built is NOTHING


def words(value: Any) -> Any:
    """Parts that are text and nothing else, as one text."""
    if isinstance(value, list) and value and all(map(_is_text, value)):
        return "".join(part["text"] for part in value)
    return value


def blocks(value: Any) -> Any:
    """A text as the one block that it is."""
    return [{"type": "text", "text": value}] if isinstance(value, str) else value


def turns(holder: str) -> Form:
    """Neighbours of one role in one turn, whose blocks stand in `holder`."""

    def form(value: Any) -> Any:
        if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
            return value
        out: list[dict[str, Any]] = []
        for one in value:
            content = blocks(one.get(holder))
            last = out[-1] if out else {}
            both = isinstance(content, list) and isinstance(last.get(holder), list)
            if both and last.get("role") == one.get("role"):
                out[-1] = {**out[-1], holder: [*out[-1][holder], *content]}
            else:
                out.append({**one, holder: content})
        return out

    return form


def one_instruction(value: Any) -> Any:
    """The messages with all instructions that stand in front as one."""
    if not isinstance(value, list):
        return value
    count = next((place for place, one in enumerate(value) if not _instructs(one)), len(value))
    return [*_merged(value[:count]), *value[count:]]


def instructions_in_front(value: Any) -> Any:
    """The messages with all instructions as one, in front."""
    if not isinstance(value, list):
        return value
    return [*_merged(list(filter(_instructs, value))), *(one for one in value if not _instructs(one))]


def instructions_apart(value: Any) -> Any:
    """A body of the Responses API whose instructions stand in their own field."""
    given = value.get("input") if isinstance(value, Mapping) else None
    if not isinstance(given, list) or not given or not _instructs(given[0]) or value.get("instructions"):
        return value
    return {**value, "instructions": joined(given[0].get("content")), "input": given[1:]}


def decoded(value: Any) -> Any:
    """JSON that stands in a text."""
    try:
        return loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


def plain_url(value: Any) -> Any:
    """A URL without escapes."""
    return unquote(value) if isinstance(value, str) else value


def ours_first(value: Any) -> Any:
    """Tools that we run before those that the vendor runs."""
    return sorted(value, key=_is_the_vendors) if isinstance(value, list) else value


def alone_in_list(value: Any) -> Any:
    """The only element of a list, as a list."""
    return [value] if isinstance(value, Mapping) else value


def lower(value: Any) -> Any:
    """A word in small letters."""
    return value.lower() if isinstance(value, str) else value


def url_object(value: Any) -> Any:
    """A URL as the object that holds it."""
    return {"url": value} if isinstance(value, str) else value


def camel_names(value: Any) -> Any:
    """One of the two spellings that Google takes."""
    return camel(value)


def schema_names(value: Any) -> Any:
    """A schema under the one of two names that we use."""
    if not isinstance(value, Mapping):
        return value
    names = {"parametersJsonSchema": "parameters", "responseJsonSchema": "responseSchema"}
    return {names.get(name, name): inner for name, inner in value.items()}


def unless_empty_schema(value: Any) -> Any:
    """Arguments that there are none of."""
    return NOTHING if isinstance(value, Mapping) and not value.get("properties") else value


def result_under_one_name(value: Any) -> Any:
    """What a tool returned, where clients have different names for the only thing in it."""
    if isinstance(value, Mapping) and len(value) == 1:
        name, inner = next(iter(value.items()))
        if name in RESULT_KEYS and isinstance(inner, str):
            return {"result": inner}
    return value


def plain_base64(value: Any) -> Any:
    """Base64 in the standard alphabet."""
    return value.translate(str.maketrans("-_", "+/")) if isinstance(value, str) else value


def message_item(value: Any) -> Any:
    """An item with a role is a message, whether it says so or not."""
    return {"type": "message", **value} if isinstance(value, Mapping) and "role" in value else value


def items(value: Any) -> Any:
    """A text is one item, the user's words."""
    return [{"role": "user", "content": value}] if isinstance(value, str) else value


def without(*names: str) -> Form:
    """An object without these fields, anywhere in it, and a list without objects that hold nothing else."""

    def form(value: Any) -> Any:
        if isinstance(value, list):
            return [
                form(item) for item in value if not (isinstance(item, Mapping) and item and item.keys() <= {*names})
            ]
        if isinstance(value, Mapping):
            return {name: form(inner) for name, inner in value.items() if name not in names}
        return value

    return form


def text_without(*names: str) -> Form:
    """The same of parts that are otherwise text, as one text."""
    plain = without(*names)
    return lambda value: words(plain(value))


def reasoning_beside_calls(value: Any) -> Any:
    """A message without reasoning, unless it calls."""
    if not isinstance(value, Mapping) or value.get("tool_calls"):
        return value
    return {name: inner for name, inner in value.items() if name != "reasoning_content"}


def five_minutes(value: Any) -> Any:
    """A mark for the cache without how long it keeps, where that is the default."""
    return {"type": value.get("type")} if isinstance(value, Mapping) and value.get("ttl") == "5m" else value


def without_blanks(value: Any) -> Any:
    """Blocks that say something."""
    if not isinstance(value, list):
        return value
    return [one for one in value if not isinstance(one, Mapping) or as_text(one.get("text", "-")).strip()]


def without_opening(value: Any) -> Any:
    """A history without the words that we put before a reply which it begins with."""
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        return value[1:] if value[0].get("role") == "user" and value[0].get("content") == OPENING else value
    return value


def begins_with_reply(recorded: Any, built: Any) -> bool:
    """Whether the first to speak is the model."""
    return isinstance(recorded, list) and bool(recorded) and as_mapping(recorded[0]).get("role") == "assistant"


def is_no_list(recorded: Any, built: Any) -> bool:
    """Whether what was sent is none."""
    return not isinstance(recorded, list)


def is_no_object(recorded: Any, built: Any) -> bool:
    """Whether what was sent is none."""
    return not isinstance(recorded, Mapping)


def holds(name: str) -> Callable[[Any, Any], bool]:
    """Whether an object in what was sent has this field."""
    return lambda recorded, built: any(name in as_mapping(item) for item in as_sequence(recorded))


def holds_files(recorded: Any, built: Any) -> bool:
    """Whether a part of what was sent is no text."""
    return any("text" not in as_mapping(item) for item in as_sequence(recorded))


def begins_with_result(recorded: Any, built: Any) -> bool:
    """Whether the call that the first item answers stands elsewhere."""
    first = as_mapping(as_sequence(recorded)[0]) if as_sequence(recorded) else {}
    return first.get("type") == "function_call_output"


def result_in_words(value: Any) -> Any:
    """What a tool returned, as text."""
    return {"result": result_words(value)} if isinstance(value, Mapping) else value


def default_in_words(value: Any) -> Any:
    """A property whose description tells of its default."""
    if not isinstance(value, Mapping) or "default" not in value:
        return value
    said = " ".join(filter(None, [value.get("description"), f"Default: {dump_text(value['default'])}."]))
    return {**{name: inner for name, inner in value.items() if name != "default"}, "description": said}


def _merged(instructions: list[Any]) -> list[Any]:
    if len(instructions) < 2:
        return instructions
    return [{**instructions[0], "content": "\n\n".join(joined(one.get("content")) for one in instructions)}]


def _instructs(message: object) -> bool:
    return isinstance(message, Mapping) and message.get("role") in ("system", "developer")


def _is_text(part: object) -> bool:
    if not isinstance(part, Mapping) or not isinstance(part.get("text"), str):
        return False
    return part.keys() <= {"type", "text"} and part.get("type", "text") in ("text", "input_text", "output_text")


def _is_the_vendors(tool: object) -> bool:
    if not isinstance(tool, Mapping):
        return True
    ours = ("function", "input_schema", "functionDeclarations", "toolSpec")
    return tool.get("type") != "function" and not any(name in tool for name in ours)
