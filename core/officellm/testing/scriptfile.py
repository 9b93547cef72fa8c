"""Scripts from files and plain lists, checked: every mistake is a `ConfigError` that names the file and the key."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml

from officellm.codec import loads
from officellm.errors import ConfigError, nearest
from officellm.messages import Usage
from officellm.testing.replies import ReplyFunction, ScriptedCall, ScriptedFault, ScriptedReply, as_reply
from officellm.testing.script import Rule, Script

T = TypeVar("T")
_REPLY_KEYS = ("text", "calls", "stop", "usage", "reasoning", "latency", "fault", "repeat")
_CALL_KEYS = ("name", "arguments", "id")
_USAGE_KEYS = ("input", "output", "cached", "reasoning")
_RULE_KEYS = ("when", "replies", "by")


def load_script(path: str | Path) -> Script:
    """The script in a JSON or YAML file. Raises `ConfigError`."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the script cannot be read: {error}", place=str(file)) from None
    try:
        spec = loads(text) if file.suffix == ".json" else yaml.safe_load(text)
    except ValueError as error:
        raise ConfigError(f"not valid JSON: {error}", place=str(file)) from None
    except yaml.YAMLError as error:
        raise ConfigError(f"not valid YAML: {error}", place=str(file)) from None
    return read_script(spec, str(file))


def read_script(spec: Any, place: str = "script") -> Script:
    """A script from what stands for one: a `Script`, a function, a rule, a list of replies or a list of rules."""
    if isinstance(spec, Script):
        return spec
    if callable(spec) or isinstance(spec, Rule) or _is_rule(spec):
        spec = [spec]
    if not isinstance(spec, Sequence) or isinstance(spec, str):
        raise ConfigError(f"a script must be a list of replies or of rules, not {_shown(spec)}", place=place)
    if any(_is_rule(one) for one in spec):
        return Script([_rule(one, f"{place}: [{number}]") for number, one in enumerate(spec)])
    if not spec:
        raise ConfigError("a script needs at least one reply", place=place)
    return Script([Rule(replies=tuple(_item(one, f"{place}: [{number}]") for number, one in enumerate(spec)))])


def _is_rule(spec: Any) -> bool:
    return isinstance(spec, Rule) or (isinstance(spec, Mapping) and bool({"replies", "when"} & set(spec)))


def _rule(spec: Any, place: str) -> Rule:
    if isinstance(spec, Rule):
        return spec
    fields = _fields(spec, _RULE_KEYS, place, "a rule")
    replies = fields.get("replies")
    if not isinstance(replies, list):
        raise ConfigError(f"a rule needs `replies`, a list, not {_shown(replies)}", place=place)
    read = tuple(_item(one, f"{place}.replies[{number}]") for number, one in enumerate(replies))
    when = fields.get("when") or {}
    if not isinstance(when, Mapping):
        raise ConfigError(f"must be a mapping of conditions, not {_shown(when)}", place=f"{place}.when")
    return _placed(
        place, lambda: Rule(replies=read, when={str(key): value for key, value in when.items()}, by=fields.get("by"))
    )


def _item(spec: Any, place: str) -> ScriptedReply | ReplyFunction:
    if callable(spec):
        return spec  # type: ignore[no-any-return]
    return read_reply(spec, place) if isinstance(spec, Mapping) else _placed(place, lambda: as_reply(spec))


def read_reply(spec: Mapping[str, Any], place: str) -> ScriptedReply:
    """A reply from its mapping. Raises `ConfigError`."""
    fields = _fields(spec, _REPLY_KEYS, place, "a reply")
    for key, wanted, what in (("text", str, "a text"), ("reasoning", str, "a text"), ("repeat", bool, "true or false")):
        if not isinstance(fields.get(key, wanted()), wanted):
            raise ConfigError(f"must be {what}, not {_shown(fields[key])}", place=f"{place}.{key}")
    made: dict[str, Any] = {key: fields[key] for key in ("text", "reasoning", "repeat", "stop") if key in fields}
    if "calls" in fields:
        if not isinstance(fields["calls"], list):
            raise ConfigError(f"must be a list, not {_shown(fields['calls'])}", place=f"{place}.calls")
        made["calls"] = tuple(_call(one, f"{place}.calls[{number}]") for number, one in enumerate(fields["calls"]))
    if "usage" in fields:
        made["usage"] = None if fields["usage"] is None else _usage(fields["usage"], f"{place}.usage")
    if "latency" in fields:
        made["latency"] = _number(fields["latency"], f"{place}.latency")
    if fields.get("fault") is not None:
        made["fault"] = _fault(fields["fault"], f"{place}.fault")
    return _placed(place, lambda: ScriptedReply(**made))


def _call(spec: Any, place: str) -> ScriptedCall:
    if isinstance(spec, ScriptedCall):
        return spec
    fields = _fields(spec, _CALL_KEYS, place, "a call")
    name, id, arguments = fields.get("name"), fields.get("id"), fields.get("arguments", {})
    if not isinstance(name, str):
        raise ConfigError("a call needs a `name`, a text", place=place)
    if id is not None and not isinstance(id, str):
        raise ConfigError(f"must be a text, not {_shown(id)}", place=f"{place}.id")
    if arguments is not None and not isinstance(arguments, (str, Mapping)):
        raise ConfigError(f"must be a mapping, a text or null, not {_shown(arguments)}", place=f"{place}.arguments")
    return ScriptedCall(name, arguments, id)


def _usage(spec: Any, place: str) -> Usage:
    fields = _fields(spec, _USAGE_KEYS, place, "usage")
    return Usage(**{key: _number(value, f"{place}.{key}", whole=True) for key, value in fields.items()})


def _fault(spec: Any, place: str) -> ScriptedFault:
    # YAML reads an unquoted 429 as a number.
    if isinstance(spec, (str, int)) and not isinstance(spec, bool):
        return _placed(place, lambda: ScriptedFault(str(spec)))
    if not isinstance(spec, Mapping) or "name" not in spec:
        raise ConfigError(f"must be a name, or a mapping with `name`, not {_shown(spec)}", place=place)
    params = {str(key): value for key, value in spec.items() if key != "name"}
    return _placed(place, lambda: ScriptedFault(str(spec["name"]), params))


def _fields(spec: Any, known: Sequence[str], place: str, what: str) -> dict[str, Any]:
    if not isinstance(spec, Mapping):
        raise ConfigError(f"{what} must be a mapping, not {_shown(spec)}", place=place)
    for key in spec:
        if key not in known:
            raise ConfigError(f"unknown key {key!r} in {what}.{nearest(str(key), known)}", place=place)
    return dict(spec)


def _number(value: Any, place: str, *, whole: bool = False) -> Any:
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)) or value < 0:
        raise ConfigError(f"must be a {'whole ' if whole else ''}number, 0 or more, not {_shown(value)}", place=place)
    return value


def _placed(place: str, make: Callable[[], T]) -> T:
    try:
        return make()
    except ConfigError as error:
        raise ConfigError(str(error), place=place) from None


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."
